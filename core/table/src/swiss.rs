//! Groups of 16 control bytes, and all entries in one array: the shape of Swiss tables.
//!
//! Each slot has a control byte: seven bits of the hash of its entry, or a mark for empty or deleted. A find
//! compares the 16 of a group at once and reads only entries whose seven bits match, mostly one; it ends at
//! the first group with an empty slot. Source: Abseil's "Swiss Tables Design Notes" (Benzaquen, Evlogimenos,
//! Kulukundis, Perepelitsa 2018), here with groups that start at multiples of 16.
//!
//! Removals leave deleted slots behind, so churn rebuilds the table from time to time: that insertion takes
//! time proportional to all entries, and the memory of two tables. Up to its capacity it is rebuilt at the
//! same size.

use crate::group::{Tags8, prefetch};
use crate::place::Entry;
use crate::table::{Inserted, Table};
use alloc::vec;
use alloc::vec::Vec;

/// A Swiss table.
#[derive(Clone, Debug)]
pub struct Swiss<K, V> {
    groups: Vec<Tags8>,
    /// `16 * g + p` belongs to position p of group g.
    entries: Vec<Option<Entry<K, V>>>,
    len: usize,
    /// Empty slots that may still be taken before the table is rebuilt.
    left: usize,
}

const WIDTH: usize = Tags8::WIDTH;

/// A slot that never had an entry since the table was made.
const EMPTY: u8 = 0xff;

/// A slot that had an entry, in a group that was full at some time: a find must probe past it.
const DELETED: u8 = 0x80;

#[inline(always)]
fn tag(hash: u64) -> u8 {
    (hash >> 57) as u8
}

/// The groups of a hash among `groups`, a power of two, in the order of the probe.
#[inline(always)]
fn probe(groups: usize, hash: u64) -> impl Iterator<Item = usize> {
    let mask = groups - 1;
    // Triangular numbers reach each group once in as many steps as there are groups.
    (0..groups).scan(hash as usize & mask, move |at, step| {
        *at = (*at + step) & mask;
        Some(*at)
    })
}

/// Maximum number of taken slots among `slots`: seven of eight.
fn most(slots: usize) -> usize {
    slots / 8 * 7
}

/// Number of entries below which a table of `slots` is rebuilt at the same size: seven of eight of those that
/// may be taken, so that an eighth of them is free for insertions before the next rebuild.
fn room(slots: usize) -> usize {
    most(slots) / 8 * 7
}

impl<K: Eq, V> Swiss<K, V> {
    fn with_groups(groups: usize) -> Self {
        let mut entries = Vec::new();
        entries.resize_with(groups * WIDTH, || None);
        Self { groups: vec![Tags8::all(EMPTY); groups], entries, len: 0, left: most(groups * WIDTH) }
    }

    /// The slot of the entry whose key satisfies `is`.
    #[inline(always)]
    fn slot(&self, hash: u64, mut is: impl FnMut(&K) -> bool) -> Option<usize> {
        for at in probe(self.groups.len(), hash) {
            let group = self.groups.get(at)?;
            for position in group.matching(tag(hash)) {
                let slot = WIDTH * at + position;
                if let Some(Some(entry)) = self.entries.get(slot)
                    && is(&entry.key)
                {
                    return Some(slot);
                }
            }
            if !group.matching(EMPTY).is_empty() {
                return None;
            }
        }
        None
    }

    /// Puts an entry, whose key is not in the table, into its first free slot.
    fn put(&mut self, hash: u64, entry: Entry<K, V>) -> u32 {
        for at in probe(self.groups.len(), hash) {
            let Some(group) = self.groups.get_mut(at) else { break };
            let empty = group.matching(EMPTY).next();
            let Some(position) = group.matching(DELETED).next().or(empty) else { continue };
            self.left -= usize::from(group.matching(DELETED).is_empty());
            group.set(position, tag(hash));
            let slot = WIDTH * at + position;
            if let Some(place) = self.entries.get_mut(slot) {
                *place = Some(entry);
            }
            self.len += 1;
            return slot as u32;
        }
        unreachable!("a table always has an empty slot")
    }

