//! Long names with the case of letters folded, and their hash, both in one pass that becomes vector
//! instructions.
//!
//! The hash of [`hashlane_hash::suffix`] gives every suffix of a name and takes 40 ns for 255 bytes. This one
//! gives the whole name alone, in 15 ns: most long names of a hostile message are whole names that it has.

use crate::slices::Parts as _;
use hashlane_hash::scheme::Key;
use hashlane_hash::suffix::MAX_LEN;
use hashlane_name::dns::Case;

/// Words of eight bytes that are folded and hashed at a time.
const LANES: usize = 4;

/// Bytes that are folded, hashed or compared at a time. A fixed number becomes vector instructions.
pub(super) const PART: usize = 8 * LANES;

/// Parts of the longest name.
const PARTS: usize = MAX_LEN / PART;

/// Purpose of the keys, for their derivation.
const PURPOSE: &[u8; 8] = b"dns-long";

/// A name with its letters folded, at the end of the array.
#[derive(Clone)]
pub(super) struct Folded {
    bytes: [u8; MAX_LEN],
    len: usize,
}

impl Folded {
    pub(super) const NONE: Self = Self { bytes: [0; MAX_LEN], len: 0 };

    /// The bytes of the name.
    #[inline(always)]
    pub(super) fn name(&self) -> &[u8] {
        self.bytes.part(MAX_LEN - self.len..)
    }

    /// The array; bytes before the name are unspecified.
    #[inline(always)]
    pub(super) const fn array(&self) -> &[u8; MAX_LEN] {
        &self.bytes
    }
}

/// Hash of whole names.
///
/// NH of Black, Halevi, Krawczyk, Krovetz and Rogaway (*UMAC: Fast and Secure Message Authentication*, CRYPTO
/// 1999, §4), over words from the end: two names of one length collide in its 64 bits with a probability of
/// 2⁻³². These bits and the length are hashed to 32 by a strongly universal hash of three characters, as in
/// [`hashlane_hash::multilinear`].
#[derive(Clone)]
pub(super) struct NameHash {
    /// Key words of the low and the high half of each word, from the last part on.
    keys: [[[u64; LANES]; 2]; PARTS],
    /// The initial value of the last sum, and the multipliers of the length and of both halves of the first.
    last: [u64; 4],
}

impl NameHash {
    pub(super) fn new(key: &Key) -> Self {
        let mut number = 0;
        let mut pair = || {
            let key = u128::from_le_bytes(key.derive(PURPOSE, number).to_bytes());
            number += 1;
            [key as u64, (key >> 64) as u64]
        };
        let keys = core::array::from_fn(|_| {
            let ([a, b], [c, d]) = (pair(), pair());
            [[a, b, c, d].map(|word| word & 0xffff_ffff), [a, b, c, d].map(|word| word >> 32)]
        });
        let ([a, b], [c, d]) = (pair(), pair());
        Self { keys, last: [a, b, c, d] }
    }

    /// Folds a name of [`PART`] to 255 bytes, and hashes it.
    #[inline(always)]
    pub(super) fn fold(&self, name: &[u8], case: Case, into: &mut Folded) -> u32 {
        into.len = name.len().min(MAX_LEN);
        let (head, parts) = name.as_rchunks::<PART>();
        let mut sums = [0_u64; LANES];
        let (_, places) = into.bytes.as_rchunks_mut::<PART>();
        for ((part, place), keys) in parts.iter().rev().zip(places.iter_mut().rev()).zip(&self.keys) {
            *place = part.map(|byte| case.fold(byte));
            add(&mut sums, place, keys);
        }
        // The first part overlaps the one after it: two bytes by two bytes would take as long as all others.
        let place = into.bytes.get_mut(MAX_LEN - into.len..).and_then(<[u8]>::first_chunk_mut);
        if let (false, Some(part), Some(place), Some(keys)) =
            (head.is_empty(), name.first_chunk::<PART>(), place, self.keys.get(parts.len()))
        {
            *place = part.map(|byte| case.fold(byte));
            add(&mut sums, place, keys);
        }
        let sum = sums.iter().fold(0_u64, |sum, lane| sum.wrapping_add(*lane));
        let [start, by_len, low, high] = self.last;
        let sums = [(by_len, into.len as u64), (low, sum & 0xffff_ffff), (high, sum >> 32)];
        let sum = sums.iter().fold(start, |sum, (key, word)| sum.wrapping_add(key.wrapping_mul(*word)));
        (sum >> 32) as u32
    }
}

/// Adds the products of the words of a part.
#[inline(always)]
fn add(sums: &mut [u64; LANES], part: &[u8; PART], [low, high]: &[[u64; LANES]; 2]) {
    let words = part.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
    for (((sum, word), low), high) in sums.iter_mut().zip(words).zip(low).zip(high) {
        let (low, high) =
            (word.wrapping_add(*low) & 0xffff_ffff, (word >> 32).wrapping_add(*high) & 0xffff_ffff);
        *sum = sum.wrapping_add(low * high);
    }
}

