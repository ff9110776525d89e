//! The entries, whatever they are indexed by: in a table, on a wheel, and counted.

use super::{Key, Records};
use crate::wheel::{Wheel, tick_of};
use alloc::boxed::Box;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::time::Time;
use hashlane_table::Table as _;
use hashlane_table::batched::Batched;

/// What an index keeps of an Interest beside its [`Key`], and never changes.
pub trait Mark: Copy + PartialEq {
    /// The hash by which the table finds the entry.
    fn table_hash(&self, key: &Key) -> u64;
}

/// Nothing: the table is that of the names' hashes.
impl Mark for () {
    #[inline(always)]
    fn table_hash(&self, key: &Key) -> u64 {
        key.name_hash()
    }
}

/// Of an entry what does not change.
#[derive(Clone, Debug)]
pub(super) struct EntryKey<M> {
    pub(super) key: Key,
    pub(super) mark: M,
}

// Entries are found by their parts. This is what the table asks for.
impl<M: Mark> PartialEq for EntryKey<M> {
    fn eq(&self, other: &Self) -> bool {
        self.mark == other.mark && self.key == other.key
    }
}

impl<M: Mark> Eq for EntryKey<M> {}

/// Of an entry what changes.
#[derive(Clone, Debug)]
pub(super) struct EntryValue<X> {
    pub(super) records: Records,
    pub(super) extra: X,
}

/// An entry that was taken out.
#[derive(Clone, Debug)]
pub struct Removed<M, X> {
    /// What it was found by.
    pub key: Key,
    /// Its records.
    pub records: Records,
    /// What the index had of it.
    pub mark: M,
    /// What the index noted.
    pub extra: X,
}

/// Rule for the counters of lengths.
const LENGTHS: &str = "a name has at most MAX_COMPONENTS components";

/// Entries with the mark `M`, and what the index notes of each, `X`.
#[derive(Clone, Debug)]
pub struct Entries<M, X> {
    pub(super) table: Batched<EntryKey<M>, EntryValue<X>>,
    wheel: Wheel,
    /// Entries that can be a prefix, by components of their name.
    pub(super) prefixes: Box<[u32; hashlane_name::MAX_COMPONENTS + 1]>,
    /// The longest of those, as it has been.
    pub(super) longest_prefix: usize,
    /// Entries whose name ends with the digest of a whole packet.
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

    /// Adds an entry that ends at `expires`.
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

    /// What the index notes of the entry in a slot.
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

    /// Shows the entries whose name has this hash, until `is` says yes of one; of a table by name.
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
