//! Errors of fetches.

use crate::packet::ExpressError;
use hashlane_name::error::BuildError;
use hashlane_ndn::tlv::WireError;
use std::error::Error;
use std::fmt;

/// Error of a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchError {
    /// An Interest was not answered.
    Express(ExpressError),
    /// A segment did not come.
    Segment {
        /// Its number.
        segment: u64,
        /// Times that it was requested.
        sent: u32,
        /// The last error.
        error: ExpressError,
    },
    /// The producer reports that the object does not exist.
    Absent {
        /// Name of the application Nack.
        name: String,
    },
    /// The metadata have no name with a version.
    Metadata(WireError),
    /// The name has no room for the number of a segment.
    Name(BuildError),
    /// A dataset of this module, which the forwarder gives on its own host only. Nothing was requested.
    NotLocal {
        /// The module.
        module: String,
    },
    /// The dataset is too long.
    TooLong {
        /// Most bytes allowed.
        limit: usize,
    },
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Express(error) => error.fmt(f),
            Self::Segment { segment, sent, error } => {
                write!(f, "segment {segment} did not arrive, requested {sent} times: {error}")
            }
            Self::Absent { name } => write!(f, "the producer reports that {name} does not exist"),
            Self::Metadata(error) => write!(f, "the metadata have no name with a version: {error}"),
            Self::Name(error) => error.fmt(f),
            Self::NotLocal { module } => crate::transport::write_not_local(f, module),
            Self::TooLong { limit } => write!(f, "the dataset has more than {limit} bytes"),
        }
    }
}

impl Error for FetchError {}
