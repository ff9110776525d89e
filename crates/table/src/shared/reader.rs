//! The end that finds.

use super::memory::Memory;
use crate::group::prefetch;
use alloc::sync::Arc;

/// Finds entries while the [`Writer`](super::Writer) inserts and removes; see the guarantees in [the
/// module](super).
///
/// A clone reads the same table, which lives until its last reader and its writer are dropped.
#[derive(Clone, Debug)]
pub struct Reader<const N: usize> {
    memory: Arc<Memory<N>>,
}

impl<const N: usize> Reader<N> {
    pub(super) fn new(memory: Arc<Memory<N>>) -> Self {
        Self { memory }
    }

    /// The value of `key`; `hash` must be that of its insertion.
    #[inline(always)]
    pub fn find(&self, hash: u64, key: &[u64; N]) -> Option<u64> {
        self.memory.find(hash, key).map(|found| found.value)
    }

    /// Prefetches the bucket of this hash; a hint.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        if let Some(bucket) = self.memory.first_bucket(hash) {
            prefetch(bucket);
        }
    }

    /// Brings into the cache the entry that [`find`](Self::find) would compare first, if there is one.
    #[inline(always)]
    pub fn prefetch_entry(&self, hash: u64) {
        if let Some(entry) = self.memory.first_entry(hash) {
            prefetch(entry);
        }
    }
}
