//! Numbers of names by their hashes while a tree grows.
//!
//! A line of the cache has twelve slots, each with the number of a name and 8 bits of its hash. A name is in
//! the first line from its own on that had a free slot. The [index](hashlane_table::index) of a finished zone
//! has lines that are less full and wider tags, so that a query compares few names. Here lines are many only
//! when all else is in memory, too: they take 6.4 to 12.8 bytes for each name, six tenths of such an index.

use super::names::NameId;
use super::room::enter_all;
use alloc::vec;
use alloc::vec::Vec;
use hashlane_table::prefetch;

/// Slots of a line.
const SLOTS: usize = 12;

/// Slots of a line that are taken on average at most.
const MOST: usize = 10;

/// Lines of an empty tree.
const FEW: usize = 64;

/// Slots that are filled from the first on.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line {
    /// 0 of a free slot, and beyond the last one.
    tags: [u8; 16],
    ids: [u32; SLOTS],
}

impl Line {
    const EMPTY: Self = Self { tags: [0; 16], ids: [0; SLOTS] };

    /// The slots with a tag: the highest bit of the byte of each.
    #[inline(always)]
    fn matching(&self, tag: u8) -> u128 {
        const LOW: u128 = u128::from_ne_bytes([0x7f; 16]);
        let differ = u128::from_le_bytes(self.tags) ^ u128::from_ne_bytes([tag; 16]);
        // No sum exceeds its byte.
        !(((differ & LOW) + LOW) | differ | LOW)
    }

    /// The name in the first of these slots.
    #[inline(always)]
    fn first(&self, slots: u128) -> Option<NameId> {
        self.ids.get(slots.trailing_zeros() as usize / 8).map(|id| NameId(*id))
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.tags.get(SLOTS - 1).is_none_or(|tag| *tag != 0)
    }

    /// Fills the first free slot, if there is one.
    #[inline(always)]
    fn put(&mut self, tag: u8, id: NameId) {
        let free = self.matching(0).trailing_zeros() as usize / 8;
        if let (Some(slot), Some(place)) = (self.ids.get_mut(free), self.tags.get_mut(free)) {
            (*slot, *place) = (id.0, tag);
        }
    }
}

/// The tag of a hash: its lowest bits, never 0. Its line depends on the highest ones.
#[inline(always)]
fn tag(hash: u32) -> u8 {
    (hash as u8).max(1)
}

/// The slots of all names.
pub(super) struct Slots {
    lines: Vec<Line>,
}

impl Default for Slots {
    fn default() -> Self {
        Self { lines: vec![Line::EMPTY; FEW] }
    }
}

impl Slots {
    /// Number of names that have room; with more, there must be [more lines](Self::grow).
    pub(super) fn capacity(&self) -> usize {
        self.lines.len() * MOST
    }

    /// Takes twice as many lines. `names` are all that were entered, and those that follow.
    pub(super) fn grow(&mut self, names: impl Iterator<Item = (u32, NameId)>) {
        let lines = 2 * self.lines.len();
        // No line stays while the others are made.
        self.lines = Vec::new();
        self.lines = vec![Line::EMPTY; lines];
        let prefetch = |slots: &Self, (hash, _)| slots.prefetch(hash);
        enter_all(self, names, prefetch, |slots, (hash, id)| slots.enter(hash, id));
    }

    /// The line of a hash.
    #[inline(always)]
    fn line(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.lines.len() as u64) >> 32) as usize
    }

    /// The first name that may have a hash, and satisfies `is`.
    #[inline(always)]
    pub(super) fn find(&self, hash: u32, mut is: impl FnMut(NameId) -> bool) -> Option<NameId> {
        let (before, after) = self.lines.split_at_checked(self.line(hash))?;
        for line in after.iter().chain(before) {
            let mut slots = line.matching(tag(hash));
            while let Some(id) = line.first(slots) {
                if is(id) {
                    return Some(id);
                }
                slots &= slots.wrapping_sub(1);
            }
            if !line.is_full() {
                return None;
            }
        }
        None
    }

    /// Enters a name. Callers stay within [`capacity`](Self::capacity).
    #[inline]
    pub(super) fn enter(&mut self, hash: u32, id: NameId) {
        let line = self.line(hash);
        let Some((before, after)) = self.lines.split_at_mut_checked(line) else { return };
        let free = after.iter_mut().chain(before).find(|line| !line.is_full());
        debug_assert!(free.is_some(), "no line has a free slot");
        if let Some(line) = free {
            line.put(tag(hash), id);
        }
    }

    /// Prefetches the line of a hash.
    #[inline(always)]
    pub(super) fn prefetch(&self, hash: u32) {
        if let Some(line) = self.lines.get(self.line(hash)) {
            prefetch(line);
        }
    }

    /// The first name in the line of a hash that may have it.
    #[inline(always)]
    pub(super) fn first(&self, hash: u32) -> Option<NameId> {
        let line = self.lines.get(self.line(hash))?;
        line.first(line.matching(tag(hash)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of both kinds, and their hashes.
    fn names(count: u32, spread: u32) -> impl Iterator<Item = (u32, NameId)> + Clone {
        (0..count).map(move |number| {
            let id = if number % 3 == 0 { NameId::bare(number / 3) } else { NameId(number) };
            (number.wrapping_mul(spread), id)
        })
    }

    #[test]
    fn each_name_is_found_by_its_hash_after_each_growth() {
        // Spread over the lines; all in the last lines, so that they go on with the first; all tags equal.
        for spread in [0x9e37_79b1, u32::MAX, 1 << 20] {
            let mut slots = Slots::default();
            for (number, (hash, id)) in names(3000, spread).enumerate() {
                if number == slots.capacity() {
                    slots.grow(names(number as u32 + 1, spread));
                } else {
                    slots.enter(hash, id);
                }
            }
            assert!(slots.capacity() >= 3000 && slots.capacity() < 6000);
            for (hash, id) in names(3000, spread) {
                assert_eq!(slots.find(hash, |found| found == id), Some(id));
                assert_eq!(slots.find(hash, |_| false), None);
            }
        }
    }

    #[test]
    fn few_names_are_offered_that_do_not_have_the_hash() {
        let mut slots = Slots::default();
        names(600, 0x9e37_79b1).for_each(|(hash, id)| slots.enter(hash, id));
        let mut offered = 0;
        for number in 600..100_000_u32 {
            let found = slots.find(number.wrapping_mul(0x9e37_79b1), |_| {
                offered += 1;
                false
            });
            assert!(found.is_none());
        }
        assert!(offered < 10_000, "{offered} of 99,400");
    }
}
