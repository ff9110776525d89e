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
//! let mut index = Index::with_capacity(names.len());
//! for (place, name) in names.iter().enumerate() {
//!     index.enter(hash(name), place as u32);
//! }
//! let found = index.find(hash("net"), |place| names[place as usize] == "net");
//! assert_eq!(found.map(|found| found.place), Some(1));
//! ```

use crate::group::{Tags16 as Tags, prefetch};
use crate::segments::Segments;

/// Positions of a bucket that are taken on average when the table grows.
const MOST_IN_BUCKET: usize = 6;

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Bucket {
    /// 0 in a free place.
    tags: Tags,
    places: [u32; Tags::WIDTH],
    /// Entries that passed this bucket because it was full.
    passed: u32,
}

impl Bucket {
    const EMPTY: Self = Self { tags: Tags::all(0), places: [0; Tags::WIDTH], passed: 0 };
}

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
pub struct Index {
    buckets: Segments<Bucket>,
}

impl Index {
    /// Number of buckets for `entries`: at most six of eight positions are taken.
    fn buckets_for(entries: usize) -> usize {
        entries.div_ceil(MOST_IN_BUCKET).next_power_of_two()
    }

    /// An index of empty buckets for `entries`, in one block.
    pub fn with_capacity(entries: usize) -> Self {
        let buckets = Self::buckets_for(entries);
        let mut index = Self { buckets: Segments::with_capacity(buckets) };
        index.extend(buckets);
        index
    }

    /// An index without buckets, of no use before it has been [extended](Self::extend) to a power of two.
    pub fn without_buckets() -> Self {
        Self { buckets: Segments::with_capacity(0) }
    }

    /// Adds empty buckets to an index without entries. Their number is a power of two before the first entry.
    pub fn extend(&mut self, buckets: usize) {
        for _ in 0..buckets {
            self.buckets.push(Bucket::EMPTY);
        }
    }

    /// Number of buckets.
    #[inline(always)]
    pub fn buckets(&self) -> usize {
        self.buckets.len()
    }

    /// Number of entries up to which lookups stay short: six a bucket. A caller with more moves them to an
    /// index with more buckets; the limit is eight a bucket.
    #[inline(always)]
    pub fn capacity(&self) -> usize {
        MOST_IN_BUCKET * self.buckets.len()
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
            for position in bucket.tags.matching(tag(hash)) {
                let place = bucket.places[position];
                if is(place) {
                    return Some(Found { bucket: at, position, place });
                }
            }
            if bucket.passed == 0 {
                return None;
            }
        }
        None
    }

    /// Enters a place into the first bucket that has a free position. An index whose buckets are all full
    /// drops the place; callers stay within [`capacity`](Self::capacity).
    #[inline]
    pub fn enter(&mut self, hash: u64, place: u32) {
        for at in probe(self.buckets.len(), hash) {
            let Some(bucket) = self.buckets.get_mut(at) else { return };
            if let Some(position) = bucket.tags.matching(0).next() {
                bucket.tags.set(position, tag(hash));
                bucket.places[position] = place;
                return;
            }
            bucket.passed = bucket.passed.saturating_add(1);
        }
        debug_assert!(false, "no bucket has a free position");
    }

    /// Removes a place of this hash, which [`find`](Self::find) found.
    #[inline]
    pub fn remove(&mut self, hash: u64, found: Found) {
        for at in probe(self.buckets.len(), hash) {
            let Some(bucket) = self.buckets.get_mut(at) else { break };
            if at == found.bucket {
                bucket.tags.set(found.position, 0);
                break;
            }
            // A count that is full has lost count, and stays.
            if bucket.passed != u32::MAX {
                bucket.passed = bucket.passed.saturating_sub(1);
            }
        }
    }

    #[inline(always)]
    fn first_bucket(&self, hash: u64) -> Option<&Bucket> {
        self.buckets.get(hash as usize & self.buckets.len().wrapping_sub(1))
    }

    /// Prefetches the first bucket of a hash.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        if let Some(bucket) = self.first_bucket(hash) {
            prefetch(bucket);
        }
    }

    /// The first place in the first bucket of a hash that has its tag.
    #[inline(always)]
    pub fn first_place(&self, hash: u64) -> Option<u32> {
        let bucket = self.first_bucket(hash)?;
        bucket.tags.matching(tag(hash)).next().map(|position| bucket.places[position])
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

    #[test]
    fn offers_every_place_of_a_hash_until_one_satisfies() {
        let mut index = Index::with_capacity(200);
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
    fn loses_the_removed_place_and_no_other() {
        let mut index = Index::with_capacity(200);
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
    fn has_buckets_for_six_entries_each() {
        for (entries, buckets) in [(0, 1), (6, 1), (7, 2), (96, 16), (97, 32)] {
            let index = Index::with_capacity(entries);
            assert_eq!((index.buckets(), index.capacity()), (buckets, 6 * buckets));
            assert_eq!((index.find(1, |_| true).is_none(), index.first_place(1)), (true, None));
        }
        assert!(Index::without_buckets().find(1, |_| true).is_none());
    }
}
