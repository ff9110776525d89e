//! Options and progress of a fetch.

use crate::packet::{Validate, intact};
use std::sync::Arc;
use std::time::Duration;

/// Discovery of the version of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discovery {
    /// The name may have a version, or name one segment. Otherwise metadata, and if there are none, any Data
    /// below the name.
    #[default]
    Auto,
    /// Metadata.
    Metadata,
    /// Any fresh Data below the name.
    Prefix,
    /// None: the name has the version, or the object has none.
    None,
}

/// Options of a fetch.
#[derive(Clone)]
pub struct FetchOptions {
    /// Discovery of the version.
    pub discovery: Discovery,
    /// Lifetime of Interests in milliseconds, and time to wait for an answer during discovery.
    pub lifetime: u64,
    /// Retransmissions of the Interest for a segment.
    pub retries: u32,
    /// Most Interests in flight.
    pub max_in_flight: usize,
    /// Validator of the Data.
    pub validate: Arc<Validate<'static>>,
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            discovery: Discovery::Auto,
            lifetime: 4000,
            retries: 15,
            max_in_flight: 512,
            validate: Arc::new(intact),
        }
    }
}

/// Progress of a fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Received segments.
    pub segments: u64,
    /// Bytes of content in them.
    pub bytes: u64,
    /// Segments of the object, once the last one is known.
    pub total: Option<u64>,
    /// Retransmitted Interests.
    pub retransmissions: u64,
    /// Decreases of the congestion window.
    pub cuts: u64,
    /// Congestion window: Interests that may be in flight.
    pub window: usize,
    /// Smoothed round-trip time.
    pub round_trip: Option<Duration>,
}
