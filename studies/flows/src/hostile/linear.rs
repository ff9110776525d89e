//! Collisions of a hash that is affine over GF(2): differences that it maps to 0, by elimination.

use hashlane_flow::ehash::TupleHash;
use hashlane_flow::tuple::Tuple;
use std::ops::Range;

/// The first `count` tuples that hash as [`Tuple::CHECK`] does, for every constant of an affine hash; they
/// differ from it only in `bytes`, at most 16 of them.
///
/// The hash is asked like a black box: for the tuple, and for the tuple with one bit changed. There are fewer
/// where the hash maps fewer differences to 0.
pub(crate) fn collisions<H: TupleHash>(hash: &H, bytes: Range<usize>, count: usize) -> Vec<Tuple> {
    let basis = kernel(|difference| hash.hash(&changed(&bytes, difference)), 8 * bytes.len());
    // Number i is the sum of those elements of the basis whose bit is set in i.
    let sum = |i: usize| {
        let chosen = basis.iter().enumerate().filter(|(bit, _)| i >> bit & 1 == 1);
        chosen.fold(0, |sum, (_, element)| sum ^ element)
    };
    let all = 1usize.checked_shl(basis.len() as u32).unwrap_or(usize::MAX);
    (0..count.min(all)).map(|i| changed(&bytes, sum(i))).collect()
}

/// [`Tuple::CHECK`] with the bits of `difference` changed in `bytes`.
fn changed(bytes: &Range<usize>, difference: u128) -> Tuple {
    let mut changed = *Tuple::CHECK.as_bytes();
    for (byte, by) in changed[bytes.clone()].iter_mut().zip(difference.to_le_bytes()) {
        *byte ^= by;
    }
    Tuple::from_bytes(&changed)
}

/// A basis of the differences of `bits` bits that an affine map takes to 0.
fn kernel(map: impl Fn(u128) -> u64, bits: usize) -> Vec<u128> {
    let constant = map(0);
    // Rows in echelon form: the image of a difference, led by its highest bit, and the difference.
    let mut rows: Vec<(u64, u128)> = Vec::new();
    let mut basis = Vec::new();
    for bit in 0..bits {
        let (mut image, mut difference) = (map(1 << bit) ^ constant, 1 << bit);
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
            let basis = kernel(map, columns.len());
            prop_assert!(basis.iter().all(|element| map(*element) == constant));
            // Rank and nullity are the number of columns; the rank is at most the width.
            prop_assert!(basis.len() >= columns.len() - width as usize);
            // No element is a sum of others: each brings in a highest bit of its own.
            let mut highest: Vec<u32> = basis.iter().map(|element| element.ilog2()).collect();
            highest.dedup();
            prop_assert_eq!(highest.len(), basis.len());
        }
    }
}
