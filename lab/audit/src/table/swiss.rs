//! Counts of a Swiss table: groups of 16 slots, tags of 7 bits, triangular steps from group to group.
//!
//! Sources: the documentation of hashbrown 0.17 (`raw/mod.rs`, `control/tag.rs`) and "Swiss Tables Design
//! Notes" of Abseil.

use super::{Count, Counts, Geometry, MAX_BUCKETS};

/// Slots of a group.
const GROUP: usize = 16;

struct Table<'a> {
    geometry: &'a Geometry,
    upper_tag: bool,
    /// Hash of the entry in each slot.
    slots: Vec<Option<u64>>,
}

/// Work with keys of these hashes.
pub(super) fn count(geometry: &Geometry, upper_tag: bool, hashes: &[u64]) -> Counts {
    let of = |buckets| Table { geometry, upper_tag, slots: vec![None; buckets] };
    let mut table = of(geometry.buckets);
    let mut counts = Counts::default();
    for (held, hash) in hashes.iter().enumerate() {
        if held >= geometry.capacity(table.slots.len()) {
            if geometry.grows_at.is_none() || table.slots.len() >= MAX_BUCKETS {
                break;
            }
            let mut larger = of(2 * table.slots.len());
            for old in table.slots.iter().flatten() {
                larger.insert(*old, &mut Count::default());
            }
            table = larger;
        }
        table.insert(*hash, &mut counts.insert);
    }
    for (slot, hash) in table.slots.iter().enumerate() {
        if let Some(hash) = hash {
            table.walk(*hash, Some(slot), &mut counts.lookup);
        }
    }
    counts
}

impl Table<'_> {
    fn tag(&self, hash: u64) -> u64 {
        if self.upper_tag { hash >> (self.geometry.hash_bits - 7) } else { hash & 0x7f }
    }

    fn insert(&mut self, hash: u64, count: &mut Count) {
        if let Some(free) = self.walk(hash, None, count) {
            self.slots[free] = Some(hash);
        }
    }

    /// Walks the groups of `hash` to the entry in `slot`, or to the first free slot, which is returned.
    fn walk(&self, hash: u64, slot: Option<usize>, count: &mut Count) -> Option<usize> {
        let mask = self.slots.len() - 1;
        let tag = self.tag(hash);
        let mut start = self.geometry.home(hash, self.slots.len());
        for step in 1..=self.slots.len().div_ceil(GROUP) {
            count.visited += 1;
            let mut free = None;
            for at in (start..start + GROUP.min(self.slots.len())).map(|at| at & mask) {
                match self.slots[at] {
                    Some(entry) if self.tag(entry) == tag => {
                        count.compared += 1;
                        if slot == Some(at) {
                            return None;
                        }
                    }
                    Some(_) => {}
                    None => free = free.or(Some(at)),
                }
            }
            if free.is_some() {
                return free;
            }
            start = (start + step * GROUP) & mask;
        }
        debug_assert!(false, "a table below its load has a free slot in some group");
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_entries_of_the_same_tag_are_compared() {
        let hashbrown = Geometry::named().into_iter().find(|geometry| geometry.name == "hashbrown").unwrap();
        // One home group, 128 tags: 4 keys of each tag.
        let hashes: Vec<u64> = (0..512u64).map(|i| i << 57 | i >> 7 << 32).collect();
        let counts = count(&hashbrown, true, &hashes);
        assert_eq!(counts.lookup.compared, 128 * (1 + 2 + 3 + 4));
        // Groups of 16 fill one after the other.
        assert_eq!(counts.lookup.visited, (1..=32).map(|group| 16 * group).sum::<u64>());
    }
}
