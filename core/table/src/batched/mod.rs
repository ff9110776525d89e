//! Buckets of one cache line, and entries that never move: the shape for bursts, without stalls.
//!
//! A bucket is 64 bytes: eight tags of 16 bits, the places of the eight entries, and an overflow count of the
//! entries that found this bucket full. A find reads the cache line of a bucket and one entry, as a wrong
//! entry has the right tag only once in thousands. Both can be prefetched for a whole burst before the first
//! lookup. The entries have an array of their own, so that growing moves places of 4 bytes and no entry, and
//! a slot keeps its entry.
//!
//! An entry whose bucket is full goes to the next one of its probe sequence (triangular numbers), and each
//! bucket that it passed counts it; so a find ends at the first bucket whose count is 0, and a removal leaves
//! no tombstones. The counts are F14's (Bronson and Shi, "Open-sourcing F14 for faster, more memory-efficient
//! hash tables", 2019); buckets of tags and indices apart from the keys are DPDK's (`rte_hash`).
//!
//! The table doubles its buckets when six of eight positions are taken, in steps of bounded work, one for
//! each insertion: it clears 64 new buckets, or moves eight places, or frees a block of 4,096 old buckets
//! (compare the two tables of Redis's `dict`). Meanwhile a find that misses in the new buckets looks into the
//! old ones.

mod growth;

use crate::group::prefetch;
use crate::index::Index;
use crate::place::{Entry, Places};
use crate::table::{Inserted, Table};
use growth::Growth;

/// A table of one-line buckets.
#[derive(Clone, Debug)]
pub struct Batched<K, V> {
    index: Index,
    growth: Growth,
    entries: Places<Entry<K, V>>,
}

impl<K: Eq, V> Batched<K, V> {
    /// The slot of the entry with this hash that satisfies `is`, for callers that have a key in pieces or
    /// search for several keys. `is` gets the slot and the entry; it is called for each entry with this tag
    /// until it returns true.
    #[inline(always)]
    pub fn slot_by(&self, hash: u64, mut is: impl FnMut(u32, &K, &V) -> bool) -> Option<u32> {
        let mut at = |place| self.entries.at(place).is_some_and(|entry| is(place, &entry.key, &entry.value));
        match self.index.find(hash, &mut at) {
            Some(found) => Some(found.place),
            None => self.growth.find(hash, at).map(|found| found.place),
        }
    }

    /// The entry in a slot, with a mutable value.
    #[inline(always)]
    pub fn entry_mut(&mut self, slot: u32) -> Option<(&K, &mut V)> {
        self.entries.at_mut(slot).map(|entry| (&entry.key, &mut entry.value))
    }

    /// Removes the entry in `slot`, whose key has this hash.
    #[inline]
    pub fn remove_slot(&mut self, hash: u64, slot: u32) -> Option<(K, V)> {
        self.entries.at(slot)?;
        let is = |place| place == slot;
        if let Some(found) = self.index.find(hash, is) {
            self.index.remove(hash, found);
        } else {
            let found = self.growth.find(hash, is)?;
            self.growth.remove(hash, found);
        }
        self.entries.take(slot).map(|entry| (entry.key, entry.value))
    }
}

impl<K: Eq, V> Table<K, V> for Batched<K, V> {
    const SLOTS_STAY: bool = true;

    fn with_capacity(entries: usize) -> Self {
        Self {
            index: Index::with_capacity(entries),
            growth: Growth::None,
            entries: Places::with_capacity(entries),
        }
    }

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn memory(&self) -> usize {
        self.index.memory() + self.growth.memory() + self.entries.bytes()
    }

    fn slots(&self) -> usize {
        self.entries.bound()
    }

    #[inline(always)]
    fn find(&self, hash: u64, key: &K) -> Option<&V> {
        let slot = self.slot_by(hash, |_, other, _| other == key)?;
        self.entries.at(slot).map(|entry| &entry.value)
    }

    #[inline(always)]
    fn find_mut(&mut self, hash: u64, key: &K) -> Option<&mut V> {
        let slot = self.slot_by(hash, |_, other, _| other == key)?;
        self.entries.at_mut(slot).map(|entry| &mut entry.value)
    }

    #[inline(always)]
    fn entry(&self, slot: u32) -> Option<(&K, &V)> {
        self.entries.at(slot).map(|entry| (&entry.key, &entry.value))
    }

    #[inline]
    fn insert(&mut self, hash: u64, key: K, value: V, rehash: impl Fn(&K) -> u64) -> Inserted {
        if !matches!(self.growth, Growth::None) || self.len() >= self.index.capacity() {
            let key_of = |place| self.entries.at(place).map(|entry| rehash(&entry.key));
            self.growth.step(&mut self.index, self.entries.bound(), key_of);
        }
        let slot = self.entries.add(Entry { key, value });
        self.index.enter(hash, slot);
        Inserted { slot, moved: false }
    }

    fn remove(&mut self, hash: u64, key: &K) -> Option<V> {
        let slot = self.slot_by(hash, |_, other, _| other == key)?;
        self.remove_slot(hash, slot).map(|(_, value)| value)
    }

    #[inline(always)]
    fn prefetch(&self, hash: u64) {
        self.index.prefetch(hash);
        if let Some(old) = self.growth.old() {
            old.prefetch(hash);
        }
    }

    #[inline(always)]
    fn free_slot(&self, ahead: usize) -> Option<u32> {
        self.entries.free(ahead)
    }

    #[inline(always)]
    fn prefetch_slot(&self, slot: u32) {
        if let Some(entry) = self.entries.memory(slot) {
            prefetch(entry);
        }
    }

    #[inline(always)]
    fn prefetch_entry(&self, hash: u64) {
        let place = match (self.index.first_place(hash), self.growth.old()) {
            (None, Some(old)) => old.first_place(hash),
            (place, _) => place,
        };
        if let Some(place) = place {
            self.prefetch_slot(place);
        }
    }

    fn comparisons(&self, hash: u64, key: &K) -> usize {
        let mut keys = 0;
        self.slot_by(hash, |_, other, _| {
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
