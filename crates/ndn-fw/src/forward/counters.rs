//! What a forwarder counts.

use crate::drop::DropCounters;
use crate::face::Counter;

/// What is counted of all faces together. One thread writes, any may read.
#[derive(Debug, Default)]
pub struct Counters {
    /// Interests that came in.
    pub in_interests: Counter,
    /// Data that came in.
    pub in_data: Counter,
    /// Nacks that came in.
    pub in_nacks: Counter,
    /// Interests that went out.
    pub out_interests: Counter,
    /// Data that went out.
    pub out_data: Counter,
    /// Nacks that went out.
    pub out_nacks: Counter,
    /// Entries of the PIT that Data satisfied.
    pub satisfied: Counter,
    /// Downstreams that waited for Data that came, and did not get it, since it had the digest of another Interest.
    pub starved: Counter,
    /// Entries of the PIT that ran out.
    pub unsatisfied: Counter,
    /// Interests that the content store answered.
    pub cs_hits: Counter,
    /// Interests that it did not.
    pub cs_misses: Counter,
    /// Entries of the PIT.
    pub pit_entries: Counter,
    /// Packets in the content store.
    pub cs_entries: Counter,
    /// Prefixes that strategies have measured something of.
    pub measurements_entries: Counter,
    /// What was dropped.
    pub drops: DropCounters,
}
