//! Errors of fetches.

use crate::packet::ExpressError;
use hashlane_name::error::BuildError;
use hashlane_ndn::tlv::WireError;

/// Error of a fetch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// An Interest was not answered.
    #[error("{0}")]
    Express(ExpressError),
    /// A segment did not come.
    #[error("segment {segment} did not arrive, requested {sent} times: {error}")]
    Segment {
        /// Its number.
        segment: u64,
        /// Times that it was requested.
        sent: u32,
        /// The last error.
        error: ExpressError,
    },
    /// The producer reports that the object does not exist.
    #[error("the producer reports that {name} does not exist")]
    Absent {
        /// Name of the application Nack.
        name: String,
    },
    /// The metadata have no name with a version.
    #[error("the metadata have no name with a version: {0}")]
    Metadata(WireError),
    /// The name has no room for the number of a segment.
    #[error("{0}")]
    Name(BuildError),
    /// A dataset of this module, which the forwarder gives on its own host only. Nothing was requested.
    #[error(fmt = crate::transport::write_not_local)]
    NotLocal {
        /// The module.
        module: String,
    },
    /// The dataset is too long.
    #[error("the dataset has more than {limit} bytes")]
    TooLong {
        /// Most bytes allowed.
        limit: usize,
    },
}
