//! PIT entries, common to all indexes: table, timers, counters.

use super::{Key, Records};
use crate::wheel::{Wheel, tick_of};
use alloc::boxed::Box;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::time::Time;
use hashlane_table::Table as _;
use hashlane_table::batched::Batched;

/// Part of an entry's key that the index computes, and that never changes.
pub trait Mark: Copy + PartialEq {
    /// Hash under which the table stores the entry.
    fn table_hash(&self, key: &Key) -> u64;
}

/// The table stores entries under the hashes of their names.
impl Mark for () {
    #[inline(always)]
    fn table_hash(&self, key: &Key) -> u64 {
        key.name_hash()
    }
}

/// Constant part of an entry.
#[derive(Clone, Debug)]
pub(super) struct EntryKey<M> {
    pub(super) key: Key,
    pub(super) mark: M,
}

// The table requires `Eq`; entries are found by parts of their key.
impl<M: Mark> PartialEq for EntryKey<M> {
    fn eq(&self, other: &Self) -> bool {
        self.mark == other.mark && self.key == other.key
    }
}

impl<M: Mark> Eq for EntryKey<M> {}

/// Variable part of an entry.
#[derive(Clone, Debug)]
pub(super) struct EntryValue<X> {
    pub(super) records: Records,
    pub(super) extra: X,
}

/// Bytes of memory of an entry without its Interest: its place in the table, its share of a bucket and of the
/// list of free places, its timer, its item in the account book, and the allocator's part.
pub const ENTRY_MEMORY: usize = size_of::<EntryKey<()>>() + size_of::<EntryValue<()>>() + 112;

/// Removed entry.
#[derive(Clone, Debug)]
pub struct Removed<M, X> {
    /// Key of the entry.
    pub key: Key,
    /// Records of the entry.
    pub records: Records,
    /// Mark of the entry.
    pub mark: M,
    /// Part of the index.
    pub extra: X,
}

/// Rule for the counters of lengths.
const LENGTHS: &str = "a name has at most MAX_COMPONENTS components";

/// PIT entries with marks `M` and the index's part `X`.
#[derive(Clone, Debug)]
pub struct Entries<M, X> {
    pub(super) table: Batched<EntryKey<M>, EntryValue<X>>,
    wheel: Wheel,
    /// Number of entries with CanBePrefix, by the length of their names.
    pub(super) prefixes: Box<[u32; hashlane_name::MAX_COMPONENTS + 1]>,
    /// Longest name that an entry with CanBePrefix has had.
    pub(super) longest_prefix: usize,
    /// Number of entries whose names end with an implicit digest.
    pub(super) digests: usize,
}

impl<M: Mark, X> Default for Entries<M, X> {
    fn default() -> Self {
        Self {
            table: Batched::with_capacity(0),
            wheel: Wheel::default(),
            prefixes: Box::new([0; hashlane_name::MAX_COMPONENTS + 1]),
            longest_prefix: 0,
            digests: 0,
        }
    }
}

impl<M: Mark, X> Entries<M, X> {
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Inserts an entry that expires at `expires`.
    #[inline(always)]
    pub(super) fn insert(&mut self, key: Key, mark: M, extra: X, expires: Time) -> u32 {
        if key.can_be_prefix() {
            self.longest_prefix = self.longest_prefix.max(key.name_len());
            if let Some(entries) = self.prefixes.get_mut(key.name_len()).invariant(LENGTHS) {
                *entries += 1;
            }
        }
        self.digests += usize::from(key.has_digest());
        let stored = EntryValue { records: Records { expires, ..Records::default() }, extra };
        let hash = mark.table_hash(&key);
        let slot = self
            .table
            .insert(hash, EntryKey { key, mark }, stored, |kept| kept.mark.table_hash(&kept.key))
            .slot;
        self.wheel.set(slot, tick_of(expires));
        slot
    }

    #[inline(always)]
    pub(super) fn entry(&self, slot: u32) -> Option<(&Key, &Records)> {
        self.table.entry(slot).map(|(kept, stored)| (&kept.key, &stored.records))
    }

    #[inline(always)]
    pub(super) fn entry_mut(&mut self, slot: u32) -> Option<(&Key, &mut Records)> {
        self.table.entry_mut(slot).map(|(kept, stored)| (&kept.key, &mut stored.records))
    }

    /// Part of the index in the entry of a slot.
    #[inline(always)]
    pub(super) fn extra_mut(&mut self, slot: u32) -> Option<&mut X> {
        self.table.entry_mut(slot).map(|(_, stored)| &mut stored.extra)
    }

    #[inline(always)]
    pub(super) fn expire_at(&mut self, slot: u32, expires: Time) {
        if let Some((_, stored)) = self.table.entry_mut(slot).invariant("the caller found the entry") {
            stored.records.expires = expires;
            self.wheel.set(slot, tick_of(expires));
        }
    }

    #[inline(always)]
    pub(super) fn remove(&mut self, slot: u32) -> Option<Removed<M, X>> {
        let (kept, _) = self.table.entry(slot)?;
        let hash = kept.mark.table_hash(&kept.key);
        let (EntryKey { key, mark }, EntryValue { records, extra }) =
            self.table.remove_slot(hash, slot).invariant("the entry was found")?;
        self.wheel.stop(slot);
        if key.can_be_prefix()
            && let Some(entries) = self.prefixes.get_mut(key.name_len()).invariant(LENGTHS)
        {
            *entries -= 1;
        }
        self.digests -= usize::from(key.has_digest());
        Some(Removed { key, records, mark, extra })
    }

    /// Gives back the memory of the table, which is empty.
    pub(super) fn reset(&mut self) {
        debug_assert!(self.table.is_empty(), "all entries have been removed");
        self.table = Batched::with_capacity(0);
        self.wheel.reset();
        self.longest_prefix = 0;
    }

    #[inline(always)]
    pub(super) fn pop_expired(&mut self, now: Time) -> Option<u32> {
        while let Some(slot) = self.wheel.pop_due(now.millis()) {
            let entry = self.table.entry(slot).invariant("a removed entry has no timer");
            let Some((_, stored)) = entry else { continue };
            if stored.records.expires <= now {
                return Some(slot);
            }
            let due = tick_of(stored.records.expires);
            self.wheel.set(slot, due);
        }
        None
    }

    /// Visits the entries whose names have this hash until `is` returns true. Valid for a table indexed by
    /// name.
    #[inline(always)]
    pub(super) fn find_by_hash(
        &self,
        hash: u64,
        mut is: impl FnMut(u32, &Key, &Records) -> bool,
    ) -> Option<u32> {
        self.table.slot_by(hash, |slot, kept, stored| {
            kept.key.name_hash() == hash && is(slot, &kept.key, &stored.records)
        })
    }

    /// Number of slots used so far.
    pub(super) fn slots(&self) -> usize {
        self.wheel.slots()
    }

    pub(super) fn next_expiry(&self) -> Option<Time> {
        self.wheel.next_due().map(Time::from_millis)
    }

    pub(super) fn timer_visits(&self) -> u64 {
        self.wheel.timer_visits()
    }

    pub(super) fn memory(&self) -> usize {
        let entries =
            self.table.iter().map(|(_, kept, stored)| kept.key.packet().len() + stored.records.memory());
        self.table.memory() + self.wheel.memory() + size_of_val(&*self.prefixes) + entries.sum::<usize>()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Key, &Records)> {
        self.table.iter().map(|(slot, kept, stored)| (slot, &kept.key, &stored.records))
    }
}
