//! Errors of a load.

use std::io;

/// Reasons for which a forwarder could not be put under load.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A program could not be started.
    #[error("cannot start {program}: {error}")]
    Start {
        /// The program.
        program: String,
        /// Cause.
        error: io::Error,
    },
    /// The forwarder ended or misbehaved: the observation, and the end of its output.
    #[error("{0}")]
    Forwarder(String),
    /// A socket or a file failed.
    #[error("{0}: {1}")]
    Io(&'static str, io::Error),
    /// The run was stopped.
    #[error("stopped")]
    Stopped,
}
