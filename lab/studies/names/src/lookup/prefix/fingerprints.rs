//! Fingerprints of 16 bits before the entries: all lengths are looked up in a small array first.
//!
//! A bucket of one cache line has 31 fingerprints and a count of those that found it full, which counts as
//! every fingerprint. The array has 2 to 4 bytes a prefix and may stay in the cache; lengths that it
//! excludes cost no read of the table. It takes hash bits that the table does not: a false hit is 1 in about
//! 3,000 a length.

use super::stored::{Counts, Stored};
use super::{BURST, HashedName, Hasher, LongestPrefix};
use crate::lookup::strings::Strings;

/// Fingerprints of a bucket.
const WIDTH: usize = 31;

/// Fingerprints of a bucket on average, at most.
const MOST_IN_BUCKET: usize = 20;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Bucket {
    /// 0 in a free place.
    fingerprints: [u16; WIDTH],
    /// Fingerprints that found this bucket full.
    beyond: u16,
}

impl Bucket {
    const EMPTY: Self = Self { fingerprints: [0; WIDTH], beyond: 0 };

    /// Places of a fingerprint, a bit each.
    #[inline(always)]
    fn places(&self, fingerprint: u16) -> u32 {
        let matches = self.fingerprints.iter().enumerate();
        matches.fold(0, |places, (at, other)| places | u32::from(*other == fingerprint) << at)
    }
}

pub(super) struct Fingerprints {
    buckets: Vec<Bucket>,
    table: Stored<u32>,
    lengths: Counts,
    len: usize,
}

/// Bits 32 to 47 of a hash, never 0: the table takes the others.
#[inline(always)]
fn fingerprint(hash: u64) -> u16 {
    ((hash >> 32) as u16).max(1)
}

impl Fingerprints {
    #[inline(always)]
    fn bucket_of(&self, hash: u64) -> usize {
        // The number of buckets is a power of two.
        (hash >> 8) as u32 as usize & (self.buckets.len() - 1)
    }

    #[inline(always)]
    fn may_have(&self, hash: u64) -> bool {
        let bucket = self.buckets.get(self.bucket_of(hash));
        bucket.is_some_and(|bucket| bucket.beyond > 0 || bucket.places(fingerprint(hash)) != 0)
    }

    fn mark(&mut self, hash: u64) {
        let at = self.bucket_of(hash);
        let Some(bucket) = self.buckets.get_mut(at) else { return };
        match bucket.fingerprints.iter_mut().find(|other| **other == 0) {
            Some(place) => *place = fingerprint(hash),
            None => bucket.beyond = bucket.beyond.saturating_add(1),
        }
    }

    fn unmark(&mut self, hash: u64) {
        let at = self.bucket_of(hash);
        let Some(bucket) = self.buckets.get_mut(at) else { return };
        match bucket.fingerprints.iter_mut().find(|other| **other == fingerprint(hash)) {
            Some(place) => *place = 0,
            // A full count has lost count, and stays.
            None if bucket.beyond < u16::MAX => bucket.beyond = bucket.beyond.saturating_sub(1),
            None => {}
        }
    }

    fn grow(&mut self) {
        self.buckets = vec![Bucket::EMPTY; 2 * self.buckets.len()];
        let hashes: Vec<u64> = self.table.iter().map(|(_, prefix, _)| prefix.hash).collect();
        hashes.into_iter().for_each(|hash| self.mark(hash));
    }
}

impl LongestPrefix for Fingerprints {
    fn build(prefixes: &Strings, hasher: &mut Hasher) -> Self {
        let buckets = prefixes.len().div_ceil(MOST_IN_BUCKET).next_power_of_two();
        let (buckets, table) = (vec![Bucket::EMPTY; buckets], Stored::with_capacity(prefixes.len()));
        let mut table = Self { buckets, table, lengths: Counts::new(), len: 0 };
        super::insert_all(&mut table, prefixes, hasher);
        table
    }

    fn insert(&mut self, name: &HashedName<'_>, value: u32) -> Option<u32> {
        let len = name.len();
        if let Some(old) = self.table.slot(name, len).and_then(|slot| self.table.at_mut(slot)) {
            return Some(core::mem::replace(old, value));
        }
        if self.len >= MOST_IN_BUCKET * self.buckets.len() {
            self.grow();
        }
        self.len += 1;
        self.mark(name.hash());
        self.lengths.add(len);
        self.table.add(name, len, value);
        None
    }

    fn remove(&mut self, name: &HashedName<'_>) -> Option<u32> {
        let slot = self.table.slot(name, name.len())?;
        self.len -= 1;
        self.unmark(name.hash());
        self.lengths.subtract(name.len());
        self.table.take(name.hash(), slot)
    }

    #[inline(always)]
    fn longest(&self, names: &[HashedName<'_>], found: &mut [Option<u32>]) {
        for name in names {
            for len in self.lengths.from(name.len()) {
                if let Some(bucket) = self.buckets.get(self.bucket_of(name.prefix(len))) {
                    hashlane_table::prefetch(bucket);
                }
            }
        }
        // The longest length that is left, plus 1; 0 without any.
        let mut left = [0; BURST];
        for (name, left) in names.iter().zip(&mut left) {
            let len = self.lengths.from(name.len()).find(|len| self.may_have(name.prefix(*len)));
            *left = len.map_or(0, |len| len + 1);
            len.into_iter().for_each(|len| self.table.prefetch(name.prefix(len)));
        }
        let lengths = |left: usize| left.checked_sub(1);
        for (name, left) in names.iter().zip(left) {
            lengths(left).into_iter().for_each(|len| self.table.prefetch_entry(name.prefix(len)));
        }
        for (name, left) in names.iter().zip(left) {
            lengths(left).map(|len| self.table.prefetch_components(name.prefix(len)));
        }
        for ((name, left), found) in names.iter().zip(left).zip(found) {
            *found = lengths(left).and_then(|longest| {
                let mut lengths = self.lengths.from(longest);
                lengths.find_map(|len| {
                    let is_candidate = len == longest || self.may_have(name.prefix(len));
                    is_candidate.then(|| self.table.value(name, len).copied()).flatten()
                })
            });
        }
    }

    fn memory(&self) -> usize {
        self.table.memory() + size_of::<Bucket>() * self.buckets.capacity()
    }
}
