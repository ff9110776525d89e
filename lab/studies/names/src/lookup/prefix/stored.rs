//! A table of prefixes by their hashes, compared by their bytes: the part that several designs share.

use super::HashedName;
use hashlane_name::MAX_COMPONENTS;
use hashlane_table::Table as _;
use hashlane_table::batched::Batched;

/// A prefix: its hash, its components, and how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    pub(super) hash: u64,
    pub(super) components: Box<[u8]>,
    pub(super) len: u8,
}

/// Prefixes with a value each.
#[derive(Clone, Debug)]
pub(super) struct Stored<T> {
    table: Batched<Prefix, T>,
    /// Bytes of all components.
    bytes: usize,
}

impl<T> Stored<T> {
    pub(super) fn with_capacity(prefixes: usize) -> Self {
        Self { table: Batched::with_capacity(prefixes), bytes: 0 }
    }

    /// Slot of the prefix with the first `len` components of a name.
    #[inline(always)]
    pub(super) fn slot(&self, name: &HashedName<'_>, len: usize) -> Option<u32> {
        let hash = name.prefix(len);
        self.table.slot_by(hash, |_, prefix, _| {
            prefix.hash == hash
                && usize::from(prefix.len) == len
                && name.components.starts_with(&prefix.components)
        })
    }

    /// Value of the prefix with the first `len` components of a name.
    #[inline(always)]
    pub(super) fn value(&self, name: &HashedName<'_>, len: usize) -> Option<&T> {
        self.table.entry(self.slot(name, len)?).map(|(_, value)| value)
    }

    /// Value in a slot, to change it.
    pub(super) fn at_mut(&mut self, slot: u32) -> Option<&mut T> {
        self.table.entry_mut(slot).map(|(_, value)| value)
    }

    /// Adds the prefix with the first `len` components of a name, which is not there.
    pub(super) fn add(&mut self, name: &HashedName<'_>, len: usize, value: T) {
        let (hash, components) = (name.prefix(len), Box::<[u8]>::from(name.first(len)));
        self.bytes += components.len();
        let prefix = Prefix { hash, components, len: len as u8 };
        self.table.insert(hash, prefix, value, |prefix| prefix.hash);
    }

    /// Removes the prefix in a slot, whose hash is given.
    pub(super) fn take(&mut self, hash: u64, slot: u32) -> Option<T> {
        let (prefix, value) = self.table.remove_slot(hash, slot)?;
        self.bytes -= prefix.components.len();
        Some(value)
    }

    /// All slots, prefixes and values.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Prefix, &T)> {
        self.table.iter()
    }

    pub(super) fn slots(&self) -> u32 {
        self.table.slots() as u32
    }

    /// Prefix and value in a slot, the latter to change it.
    pub(super) fn entry_mut(&mut self, slot: u32) -> Option<(&Prefix, &mut T)> {
        self.table.entry_mut(slot)
    }

    #[inline(always)]
    pub(super) fn prefetch(&self, hash: u64) {
        self.table.prefetch(hash);
    }

    #[inline(always)]
    pub(super) fn prefetch_entry(&self, hash: u64) {
        self.table.prefetch_entry(hash);
    }

    /// Prefetches the components that a lookup of this hash compares first; its entry should be in the cache.
    /// `false` if no entry has the hash.
    #[inline(always)]
    pub(super) fn prefetch_components(&self, hash: u64) -> bool {
        let slot = self.table.slot_by(hash, |_, prefix, _| prefix.hash == hash);
        let found = slot.and_then(|slot| self.table.entry(slot));
        if let Some((prefix, _)) = found {
            hashlane_table::prefetch_bytes(&prefix.components);
        }
        found.is_some()
    }

    pub(super) fn memory(&self) -> usize {
        self.table.memory() + self.bytes
    }
}

/// Number of prefixes of each length.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    counts: Box<[u32; MAX_COMPONENTS + 1]>,
    longest: usize,
}

impl Counts {
    pub(super) fn new() -> Self {
        Self { counts: Box::new([0; MAX_COMPONENTS + 1]), longest: 0 }
    }

    pub(super) fn add(&mut self, len: usize) {
        self.counts[len] += 1;
        self.longest = self.longest.max(len);
    }

    pub(super) fn subtract(&mut self, len: usize) {
        self.counts[len] -= 1;
    }

    /// Lengths of prefixes that a name of `len` components may have, longest first.
    #[inline(always)]
    pub(super) fn from(&self, len: usize) -> impl Iterator<Item = usize> + '_ {
        (0..=len.min(self.longest)).rev().filter(|len| self.counts[*len] > 0)
    }

    /// The length that half of the prefixes do not exceed.
    pub(super) fn median(&self) -> usize {
        let all: u64 = self.counts.iter().map(|count| u64::from(*count)).sum();
        let mut below = 0;
        let at = self.counts.iter().position(|count| {
            below += u64::from(*count);
            2 * below >= all
        });
        at.unwrap_or(0)
    }
}
