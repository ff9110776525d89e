//! Errors of exports.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An output that cannot be opened or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The file exists, and overwriting was not asked for.
    #[error("{} exists: choose another name, or ask for overwriting", .0.display())]
    Exists(PathBuf),
    /// The file cannot be created.
    #[error(fmt = write_uncreated)]
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

fn write_uncreated(path: &Path, error: &io::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let how = match error.kind() {
        io::ErrorKind::NotFound => "create its folder, or name another file",
        io::ErrorKind::PermissionDenied => "let the user of the meter write there, or name another file",
        _ => "name another file",
    };
    write!(f, "cannot create {}: {error}; {how}", path.display())
}

fn write_unwritten(name: &str, error: &io::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match error.kind() {
        io::ErrorKind::StorageFull => write!(f, "cannot write {name}: no space left"),
        _ => write!(f, "cannot write {name}: {error}"),
    }
}
