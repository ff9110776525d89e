//! Groups of rules by the hash of the suffix that they share: buckets of one cache line, and the groups one
//! after the other.
//!
//! The buckets are as in `hashlane_table::index`, for a table that is built at once: ten places for eight,
//! nine of ten taken for six of eight, and any number of buckets for a power of two.

use crate::groups::{Group, Groups, Receiver, Suffix};
use crate::reversed::Reversed;
use alloc::vec;
use alloc::vec::Vec;
use bytemuck::{Pod, Zeroable};

/// Places of a bucket.
const WIDTH: usize = 10;

/// Tags of a word.
const TAGS: usize = 4;

/// A bucket. Its places are tags of 16 bits and offsets of groups.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Bucket {
    /// Tags, the first in the lowest bits, 0 in a free place; in the last two, which have no place, 1 if
    /// groups passed this bucket because it was full.
    tags: [u64; 3],
    offsets: [u32; WIDTH],
}

/// The bits of the last word without a tag.
const PASSED: u64 = 1 << 32;

impl Bucket {
    /// Puts a group into a free place. `false` without a free place.
    fn put(&mut self, tag: u64, offset: u32) -> bool {
        let free = (0..WIDTH).find(|place| self.tags[place / TAGS] >> (16 * (place % TAGS)) & 0xffff == 0);
        match free {
            Some(place) => {
                self.tags[place / TAGS] |= tag << (16 * (place % TAGS));
                self.offsets[place] = offset;
            }
            None => self.tags[2] |= PASSED,
        }
        free.is_some()
    }

    #[inline(always)]
    const fn is_passed(&self) -> bool {
        self.tags[2] & PASSED != 0
    }

    /// The places with a tag.
    #[inline(always)]
    fn matching(&self, tag: u64) -> Matching {
        const HIGH: u64 = 0x8000_8000_8000_8000;
        // The high bit of each tag that is equal.
        let equal = |word: u64| {
            let other = word ^ tag.wrapping_mul(0x0001_0001_0001_0001);
            !(((other & !HIGH) + !HIGH) | other) & HIGH
        };
        let [first, second, third] = self.tags;
        let third = equal(third) & (HIGH >> 32);
        Matching(equal(first) >> 15 | equal(second) >> 14 | third >> 13)
    }
}

/// Places of a bucket: bit 16 · i + w for tag i of word w.
struct Matching(u64);

impl Matching {
    /// The first place; without any, the first of the bucket.
    #[inline(always)]
    const fn first(&self) -> usize {
        let bit = self.0.trailing_zeros() as usize % 64;
        TAGS * (bit % 16) + bit / 16
    }
}

/// The answer of the first bucket of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate(u32);

impl Candidate {
    /// The largest offset of a group.
    pub(crate) const MOST: u32 = u32::MAX - 2;
    /// No group has the hash.
    pub(crate) const NONE: Self = Self(u32::MAX);
    /// A group in another bucket may.
    const ELSEWHERE: Self = Self(u32::MAX - 1);
}

/// Groups by the hash of their suffix. It never changes.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) buckets: Vec<Bucket>,
    pub(crate) groups: Groups,
}

/// The tag of a hash: its upper bits, never 0.
#[inline(always)]
const fn tag(hash: u64) -> u64 {
    hash >> 48 | 1
}

impl Table {
    /// A table of groups, given the hash of their suffix and their offset.
    pub(crate) fn new(groups: Groups, places: &[(u64, u32)]) -> Self {
        // Eight of ten places are taken on average, so that a place is always found.
        let buckets = places.len().div_ceil(8).max(1);
        let mut table = Self { buckets: vec![Bucket::zeroed(); buckets], groups };
        places.iter().for_each(|(hash, offset)| table.add(*hash, *offset));
        table
    }

    #[inline(always)]
    fn first(&self, hash: u64) -> usize {
        (((hash & 0xffff_ffff) * self.buckets.len() as u64) >> 32) as usize
    }

    /// The bucket after one that is full.
    #[inline(always)]
    fn after(&self, bucket: usize) -> usize {
        if bucket + 1 < self.buckets.len() { bucket + 1 } else { 0 }
    }

    fn add(&mut self, hash: u64, offset: u32) {
        let mut at = self.first(hash);
        while let Some(bucket) = self.buckets.get_mut(at) {
            if bucket.put(tag(hash), offset) {
                break;
            }
            at = self.after(at);
        }
    }

    /// Passes the rules of a suffix, whose hash is given, that cover `name` to `to`: the number of their
    /// lists, and the bytes of their name. `None` if the suffix has no group.
    #[inline(always)]
    pub(crate) fn find(
        &self,
        hash: u64,
        name: &Reversed,
        suffix: Suffix,
        to: &mut impl Receiver,
    ) -> Option<Group> {
        self.find_candidate(self.candidate(hash), hash, name, suffix, to)
    }

    /// [`find`](Self::find), given the candidate of the hash.
    #[inline(always)]
    pub(crate) fn find_candidate(
        &self,
        candidate: Candidate,
        hash: u64,
        name: &Reversed,
        suffix: Suffix,
        to: &mut impl Receiver,
    ) -> Option<Group> {
        if candidate == Candidate::NONE {
            return None;
        }
        match self.groups.find(candidate.0, name, suffix, to) {
            None => self.find_all(hash, name, suffix, to),
            group => group,
        }
    }

    /// [`find`](Self::find) among all groups with the tag.
    #[cold]
    #[inline(never)]
    fn find_all(&self, hash: u64, name: &Reversed, suffix: Suffix, to: &mut impl Receiver) -> Option<Group> {
        let mut at = self.first(hash);
        for _ in 0..self.buckets.len() {
            let bucket = self.buckets.get(at)?;
            let mut places = bucket.matching(tag(hash));
            while places.0 != 0 {
                let offset = bucket.offsets.get(places.first());
                let group = offset.and_then(|at| self.groups.find(*at, name, suffix, to));
                if group.is_some() {
                    return group;
                }
                places.0 &= places.0 - 1;
            }
            if !bucket.is_passed() {
                break;
            }
            at = self.after(at);
        }
        None
    }

    /// Prefetches the bucket of a hash.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        if let Some(bucket) = self.buckets.get(self.first(hash)) {
            hashlane_table::prefetch(bucket);
        }
    }

    /// The group that a lookup reads first; its bucket should be in the cache.
    #[inline(always)]
    pub(crate) fn candidate(&self, hash: u64) -> Candidate {
        let Some(bucket) = self.buckets.get(self.first(hash)) else { return Candidate::NONE };
        let places = bucket.matching(tag(hash));
        let none = if bucket.is_passed() { Candidate::ELSEWHERE } else { Candidate::NONE };
        let offset = bucket.offsets.get(places.first()).copied().unwrap_or(0);
        if places.0 == 0 { none } else { Candidate(offset) }
    }

    /// Prefetches the group of a candidate.
    #[inline(always)]
    pub(crate) fn prefetch_group(&self, candidate: Candidate) {
        self.groups.prefetch(candidate.0);
    }

    /// Buckets that a lookup reads at most beyond its first one, but for those around the end.
    pub(crate) fn longest_run(&self) -> usize {
        let runs = self.buckets.chunk_by(|bucket, _| bucket.is_passed());
        runs.map(|run| run.len() - 1).max().unwrap_or(0)
    }

    /// Bytes of memory on the heap.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Bucket>() * self.buckets.capacity() + self.groups.memory()
    }
}
