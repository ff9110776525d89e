//! The end that finds.

use super::memory::Memory;
use crate::group::prefetch;
use alloc::sync::Arc;
use bytemuck::Pod;

/// Finds entries while the [`Writer`](super::Writer) inserts and removes; see the guarantees in [the
/// module](super).
///
/// A clone reads the same table, which lives until its last reader and its writer are dropped.
#[derive(Debug)]
pub struct Reader<const N: usize, V = u64> {
    memory: Arc<Memory<N, V>>,
}

impl<const N: usize, V> Clone for Reader<N, V> {
    fn clone(&self) -> Self {
        Self { memory: Arc::clone(&self.memory) }
    }
}

impl<const N: usize, V: Pod> Reader<N, V> {
    pub(super) fn new(memory: Arc<Memory<N, V>>) -> Self {
        Self { memory }
    }

    /// The value of `key`; `hash` must equal the one given at its insertion.
    #[inline(always)]
    pub fn find(&self, hash: u64, key: &[u64; N]) -> Option<V> {
        self.memory.find(hash, key).map(|found| found.value)
    }

    /// Prefetches the bucket of this hash; a hint.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        if let Some(bucket) = self.memory.first_index().and_then(|index| index.first_bucket(hash)) {
            prefetch(bucket);
        }
    }

    /// Brings into the cache the entry that [`find`](Self::find) would compare first, if there is one.
    #[inline(always)]
    pub fn prefetch_entry(&self, hash: u64) {
        let ticket = self.memory.first_index().and_then(|index| index.first_ticket(hash));
        let words = ticket.and_then(|ticket| self.memory.entries.words(self.memory.place(ticket)));
        if let Some(words) = words {
            words.chunks(8).filter_map(<[_]>::first).for_each(prefetch);
            words.last().into_iter().for_each(prefetch);
        }
    }
}
