//! Buckets without keys: from a hash to the places that may hold its entry.
//!
//! An [`Index`] is the part of a table that lookups search first: 64-byte buckets of eight 16-bit tags and
//! eight places, `u32` numbers that mean something to the caller, such as positions in an array of entries.
//! It holds neither keys nor hashes: the caller compares the key at each place that [`find`](Index::find)
//! offers. The table [`batched`](crate::batched) is an index and an array of entries; data that have their
//! keys in another shape, such as a tree of names, use an index alone.
//!
//! ```
//! use hashlane_table::index::Index;
//!
//! let names = ["com", "net", "org"];
//! // A hash of the caller's choice.
//! let hash = |name: &str| u64::from(name.as_bytes()[0]) << 48;
//! let mut index: Index = Index::with_capacity(names.len());
//! for (place, name) in names.iter().enumerate() {
//!     index.enter(hash(name), place as u32);
//! }
//! let found = index.find(hash("net"), |place| names[place as usize] == "net");
//! assert_eq!(found.map(|found| found.place), Some(1));
//! ```

use crate::layout::{Bucket as _, Layout};

pub use crate::layout::{Apart, Together};

/// The tag of a hash: its upper bits, never 0.
#[inline(always)]
pub(crate) fn tag(hash: u64) -> u16 {
    (hash >> 48) as u16 | 1
}

/// The buckets of a hash among `buckets`, a power of two, in the order of the probe.
#[inline(always)]
pub(crate) fn probe(buckets: usize, hash: u64) -> impl Iterator<Item = usize> {
    let mask = buckets.wrapping_sub(1);
    // Triangular numbers reach each bucket once in as many steps as there are buckets.
    (0..buckets).scan(hash as usize & mask, move |at, step| {
        *at = (*at + step) & mask;
        Some(*at)
    })
}

/// Location of a place in an index, valid until the index changes.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    bucket: usize,
    position: usize,
    /// The place.
    pub place: u32,
}

/// Buckets of tags and places; their number is a power of two, and fixed while the index has entries.
#[derive(Clone, Debug)]
pub struct Index<L = Together> {
    buckets: L,
}

impl<L: Layout> Index<L> {
    /// Number of buckets for `entries`: at most `L::MOST` positions of each are taken on average.
    fn buckets_for(entries: usize) -> usize {
        entries.div_ceil(L::MOST).next_power_of_two()
    }

    /// An index of empty buckets for `entries`, in one block.
    pub fn with_capacity(entries: usize) -> Self {
        let buckets = Self::buckets_for(entries);
        let mut index = Self { buckets: L::with_capacity(buckets) };
        index.extend(buckets);
        index
    }

    /// An index without buckets, of no use before it has been [extended](Self::extend) to a power of two.
    pub fn without_buckets() -> Self {
        Self { buckets: L::with_capacity(0) }
    }

    /// Adds empty buckets to an index without entries. Their number is a power of two before the first entry.
    pub fn extend(&mut self, buckets: usize) {
        for _ in 0..buckets {
            self.buckets.push_empty();
        }
    }

    /// Number of buckets.
    #[inline(always)]
    pub fn buckets(&self) -> usize {
        self.buckets.len()
    }

    /// Number of entries up to which lookups stay short: six a bucket of eight, five of seven. A caller with
    /// more moves them to an index with more buckets; the limit is all positions.
    #[inline(always)]
    pub fn capacity(&self) -> usize {
        L::MOST * self.buckets.len()
    }

    /// Bytes of memory on the heap.
    pub fn memory(&self) -> usize {
        self.buckets.memory()
    }

    /// Frees a part of the memory, and the buckets in it. Returns false if none was left.
    pub fn drop_block(&mut self) -> bool {
        self.buckets.drop_block()
    }

    /// The first place of this hash that satisfies `is`, which is called for each place with this tag.
    #[inline(always)]
    pub fn find(&self, hash: u64, mut is: impl FnMut(u32) -> bool) -> Option<Found> {
        for at in probe(self.buckets.len(), hash) {
            let bucket = self.buckets.get(at)?;
            for position in bucket.matching(tag(hash)) {
                let place = bucket.place(position);
                if is(place) {
                    return Some(Found { bucket: at, position, place });
                }
            }
            if !bucket.is_passed() {
                return None;
            }
        }
        None
    }

    /// Enters a place into the first bucket that has a free position. An index whose buckets are all full
    /// drops the place; callers stay within [`capacity`](Self::capacity).
    #[inline]
    pub fn enter(&mut self, hash: u64, place: u32) {
        let entered = probe(self.buckets.len(), hash).any(|at| self.buckets.put(at, tag(hash), place));
        debug_assert!(entered, "no bucket has a free position");
    }

