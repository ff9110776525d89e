//! Reasons why a run fails.

use std::error::Error;
use std::fmt::Display;

use crate::definition::DefinitionError;

/// Reason why a study cannot be run, or its results not be trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The study file breaks a rule.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// The workload is unknown; the message lists the known ones.
    #[error("{0}")]
    UnknownWorkload(String),
    /// A scheme is unknown.
    #[error("unknown scheme {id:?}: {help}")]
    UnknownScheme {
        /// The scheme.
        id: String,
        /// The form of the ids.
        help: String,
    },
    /// A workload cannot be generated.
    #[error("workload {0}: {1}")]
    Generate(String, String),
    /// The workload, or a result on it, differs from the study's expectation.
    #[error("workload {workload} differs from the study's expectation: {what}")]
    Expectation {
        /// The workload.
        workload: String,
        /// The difference.
        what: String,
    },
    /// A scheme cannot be measured.
    #[error("workload {workload}, {scheme}: {why}")]
    Subject {
        /// The workload.
        workload: String,
        /// The scheme.
        scheme: String,
        /// The reason.
        why: String,
    },
    /// Two schemes that must give the same results do not.
    #[error("{} and {} give different results on workload {workload}", .schemes.0, .schemes.1)]
    Disagree {
        /// The workload.
        workload: String,
        /// The schemes.
        schemes: (String, String),
    },
    /// An error of the study's kind.
    #[error("{0}")]
    Other(Box<dyn Error + Send + Sync>),
}

impl RunError {
    /// An error that is of the study as a whole.
    pub fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }
}

/// Reason why a turn, or a step of a study before it, has no result.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// A program, a file or a socket failed: the observation, and the end of the program's output.
    #[error("{0}")]
    Failed(String),
    /// The program reports a failure of the call, and goes on.
    #[error("{0}")]
    Raised(String),
    /// The run was stopped.
    #[error("stopped")]
    Stopped,
    /// The study fails.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl TurnError {
    /// A step that failed, and an error of the system; for `map_err`.
    pub fn io<E: Display>(what: &str) -> impl Fn(E) -> Self + Copy {
        move |error| Self::Failed(format!("{what}: {error}"))
    }

    /// The end of a study whose scheme has this error on a workload: no failure of a run that was stopped.
    ///
    /// # Errors
    /// The study fails.
    pub fn end(self, workload: &str, scheme: &str) -> Result<(), RunError> {
        match self {
            Self::Stopped => Ok(()),
            Self::Run(error) => Err(error),
            Self::Failed(why) | Self::Raised(why) => {
                Err(RunError::Subject { workload: workload.to_owned(), scheme: scheme.to_owned(), why })
            }
        }
    }
}
