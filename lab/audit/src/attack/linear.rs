//! Functions that are affine over GF(2): differences that they map to 0, by Gaussian elimination.

use super::{About, Attack, FEWEST, Knowledge, LONGER, Miss, Target, USUAL_LENGTH};
use crate::keys::Keys;

/// Bytes in which the keys differ, at the end of the key.
const WINDOW: usize = 16;

/// Triples of keys on which a function must be affine.
const TRIALS: usize = 16;

/// Differences that hold under every seed.
pub(super) struct Linear;

impl Attack for Linear {
    fn about(&self) -> About {
        About {
            id: "linear",
            title: "affine over GF(2), with differences that no seed changes",
            source: "CRC: Peterson and Brown, Proc. IRE 49, 1961; Toeplitz, published key: Microsoft, \
                     RSS hashing functions",
            knowledge: Knowledge::Nothing,
            aims_at: &["crc32c", "crc32c-shifted", "crc32c-masked", "ehash/toeplitz-published"],
        }
    }

    fn longer(&self) -> Option<usize> {
        Some(LONGER)
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        keys(target)
    }
}

/// Sums of learnt differences: the attacker has learnt a basis from the table's answers. The audit computes
/// it from the seed, in place of the attacker's clock; each of the 100 or so collisions costs him 2¹⁶ guesses
/// against a table of 2¹⁶ buckets.
pub(super) struct Learnt;

impl Attack for Learnt {
    fn about(&self) -> About {
        About {
            id: "linear-learnt",
            title: "affine over GF(2): two learnt collisions add up to a third",
            source: "Krawczyk, LFSR-based Hashing and Authentication, CRYPTO 1994; own run",
            knowledge: Knowledge::Results,
            aims_at: &["toeplitz"],
        }
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        keys(target)
    }
}

fn keys(target: &mut Target<'_>) -> Result<Keys, Miss> {
    let length = target.length_or(USUAL_LENGTH);
    if length == 0 {
        return Err(Miss::NotApplicable("its key is empty".to_owned()));
    }
    if !is_affine(target, length)? {
        return Err(Miss::NotApplicable("it is not affine over GF(2)".to_owned()));
    }
    let base = target.draw.bytes(length);
    let window = length.min(WINDOW);
    let changed = |difference: u128| {
        let mut bytes = base.clone();
        for (byte, by) in bytes[length - window..].iter_mut().zip(difference.to_le_bytes()) {
            *byte ^= by;
        }
        bytes
    };
    let probes: Keys = core::iter::once(0).chain((0..8 * window).map(|bit| 1 << bit)).map(changed).collect();
    let basis = kernel(&target.hash(&probes)?);
    let count = 1usize.checked_shl(basis.len() as u32).unwrap_or(usize::MAX).min(target.count);
    if count < FEWEST {
        return Err(Miss::NotApplicable("it maps too few differences to 0".to_owned()));
    }
    // Number i is the sum of those elements of the basis whose bit is set in i.
    let sum = |i: usize| {
        let chosen = (0..usize::BITS).zip(&basis).filter(|(bit, _)| i >> bit & 1 == 1);
        chosen.fold(0, |sum, (_, element)| sum ^ element)
    };
    target.colliding((0..count).map(|i| changed(sum(i))).collect())
}

/// True if the hash of the sum of three keys is the sum of their hashes, for many random keys.
fn is_affine(target: &mut Target<'_>, length: usize) -> Result<bool, Miss> {
    let mut keys = Keys::default();
    for _ in 0..TRIALS {
        let three = [(); 3].map(|()| target.draw.bytes(length));
        let sum: Vec<u8> = (0..length).map(|at| three[0][at] ^ three[1][at] ^ three[2][at]).collect();
        keys.extend(three);
        keys.push(&sum);
    }
    let hashes = target.hash(&keys)?;
    Ok(hashes.as_chunks::<4>().0.iter().all(|[a, b, c, sum]| a ^ b ^ c == *sum))
}

/// A basis of the differences that an affine map takes to 0, from its value at 0 and at each single bit.
pub fn kernel(values: &[u64]) -> Vec<u128> {
    let Some((constant, values)) = values.split_first() else { return Vec::new() };
    // Rows in echelon form: the image of a difference, led by its highest bit, and the difference.
    let mut rows: Vec<(u64, u128)> = Vec::new();
    let mut basis = Vec::new();
    for (bit, value) in values.iter().enumerate() {
        let (mut image, mut difference) = (value ^ constant, 1 << bit);
        for &(row, by) in &rows {
            // A row is taken away where its leading bit is set.
            if image ^ row < image {
                (image, difference) = (image ^ row, difference ^ by);
            }
        }
        if image == 0 {
            basis.push(difference);
        } else {
            rows.push((image, difference));
            rows.sort_by_key(|row| core::cmp::Reverse(row.0));
        }
    }
    basis
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_kernel_of_a_random_map_is_found(columns: [u64; 40], width in 1..30u32, constant: u64) {
            let map = |x: u128| {
                let chosen = columns.iter().enumerate().filter(|(bit, _)| x >> bit & 1 == 1);
                chosen.fold(constant, |sum, (_, column)| sum ^ (column >> (64 - width)))
            };
            let values: Vec<u64> =
                core::iter::once(0).chain((0..columns.len()).map(|bit| 1 << bit)).map(map).collect();
            let basis = kernel(&values);
            prop_assert!(basis.iter().all(|element| map(*element) == constant));
            // Rank and nullity are the number of columns; the rank is at most the width.
            prop_assert!(basis.len() >= columns.len() - width as usize);
            // No element is a sum of others: each has a different highest bit.
            let mut highest: Vec<u32> = basis.iter().map(|element| element.ilog2()).collect();
            highest.dedup();
            prop_assert_eq!(highest.len(), basis.len());
        }
    }
}
