//! Reasons why a run fails.

use std::error::Error;
use std::fmt;

use crate::definition::DefinitionError;

/// Reason why a study cannot be run, or its results not be trusted.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The study file breaks a rule.
    Definition(DefinitionError),
    /// The workload is unknown; the message lists the known ones.
    UnknownWorkload(String),
    /// A scheme is unknown.
    UnknownScheme {
        /// The scheme.
        id: String,
        /// The form of the ids.
        help: String,
    },
    /// A workload cannot be generated.
    Generate(String, String),
    /// The workload, or a result on it, differs from the study's expectation.
    Expectation {
        /// The workload.
        workload: String,
        /// The difference.
        what: String,
    },
    /// A scheme cannot be measured.
    Subject {
        /// The workload.
        workload: String,
        /// The scheme.
        scheme: String,
        /// The reason.
        why: String,
    },
    /// Two schemes that must give the same results do not.
    Disagree {
        /// The workload.
        workload: String,
        /// The schemes.
        schemes: (String, String),
    },
    /// An error of the study's kind.
    Other(Box<dyn Error + Send + Sync>),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Definition(error) => error.fmt(f),
            Self::UnknownWorkload(what) => f.write_str(what),
            Self::UnknownScheme { id, help } => write!(f, "unknown scheme {id:?}: {help}"),
            Self::Generate(workload, why) => write!(f, "workload {workload}: {why}"),
            Self::Expectation { workload, what } => {
                write!(f, "workload {workload} differs from the study's expectation: {what}")
            }
            Self::Subject { workload, scheme, why } => write!(f, "workload {workload}, {scheme}: {why}"),
            Self::Disagree { workload, schemes: (a, b) } => {
                write!(f, "{a} and {b} give different results on workload {workload}")
            }
            Self::Other(error) => error.fmt(f),
        }
    }
}

impl Error for RunError {}

impl From<DefinitionError> for RunError {
    fn from(error: DefinitionError) -> Self {
        Self::Definition(error)
    }
}
