//! Errors of a load.

use std::fmt;
use std::io;

/// Reasons for which a forwarder could not be put under load.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// A program could not be started.
    Start {
        /// The program.
        program: String,
        /// Cause.
        error: io::Error,
    },
    /// The forwarder ended or misbehaved: the observation, and the end of its output.
    Forwarder(String),
    /// A socket or a file failed.
    Io(&'static str, io::Error),
    /// The run was stopped.
    Stopped,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { program, error } => write!(f, "cannot start {program}: {error}"),
            Self::Forwarder(what) => f.write_str(what),
            Self::Io(what, error) => write!(f, "{what}: {error}"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for LoadError {}
