//! Counters of all shards together.

use hashlane_ndn_fw::face::Counter;
use hashlane_ndn_fw::forward::{Counters, DropReason};
use std::sync::Arc;

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

    /// Number of packets dropped for a reason.
    pub(crate) fn dropped(&self, reason: DropReason) -> u64 {
        self.0.iter().map(|shard| shard.drops.value(reason)).sum()
    }
}
