//! Reasons for which C code is not measured.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::probe::child::Limits;

/// Limits on a run of the compiler.
pub(super) const LIMITS: Limits = Limits { time: Duration::from_secs(60), output: 1 << 20 };

/// Longest wait for an answer of a program, or for it to take a request.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Reasons for which C code is not compiled, or its program gives no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum CError {
    /// Neither `CC` nor PATH names a compiler.
    Missing,
    /// The header reads the counter of x86-64 alone.
    Unsupported,
    /// The compiler or the program cannot be started.
    Start(PathBuf, io::Error),
    /// There is no temporary folder.
    Folder(io::Error),
    /// The compiler took longer than it may, or printed more.
    Limit(PathBuf),
    /// The compiler rejects the text.
    Rejected {
        /// The compiler.
        program: PathBuf,
        /// First line of its standard error.
        stderr: String,
    },
    /// The program has ended, or does not answer.
    Silent(io::Error),
}

impl fmt::Display for CError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str(
                "no C compiler found; install one (Debian: apt-get install gcc), or name it in CC",
            ),
            Self::Unsupported => f.write_str("its C code is for x86-64"),
            Self::Start(program, error) => write!(f, "{}: {error}", program.display()),
            Self::Folder(error) => write!(f, "no temporary folder for the C program: {error}; set TMPDIR"),
            Self::Limit(program) => write!(
                f,
                "{}: stopped after {} seconds or {} bytes of output",
                program.display(),
                LIMITS.time.as_secs(),
                LIMITS.output
            ),
            Self::Rejected { program, stderr } => write!(f, "{}: {stderr}", program.display()),
            Self::Silent(error) => write!(f, "the C program gives no answer: {error}"),
        }
    }
}

impl std::error::Error for CError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Start(_, error) | Self::Folder(error) | Self::Silent(error) => Some(error),
            _ => None,
        }
    }
}
