//! Errors of the system with the step that failed.

use std::io;

/// A function that puts `what` before an error.
pub(crate) fn context(what: &'static str) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{what}: {error}"))
}
