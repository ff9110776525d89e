//! Errors of exports.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// An output that cannot be opened or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The file exists, and overwriting was not asked for.
    #[error("{} exists: choose another name, or ask for overwriting", .0.display())]
    Exists(PathBuf),
    /// The file cannot be created.
    #[error("cannot create {}: {}", .0.display(), .1)]
    Create(PathBuf, #[source] io::Error),
    /// A file, or the standard output, cannot be written.
    #[error(fmt = write_unwritten)]
    Write(String, #[source] io::Error),
    /// No socket can be made for the collector.
    #[error("no socket for the collector {0}: {1}")]
    Socket(std::net::SocketAddr, #[source] io::Error),
    /// The host of a collector has no address.
    #[error("no address for the collector {0}: {1}")]
    Lookup(String, #[source] io::Error),
    /// The Parquet library refuses a row group.
    #[error("cannot write {0}: {1}")]
    Parquet(String, String),
}

fn write_unwritten(name: &str, error: &io::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match error.kind() {
        io::ErrorKind::StorageFull => write!(f, "cannot write {name}: no space left"),
        _ => write!(f, "cannot write {name}: {error}"),
    }
}
