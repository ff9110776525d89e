//! Whether Data that satisfies one entry may satisfy others: what lets a hit by token or digest go without the walk over all prefixes.
//!
//! Two things are counted. Each entry knows how many others have its name: other selectors, other hints. And for all entries that can be a
//! prefix there is an array of counters that the hash of their name picks from, so that a prefix that none of them has is mostly seen to be so by one
//! look at a few bytes. Where a counter says that there may be others, they are looked for; so a counter that is too high costs time, and one
//! is never too low.

use super::{Key, Pit};
use alloc::vec;
use alloc::vec::Vec;
use hashlane_ndn::invariant::Invariant as _;
use smallvec::SmallVec;

/// Counters for each entry that can be a prefix, at the least.
const CELLS_PER_ENTRY: usize = 4;

/// Counters of entries that can be a prefix, by the hashes of their names.
#[derive(Clone, Debug, Default)]
pub(super) struct OverlapCounters {
    cells: Vec<u8>,
    /// Entries that are counted.
    prefixes: usize,
    /// Pairs of entries of one name.
    pairs: usize,
}

impl OverlapCounters {
    /// How many entries can be a prefix.
    #[inline(always)]
    pub(super) fn prefixes(&self) -> usize {
        self.prefixes
    }

    /// Whether an entry that notes this is the only one of its name. What it notes is asked for only where any two have the same.
    #[inline(always)]
    pub(super) fn is_alone(&self, siblings: impl FnOnce() -> u32) -> bool {
        self.pairs == 0 || siblings() == 0
    }

    /// Whether more than `own` entries may have a name with this hash, and can be a prefix.
    #[inline(always)]
    pub(super) fn more_than(&self, own: u32, hash: u64) -> bool {
        self.cells.get(self.at(hash)).is_none_or(|count| u32::from(*count) > own)
    }

    #[inline(always)]
    fn at(&self, hash: u64) -> usize {
        // Tables take the lowest bits and the highest.
        (hash >> 16) as usize & self.cells.len().wrapping_sub(1)
    }

    fn add(&mut self, hash: u64) {
        let at = self.at(hash);
        if let Some(count) = self.cells.get_mut(at).invariant("the number of counters is a power of two") {
            *count = count.saturating_add(1);
        }
    }

    /// Counts an entry that can be a prefix, whose name has this hash, and which is one of `all` already.
    fn joins<'k>(&mut self, hash: u64, all: impl Iterator<Item = &'k Key>) {
        self.prefixes += 1;
        if CELLS_PER_ENTRY * self.prefixes > self.cells.len() {
            self.cells = vec![0; (2 * self.cells.len()).max(64)];
            all.filter(|key| key.can_be_prefix()).for_each(|key| self.add(key.name_hash()));
        } else {
            self.add(hash);
        }
    }

    /// Counts a key no more.
    #[inline(always)]
    pub(super) fn leaves(&mut self, key: &Key) {
        if key.can_be_prefix() {
            self.prefixes -= 1;
            let at = self.at(key.name_hash());
            // A counter that is full has lost count, and stays.
            let count = self.cells.get_mut(at).invariant("the number of counters is a power of two");
            if let Some(count) = count.filter(|count| **count != u8::MAX) {
                debug_assert!(*count > 0, "the entry was counted");
                *count = count.saturating_sub(1);
            }
        }
    }
}

/// What is noted of an entry by an index that goes without the walk.
pub(super) trait Sibling {
    /// How many others have its name.
    fn siblings(&mut self) -> &mut u32;
}

type Slots = SmallVec<[u32; 4]>;

fn siblings<P: Pit>(pit: &P, hash: u64, slot: u32) -> Slots {
    let mut same = Slots::new();
    pit.find_by_hash(hash, |other, _, _| {
        if other != slot {
            same.push(other);
        }
        false
    });
    same
}

/// Counts an entry that was just added.
#[inline(always)]
pub(super) fn join<P: Pit>(pit: &mut P, others: impl Fn(&mut P) -> &mut OverlapCounters, hash: u64, slot: u32)
where
    P::Extra: Sibling,
{
    let same = siblings(pit, hash, slot);
    for other in &same {
        if let Some(extra) = pit.entries_mut().extra_mut(*other).invariant("the walk found the entry") {
            *extra.siblings() += 1;
        }
    }
    if !same.is_empty()
        && let Some(extra) = pit.entries_mut().extra_mut(slot).invariant("the entry was inserted")
    {
        *extra.siblings() = same.len() as u32;
    }
    others(pit).pairs += same.len();
    if pit.entries().entry(slot).is_some_and(|(key, _)| key.can_be_prefix()) {
        let mut own = core::mem::take(others(pit));
        own.joins(hash, pit.entries().iter().map(|(_, key, _)| key));
        *others(pit) = own;
    }
}

/// Counts an entry no more that was just taken out, and had so many siblings.
#[inline(always)]
pub(super) fn leave<P: Pit>(
    pit: &mut P,
    others: impl Fn(&mut P) -> &mut OverlapCounters,
    hash: u64,
    slot: u32,
    had: u32,
) where
    P::Extra: Sibling,
{
    if had == 0 {
        return;
    }
    others(pit).pairs -= had as usize;
    for other in siblings(pit, hash, slot) {
        if let Some(extra) = pit.entries_mut().extra_mut(other).invariant("the walk found the entry") {
            let siblings = extra.siblings();
            debug_assert!(*siblings > 0, "each of two entries of one name counts the other");
            *siblings = siblings.saturating_sub(1);
        }
    }
}
