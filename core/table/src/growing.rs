//! Index that grows to twice its buckets in steps of bounded work, one for each entry.
//!
//! A step clears 64 new buckets, or moves eight places, or frees a block of 4,096 old buckets (compare the
//! two tables of Redis's `dict`). Meanwhile a lookup that misses in the new buckets looks into the old ones.
//!
//! ```
//! use hashlane_table::growing::Growing;
//!
//! // Hashes of the caller's choice.
//! let hashes: Vec<u64> = (0..1000_u64).map(|key| key.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
//! let mut index: Growing = Growing::with_capacity(0);
//! for (place, hash) in hashes.iter().enumerate() {
//!     let hash_at = |place| hashes.get(place as usize).copied();
//!     index.enter(*hash, place as u32, place + 1, place + 1, hash_at);
//! }
//! let found = index.find(hashes[700], |place| place == 700);
//! assert_eq!(found, Some(700));
//! ```

use crate::growth::Growth;
use crate::index::{Apart, Index, Together};
use crate::layout::Layout;

/// An [`Index`] and the state of its growth.
#[derive(Clone, Debug)]
pub struct Growing<L = Together> {
    index: Index<L>,
    growth: Growth<L>,
}

impl<L: Layout> Growing<L> {
    /// Creates an empty index with buckets for `entries`.
    pub fn with_capacity(entries: usize) -> Self {
        Self { index: Index::with_capacity(entries), growth: Growth::None }
    }

    /// Finds the first place of this hash that satisfies `is`, which is called for each place with this tag.
    #[inline(always)]
    pub fn find(&self, hash: u64, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        match self.index.find(hash, &mut is) {
            Some(found) => Some(found.place),
            None => self.growth.find(hash, is).map(|found| found.place),
        }
    }

    /// Enters a place, then takes a step of growth if one is due or under way. `entries` is the number of
    /// entries, this one included; all their places are below `places`. `hash_at` returns the hash of the
    /// entry at a place, if there is one.
    #[inline]
    pub fn enter(
        &mut self,
        hash: u64,
        place: u32,
        entries: usize,
        places: usize,
        hash_at: impl Fn(u32) -> Option<u64>,
    ) {
        self.index.enter(hash, place);
        // The place stands in the buckets before the step, so that the step does not enter it twice.
        if !matches!(self.growth, Growth::None) || entries > self.index.capacity() {
            self.growth.step(&mut self.index, places, hash_at);
        }
    }

    /// Removes a place of this hash. Returns false if the index does not have it.
    #[inline]
    pub fn remove(&mut self, hash: u64, place: u32) -> bool {
        let is = |other| other == place;
        if let Some(found) = self.index.find(hash, is) {
            self.index.remove(hash, found);
        } else if let Some(found) = self.growth.find(hash, is) {
            self.growth.remove(hash, found);
        } else {
            return false;
        }
        true
    }

    /// Prefetches the first bucket of a hash.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        self.index.prefetch(hash);
        if let Some(old) = self.growth.old() {
            old.prefetch(hash);
        }
    }

    /// Returns the first place in the first bucket of a hash that has its tag.
    #[inline(always)]
    pub fn first_place(&self, hash: u64) -> Option<u32> {
        match (self.index.first_place(hash), self.growth.old()) {
            (None, Some(old)) => old.first_place(hash),
            (place, _) => place,
        }
    }

    /// Bytes of memory on the heap.
    pub fn memory(&self) -> usize {
        self.index.memory() + self.growth.memory()
    }
}

impl Growing<Apart> {
    /// Prefetches the tags and the places of the first bucket of a hash, for a lookup that probably finds.
    #[inline(always)]
    pub fn prefetch_both(&self, hash: u64) {
        self.index.prefetch_both(hash);
    }

    /// True if the tag of this hash is in its buckets. Prefetches the place that [`find`](Self::find) reads
    /// then. The tags should be in the cache.
    #[inline(always)]
    pub fn prefetch_place(&self, hash: u64) -> bool {
        self.index.prefetch_place(hash) || self.growth.old().is_some_and(|old| old.prefetch_place(hash))
    }
}
