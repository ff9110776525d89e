//! SipHash with 128 bits of result: names that do not collide by chance, for keys that remote parties choose.
//!
//! Source: Aumasson and Bernstein, the reference implementation of SipHash (github.com/veorq/SipHash), for
//! `outlen` 16.

use crate::load::le64_rest;
use crate::scheme::Key;
use crate::siphash::Words;

/// SipHash-2-4 with 128 bits of result: the authors' proposal.
pub type SipHash24x128 = SipHash128<2, 4>;

/// SipHash-1-3 with 128 bits of result: faster, with a smaller margin.
pub type SipHash13x128 = SipHash128<1, 3>;

/// SipHash-`C`-`D` with 128 bits of result: `C` rounds for each word of the input, `D` rounds at the end of
/// each half. No half is the result of [`SipHash`](crate::siphash::SipHash).
#[derive(Clone)]
pub struct SipHash128<const C: usize, const D: usize> {
    initial: Words<u64>,
}

impl<const C: usize, const D: usize> SipHash128<C, D> {
    /// The hash under a key.
    pub const fn new(key: &Key) -> Self {
        let Words([v0, v1, v2, v3]) = Words::new(key);
        Self { initial: Words([v0, v1 ^ 0xee, v2, v3]) }
    }

    /// Hash of `bytes`; its little-endian bytes are the reference implementation's.
    #[inline]
    pub fn hash(&self, bytes: &[u8]) -> u128 {
        let mut words = self.initial;
        for word in bytes.as_chunks().0 {
            words.compress::<C>(u64::from_le_bytes(*word));
        }
        words.compress::<C>(le64_rest(bytes) | (bytes.len() as u64) << 56);
        let [low, high] = words.end_halves::<D>();
        u128::from(high) << 64 | u128::from(low)
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;
    use siphasher::sip128::{SipHasher13, SipHasher24};

    use super::*;
    use crate::vectors::rows;

    #[test]
    fn siphash_2_4_128_gives_the_reference_results() {
        let sip = SipHash24x128::new(&Key::VECTOR);
        let mut bytes = Vec::new();
        for row in rows(include_str!("../../../vectors/siphash-2-4-128.txt")) {
            assert_eq!(row[0], std::format!("{}", bytes.len()));
            let expected = u128::from_str_radix(row[1], 16).expect("a hexadecimal number").swap_bytes();
            assert_eq!(sip.hash(&bytes), expected, "{} bytes", bytes.len());
            bytes.push(bytes.len() as u8);
        }
        assert_eq!(bytes.len(), 64);
    }

    proptest! {
        #[test]
        fn agrees_with_the_oracle(key: [u8; 16], bytes in proptest::collection::vec(any::<u8>(), 0..=300)) {
            let (sip24, sip13) = (SipHash24x128::new(&Key::new(key)), SipHash13x128::new(&Key::new(key)));
            prop_assert_eq!(sip24.hash(&bytes), u128::from(SipHasher24::new_with_key(&key).hash(&bytes)));
            prop_assert_eq!(sip13.hash(&bytes), u128::from(SipHasher13::new_with_key(&key).hash(&bytes)));
        }
    }
}
