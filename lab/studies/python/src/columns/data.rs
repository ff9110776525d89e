//! Columns of strings of one length, the same here and in Python.

use hashlane_hash::scheme::{BytesHash as _, Key, Scheme as _};
use hashlane_hash::siphash::SipHash13;
use hashlane_lab::study::TurnError;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use std::fs;
use std::path::Path;

/// Rows of the columns that are hashed.
pub(super) const HASHED: usize = 1 << 20;

/// Rows of the column with repeated keys, and the number of keys that they are drawn from.
pub(super) const SKEWED: usize = 1 << 20;
const KEYS: u64 = 200_000;

/// Lengths of the strings that are hashed.
const WIDTHS: [usize; 2] = [12, 50];

/// Length of the keys that repeat.
const SKEWED_WIDTH: usize = 12;

/// Columns of strings, one after another.
pub(super) struct Columns {
    fixed: [Vec<u8>; 2],
    skewed: Vec<u8>,
}

impl Columns {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = SplitMix64::seed_from_u64(seed ^ 0x636f_6c75_6d6e_7321);
        let fixed = WIDTHS.map(|width| (0..HASHED * width).map(|_| printable(random.next_u64())).collect());
        let mut skewed = Vec::with_capacity(SKEWED * SKEWED_WIDTH);
        for _ in 0..SKEWED {
            // The cube of a uniform number: a few keys are frequent, most are rare.
            let uniform = random.next_u64() as f64 / 2f64.powi(64);
            let key = (uniform.powi(3) * KEYS as f64) as u64;
            let mut of_key = SplitMix64::seed_from_u64(key);
            skewed.extend((0..SKEWED_WIDTH).map(|_| printable(of_key.next_u64())));
        }
        Self { fixed, skewed }
    }

    /// Writes the columns.
    pub(super) fn write(&self, folder: &Path) -> Result<(), TurnError> {
        let write = |name: &str, bytes: &[u8]| {
            fs::write(folder.join(name), bytes).map_err(TurnError::io("cannot write the keys"))
        };
        for (width, bytes) in WIDTHS.iter().zip(&self.fixed) {
            write(&format!("fixed-{width}"), bytes)?;
        }
        write("skewed", &self.skewed)
    }

    /// Sum of hashes, modulo 2^64, that a scheme must have on a workload; `None` if it has others.
    pub(super) fn expected(&self, workload: &str, scheme: &str, key: &Key) -> Option<u64> {
        let is_ours = ["hashlane", "hashlane/polars", "hashlane/expression"].contains(&scheme);
        let at = WIDTHS.iter().position(|width| workload == format!("strings-{width}"));
        let at = at.filter(|_| is_ours)?;
        let (width, bytes) = (*WIDTHS.get(at)?, self.fixed.get(at)?);
        let hash = SipHash13::new(key);
        Some(bytes.chunks_exact(width).map(|string| hash.hash(string)).fold(0, u64::wrapping_add))
    }
}

/// A printable character without the space: 0x21 to 0x7e.
fn printable(random: u64) -> u8 {
    0x21 + (random % 94) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn a_few_keys_are_frequent_and_most_are_rare() {
        let mut counts = HashMap::new();
        for key in Columns::new(1).skewed.chunks_exact(SKEWED_WIDTH) {
            *counts.entry(key.to_vec()).or_insert(0) += 1;
        }
        let most = counts.values().max().copied().unwrap_or(0);
        assert!(counts.len() > 150_000, "{}", counts.len());
        assert!(most > SKEWED / 100, "{most}");
    }

    #[test]
    fn expects_the_hashes_of_the_crate_of_ours_alone() {
        let columns = Columns::new(1);
        let expected = |workload, scheme| columns.expected(workload, scheme, &Key::VECTOR);
        assert_eq!(expected("strings-12", "hashlane"), expected("strings-12", "hashlane/expression"));
        assert_ne!(expected("strings-12", "hashlane"), expected("strings-50", "hashlane"));
        assert!(expected("strings-50", "polars").is_none() && expected("heavy-12", "hashlane").is_none());
    }
}
