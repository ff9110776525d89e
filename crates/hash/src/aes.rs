//! A keyed hash of AES rounds, for CPUs that have the instruction.
//!
//! The octets are cut into blocks of 16, the last filled with zeros. Four rounds of AES stand between one block and the
//! next, four more follow the last, all under secret round keys; the number of octets goes in before the first. The
//! result is the first half of the last state:
//!
//! ```text
//! s = k₀ ⊕ length;  for each block m: s = AES⁴(s ⊕ m; k₁ … k₄);  result = low₆₄(AES⁴(s; k₅ … k₈))
//! ```
//!
//! Four rounds under independent, uniformly random round keys take any given difference of two blocks to any other one with a
//! probability of at most 2⁻¹¹³ (Keliher and Sui 2007), which is what Minematsu and Tsunoo (FSE 2006) build message
//! authentication from; so whoever does not see results finds collisions of the last state only by chance. Here the round keys
//! are the same for every block and are drawn from a 128-bit key, and the result is half a state: nobody has analysed
//! that. Where results are shown to those who choose the octets, take SipHash.

use crate::arch::aes::{AesKernel, AesStep, AesUnit};
use crate::expand::key_word;
use crate::scheme::{BytesHash, BytesKernel, Key, Keying, Scheme, SchemeInfo};

/// The hash of AES rounds.
#[derive(Clone)]
pub struct AesRounds {
    keys: [[u8; 16]; 9],
    unit: AesUnit,
}

impl Scheme for AesRounds {
    const INFO: SchemeInfo = SchemeInfo {
        id: "aes-rounds",
        source: "four rounds of AES (FIPS 197) a block, after Minematsu and Tsunoo 2006",
        width: 64,
        keying: Keying::Secret(128),
        check: 0xdf09_f533_1b36_1ead,
        safe: "Tables that remote parties fill, while results stay inside; this construction has not been analysed.",
    };

    fn new(key: &Key) -> Self {
        let round_key = |index| {
            let halves = [key_word(key, b"aesround", 2 * index), key_word(key, b"aesround", 2 * index + 1)];
            let [low, high] = halves.map(u128::from);
            (low | high << 64).to_le_bytes()
        };
        Self { keys: core::array::from_fn(round_key), unit: AesUnit::detect() }
    }
}

impl BytesHash for AesRounds {
    #[inline]
    fn hash(&self, bytes: &[u8]) -> u64 {
        struct Hash<'a>(&'a [[u8; 16]; 9], &'a [u8]);
        impl AesKernel for Hash<'_> {
            type Output = u64;
            #[inline(always)]
            fn run<S: AesStep>(self, step: S) -> u64 {
                On { step, keys: *self.0 }.hash(self.1)
            }
        }
        self.unit.run(Hash(&self.keys, bytes))
    }

    #[inline(always)]
    fn run<K: BytesKernel>(&self, kernel: K) -> K::Output {
        struct Run<'a, K>(&'a [[u8; 16]; 9], K);
        impl<K: BytesKernel> AesKernel for Run<'_, K> {
            type Output = K::Output;
            #[inline(always)]
            fn run<S: AesStep>(self, step: S) -> K::Output {
                self.1.run(&On { step, keys: *self.0 })
            }
        }
        self.unit.run(Run(&self.keys, kernel))
    }
}

/// The hash with its instructions chosen.
#[derive(Clone, Copy)]
struct On<S> {
    step: S,
    keys: [[u8; 16]; 9],
}

impl<S: AesStep> On<S> {
    /// Four rounds under the keys from `first` on.
    #[inline(always)]
    fn four_rounds(&self, mut state: S::Block, first: usize) -> S::Block {
        for key in &self.keys[first..first + 4] {
            state = self.step.round(state, self.step.load(key));
        }
        state
    }
}

impl<S: AesStep> BytesHash for On<S> {
    #[inline(always)]
    fn hash(&self, bytes: &[u8]) -> u64 {
        let On { step, keys } = self;
        let length = (bytes.len() as u128).to_le_bytes();
        let mut state = step.xor(step.load(&keys[0]), step.load(&length));
        let (blocks, rest) = bytes.as_chunks::<16>();
        for block in blocks {
            state = self.four_rounds(step.xor(state, step.load(block)), 1);
        }
        if !rest.is_empty() {
            let mut block = [0; 16];
            block.iter_mut().zip(rest).for_each(|(to, octet)| *to = *octet);
            state = self.four_rounds(step.xor(state, step.load(&block)), 1);
        }
        step.low(self.four_rounds(state, 5))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::aes::Portable;
    use crate::scheme::CHECK_INPUT;
    use proptest::prelude::*;

    #[test]
    fn check_value_holds() {
        let hash = AesRounds::new(&Key::VECTOR).hash(CHECK_INPUT);
        assert_eq!(hash, AesRounds::INFO.check, "{hash:#x}");
    }

    struct Through<'a>(&'a [u8]);

    impl BytesKernel for Through<'_> {
        type Output = u64;
        fn run<H: BytesHash>(self, hash: &H) -> u64 {
            hash.hash(self.0)
        }
    }

    proptest! {
        #[test]
        fn is_the_same_with_and_without_the_instruction(key: [u8; 16], bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let with = AesRounds::new(&Key::new(key));
            let without = AesRounds { unit: AesUnit::Portable(Portable), ..with.clone() };
            prop_assert_eq!(with.hash(&bytes), without.hash(&bytes));
            prop_assert_eq!(with.run(Through(&bytes)), with.hash(&bytes));
        }

        #[test]
        fn every_bit_of_octets_and_key_and_length_counts(key: [u8; 16], mut bytes in proptest::collection::vec(any::<u8>(), 1..100), bit: prop::sample::Index) {
            let aes = AesRounds::new(&Key::new(key));
            let hash = aes.hash(&bytes);
            let other = u128::from_le_bytes(key) ^ 1 << bit.index(128);
            prop_assert_ne!(AesRounds::new(&Key::new(other.to_le_bytes())).hash(&bytes), hash);
            let at = bit.index(8 * bytes.len());
            bytes[at / 8] ^= 1 << (at % 8);
            prop_assert_ne!(aes.hash(&bytes), hash);
            bytes[at / 8] ^= 1 << (at % 8);
            bytes.push(0);
            prop_assert_ne!(aes.hash(&bytes), hash);
        }
    }
}
