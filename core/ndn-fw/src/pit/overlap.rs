//! Counters that show whether Data which satisfies one entry can satisfy others: if not, a hit by token or
//! digest needs no walk over all prefixes.
//!
//! Each entry counts the other entries with its name, which have other selectors or hints. A table of
//! counters, indexed by name hash, counts the entries with CanBePrefix: most prefixes without an entry are
//! excluded by reading one counter. A counter that is too high costs time; none is ever too low.

use super::{Key, Pit};
use alloc::vec;
use alloc::vec::Vec;
use hashlane_ndn::invariant::Invariant as _;
use smallvec::SmallVec;

/// Least number of counters for each entry with CanBePrefix.
const CELLS_PER_ENTRY: usize = 4;

/// Counters of entries with CanBePrefix, by name hash.
#[derive(Clone, Debug, Default)]
pub(super) struct OverlapCounters {
    cells: Vec<u8>,
    /// Number of counted entries.
    prefixes: usize,
    /// Pairs of entries with the same name.
    pairs: usize,
}

impl OverlapCounters {
    /// Number of entries with CanBePrefix.
    #[inline(always)]
    pub(super) fn prefixes(&self) -> usize {
        self.prefixes
    }

    /// True if an entry with this many siblings is the only one of its name. `siblings` is called only if two
    /// entries share a name.
    #[inline(always)]
    pub(super) fn is_alone(&self, siblings: impl FnOnce() -> u32) -> bool {
        self.pairs == 0 || siblings() == 0
    }

    /// True if more than `own` entries with CanBePrefix may have a name with this hash.
    #[inline(always)]
    pub(super) fn more_than(&self, own: u32, hash: u64) -> bool {
        self.cells.get(self.at(hash)).is_none_or(|count| u32::from(*count) > own)
    }

    #[inline(always)]
    fn at(&self, hash: u64) -> usize {
        // Tables use the lowest and the highest bits.
        (hash >> 16) as usize & self.cells.len().wrapping_sub(1)
    }

    fn add(&mut self, hash: u64) {
        let at = self.at(hash);
        if let Some(count) = self.cells.get_mut(at).invariant("the number of counters is a power of two") {
            *count = count.saturating_add(1);
        }
    }

    /// Counts an entry with CanBePrefix and this name hash, which is already one of `all`.
    fn joins<'k>(&mut self, hash: u64, all: impl Iterator<Item = &'k Key>) {
        self.prefixes += 1;
        if CELLS_PER_ENTRY * self.prefixes > self.cells.len() {
            self.cells = vec![0; (2 * self.cells.len()).max(64)];
            all.filter(|key| key.can_be_prefix()).for_each(|key| self.add(key.name_hash()));
        } else {
            self.add(hash);
        }
    }

    /// Uncounts a removed entry.
    #[inline(always)]
    pub(super) fn leaves(&mut self, key: &Key) {
        if key.can_be_prefix() {
            self.prefixes -= 1;
            let at = self.at(key.name_hash());
            // A saturated counter no longer knows its count, and stays.
            let count = self.cells.get_mut(at).invariant("the number of counters is a power of two");
            if let Some(count) = count.filter(|count| **count != u8::MAX) {
                debug_assert!(*count > 0, "the entry was counted");
                *count = count.saturating_sub(1);
            }
        }
    }
}

/// Part of an index that uses these counters.
pub(super) trait Sibling {
    /// Number of other entries with the same name.
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

/// Counts an inserted entry.
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

/// Uncounts a removed entry that had `had` siblings.
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