    /// Rebuilds the table without deleted slots: at the same size if it then has room, else at twice the
    /// size.
    ///
    /// # Panics
    /// The table would have more than 2³² slots.
    fn remake(&mut self, rehash: impl Fn(&K) -> u64) {
        let groups = self.groups.len();
        let groups = if self.len < room(groups * WIDTH) { groups } else { 2 * groups };
        assert!(groups * WIDTH <= 1 << 32, "a table has no more than 2^32 slots");
        let old = core::mem::replace(self, Self::with_groups(groups));
        for entry in old.entries.into_iter().flatten() {
            self.put(rehash(&entry.key), entry);
        }
    }
}

impl<K: Eq, V> Table<K, V> for Swiss<K, V> {
    const SLOTS_STAY: bool = false;

    fn with_capacity(entries: usize) -> Self {
        // Up to as many groups as there could be slots for; more than that would have no memory.
        let mut sizes = (0..usize::BITS - WIDTH.ilog2()).map(|bits| 1 << bits);
        Self::with_groups(sizes.find(|groups| room(groups * WIDTH) >= entries).unwrap_or(usize::MAX / WIDTH))
    }

    fn len(&self) -> usize {
        self.len
    }

    fn memory(&self) -> usize {
        self.groups.capacity() * size_of::<Tags8>()
            + self.entries.capacity() * size_of::<Option<Entry<K, V>>>()
    }

    fn slots(&self) -> usize {
        self.entries.len()
    }

    #[inline(always)]
    fn find(&self, hash: u64, key: &K) -> Option<&V> {
        for at in probe(self.groups.len(), hash) {
            let group = self.groups.get(at)?;
            for position in group.matching(tag(hash)) {
                let slot = WIDTH * at + position;
                if let Some(Some(entry)) = self.entries.get(slot)
                    && entry.key == *key
                {
                    return Some(&entry.value);
                }
            }
            if !group.matching(EMPTY).is_empty() {
                return None;
            }
        }
        None
    }

    #[inline(always)]
    fn find_mut(&mut self, hash: u64, key: &K) -> Option<&mut V> {
        let slot = self.slot(hash, |other| other == key)?;
        self.entries.get_mut(slot)?.as_mut().map(|entry| &mut entry.value)
    }

    #[inline(always)]
    fn entry(&self, slot: u32) -> Option<(&K, &V)> {
        let entry = self.entries.get(slot as usize)?.as_ref();
        entry.map(|entry| (&entry.key, &entry.value))
    }

    fn insert(&mut self, hash: u64, key: K, value: V, rehash: impl Fn(&K) -> u64) -> Inserted {
        let moved = self.left == 0;
        if moved {
            self.remake(rehash);
        }
        Inserted { slot: self.put(hash, Entry { key, value }), moved }
    }

    fn remove(&mut self, hash: u64, key: &K) -> Option<V> {
        let slot = self.slot(hash, |other| other == key)?;
        let group = self.groups.get_mut(slot / WIDTH)?;
        // If the group has an empty slot, no find ever probed past it since the table was made.
        if group.matching(EMPTY).is_empty() {
            group.set(slot % WIDTH, DELETED);
        } else {
            group.set(slot % WIDTH, EMPTY);
            self.left += 1;
        }
        self.len -= 1;
        self.entries.get_mut(slot)?.take().map(|entry| entry.value)
    }

    #[inline(always)]
    fn prefetch(&self, hash: u64) {
        if let Some(group) = self.groups.get(hash as usize & (self.groups.len() - 1)) {
            prefetch(group);
        }
    }

    #[inline(always)]
    fn prefetch_entry(&self, hash: u64) {
        let at = hash as usize & (self.groups.len() - 1);
        if let Some(group) = self.groups.get(at)
            && let Some(position) = group.matching(tag(hash)).next()
            && let Some(entry) = self.entries.get(WIDTH * at + position)
        {
            prefetch(entry);
        }
    }

    fn comparisons(&self, hash: u64, key: &K) -> usize {
        let mut keys = 0;
        self.slot(hash, |other| {
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
        let slots = (0..).zip(&self.entries);
        slots.filter_map(|(slot, entry)| entry.as_ref().map(|entry| (slot, &entry.key, &entry.value)))
    }
}
