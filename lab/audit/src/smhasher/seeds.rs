//! Seeds of simple patterns: hashes of the same keys under them, and under seeds that differ in one bit.

use super::Evidence;
use super::avalanche::{Flips, of_flips};
use super::collisions::{log_p_value, log_tail};
use crate::draw::Draw;
use crate::keys::Keys;
use crate::subject::{AuditedHash, Fault, Lengths};
use hashlane_hash::scheme::Key;
use std::collections::HashSet;

/// Seeds of a function: 64 bits, the first of its key, or all of a narrower seed. The rest of the key is
/// `base`'s.
pub(super) struct Seeds {
    /// Bits of a seed, at most 64.
    pub(super) bits: u32,
    /// Key under which the bits beyond the seed are fixed.
    pub(super) base: Key,
}

impl Seeds {
    fn key(&self, seed: u64) -> Key {
        let low = u128::from(seed) & (u128::MAX >> (128 - self.bits));
        let base = u128::from_le_bytes(self.base.to_bytes()) >> self.bits << self.bits;
        Key::new((base | low).to_le_bytes())
    }

    /// Seeds with 1 to `most` bits set.
    fn sparse(&self, most: u32) -> Vec<u64> {
        let (mut all, mut last) = (Vec::new(), vec![0]);
        for _ in 0..most {
            // The next bit is above those that are set.
            let from = |seed: &u64| 64 - seed.leading_zeros();
            last = last
                .iter()
                .flat_map(|seed| (from(seed)..self.bits).map(move |bit| seed | 1 << bit))
                .collect();
            all.extend_from_slice(&last);
        }
        all
    }

    /// Seeds with 1 to `most` bits set, and with as many cleared.
    fn sparse_and_dense(&self, most: u32) -> Vec<u64> {
        self.sparse(most).into_iter().flat_map(|seed| [seed, !seed]).collect()
    }
}

/// Bytes of the keys; a test takes the first ones.
const TEXT: &[u8; 36] = b"Five quacking zephyrs jolt a wax bed";

/// Seeds that count up, from 0 and in their upper half.
const COUNTED: u64 = 1 << 14;

/// Random seeds of the avalanche test.
const AVALANCHE_SEEDS: usize = 1 << 9;

/// Hashes of all `keys` under each seed in turn.
fn under_each(
    subject: &mut dyn AuditedHash,
    seeds: &Seeds,
    values: impl IntoIterator<Item = u64>,
    keys: &Keys,
) -> Result<Vec<u64>, Fault> {
    let (mut all, mut hashes) = (Vec::new(), Vec::new());
    for value in values {
        subject.hash_all(&seeds.key(value), keys, &mut hashes)?;
        all.extend_from_slice(&hashes);
    }
    Ok(all)
}

/// Every `of`-th hash from each of the first: the hashes of one key.
fn by_key(hashes: &[u64], of: usize) -> impl Iterator<Item = Vec<u64>> + '_ {
    (0..of).map(move |at| hashes.iter().skip(at).step_by(of).copied().collect())
}

