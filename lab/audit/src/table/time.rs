//! Time of lookups in a real table.

use super::{Geometry, Resolution};
use crate::keys::Keys;
use core::hint::black_box;
use hashbrown::HashTable;
use hashlane_stats::{Interval, median_interval};
use std::time::Instant;

/// Rounds; both sets of keys are timed in each, so that drift of the clock reaches both.
const ROUNDS: usize = 15;

/// Keys that a round looks up, spread over the table.
const LOOKUPS: usize = 256;

/// A table of keys and their hashes.
enum Real<'a> {
    /// Chains, by the buckets of the geometry.
    Chained { geometry: &'a Geometry, chains: Vec<Vec<(u64, &'a [u8])>>, held: usize },
    /// The table of the crate hashbrown.
    Swiss(HashTable<(u64, &'a [u8])>),
}

impl<'a> Real<'a> {
    /// Table of these keys; `None` for a geometry that no real table stands for.
    fn new(geometry: &'a Geometry, keys: &'a Keys, hashes: &[u64]) -> Option<Self> {
        let entries = hashes.iter().copied().zip(keys.iter());
        match geometry.kind {
            Resolution::Chained => {
                let held = hashes.len();
                let mut chains = vec![Vec::new(); geometry.buckets_for(held)];
                entries.for_each(|entry| chains[geometry.bucket(entry.0, held)].push(entry));
                Some(Self::Chained { geometry, chains, held })
            }
            Resolution::Swiss { upper_tag: true } => {
                let mut table = HashTable::new();
                for entry in entries {
                    table.insert_unique(entry.0, entry, |entry| entry.0);
                }
                Some(Self::Swiss(table))
            }
            Resolution::Swiss { .. } | Resolution::Linear => None,
        }
    }

    fn find(&self, hash: u64, key: &[u8]) -> bool {
        match self {
            Self::Chained { geometry, chains, held } => {
                let chain = &chains[geometry.bucket(hash, *held)];
                chain.iter().any(|entry| (!geometry.stores_hash || entry.0 == hash) && entry.1 == key)
            }
            Self::Swiss(table) => table.find(hash, |entry| entry.1 == key).is_some(),
        }
    }

    /// Nanoseconds of one lookup, on average over [`LOOKUPS`] keys.
    fn nanoseconds(&self, keys: &Keys, hashes: &[u64]) -> f64 {
        let step = (hashes.len() / LOOKUPS).max(1);
        let start = Instant::now();
        let mut found = 0;
        for (key, hash) in keys.iter().zip(hashes).step_by(step) {
            found += usize::from(self.find(black_box(*hash), black_box(key)));
        }
        debug_assert_eq!(black_box(found), hashes.len().div_ceil(step));
        start.elapsed().as_nanos() as f64 / found.max(1) as f64
    }
}

/// Time of a lookup among `hostile` keys over that among `random` keys, as the median of rounds with its
/// interval; the hash itself is not timed. `None` for a geometry that no real table stands for.
pub fn slowdown(geometry: &Geometry, hostile: (&Keys, &[u64]), random: (&Keys, &[u64])) -> Option<Interval> {
    let [of, to] = [hostile, random].map(|(keys, hashes)| Real::new(geometry, keys, hashes));
    let (of, to) = (of?, to?);
    let ratios: Vec<f64> = (0..ROUNDS)
        .map(|_| of.nanoseconds(hostile.0, hostile.1) / to.nanoseconds(random.0, random.1).max(0.1))
        .collect();
    median_interval(&ratios)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Draw;

    #[test]
    fn tables_that_stand_for_a_geometry_are_timed() {
        let mut draw = Draw::new(3);
        let keys = draw.keys(2048, 36);
        let random: Vec<u64> = (0..keys.len()).map(|_| draw.word()).collect();
        for geometry in Geometry::named() {
            let ratio = slowdown(&geometry, (&keys, &vec![7; keys.len()]), (&keys, &random));
            match geometry.name.as_str() {
                "linear" | "swiss" => assert_eq!(ratio, None),
                name => assert!(ratio.is_some_and(|ratio| ratio.low > 0.0), "{name}: {ratio:?}"),
            }
        }
    }
}
