//! Errors of llvm-mca.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;
use std::{fmt, io};

use super::reading::ReadingError;
use crate::probe::child::Limits;

/// Limits on a run of the tool.
pub(super) const LIMITS: Limits = Limits { time: Duration::from_secs(20), output: 1 << 20 };

/// Name of the program.
pub(super) const NAME: &str = "llvm-mca";

/// Reasons for which llvm-mca gives no figures.
#[derive(Debug)]
#[non_exhaustive]
pub enum ToolError {
    /// No folder of PATH has one.
    Missing,
    /// It cannot be started.
    Start(PathBuf, io::Error),
    /// It took longer than it may, and was stopped.
    TooSlow(PathBuf),
    /// It printed more than it may, and was stopped.
    TooMuch(PathBuf),
    /// It did not succeed, or not with every instruction.
    Failed {
        /// The program.
        program: PathBuf,
        /// Exit status.
        status: ExitStatus,
        /// Standard error of the tool.
        stderr: String,
    },
    /// It does not say its version as llvm-mca does.
    NoVersion(PathBuf),
    /// It lists no resources of a core.
    NoResources(PathBuf),
    /// Its summary cannot be read.
    Reading(ReadingError),
    /// It simulated another number of instructions than it was given.
    Instructions {
        /// Number of instructions given to the tool.
        given: u64,
        /// Number of instructions simulated.
        simulated: u64,
    },
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(
                f,
                "{NAME} is not on PATH; Debian has it in the package llvm: apt-get install llvm. The rest of the study \
                 runs without it"
            ),
            Self::Start(program, error) => write!(f, "{}: {error}", program.display()),
            Self::TooSlow(program) => {
                write!(f, "{}: stopped after {} seconds", program.display(), LIMITS.time.as_secs())
            }
            Self::TooMuch(program) => {
                write!(f, "{}: stopped after {} bytes of output", program.display(), LIMITS.output)
            }
            Self::Failed { program, status, stderr } => {
                write!(f, "{} ended with {status}: {stderr}", program.display())
            }
            Self::NoVersion(program) => write!(f, "{}: reports no LLVM version", program.display()),
            Self::NoResources(program) => write!(f, "{}: lists no resources of a core", program.display()),
            Self::Reading(error) => write!(f, "{NAME}: {error}"),
            Self::Instructions { given, simulated } => {
                write!(f, "{NAME} simulated {simulated} of {given} instructions")
            }
        }
    }
}

impl std::error::Error for ToolError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Start(_, error) => Some(error),
            Self::Reading(error) => Some(error),
            _ => None,
        }
    }
}
