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
//! each insertion; see [`growing`](crate::growing).

use crate::group::prefetch;
use crate::growing::Growing;
use crate::place::{Entry, Places};
use crate::table::{Inserted, Table};

/// A table of one-line buckets.
#[derive(Clone, Debug)]
pub struct Batched<K, V> {
    index: Growing,
    entries: Places<Entry<K, V>>,
}

impl<K: Eq, V> Batched<K, V> {
    /// The slot of the entry with this hash that satisfies `is`, for callers that have a key in pieces or
    /// search for several keys. `is` gets the slot and the entry; it is called for each entry with this tag
    /// until it returns true.
    #[inline(always)]
    pub fn slot_by(&self, hash: u64, mut is: impl FnMut(u32, &K, &V) -> bool) -> Option<u32> {
        let at = |place| self.entries.at(place).is_some_and(|entry| is(place, &entry.key, &entry.value));
        self.index.find(hash, at)
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
        if !self.index.remove(hash, slot) {
            return None;
        }
        self.entries.take(slot).map(|entry| (entry.key, entry.value))
    }
}

impl<K: Eq, V> Table<K, V> for Batched<K, V> {
    const SLOTS_STAY: bool = true;

    fn with_capacity(entries: usize) -> Self {
        Self { index: Growing::with_capacity(entries), entries: Places::with_capacity(entries) }
    }

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn memory(&self) -> usize {
        self.index.memory() + self.entries.bytes()
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
        let slot = self.entries.add(Entry { key, value });
        let hash_at = |place| self.entries.at(place).map(|entry| rehash(&entry.key));
        self.index.enter(hash, slot, self.entries.len(), self.entries.bound(), hash_at);
        Inserted { slot, moved: false }
    }

    fn remove(&mut self, hash: u64, key: &K) -> Option<V> {
        let slot = self.slot_by(hash, |_, other, _| other == key)?;
        self.remove_slot(hash, slot).map(|(_, value)| value)
    }

    #[inline(always)]
    fn prefetch(&self, hash: u64) {
        self.index.prefetch(hash);
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
        if let Some(place) = self.index.first_place(hash) {
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
