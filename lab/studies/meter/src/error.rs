//! Errors of a measurement.

use std::io;

/// Reasons for which a meter could not be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MeterError {
    /// A file, a socket, a namespace or a process failed.
    #[error("{0}: {1}")]
    Io(&'static str, io::Error),
    /// A program misbehaved: the observation, and the end of its output.
    #[error("{0}")]
    Program(String),
    /// The run was stopped.
    #[error("stopped")]
    Stopped,
}

impl MeterError {
    /// An error of the system, for `map_err`.
    pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io(what, error)
    }

    /// An error of a system call, for `map_err`.
    pub(crate) fn errno(what: &'static str) -> impl FnOnce(nix::errno::Errno) -> Self {
        move |errno| Self::Io(what, errno.into())
    }
}
