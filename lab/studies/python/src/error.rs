//! Errors of a measurement.

use std::io;

/// Reasons for which Python could not be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PythonError {
    /// A file or a process failed.
    #[error("{0}: {1}")]
    Io(&'static str, io::Error),
    /// Python misbehaved: the observation, and the end of its output.
    #[error("{0}")]
    Program(String),
    /// A call raised an exception.
    #[error("{0}")]
    Raised(String),
    /// The run was stopped.
    #[error("stopped")]
    Stopped,
}

impl PythonError {
    /// An error of the system, for `map_err`.
    pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io(what, error)
    }
}
