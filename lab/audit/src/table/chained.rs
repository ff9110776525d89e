//! Counts of a table of chains: they follow from the lengths of the chains alone.

use super::{Count, Counts, Geometry, MAX_BUCKETS};
use std::collections::HashMap;

/// Work with keys of these hashes.
pub(super) fn count(geometry: &Geometry, hashes: &[u64]) -> Counts {
    let mut buckets = geometry.buckets;
    let mut lengths = vec![0u32; buckets];
    let mut equal: HashMap<u64, u64> = HashMap::new();
    let mut counts = Counts::default();
    for (held, hash) in hashes.iter().enumerate() {
        if held >= geometry.capacity(buckets) && buckets < MAX_BUCKETS {
            buckets *= 2;
            lengths = chains(geometry, buckets, &hashes[..held]);
        }
        let length = &mut lengths[geometry.home(*hash, buckets)];
        let same = equal.entry(*hash).or_default();
        add(&mut counts.insert, geometry, u64::from(*length), *same);
        *length += 1;
        *same += 1;
    }
    // The entry in place i of a chain is found at the i-th comparison, from 1.
    let triangle = |n: u64| n * (n + 1) / 2;
    let visited = lengths.iter().map(|length| triangle(u64::from(*length))).sum();
    let compared = equal.values().map(|same| triangle(*same)).sum();
    add(&mut counts.lookup, geometry, visited, compared);
    counts
}

/// Adds visits to a count, and as many comparisons, or fewer if only equal hashes lead to one.
fn add(count: &mut Count, geometry: &Geometry, visited: u64, of_equal_hash: u64) {
    count.visited += visited;
    count.compared += if geometry.stores_hash { of_equal_hash } else { visited };
}

/// Lengths of the chains.
fn chains(geometry: &Geometry, buckets: usize, hashes: &[u64]) -> Vec<u32> {
    let mut lengths = vec![0; buckets];
    for hash in hashes {
        lengths[geometry.home(*hash, buckets)] += 1;
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Index;
    use crate::table::Resolution;
    use proptest::prelude::*;

    /// Counts by walking real chains.
    fn naive(geometry: &Geometry, hashes: &[u64]) -> Counts {
        let mut table: Vec<Vec<u64>> = vec![Vec::new(); geometry.buckets];
        let mut counts = Counts::default();
        let walk = |chain: &[u64], hash: u64, count: &mut Count| {
            for entry in chain {
                count.visited += 1;
                count.compared += u64::from(!geometry.stores_hash || *entry == hash);
            }
        };
        for (held, hash) in hashes.iter().enumerate() {
            if held >= geometry.capacity(table.len()) {
                let mut larger = vec![Vec::new(); 2 * table.len()];
                for old in &hashes[..held] {
                    let home = geometry.home(*old, larger.len());
                    larger[home].push(*old);
                }
                table = larger;
            }
            let home = geometry.home(*hash, table.len());
            walk(&table[home], *hash, &mut counts.insert);
            table[home].push(*hash);
        }
        for chain in &table {
            for place in 1..=chain.len() {
                walk(&chain[..place], chain[place - 1], &mut counts.lookup);
            }
        }
        counts
    }

    proptest! {
        #[test]
        fn counts_are_those_of_walking(
            hashes in prop::collection::vec(0..200u64, 0..300),
            stores_hash: bool,
            grows: bool,
        ) {
            let geometry = Geometry {
                name: "test".to_owned(),
                kind: Resolution::Chained,
                buckets: 4,
                grows_at: grows.then_some(1.5),
                index: Index::Mask,
                hash_bits: 64,
                stores_hash,
                seed_bits: 128,
            };
            prop_assert_eq!(count(&geometry, &hashes), naive(&geometry, &hashes));
        }
    }
}
