//! Buckets of one cache line, and entries that never move: the shape for bursts.
//!
//! A bucket is 64 bytes: eight tags of 16 bits, the places of the eight entries, and an overflow count of the
//! entries that found this bucket full. A find reads the cache line of a bucket and one entry, as a wrong
//! entry has the right tag only once in thousands. Both can be prefetched for a whole burst before the first
//! lookup. The entries have an array of their own, so that growing moves places of 4 bytes and no entry, and
//! a slot keeps its entry.
//!
//! An entry whose bucket is full goes to the next one of its probe sequence (triangular numbers), and each
//! bucket that it passed counts it; so a find ends at the first bucket whose count is 0, and a removal leaves
//! no tombstones. The counts are those of F14 (Bronson and Shi, "Open-sourcing F14 for faster, more
//! memory-efficient hash tables", 2019); buckets of tags and indices apart from the keys are DPDK's
//! (`rte_hash`).

use crate::group::{Tags16 as Tags, prefetch};
use crate::place::{Entry, Places};
use crate::table::{Inserted, Table};
use alloc::vec;
use alloc::vec::Vec;

/// A table of one-line buckets.
#[derive(Clone, Debug)]
pub struct Batched<K, V> {
    buckets: Vec<Bucket>,
    entries: Places<Entry<K, V>>,
}

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

/// Positions of a bucket that are taken on average when the table grows.
const MOST_IN_BUCKET: usize = 6;

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

/// Location of an entry: bucket, position and slot.
#[derive(Clone, Copy)]
struct Entered {
    bucket: usize,
    position: usize,
    place: u32,
}

impl<K: Eq, V> Batched<K, V> {
    /// Number of buckets for `entries`: at most six of eight positions are taken.
    fn buckets_for(entries: usize) -> usize {
        entries.div_ceil(MOST_IN_BUCKET).next_power_of_two()
    }

    /// The location of the entry whose key satisfies `is`.
    #[inline(always)]
    fn entered(&self, hash: u64, mut is: impl FnMut(&K) -> bool) -> Option<Entered> {
        for at in probe(self.buckets.len(), hash) {
            let bucket = self.buckets.get(at)?;
            for position in bucket.tags.matching(tag(hash)) {
                let place = bucket.places[position];
                if self.entries.at(place).is_some_and(|entry| is(&entry.key)) {
                    return Some(Entered { bucket: at, position, place });
                }
            }
            if bucket.passed == 0 {
                return None;
            }
        }
        None
    }

    /// Enters a place into the first bucket that has a free position.
    fn enter(buckets: &mut [Bucket], hash: u64, place: u32) {
        for at in probe(buckets.len(), hash) {
            let Some(bucket) = buckets.get_mut(at) else { return };
            if let Some(position) = bucket.tags.matching(0).next() {
                bucket.tags.set(position, tag(hash));
                bucket.places[position] = place;
                return;
            }
            bucket.passed = bucket.passed.saturating_add(1);
        }
    }

    /// The slot of the entry with this hash that satisfies `is`, for callers that have a key in pieces or
    /// search for several keys. `is` gets the slot and the entry; it is called for each entry with this tag
    /// until it returns true.
    #[inline(always)]
    pub fn slot_by(&self, hash: u64, is: impl FnMut(u32, &K, &V) -> bool) -> Option<u32> {
        let mut is = is;
        for at in probe(self.buckets.len(), hash) {
            let bucket = self.buckets.get(at)?;
            for position in bucket.tags.matching(tag(hash)) {
                let place = bucket.places[position];
                if let Some(entry) = self.entries.at(place)
                    && is(place, &entry.key, &entry.value)
                {
                    return Some(place);
                }
            }
            if bucket.passed == 0 {
                return None;
            }
        }
        None
    }

    /// Prefetches the entry in a slot.
    #[inline(always)]
    pub fn prefetch_slot(&self, slot: u32) {
        if let Some(entry) = self.entries.memory(slot) {
            prefetch(entry);
        }
    }

    /// The entry in a slot, with a mutable value.
    #[inline(always)]
    pub fn entry_mut(&mut self, slot: u32) -> Option<(&K, &mut V)> {
        self.entries.at_mut(slot).map(|entry| (&entry.key, &mut entry.value))
    }

