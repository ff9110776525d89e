//! Reasons for which C code is not measured.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::probe::child::Limits;

/// Limits on a run of the compiler.
pub(super) const LIMITS: Limits = Limits { time: Duration::from_secs(60), output: 1 << 20 };

/// Longest wait for an answer of a program, or for it to take a request.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Reasons for which C code is not compiled, or its program gives no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CError {
    /// Neither `CC` nor PATH names a compiler.
    #[error("no C compiler found; install one (Debian: apt-get install gcc), or name it in CC")]
    Missing,
    /// The header reads the counter of x86-64 alone.
    #[error("its C code is for x86-64")]
    Unsupported,
    /// The compiler or the program cannot be started.
    #[error("{}: {}", .0.display(), .1)]
    Start(PathBuf, #[source] io::Error),
    /// There is no temporary folder.
    #[error("no temporary folder for the C program: {0}; set TMPDIR")]
    Folder(#[source] io::Error),
    /// The compiler took longer than it may, or printed more.
    #[error(
        "{}: stopped after {} seconds or {} bytes of output",
        .0.display(),
        LIMITS.time.as_secs(),
        LIMITS.output
    )]
    Limit(PathBuf),
    /// The compiler rejects the text.
    #[error("{}: {stderr}", .program.display())]
    Rejected {
        /// The compiler.
        program: PathBuf,
        /// First line of its standard error.
        stderr: String,
    },
    /// The program has ended, or does not answer.
    #[error("the C program gives no answer: {0}")]
    Silent(#[source] io::Error),
}
