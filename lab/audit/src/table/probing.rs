//! Counts of open addressing with linear probing.

use super::{Count, Counts, Geometry, MAX_BUCKETS};

/// Work with keys of these hashes. A larger table takes the entries in the order of their slots.
pub(super) fn count(geometry: &Geometry, hashes: &[u64]) -> Counts {
    let mut slots: Vec<Option<u64>> = vec![None; geometry.buckets];
    let mut counts = Counts::default();
    for (held, hash) in hashes.iter().enumerate() {
        if held >= geometry.capacity(slots.len()) {
            if geometry.grows_at.is_none() || slots.len() >= MAX_BUCKETS {
                break;
            }
            slots = doubled(geometry, &slots);
        }
        insert(geometry, &mut slots, *hash, &mut counts.insert);
    }
    for (slot, hash) in slots.iter().enumerate() {
        let Some(hash) = hash else { continue };
        let home = geometry.home(*hash, slots.len());
        let last = if slot >= home { slot - home } else { slot + slots.len() - home };
        for step in 0..=last {
            visit(geometry, slots[(home + step) % slots.len()], *hash, &mut counts.lookup);
        }
    }
    counts
}

/// Puts a hash into the first free slot from its home on.
fn insert(geometry: &Geometry, slots: &mut [Option<u64>], hash: u64, count: &mut Count) {
    let mut slot = geometry.home(hash, slots.len());
    while slots[slot].is_some() {
        visit(geometry, slots[slot], hash, count);
        slot = (slot + 1) % slots.len();
    }
    slots[slot] = Some(hash);
}

fn visit(geometry: &Geometry, entry: Option<u64>, hash: u64, count: &mut Count) {
    count.visited += 1;
    count.compared += u64::from(!geometry.stores_hash || entry == Some(hash));
}

fn doubled(geometry: &Geometry, slots: &[Option<u64>]) -> Vec<Option<u64>> {
    let mut larger = vec![None; 2 * slots.len()];
    for hash in slots.iter().flatten() {
        // Growing compares no keys.
        insert(geometry, &mut larger, *hash, &mut Count::default());
    }
    larger
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Geometry, Resolution};

    #[test]
    fn a_run_of_slots_is_walked_around_the_end() {
        let linear =
            Geometry::named().into_iter().find(|geometry| geometry.kind == Resolution::Linear).unwrap();
        let counts = count(&linear, &[15, 15, 31, 0, 7]);
        assert_eq!(counts.insert, Count { visited: 1 + 2 + 2, compared: 5 });
        assert_eq!(counts.lookup, Count { visited: 1 + 2 + 3 + 3 + 1, compared: 10 });
    }
}
