//! HalfSipHash: SipHash with words of 32 bits, for machines of 32 bits.
//!
//! It has a key of 64 bits and here a result of 32, so it does not replace SipHash on machines with 64-bit
//! words. The Linux kernel's `hsiphash` is HalfSipHash-1-3 on 32-bit machines.
//!
//! Source: Aumasson, `halfsiphash.c` of the SipHash reference implementation (2016); Linux `lib/siphash.c`.

use crate::load::le32_short;
use crate::scheme::{BytesHash, Key, Keying, Scheme, SchemeInfo};

/// HalfSipHash with 2 rounds a word and 4 at the end.
pub type HalfSipHash24 = HalfSipHash<2, 4>;

/// HalfSipHash with 1 round a word and 3 at the end.
pub type HalfSipHash13 = HalfSipHash<1, 3>;

/// HalfSipHash-`C`-`D` with 32 bits of result: `C` rounds for each word of the input, `D` rounds at the end.
#[derive(Clone)]
pub struct HalfSipHash<const C: usize, const D: usize> {
    initial: Words,
}

/// A choice of rounds that is registered as a scheme.
pub trait Variant {
    /// The scheme with these rounds.
    const INFO: SchemeInfo;
}

impl Variant for HalfSipHash24 {
    const INFO: SchemeInfo = SchemeInfo {
        id: "halfsiphash-2-4",
        source: "Aumasson, halfsiphash.c (2016)",
        width: 32,
        keying: Keying::Secret(64),
        check: 0x55be_3955,
        safe: "Tables that remote parties fill, on machines of 32 bits, under a key that is random and kept, \
               while results stay inside (Linux Documentation/security/siphash.rst): a key of 64 bits can be \
               searched for.",
    };
}

impl Variant for HalfSipHash13 {
    const INFO: SchemeInfo = SchemeInfo {
        id: "halfsiphash-1-3",
        source: "Linux lib/siphash.c (hsiphash on 32-bit machines)",
        check: 0x07fb_b9d3,
        ..<HalfSipHash24 as Variant>::INFO
    };
}

impl<const C: usize, const D: usize> Scheme for HalfSipHash<C, D>
where
    Self: Variant,
{
    const INFO: SchemeInfo = <Self as Variant>::INFO;

    /// Takes the 64-bit key from the key's first eight bytes.
    #[inline]
    fn new(key: &Key) -> Self {
        let key = key.halves().0;
        Self { initial: Words::new(key as u32, (key >> 32) as u32) }
    }
}

impl<const C: usize, const D: usize> BytesHash for HalfSipHash<C, D> {
    #[inline]
    fn hash(&self, bytes: &[u8]) -> u64 {
        let mut words = self.initial;
        let (whole, rest) = bytes.as_chunks();
        for word in whole {
            words.compress::<C>(u32::from_le_bytes(*word));
        }
        u64::from(words.finish::<C, D>(le32_short(rest) | (bytes.len() as u32) << 24))
    }
}

/// HalfSipHash-1-3 of four 32-bit words: `hsiphash_4u32` of 32-bit machines. The key is `k0` and `k1`, its
/// bytes 0–3 and 4–7 read in little-endian order.
#[inline]
pub fn hsiphash_4u32(input: [u32; 4], key: [u32; 2]) -> u32 {
    let mut words = Words::new(key[0], key[1]);
    for word in input {
        words.compress::<1>(word);
    }
    words.finish::<1, 3>(16 << 24)
}

/// The words v0, v1, v2, v3 and the steps on them.
#[derive(Clone, Copy)]
struct Words([u32; 4]);

impl Words {
    /// The words before the first byte: two are the key, two are zero.
    const fn new(k0: u32, k1: u32) -> Self {
        Self([k0, k1, 0x6c79_6765 ^ k0, 0x7465_6462 ^ k1])
    }

    #[inline(always)]
    fn round(&mut self) {
        let [mut v0, mut v1, mut v2, mut v3] = self.0;
        v0 = v0.wrapping_add(v1);
        v2 = v2.wrapping_add(v3);
        v1 = v1.rotate_left(5) ^ v0;
        v3 = v3.rotate_left(8) ^ v2;
        v0 = v0.rotate_left(16);
        v2 = v2.wrapping_add(v1);
        v0 = v0.wrapping_add(v3);
        v1 = v1.rotate_left(13) ^ v2;
        v3 = v3.rotate_left(7) ^ v0;
        v2 = v2.rotate_left(16);
        self.0 = [v0, v1, v2, v3];
    }

    /// Takes one word of input through `C` rounds.
    #[inline(always)]
    fn compress<const C: usize>(&mut self, word: u32) {
        self.0[3] ^= word;
        for _ in 0..C {
            self.round();
        }
        self.0[0] ^= word;
    }

