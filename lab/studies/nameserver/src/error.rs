//! Errors of a measurement.

use std::fmt;
use std::io;

/// Reasons for which a server could not be measured.
#[derive(Debug)]
pub(crate) enum ServeError {
    /// A file, a socket or a process failed.
    Io(&'static str, io::Error),
    /// A program misbehaved: the observation, and the end of its output.
    Program(String),
    /// The run was stopped.
    Stopped,
}

impl ServeError {
    /// An error of the system, for `map_err`.
    pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io(what, error)
    }

    /// An error of a system call, for `map_err`.
    pub(crate) fn errno(what: &'static str) -> impl FnOnce(nix::errno::Errno) -> Self {
        move |errno| Self::Io(what, errno.into())
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(what, error) => write!(f, "{what}: {error}"),
            Self::Program(what) => f.write_str(what),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for ServeError {}
