//! Counters of all shards together.

use hashlane_ndn_fw::face::Counter;
use hashlane_ndn_fw::forward::{Counters, DropReason};
use std::sync::Arc;

/// A counter by its name.
pub(crate) type Named = (&'static str, fn(&Counters) -> &Counter);

/// Losses to limits, by cause.
pub(crate) const LOSSES: [Named; 7] = [
    ("receive-queue-full", |c| &c.udp_overflows),
    ("receive-limited", |c| &c.flood_drops),
    ("send-queue-full", |c| &c.queue_drops),
    ("faces-evicted", |c| &c.evicted_faces),
    ("connections-evicted", |c| &c.evicted_connections),
    ("faces-refused", |c| &c.refused_faces),
    ("log-lines", |c| &c.suppressed_lines),
];

/// Counters of all shards together. Each counter is read by itself: they are of about the same moment.
#[derive(Clone, Debug)]
pub struct Totals(Arc<[Arc<Counters>]>);

/// Counters of one shard.
impl Default for Totals {
    fn default() -> Self {
        Self::new([Arc::default()])
    }
}

impl Totals {
    /// The sums of these counters, one for each shard.
    pub fn new(counters: impl IntoIterator<Item = Arc<Counters>>) -> Self {
        Self(counters.into_iter().collect())
    }

    /// Sum of a counter.
    pub(crate) fn value(&self, counter: impl Fn(&Counters) -> &Counter) -> u64 {
        self.0.iter().map(|shard| counter(shard).value()).sum()
    }

    /// The largest value of a counter.
    pub(crate) fn largest(&self, counter: impl Fn(&Counters) -> &Counter) -> u64 {
        self.0.iter().map(|shard| counter(shard).value()).max().unwrap_or_default()
    }

    /// Counters of each shard.
    pub(crate) fn shards(&self) -> impl Iterator<Item = &Counters> {
        self.0.iter().map(|shard| &**shard)
    }

    /// Packets dropped by reason, then [`LOSSES`] by cause.
    pub(crate) fn losses(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let dropped = DropReason::ALL.iter().map(|reason| (reason.name(), self.dropped(*reason)));
        dropped.chain(LOSSES.into_iter().map(|(name, counter)| (name, self.value(counter))))
    }

    /// Number of packets dropped for a reason.
    pub(crate) fn dropped(&self, reason: DropReason) -> u64 {
        self.0.iter().map(|shard| shard.drops.value(reason)).sum()
    }
}

#[cfg(test)]
impl Totals {
    /// Counters of the first shard, for a test to write.
    pub(crate) fn first(&self) -> &Counters {
        self.shards().next().expect("a shard")
    }
}
