//! Reasons why a run fails.

use std::error::Error;

use crate::definition::DefinitionError;

/// Reason why a study cannot be run, or its results not be trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The study file breaks a rule.
    #[error("{0}")]
    Definition(DefinitionError),
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

impl From<DefinitionError> for RunError {
    fn from(error: DefinitionError) -> Self {
        Self::Definition(error)
    }
}
