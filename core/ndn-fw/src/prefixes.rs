//! Values by name, found by exact match or by longest prefix match: the table behind the FIB and the strategy
//! choice table.
//!
//! A lookup probes from the longest length to the shortest, and skips lengths without entries. It takes the
//! prefix hashes that the decode stage computed, and reads bytes of the name only to confirm a match.

use crate::hashed::HashedName;
use alloc::boxed::Box;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_table::Table as _;
use hashlane_table::batched::Batched;

/// Rule for the counters of lengths.
const LENGTHS: &str = "a name has at most MAX_COMPONENTS components";

/// Slots up to which a table keeps its memory.
const KEPT_SLOTS: usize = 4096;

/// Slots for each entry from which a table is rebuilt with less memory. Few entries are moved then, so that a
/// removal takes a moment.
const SPARSE: usize = 16;

/// Table of values by name.
#[derive(Clone, Debug)]
pub struct Prefixes<V> {
    table: Batched<Prefix, V>,
    /// Number of entries of each length.
    lengths: Box<[u32; hashlane_name::MAX_COMPONENTS + 1]>,
    /// Longest length that an entry has had.
    longest: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Prefix {
    hash: u64,
    components: Box<[u8]>,
    len: u8,
}

impl<V> Default for Prefixes<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V> Prefixes<V> {
    /// Creates an empty table.
    pub fn new() -> Self {
        Self {
            table: Batched::with_capacity(0),
            lengths: Box::new([0; hashlane_name::MAX_COMPONENTS + 1]),
            longest: 0,
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// True if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Longest prefix match of `name`: number of components, and value.
    #[inline(always)]
    pub fn longest(&self, name: &HashedName<'_>) -> Option<(usize, &V)> {
        let slot = self.longest_slot(name)?;
        let (prefix, value) = self.table.entry(slot).invariant("the entry was found")?;
        Some((prefix.len.into(), value))
    }

    /// Longest prefix match of `name`: slot, and value to change. The slot is valid until a value is inserted
    /// or removed.
    #[inline(always)]
    pub(crate) fn longest_slot_mut(&mut self, name: &HashedName<'_>) -> Option<(u32, &mut V)> {
        let slot = self.longest_slot(name)?;
        Some((slot, self.at_mut(slot)?))
    }

    /// Value in a slot, to change it.
    #[inline(always)]
    pub(crate) fn at_mut(&mut self, slot: u32) -> Option<&mut V> {
        self.table.entry_mut(slot).map(|(_, value)| value)
    }

    /// Lengths that a lookup of `name` probes, longest first.
    #[inline(always)]
    fn probed(&self, name: &HashedName<'_>) -> impl Iterator<Item = usize> {
        let longest = name.len().min(self.longest);
        (0..=longest).rev().filter(|len| self.lengths.get(*len).is_some_and(|entries| *entries > 0))
    }

    /// Prefetches the buckets that a lookup of `name` may read.
    #[inline(always)]
    pub(crate) fn prefetch(&self, name: &HashedName<'_>) {
        self.probed(name).for_each(|len| self.table.prefetch(name.prefix(len)));
    }

    /// Prefetches the entries that a lookup of `name` may read; their buckets should be in the cache.
    #[inline(always)]
    pub(crate) fn prefetch_entries(&self, name: &HashedName<'_>) {
        self.probed(name).for_each(|len| self.table.prefetch_entry(name.prefix(len)));
    }

    /// Prefetches the components of the prefix that a lookup of `name` compares first; its entry should be in
    /// the cache.
    #[inline(always)]
    pub(crate) fn prefetch_components(&self, name: &HashedName<'_>) {
        let found = self.probed(name).find_map(|len| self.slot(name.prefix(len), |_| true));
        if let Some((prefix, _)) = found.and_then(|slot| self.table.entry(slot)) {
            hashlane_table::prefetch_bytes(&prefix.components);
        }
    }

    #[inline(always)]
    fn longest_slot(&self, name: &HashedName<'_>) -> Option<u32> {
        let mut len = name.len().min(self.longest);
        loop {
            if self.lengths.get(len).is_some_and(|entries| *entries > 0)
                && let Some(slot) = self.slot(name.prefix(len), |prefix| {
                    usize::from(prefix.len) == len && name.components.starts_with(&prefix.components)
                })
            {
                return Some(slot);
            }
            len = len.checked_sub(1)?;
        }
    }

    #[inline(always)]
    fn slot(&self, hash: u64, mut is: impl FnMut(&Prefix) -> bool) -> Option<u32> {
        self.table.slot_by(hash, |_, prefix, _| prefix.hash == hash && is(prefix))
    }

    fn exact(&self, name: &HashedName<'_>) -> Option<u32> {
        self.slot(name.hash(), |prefix| *prefix.components == *name.components)
    }

    /// Exact match of `name`.
    pub fn find_mut(&mut self, name: &HashedName<'_>) -> Option<&mut V> {
        let slot = self.exact(name)?;
        self.table.entry_mut(slot).map(|(_, value)| value)
    }

    /// Inserts the value of `name`; returns the previous one.
    pub fn insert(&mut self, name: &HashedName<'_>, value: V) -> Option<V> {
        if let Some(old) = self.find_mut(name) {
            return Some(core::mem::replace(old, value));
        }
        let len = name.len();
        let prefix = Prefix { hash: name.hash(), components: name.components.into(), len: len as u8 };
        self.table.insert(name.hash(), prefix, value, |prefix| prefix.hash);
        if let Some(entries) = self.lengths.get_mut(len).invariant(LENGTHS) {
            *entries += 1;
        }
        self.longest = self.longest.max(len);
        None
    }

    /// Removes the value of `name`.
    pub fn remove(&mut self, name: &HashedName<'_>) -> Option<V> {
        let slot = self.exact(name)?;
        let (_, value) = self.table.remove_slot(name.hash(), slot).invariant("the entry was found")?;
        if let Some(entries) = self.lengths.get_mut(name.len()).invariant(LENGTHS) {
            *entries -= 1;
        }
        if self.table.slots() > KEPT_SLOTS && self.len() * SPARSE <= self.table.slots() {
            self.rebuild();
        }
        Some(value)
    }

    /// Moves the entries to a table of their number, so that the memory of removed ones is freed.
    #[cold]
    fn rebuild(&mut self) {
        let fitting = Batched::with_capacity(self.table.len());
        let mut old = core::mem::replace(&mut self.table, fitting);
        for slot in 0..old.slots() as u32 {
            let hash = old.entry(slot).map(|(prefix, _)| prefix.hash);
            if let Some((prefix, value)) = hash.and_then(|hash| old.remove_slot(hash, slot)) {
                self.table.insert(prefix.hash, prefix, value, |prefix| prefix.hash);
            }
        }
    }

    /// All values, in any order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.table.iter().map(|(_, _, value)| value)
    }

    /// Memory of the table in bytes, reserve included, without memory that the values own. Visits each entry.
    pub fn memory(&self) -> usize {
        let names: usize = self.table.iter().map(|(_, prefix, _)| prefix.components.len()).sum();
        self.table.memory() + names + size_of_val(&*self.lengths)
    }
}
