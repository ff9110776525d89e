//! Tuples with their hashes, and the stages that hash and prefetch them.

use super::BURST;
use crate::ehash::{TupleHash, widened};
use crate::tuple::Tuple;
use hashlane_table::stage::Stage;

/// Room for the hashes of a batch.
pub type Hashes = [u64; BURST];

/// A batch of tuples, at most [`BURST`], and the hash of each once [`Hash`](struct@Hash) has run.
// Two slices and no array, so that their ends stay in registers while a stage writes the hashes.
#[derive(Debug)]
pub struct Keys<'t> {
    tuples: &'t [Tuple],
    /// One for each tuple.
    hashes: &'t mut [u64],
}

impl<'t> Keys<'t> {
    /// A batch of the first [`BURST`] of `tuples`, whose hashes go to `hashes`.
    #[inline(always)]
    pub fn new(tuples: &'t [Tuple], hashes: &'t mut Hashes) -> Self {
        let tuples = tuples.get(..BURST).unwrap_or(tuples);
        Self { tuples, hashes: hashes.get_mut(..tuples.len()).unwrap_or_default() }
    }

    /// The tuples.
    #[inline(always)]
    pub fn tuples(&self) -> &'t [Tuple] {
        self.tuples
    }

    /// The hash of each tuple, 64 bits wide; valid after [`Hash`](struct@Hash).
    #[inline(always)]
    pub fn hashes(&self) -> &[u64] {
        self.hashes
    }
}

/// Stage: hashes all tuples of a batch by [`TupleHash::hash_burst`].
#[derive(Debug)]
pub struct Hash<'a, H>(pub &'a H);

impl<H: TupleHash> Stage<Keys<'_>> for Hash<'_, H> {
    #[inline(always)]
    fn run(&mut self, batch: &mut Keys<'_>) {
        self.0.hash_burst(batch.tuples, batch.hashes);
        for hash in batch.hashes.iter_mut() {
            *hash = widened::<H>(*hash);
        }
    }
}

/// Stage: prefetches the buckets of all tuples of a batch, then their entries, so that the cache misses of a
/// batch overlap.
#[derive(Debug)]
pub struct Prefetch<B, E> {
    /// Prefetches the bucket of a hash; see [`Table::prefetch`](hashlane_table::Table::prefetch).
    pub bucket: B,
    /// Prefetches the first entry of a bucket; see
    /// [`Table::prefetch_entry`](hashlane_table::Table::prefetch_entry).
    pub entry: E,
}

impl<B: FnMut(u64), E: FnMut(u64)> Stage<Keys<'_>> for Prefetch<B, E> {
    #[inline(always)]
    fn run(&mut self, batch: &mut Keys<'_>) {
        batch.hashes().iter().for_each(|hash| (self.bucket)(*hash));
        batch.hashes().iter().for_each(|hash| (self.entry)(*hash));
    }
}
