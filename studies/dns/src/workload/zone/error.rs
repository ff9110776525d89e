//! Errors of zone files.

use hashlane_dns::wire::RdataError;
use std::fmt;

/// Reasons for which a zone file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ZoneError {
    /// Syntax error: its position and cause.
    Syntax(String),
    /// A relative name without an origin: its position.
    NoOrigin(String),
    /// An invalid name that the reader let pass.
    Name,
    /// The record, named with its owner, has data in generic form that its type does not allow.
    Rdata(String, RdataError),
    /// An `$INCLUDE` that is not followed.
    Include {
        /// The file, as the zone names it.
        path: String,
        /// The reason.
        why: IncludeError,
    },
    /// Error in an included file.
    Within {
        /// The file, as the zone names it.
        path: String,
        /// Its error.
        error: Box<ZoneError>,
    },
    /// The reader gave up without a position.
    Reader,
    /// There is no record.
    Empty,
    /// Too many records for the limit on memory.
    TooLarge {
        /// Records that were read.
        records: usize,
        /// The limit in MiB.
        mebibytes: usize,
    },
}

/// Reasons for which `$INCLUDE` is not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IncludeError {
    /// The zone has no folder: it is not read from a file.
    NoFolder,
    /// An absolute path, or one with `..`.
    Path,
    /// The path leads out of the folder by a symbolic link.
    Outside,
    /// The file includes itself.
    Loop,
    /// Includes within includes, more than the limit.
    Depth(usize),
    /// The file cannot be read.
    Io(String),
    /// Not a regular file.
    NotAFile,
    /// The files of the zone are together longer than the limit, in MiB.
    TooLong(u64),
}

impl ZoneError {
    /// `true` if the zone, or a file that it includes, needs an origin.
    pub fn needs_origin(&self) -> bool {
        match self {
            Self::NoOrigin(_) => true,
            Self::Within { error, .. } => error.needs_origin(),
            _ => false,
        }
    }
}

impl fmt::Display for ZoneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(what) => f.write_str(what),
            Self::NoOrigin(at) => write!(f, "{at}: a relative name without a $ORIGIN before it"),
            Self::Name => f.write_str("a name longer than 255 bytes"),
            Self::Rdata(record, error) => write!(f, "the record {record}: {error}"),
            Self::Include { path, why } => write!(f, "$INCLUDE of {path:?}: {why}"),
            Self::Within { path, error } => write!(f, "{path}: {error}"),
            Self::Reader => {
                f.write_str("the reader of zone files gave up; leave out records until it reads the rest")
            }
            Self::Empty => f.write_str("no record"),
            Self::TooLarge { records, mebibytes } => {
                write!(f, "after {records} records, {mebibytes} MiB of memory are full")
            }
        }
    }
}

impl fmt::Display for IncludeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFolder => {
                f.write_str("the zone is not read from a file, so it has no folder; insert the lines here")
            }
            Self::Path => f.write_str(
                "not a path inside the zone's folder; copy the file there, and name it without ..",
            ),
            Self::Outside => {
                f.write_str("a symbolic link leads out of the zone's folder; copy the file into it")
            }
            Self::Loop => f.write_str("the file includes itself"),
            Self::Depth(most) => write!(f, "more than {most} files include one another"),
            Self::Io(error) => write!(f, "cannot read the file: {error}"),
            Self::NotAFile => f.write_str("not a regular file"),
            Self::TooLong(most) => write!(f, "the files of the zone are longer than {most} MiB; split it"),
        }
    }
}

impl std::error::Error for ZoneError {}
