//! Errors of exports.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// An output that cannot be opened or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExportError {
    /// The file exists, and overwriting was not asked for.
    Exists(PathBuf),
    /// The file cannot be created.
    Create(PathBuf, io::Error),
    /// A file, or the standard output, cannot be written.
    Write(String, io::Error),
    /// No socket can be made for the collector.
    Socket(std::net::SocketAddr, io::Error),
    /// The Parquet library refuses a row group.
    Parquet(String, String),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists(path) => {
                write!(f, "{} exists: choose another name, or ask for overwriting", path.display())
            }
            Self::Create(path, error) => write!(f, "cannot create {}: {error}", path.display()),
            Self::Write(name, error) if error.kind() == io::ErrorKind::StorageFull => {
                write!(f, "cannot write {name}: no space left")
            }
            Self::Write(name, error) => write!(f, "cannot write {name}: {error}"),
            Self::Socket(address, error) => write!(f, "no socket for the collector {address}: {error}"),
            Self::Parquet(name, error) => write!(f, "cannot write {name}: {error}"),
        }
    }
}

impl std::error::Error for ExportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Create(_, error) | Self::Write(_, error) | Self::Socket(_, error) => Some(error),
            Self::Exists(_) | Self::Parquet(..) => None,
        }
    }
}
