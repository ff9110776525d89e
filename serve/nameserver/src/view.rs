//! The zones and settings that all threads use, replaced as a whole by a reload.

use crate::config::RateLimit;
use crate::counters::{Counter, ZoneCounters};
use crate::transfers::peers::{Origin, ZoneTransfers, permits};
use hashlane_dns::respond::{Settings, Zones};
use hashlane_transfer::tsig::Keys;
use std::net::SocketAddr;
use std::sync::Arc;

/// Zones, settings and the counters of the zones.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) zones: Zones,
    pub(crate) settings: Settings,
    pub(crate) rate_limit: RateLimit,
    /// Number of each entry of `zones` in the counters.
    pub(crate) numbers: Vec<usize>,
    pub(crate) counters: Vec<Arc<ZoneCounters>>,
    /// Rights of others to each entry of `zones`.
    pub(crate) transfers: Vec<Arc<ZoneTransfers>>,
    /// One of this number of queries is logged; 0: none.
    pub(crate) query_log: u32,
    /// Keys of signed messages.
    pub(crate) keys: Keys,
}

impl View {
    /// True if a client may query a restricted entry.
    pub(crate) fn permits_query(&self, entry: usize, from: SocketAddr, origin: Origin<'_>) -> bool {
        let rules = self.transfers.get(entry).map(|zone| &zone.query[..]).unwrap_or_default();
        permits(rules, from.ip(), origin.channel, origin.key)
    }

    /// Counter of a zone for a thread.
    #[inline]
    pub(crate) fn counter(&self, thread: usize, entry: usize) -> Option<&Counter> {
        let number = *self.numbers.get(entry)?;
        self.counters.iter().find_map(|counters| counters.of(thread, number))
    }
}