/// True if `bytes` are `folded` once their letters are; `folded` has no letter that is to be folded.
#[inline(always)]
pub(super) fn is_folded(case: Case, bytes: &[u8], folded: &[u8]) -> bool {
    let (parts, others) = (bytes.as_chunks::<PART>().0, folded.as_chunks::<PART>().0);
    let (Some(part), Some(other)) = (bytes.last_chunk::<PART>(), folded.last_chunk::<PART>()) else {
        return case.eq(bytes, folded);
    };
    bytes.len() == folded.len()
        && !differ(part, other, case)
        && parts.iter().zip(others).all(|(part, other)| !differ(part, other, case))
}

#[inline(always)]
fn differ(part: &[u8; PART], folded: &[u8; PART], case: Case) -> bool {
    part.map(|byte| case.fold(byte)) != *folded
}

/// Number of bytes at the end of both that are equal, of at most as many as the shorter has.
#[inline(always)]
pub(super) fn common_end(a: &[u8], b: &[u8]) -> usize {
    let len = a.len().min(b.len());
    let (a, b) = (a.part(a.len() - len..), b.part(b.len() - len..));
    let (_, parts) = a.as_rchunks::<PART>();
    let (_, others) = b.as_rchunks::<PART>();
    let mut same = 0;
    for (part, other) in parts.iter().zip(others).rev() {
        if part != other {
            return same + common_end_of(part, other);
        }
        same += PART;
    }
    // The bytes before them, with some that are equal.
    match (a.first_chunk::<PART>(), b.first_chunk::<PART>()) {
        (Some(part), Some(other)) => len - PART + common_end_of(part, other),
        _ => same + super::compare::common_end(Case::Sensitive, a.part(..len - same), b.part(..len - same)),
    }
}

#[inline(always)]
fn common_end_of(part: &[u8; PART], other: &[u8; PART]) -> usize {
    let (words, others) = (part.as_rchunks::<8>().1, other.as_rchunks::<8>().1);
    let mut same = 0;
    for (word, other) in words.iter().zip(others).rev() {
        let differ = u64::from_le_bytes(*word) ^ u64::from_le_bytes(*other);
        if differ != 0 {
            return same + differ.leading_zeros() as usize / 8;
        }
        same += 8;
    }
    same
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    /// The hash by its formulas, of a name that is folded already.
    fn naive(hash: &NameHash, name: &[u8]) -> u32 {
        let mut sum = 0_u64;
        for (number, [low, high]) in hash.keys.iter().enumerate() {
            let end = name.len().saturating_sub(PART * number);
            if end == 0 {
                break;
            }
            // The first part has its bytes in any case.
            let part = if end < PART { &name[..PART] } else { &name[end - PART..end] };
            for (at, word) in part.as_chunks::<8>().0.iter().enumerate() {
                let [a, b] = [0, 4].map(|half| u32::from_le_bytes(*word[half..].first_chunk().unwrap()));
                let (a, b) = (a.wrapping_add(low[at] as u32), b.wrapping_add(high[at] as u32));
                sum = sum.wrapping_add(u64::from(a) * u64::from(b));
            }
        }
        let [start, by_len, low, high] = hash.last.map(u128::from);
        let sum =
            start + by_len * name.len() as u128 + low * u128::from(sum as u32) + high * u128::from(sum >> 32);
        (sum >> 32) as u32
    }

    #[test]
    fn one_pass_folds_a_name_and_hashes_it() {
        let hash = NameHash::new(&Key::VECTOR);
        let mut folded = Folded::NONE;
        for len in PART..MAX_LEN {
            let name: Vec<u8> = (0..len).map(|at| (at * 7 % 251) as u8).collect();
            let lower = name.to_ascii_lowercase();
            assert_eq!(hash.fold(&name, Case::Ignored, &mut folded), naive(&hash, &lower), "{len}");
            assert_eq!(folded.name(), lower);
            assert_eq!(hash.fold(&name, Case::Sensitive, &mut folded), naive(&hash, &name), "{len}");
            assert_eq!(folded.name(), name);
        }
    }

    proptest! {
        #[test]
        fn compares_as_byte_by_byte(
            name in proptest::collection::vec(any::<u8>(), 1..MAX_LEN),
            at: proptest::sample::Index,
            byte: u8,
            from: proptest::sample::Index,
        ) {
            let lower = name.to_ascii_lowercase();
            prop_assert!(is_folded(Case::Ignored, &name, &lower));
            prop_assert_eq!(is_folded(Case::Sensitive, &name, &lower), name == lower);
            let mut other = lower.clone();
            other[at.index(name.len())] = byte.to_ascii_lowercase();
            prop_assert_eq!(is_folded(Case::Ignored, &name, &other), lower == other);
            prop_assert!(!is_folded(Case::Ignored, &name[1..], &lower));
            let other = &other[from.index(name.len())..];
            let same = lower.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
            prop_assert_eq!(common_end(&lower, other), same);
        }
    }
}
