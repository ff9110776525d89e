//! Errors of a measurement.

use std::fmt;
use std::io;

/// Reasons for which Python could not be measured.
#[derive(Debug)]
pub(crate) enum PythonError {
    /// A file or a process failed.
    Io(&'static str, io::Error),
    /// Python misbehaved: the observation, and the end of its output.
    Program(String),
    /// A call raised an exception.
    Raised(String),
    /// The run was stopped.
    Stopped,
}

impl PythonError {
    /// An error of the system, for `map_err`.
    pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io(what, error)
    }
}

impl fmt::Display for PythonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(what, error) => write!(f, "{what}: {error}"),
            Self::Program(what) | Self::Raised(what) => f.write_str(what),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for PythonError {}