    /// Takes the last word of input, the bytes left over under the length's low byte, then `D` rounds.
    #[inline(always)]
    fn finish<const C: usize, const D: usize>(mut self, last: u32) -> u32 {
        self.compress::<C>(last);
        self.0[2] ^= 0xff;
        for _ in 0..D {
            self.round();
        }
        self.0[1] ^ self.0[3]
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::scheme::CHECK_INPUT;
    use crate::vectors::{hex, rows};

    fn compare_with_table<S: Scheme>(file: &str) {
        let hash = S::new(&Key::VECTOR);
        let mut bytes = Vec::new();
        for row in rows(file) {
            assert_eq!(row[0], std::format!("{}", bytes.len()));
            assert_eq!(hash.hash(&bytes), hex(row[1]), "{} bytes", bytes.len());
            bytes.push(bytes.len() as u8);
        }
        assert_eq!(bytes.len(), 64);
    }

    #[test]
    fn halfsiphash_2_4_gives_the_reference_results() {
        compare_with_table::<HalfSipHash24>(include_str!("../../../vectors/halfsiphash-2-4.txt"));
    }

    #[test]
    fn halfsiphash_1_3_gives_the_kernels_results() {
        compare_with_table::<HalfSipHash13>(include_str!("../../../vectors/halfsiphash-1-3.txt"));
    }

    /// `siphash_test()` in Linux `lib/siphash_kunit.c`.
    #[test]
    fn four_words_give_the_result_of_the_kernels_test() {
        let words = [0x0302_0100, 0x0706_0504, 0x0b0a_0908, 0x0f0e_0d0c];
        assert_eq!(hsiphash_4u32(words, [0x0302_0100, 0x0706_0504]), 0x8b31_d501);
    }

    #[test]
    fn check_values_hold() {
        assert_eq!(HalfSipHash24::new(&Key::VECTOR).hash(CHECK_INPUT), <HalfSipHash24 as Scheme>::INFO.check);
        assert_eq!(HalfSipHash13::new(&Key::VECTOR).hash(CHECK_INPUT), <HalfSipHash13 as Scheme>::INFO.check);
    }

    /// The definition, byte by byte: each line of the round is a row of (word changed, word read,
    /// rotation of the word changed, rotation of the word read afterwards).
    fn naive(rounds: [usize; 2], key: [u8; 8], bytes: &[u8]) -> u32 {
        const ROUND: [(usize, usize, u32, u32); 4] =
            [(0, 1, 5, 16), (2, 3, 8, 0), (0, 3, 7, 0), (2, 1, 13, 16)];
        let round = |v: &mut [u32; 4]| {
            for (sum, other, left, turn) in ROUND {
                v[sum] = v[sum].wrapping_add(v[other]);
                v[other] = v[other].rotate_left(left) ^ v[sum];
                v[sum] = v[sum].rotate_left(turn);
            }
        };
        let mut v = [0; 4];
        for (i, byte) in key.iter().chain(&key).enumerate() {
            v[i / 4] |= u32::from(*byte) << (8 * (i % 4));
        }
        v[2] ^= 0x6c79_6765;
        v[3] ^= 0x7465_6462;
        let mut padded = bytes.to_vec();
        padded.resize(bytes.len() / 4 * 4 + 3, 0);
        padded.push(bytes.len() as u8);
        for word in padded.chunks(4) {
            let word = word.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
            v[3] ^= word;
            (0..rounds[0]).for_each(|_| round(&mut v));
            v[0] ^= word;
        }
        v[2] ^= 0xff;
        (0..rounds[1]).for_each(|_| round(&mut v));
        v[1] ^ v[3]
    }

    proptest! {
        #[test]
        fn agrees_with_the_naive_form(key: [u8; 16], bytes: Vec<u8>) {
            let first = *key.first_chunk().expect("eight bytes");
            let key = Key::new(key);
            prop_assert_eq!(HalfSipHash24::new(&key).hash(&bytes), u64::from(naive([2, 4], first, &bytes)));
            prop_assert_eq!(HalfSipHash13::new(&key).hash(&bytes), u64::from(naive([1, 3], first, &bytes)));
        }

        #[test]
        fn takes_words_as_their_bytes(key: [u8; 16], words: [u32; 4]) {
            let k = [0, 4].map(|at| crate::load::le32(&key, at));
            let hash = HalfSipHash13::new(&Key::new(key)).hash(words.map(u32::to_le_bytes).as_flattened());
            prop_assert_eq!(u64::from(hsiphash_4u32(words, k)), hash);
        }
    }
}
