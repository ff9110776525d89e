//! Errors of llvm-mca.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use super::reading::ReadingError;
use crate::probe::child::Limits;

/// Limits on a run of the tool.
pub(super) const LIMITS: Limits = Limits { time: Duration::from_secs(20), output: 1 << 20 };

/// Name of the program.
pub(super) const NAME: &str = "llvm-mca";

/// Reasons for which llvm-mca gives no figures.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// No folder of PATH has one.
    #[error(
        "{NAME} is not on PATH; Debian has it in the package llvm: apt-get install llvm. The rest of the \
         study runs without it"
    )]
    Missing,
    /// It cannot be started.
    #[error("{}: {}", .0.display(), .1)]
    Start(PathBuf, #[source] io::Error),
    /// It took longer than it may, and was stopped.
    #[error("{}: stopped after {} seconds", .0.display(), LIMITS.time.as_secs())]
    TooSlow(PathBuf),
    /// It printed more than it may, and was stopped.
    #[error("{}: stopped after {} bytes of output", .0.display(), LIMITS.output)]
    TooMuch(PathBuf),
    /// It did not succeed, or not with every instruction.
    #[error("{} ended with {status}: {stderr}", .program.display())]
    Failed {
        /// The program.
        program: PathBuf,
        /// Exit status.
        status: ExitStatus,
        /// Standard error of the tool.
        stderr: String,
    },
    /// It does not say its version as llvm-mca does.
    #[error("{}: reports no LLVM version", .0.display())]
    NoVersion(PathBuf),
    /// It lists no resources of a core.
    #[error("{}: lists no resources of a core", .0.display())]
    NoResources(PathBuf),
    /// Its summary cannot be read.
    #[error("{NAME}: {0}")]
    Reading(#[source] ReadingError),
    /// It simulated another number of instructions than it was given.
    #[error("{NAME} simulated {simulated} of {given} instructions")]
    Instructions {
        /// Number of instructions given to the tool.
        given: u64,
        /// Number of instructions simulated.
        simulated: u64,
    },
}