    /// Removes the entry in `slot`, whose key has this hash.
    pub fn remove_slot(&mut self, hash: u64, slot: u32) -> Option<(K, V)> {
        for at in probe(self.buckets.len(), hash) {
            let bucket = self.buckets.get(at)?;
            let mut positions = bucket.tags.matching(tag(hash));
            if let Some(position) = positions.find(|position| bucket.places[*position] == slot) {
                let entered = Entered { bucket: at, position, place: slot };
                return self.withdraw(hash, entered).map(|entry| (entry.key, entry.value));
            }
            if bucket.passed == 0 {
                return None;
            }
        }
        None
    }

    /// Removes the entry at a location.
    fn withdraw(&mut self, hash: u64, entered: Entered) -> Option<Entry<K, V>> {
        for at in probe(self.buckets.len(), hash) {
            let Some(bucket) = self.buckets.get_mut(at) else { break };
            if at == entered.bucket {
                bucket.tags.set(entered.position, 0);
                break;
            }
            // A count that is full has lost count, and stays.
            if bucket.passed != u32::MAX {
                bucket.passed = bucket.passed.saturating_sub(1);
            }
        }
        self.entries.take(entered.place)
    }

    fn grow(&mut self, rehash: impl Fn(&K) -> u64) {
        self.buckets = vec![Bucket::EMPTY; 2 * self.buckets.len()];
        for (place, entry) in self.entries.iter() {
            Self::enter(&mut self.buckets, rehash(&entry.key), place);
        }
    }
}

impl<K: Eq, V> Table<K, V> for Batched<K, V> {
    const SLOTS_STAY: bool = true;

    fn with_capacity(entries: usize) -> Self {
        Self {
            buckets: vec![Bucket::EMPTY; Self::buckets_for(entries)],
            entries: Places::with_capacity(entries),
        }
    }

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn memory(&self) -> usize {
        self.buckets.capacity() * size_of::<Bucket>() + self.entries.bytes()
    }

    fn slots(&self) -> usize {
        self.entries.bound()
    }

    #[inline(always)]
    fn find(&self, hash: u64, key: &K) -> Option<&V> {
        for at in probe(self.buckets.len(), hash) {
            let bucket = self.buckets.get(at)?;
            for position in bucket.tags.matching(tag(hash)) {
                let place = bucket.places[position];
                if let Some(entry) = self.entries.at(place)
                    && entry.key == *key
                {
                    return Some(&entry.value);
                }
            }
            if bucket.passed == 0 {
                return None;
            }
        }
        None
    }

    #[inline(always)]
    fn find_mut(&mut self, hash: u64, key: &K) -> Option<&mut V> {
        let place = self.entered(hash, |other| other == key)?.place;
        self.entries.at_mut(place).map(|entry| &mut entry.value)
    }

    #[inline(always)]
    fn entry(&self, slot: u32) -> Option<(&K, &V)> {
        self.entries.at(slot).map(|entry| (&entry.key, &entry.value))
    }

    fn insert(&mut self, hash: u64, key: K, value: V, rehash: impl Fn(&K) -> u64) -> Inserted {
        if self.len() >= MOST_IN_BUCKET * self.buckets.len() {
            self.grow(rehash);
        }
        let slot = self.entries.add(Entry { key, value });
        Self::enter(&mut self.buckets, hash, slot);
        Inserted { slot, moved: false }
    }

    fn remove(&mut self, hash: u64, key: &K) -> Option<V> {
        let entered = self.entered(hash, |other| other == key)?;
        self.withdraw(hash, entered).map(|entry| entry.value)
    }

    #[inline(always)]
    fn prefetch(&self, hash: u64) {
        if let Some(bucket) = self.buckets.get(hash as usize & (self.buckets.len() - 1)) {
            prefetch(bucket);
        }
    }

    #[inline(always)]
    fn prefetch_entry(&self, hash: u64) {
        if let Some(bucket) = self.buckets.get(hash as usize & (self.buckets.len() - 1))
            && let Some(position) = bucket.tags.matching(tag(hash)).next()
            && let Some(entry) = self.entries.memory(bucket.places[position])
        {
            prefetch(entry);
        }
    }

    fn comparisons(&self, hash: u64, key: &K) -> usize {
        let mut keys = 0;
        self.entered(hash, |other| {
            keys += 1;
            other == key
        });
        keys
    }

    fn iter<'a>(&'a self) -> impl Iterator<Item = (u32, &'a K, &'a V)>
    where
        K: 'a,
        V: 'a,
    {
        self.entries.iter().map(|(at, entry)| (at, &entry.key, &entry.value))
    }
}
