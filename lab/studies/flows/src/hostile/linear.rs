//! Collisions of a hash that is affine over GF(2): differences that it maps to 0, by elimination.

use hashlane_audit::attack::kernel;
use hashlane_flow::ehash::TupleHash;
use hashlane_flow::tuple::Tuple;
use std::ops::Range;

/// The first `count` tuples that hash as [`Tuple::CHECK`] does, for every constant of an affine hash; they
/// differ from it only in `bytes`, at most 16 of them.
///
/// The hash is asked like a black box: for the tuple, and for the tuple with one bit changed. There are fewer
/// where the hash maps fewer differences to 0.
pub(crate) fn collisions<H: TupleHash>(hash: &H, bytes: Range<usize>, count: usize) -> Vec<Tuple> {
    let differences = core::iter::once(0).chain((0..8 * bytes.len()).map(|bit| 1 << bit));
    let values: Vec<u64> = differences.map(|difference| hash.hash(&changed(&bytes, difference))).collect();
    let basis = kernel(&values);
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
