//! Multilinear hashing: one multiplication for every four bytes, and a theorem in place of a claim.
//!
//! The input is a string of 32-bit characters s₁, s₂, … and the key a string of 64-bit words m₁, m₂, …,
//! independent and uniform. The result is the high half of m₁ + m₂s₁ + m₃s₂ + … modulo 2⁶⁴. The family is
//! strongly universal: for any two inputs fixed before the key is drawn, all pairs of results are equally
//! likely, so that the inputs collide with a probability of 2⁻³² exactly.
//!
//! The theorem requires the high half (low bits of the sum depend on low bits of the characters alone), one
//! key word for each character with none used twice, and inputs chosen without knowledge of results. The
//! first character here is the number of bytes, so it holds for any two inputs shorter than 2³² bytes, of
//! equal length or not. The hash is linear all the same: an attacker who sees some results computes the key
//! words.
//!
//! Source: Lemire and Kaser, "Strongly universal string hashing is fast" (The Computer Journal 57(11), 2014),
//! §3, MULTILINEAR with K = 64 and L = 32; the upper 32 of its 33 bits are used.

use crate::expand::key_word;
use crate::load::le32_short;
use crate::scheme::{BytesHash, Key, Keying, Scheme, SchemeInfo};

/// Multilinear hashing with key words expanded from 128 bits: word `i`, from 0, is SipHash-2-4 of the bytes
/// `multilin` and `i`, little-endian. The theorem then holds against anyone who cannot tell SipHash-2-4 from
/// a random function.
///
/// The characters are the bytes' little-endian words, the last one padded with zeros. The key words of the
/// first 128 bytes are stored; later ones are expanded on each call, which takes about twenty times as long.
#[derive(Clone)]
pub struct Multilinear {
    /// m₁; m₂, for the number of bytes; and one word for each of the first 32 characters.
    words: [u64; 2 + Self::HELD],
    key: Key,
}

impl Multilinear {
    /// Number of characters with stored key words.
    const HELD: usize = 32;

    fn key_word(key: &Key, index: usize) -> u64 {
        key_word(key, b"multilin", index)
    }

    /// The terms of the characters without stored key words.
    #[cold]
    fn beyond(&self, characters: &[[u8; 4]], last: u32) -> u64 {
        let characters = characters.iter().map(|character| u32::from_le_bytes(*character)).chain([last]);
        let terms = characters.enumerate().skip(Self::HELD);
        terms.fold(0, |sum, (i, character)| add_product(sum, Self::key_word(&self.key, 2 + i), character))
    }
}

/// `sum` and the product of a key word and a character, modulo 2⁶⁴.
#[inline(always)]
fn add_product(sum: u64, word: u64, character: u32) -> u64 {
    sum.wrapping_add(word.wrapping_mul(u64::from(character)))
}

impl Scheme for Multilinear {
    const INFO: SchemeInfo = SchemeInfo {
        id: "multilinear",
        source: "Lemire and Kaser 2014, MULTILINEAR 32/64; key expanded by SipHash-2-4",
        width: 32,
        keying: Keying::Seed(128),
        check: 0xe209_0f4a,
        safe: "Inputs chosen without knowledge of results: strongly universal. Not where an observer may \
               learn of collisions, as from timing: the hash is linear.",
    };

    fn new(key: &Key) -> Self {
        Self { words: core::array::from_fn(|i| Self::key_word(key, i)), key: *key }
    }
}

impl BytesHash for Multilinear {
    #[inline]
    fn hash(&self, bytes: &[u8]) -> u64 {
        let [first, for_length, held @ ..] = &self.words;
        let mut sum = add_product(*first, *for_length, bytes.len() as u32);
        let (characters, rest) = bytes.as_chunks();
        for (word, character) in held.iter().zip(characters) {
            sum = add_product(sum, *word, u32::from_le_bytes(*character));
        }
        let last = le32_short(rest);
        sum = match held.get(characters.len()) {
            Some(word) => add_product(sum, *word, last),
            None => sum.wrapping_add(self.beyond(characters, last)),
        };
        sum >> 32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use siphasher::sip::SipHasher24;

    use super::*;
    use crate::scheme::CHECK_INPUT;

    /// The sum in 128 bits, byte by byte: byte `i` is in character `i / 4` at place `i % 4`.
    fn naive(key: &Key, bytes: &[u8]) -> u64 {
        let sip = SipHasher24::new_with_key(&key.to_bytes());
        let word = |i: usize| sip.hash([*b"multilin", (i as u64).to_le_bytes()].as_flattened());
        let modulus = 1_u128 << 64;
        let mut sum = (u128::from(word(0)) + u128::from(word(1)) * bytes.len() as u128) % modulus;
        for (i, byte) in bytes.iter().enumerate() {
            sum += u128::from(word(2 + i / 4)) * (u128::from(*byte) << (8 * (i % 4)));
            sum %= modulus;
        }
        (sum / (1 << 32)) as u64
    }

    #[test]
    fn check_value_holds_and_agrees_with_the_naive_form() {
        assert_eq!(Multilinear::new(&Key::VECTOR).hash(CHECK_INPUT), Multilinear::INFO.check);
        assert_eq!(naive(&Key::VECTOR, CHECK_INPUT), Multilinear::INFO.check);
    }

    #[test]
    fn agrees_with_the_naive_form_where_the_held_words_end() {
        let bytes: [u8; 140] = core::array::from_fn(|i| 255 - i as u8);
        let hash = Multilinear::new(&Key::VECTOR);
        for length in 120..=bytes.len() {
            assert_eq!(hash.hash(&bytes[..length]), naive(&Key::VECTOR, &bytes[..length]), "{length}");
        }
    }

    /// A trailing zero changes only the term of the length.
    #[test]
    fn tells_zeros_of_different_lengths_apart() {
        let hash = Multilinear::new(&Key::VECTOR);
        let mut results: std::vec::Vec<u64> = (0..64).map(|length| hash.hash(&[0; 64][..length])).collect();
        results.sort_unstable();
        assert!(results.windows(2).all(|pair| pair[0] != pair[1]));
    }

    proptest! {
        #[test]
        fn agrees_with_the_naive_form(
            key: [u8; 16],
            bytes in proptest::collection::vec(any::<u8>(), 0..=200),
        ) {
            let key = Key::new(key);
            prop_assert_eq!(Multilinear::new(&key).hash(&bytes), naive(&key, &bytes));
        }
    }
}
