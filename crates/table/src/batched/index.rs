//! The buckets of a table: from a hash to the places that may hold its entry.

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
    let mask = buckets - 1;
    // Triangular numbers reach each bucket once in as many steps as there are buckets.
    (0..buckets).scan(hash as usize & mask, move |at, step| {
        *at = (*at + step) & mask;
        Some(*at)
    })
}

/// Location of a place in an index.
#[derive(Clone, Copy)]
pub(super) struct Found {
    bucket: usize,
    position: usize,
    pub(super) place: u32,
}

/// Buckets, a power of two.
#[derive(Clone, Debug)]
pub(super) struct Index {
    buckets: Segments<Bucket>,
}

impl Index {
    /// Number of buckets for `entries`: at most six of eight positions are taken.
    fn buckets_for(entries: usize) -> usize {
        entries.div_ceil(MOST_IN_BUCKET).next_power_of_two()
    }

    /// An index of empty buckets for `entries`, in one block.
    pub(super) fn with_capacity(entries: usize) -> Self {
        let buckets = Self::buckets_for(entries);
        let mut index = Self { buckets: Segments::with_capacity(buckets) };
        index.extend(buckets);
        index
    }

    /// An index without buckets, which is of no use before it has been [extended](Self::extend).
    pub(super) fn without_buckets() -> Self {
        Self { buckets: Segments::with_capacity(0) }
    }

    /// Adds empty buckets.
    pub(super) fn extend(&mut self, buckets: usize) {
        for _ in 0..buckets {
            self.buckets.push(Bucket::EMPTY);
        }
    }

    /// Number of buckets.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.buckets.len()
    }

    /// Entries that it holds before it should grow.
    #[inline(always)]
    pub(super) fn capacity(&self) -> usize {
        MOST_IN_BUCKET * self.buckets.len()
    }

    /// Bytes of memory.
    pub(super) fn memory(&self) -> usize {
        self.buckets.memory()
    }

    /// Frees a part of the memory, and the buckets in it. Returns false if none was left.
    pub(super) fn drop_block(&mut self) -> bool {
        self.buckets.drop_block()
    }

    /// The first place of this hash that satisfies `is`, which is called for each place with this tag.
    #[inline(always)]
    pub(super) fn find(&self, hash: u64, mut is: impl FnMut(u32) -> bool) -> Option<Found> {
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

    /// Enters a place into the first bucket that has a free position.
    #[inline]
    pub(super) fn enter(&mut self, hash: u64, place: u32) {
        for at in probe(self.buckets.len(), hash) {
            let Some(bucket) = self.buckets.get_mut(at) else { return };
            if let Some(position) = bucket.tags.matching(0).next() {
                bucket.tags.set(position, tag(hash));
                bucket.places[position] = place;
                return;
            }
            bucket.passed = bucket.passed.saturating_add(1);
        }
    }

    /// Removes a place of this hash.
    #[inline]
    pub(super) fn remove(&mut self, hash: u64, found: Found) {
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
    pub(super) fn prefetch(&self, hash: u64) {
        if let Some(bucket) = self.first_bucket(hash) {
            prefetch(bucket);
        }
    }

    /// The first place in the first bucket of a hash that has its tag.
    #[inline(always)]
    pub(super) fn first_place(&self, hash: u64) -> Option<u32> {
        let bucket = self.first_bucket(hash)?;
        bucket.tags.matching(tag(hash)).next().map(|position| bucket.places[position])
    }
}