    /// Removes a place of this hash, which [`find`](Self::find) found.
    #[inline]
    pub fn remove(&mut self, hash: u64, found: Found) {
        for at in probe(self.buckets.len(), hash) {
            if at == found.bucket {
                self.buckets.clear(at, found.position);
                break;
            }
            self.buckets.leave(at);
        }
    }

    #[inline(always)]
    fn first(&self, hash: u64) -> usize {
        hash as usize & self.buckets.len().wrapping_sub(1)
    }

    /// Prefetches the tags of the first bucket of a hash.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        self.buckets.prefetch(self.first(hash));
    }

    /// The first place in the first bucket of a hash that has its tag.
    #[inline(always)]
    pub fn first_place(&self, hash: u64) -> Option<u32> {
        let bucket = self.buckets.get(self.first(hash))?;
        bucket.matching(tag(hash)).next().map(|position| bucket.place(position))
    }
}

impl Index<Apart> {
    /// Prefetches the tags and the places of the first bucket of a hash.
    #[inline(always)]
    pub fn prefetch_both(&self, hash: u64) {
        self.buckets.prefetch_places(self.first(hash));
        self.prefetch(hash);
    }

    /// True if the tag of this hash is in its buckets, so that [`find`](Self::find) reads a place. Prefetches
    /// that place.
    #[inline(always)]
    pub fn prefetch_place(&self, hash: u64) -> bool {
        for at in probe(self.buckets.len(), hash) {
            let Some(bucket) = self.buckets.get(at) else { return false };
            if !bucket.matching(tag(hash)).is_empty() {
                self.buckets.prefetch_places(at);
                return true;
            }
            if !bucket.is_passed() {
                return false;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Hashes whose first buckets are few, and whose tags are fewer.
    fn hash(key: u32) -> u64 {
        u64::from(key % 7) | u64::from(key % 5) << 48
    }

    fn offers_every_place<L: Layout>() {
        let mut index = Index::<L>::with_capacity(200);
        (0..200).for_each(|key| index.enter(hash(key), key));
        for key in 0..200 {
            let found = index.find(hash(key), |place| place == key).unwrap();
            assert_eq!(found.place, key);
        }
        let mut offered = Vec::new();
        assert!(
            index
                .find(hash(35), |place| {
                    offered.push(place);
                    false
                })
                .is_none()
        );
        assert!((0..200).filter(|key| hash(*key) == hash(35)).all(|key| offered.contains(&key)));
    }

    #[test]
    fn offers_every_place_of_a_hash_until_one_satisfies() {
        offers_every_place::<Together>();
        offers_every_place::<Apart>();
    }

    fn loses_the_removed_place<L: Layout>() {
        let mut index = Index::<L>::with_capacity(200);
        (0..200).for_each(|key| index.enter(hash(key), key));
        for key in (0..200).step_by(2) {
            let found = index.find(hash(key), |place| place == key).unwrap();
            index.remove(hash(key), found);
        }
        for key in 0..200 {
            let found = index.find(hash(key), |place| place == key);
            assert_eq!(found.map(|found| found.place), (key % 2 == 1).then_some(key));
        }
    }

    #[test]
    fn loses_the_removed_place_and_no_other() {
        loses_the_removed_place::<Together>();
        loses_the_removed_place::<Apart>();
    }

    fn has_buckets<L: Layout>(entries: usize, buckets: usize) {
        let index = Index::<L>::with_capacity(entries);
        assert_eq!((index.buckets(), index.capacity()), (buckets, L::MOST * buckets));
        assert_eq!((index.find(1, |_| true).is_none(), index.first_place(1)), (true, None));
        assert!(Index::<L>::without_buckets().find(1, |_| true).is_none());
    }

    #[test]
    fn has_buckets_for_six_entries_each_or_five() {
        for (entries, buckets) in [(0, 1), (6, 1), (7, 2), (96, 16), (97, 32)] {
            has_buckets::<Together>(entries, buckets);
        }
        for (entries, buckets) in [(0, 1), (5, 1), (6, 2), (80, 16), (81, 32)] {
            has_buckets::<Apart>(entries, buckets);
        }
    }

    #[test]
    fn prefetches_a_place_while_a_tag_is_there() {
        let mut index = Index::<Apart>::with_capacity(200);
        (0..200).for_each(|key| index.enter(hash(key), key));
        assert!((0..200).all(|key| index.prefetch_place(hash(key))));
        assert!(!index.prefetch_place(1 << 60));
        for key in 0..200 {
            let found = index.find(hash(key), |place| place == key).unwrap();
            index.remove(hash(key), found);
        }
        assert!((0..200).all(|key| !index.prefetch_place(hash(key))));
    }
}
