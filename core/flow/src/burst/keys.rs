//! Keys with their hashes, and the stages that hash and prefetch them.

use super::BURST;
use crate::hashed::KeyHash;
use crate::tuple::Tuple;
use hashlane_table::stage::Stage;

/// Room for the hashes of a batch.
pub type Hashes = [u64; BURST];

/// A batch of keys, at most [`BURST`], and the hash of each once [`Hash`](struct@Hash) has run.
// Two slices and no array, so that their ends stay in registers while a stage writes the hashes.
#[derive(Debug)]
pub struct Keys<'t, K = Tuple> {
    keys: &'t [K],
    /// One for each key.
    hashes: &'t mut [u64],
}

impl<'t, K> Keys<'t, K> {
    /// A batch of the first [`BURST`] of `keys`, whose hashes go to `hashes`.
    #[inline(always)]
    pub fn new(keys: &'t [K], hashes: &'t mut Hashes) -> Self {
        let keys = keys.get(..BURST).unwrap_or(keys);
        Self { keys, hashes: hashes.get_mut(..keys.len()).unwrap_or_default() }
    }

    /// The keys.
    #[inline(always)]
    pub fn keys(&self) -> &'t [K] {
        self.keys
    }

    /// The hash of each key, 64 bits wide; valid after [`Hash`](struct@Hash).
    #[inline(always)]
    pub fn hashes(&self) -> &[u64] {
        self.hashes
    }
}

/// Stage: hashes all keys of a batch by [`KeyHash::hash_keys`].
#[derive(Debug)]
pub struct Hash<'a, H>(pub &'a H);

impl<K, H: KeyHash<K>> Stage<Keys<'_, K>> for Hash<'_, H> {
    #[inline(always)]
    fn run(&mut self, batch: &mut Keys<'_, K>) {
        self.0.hash_keys(batch.keys, batch.hashes);
    }
}

/// Stage: prefetches the buckets of all keys of a batch, then their entries, so that the cache misses of a
/// batch overlap.
#[derive(Debug)]
pub struct Prefetch<B, E> {
    /// Prefetches the bucket of a hash; see [`Table::prefetch`](hashlane_table::Table::prefetch).
    pub bucket: B,
    /// Prefetches the first entry of a bucket; see
    /// [`Table::prefetch_entry`](hashlane_table::Table::prefetch_entry).
    pub entry: E,
}

impl<K, B: FnMut(u64), E: FnMut(u64)> Stage<Keys<'_, K>> for Prefetch<B, E> {
    #[inline(always)]
    fn run(&mut self, batch: &mut Keys<'_, K>) {
        batch.hashes().iter().for_each(|hash| (self.bucket)(*hash));
        batch.hashes().iter().for_each(|hash| (self.entry)(*hash));
    }
}