/// Adds the p-values of all tests of seeds.
pub(super) fn run(
    subject: &mut dyn AuditedHash,
    seeds: &Seeds,
    draw: &mut Draw,
    evidence: &mut Evidence,
) -> Result<(), Fault> {
    let (width, lengths) = (subject.info().width, subject.info().lengths);
    let fits = |length: &usize| match lengths {
        Lengths::Any => true,
        Lengths::Exactly(exact) => *length == exact,
    };
    let texts: Keys = [3, 8, 16, 36].iter().filter(|length| fits(length)).map(|len| &TEXT[..*len]).collect();
    if texts.is_empty() {
        return Ok(());
    }

    let upper = (0..COUNTED).map(|number| number << (seeds.bits / 2));
    for values in [(0..COUNTED).collect::<Vec<_>>(), upper.collect()] {
        let hashes = under_each(subject, seeds, values, &texts)?;
        for mut hashes in by_key(&hashes, texts.len()) {
            evidence.add("Seed", [log_p_value(&mut hashes, width)]);
        }
    }

    let most = if seeds.bits > 32 { 3 } else { 4 };
    let hashes = under_each(subject, seeds, seeds.sparse(most), &texts)?;
    for mut hashes in by_key(&hashes, texts.len()) {
        evidence.add("SeedSparse", [log_p_value(&mut hashes, width)]);
    }

    let zeroes = [1, 2, 3, 4, 8, 12, 16, 17, 24, 32, 33, 36, 48, 64, 96, 128];
    let zeroes: Keys = zeroes.iter().filter(|length| fits(length)).map(|length| vec![0; *length]).collect();
    let mut hashes = under_each(subject, seeds, seeds.sparse_and_dense(2), &zeroes)?;
    evidence.add("SeedZeroes", [log_p_value(&mut hashes, width)]);

    // One bit of the key at any offset in keys of one length, and at one offset in keys of any length.
    for length in [8, 16, 31, 36].into_iter().filter(fits) {
        let keys: Keys = (0..8 * length).map(|bit| one_bit(length, bit)).collect();
        let mut hashes = under_each(subject, seeds, seeds.sparse(1), &keys)?;
        evidence.add("SeedBlockLen", [log_p_value(&mut hashes, width)]);
    }
    if lengths == Lengths::Any {
        for offset in [0, 3, 8] {
            let keys = (offset + 4..=offset + 24)
                .flat_map(|length| (8 * offset..8 * offset + 32).map(move |bit| one_bit(length, bit)));
            let keys: Keys = keys.collect();
            let mut hashes = under_each(subject, seeds, seeds.sparse(1), &keys)?;
            evidence.add("SeedBlockOffset", [log_p_value(&mut hashes, width)]);
        }
    }

    let neighbours = |seed: u64| (0..seeds.bits).map(move |bit| seed ^ 1 << bit);
    let values = (0..AVALANCHE_SEEDS).flat_map(|_| {
        let seed = draw.word();
        core::iter::once(seed).chain(neighbours(seed))
    });
    let values: Vec<u64> = values.collect();
    let hashes = under_each(subject, seeds, values, &texts)?;
    for hashes in by_key(&hashes, texts.len()) {
        evidence.add("SeedAvalanche", of_flips(&hashes, Flips { bits: seeds.bits as usize }, width));
    }
    bad_seeds(subject, seeds, fits, evidence)
}

fn one_bit(length: usize, bit: usize) -> Vec<u8> {
    let mut key = vec![0; length];
    key[bit / 8] |= 1 << (bit % 8);
    key
}

/// Seeds 0 and all ones, and those that differ from them in one bit: keys of one repeated byte that collide
/// under one of them, and hashes that are 0.
fn bad_seeds(
    subject: &mut dyn AuditedHash,
    seeds: &Seeds,
    fits: impl Fn(&usize) -> bool,
    evidence: &mut Evidence,
) -> Result<(), Fault> {
    let width = subject.info().width;
    let lengths = [1, 2, 3, 4, 8, 9, 16, 17, 32, 33, 36, 48, 64].into_iter().filter(fits);
    let keys = lengths.flat_map(|length| [0x00, 0x20, 0x7f, 0x80, 0xff].map(|byte| vec![byte; length]));
    let keys: Keys = keys.collect();
    let values: Vec<u64> = [0, u64::MAX].into_iter().chain(seeds.sparse_and_dense(1)).collect();
    let hashes = under_each(subject, seeds, values, &keys)?;
    let groups = hashes.chunks_exact(keys.len());
    let (tables, count) = (groups.len() as f64, keys.len() as f64);
    let repeated: usize = groups.map(|group| group.len() - group.iter().collect::<HashSet<_>>().len()).sum();
    let zeroes = hashes.iter().filter(|hash| **hash == 0).count();
    let chance = (-f64::from(width)).exp2();
    let mean = tables * count * (count - 1.0) / 2.0 * chance;
    evidence.add(
        "BadSeeds",
        [log_tail(repeated as f64, mean), log_tail(zeroes as f64, hashes.len() as f64 * chance)],
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_seeds_have_few_bits_and_keep_the_rest_of_the_key() {
        let seeds = Seeds { bits: 32, base: Key::new([7; 16]) };
        let sparse = seeds.sparse(3);
        assert_eq!(sparse.len(), 32 + 496 + 4960);
        assert_eq!(sparse.iter().collect::<HashSet<_>>().len(), sparse.len());
        assert!(sparse.iter().all(|seed| (1..=3).contains(&seed.count_ones()) && seed >> 32 == 0));
        let key = seeds.key(!1).to_bytes();
        assert_eq!(key[..4], [0xfe, 0xff, 0xff, 0xff]);
        assert_eq!(key[4..], [7; 12]);
        let wide = Seeds { bits: 64, base: Key::new([7; 16]) };
        assert_eq!(wide.key(1).to_bytes()[..9], [1, 0, 0, 0, 0, 0, 0, 0, 7]);
        assert_eq!(wide.sparse(2).len(), 64 + 2016);
    }
}
