//! aHash as a build with AES instructions has it, written from its description: the crate chooses this
//! function when it is compiled, and is compiled without in most builds.
//!
//! Two words of 128 bits take each block: one by a round of AES decryption, the other by a shuffle of its
//! bytes and two sums. The shuffle is the one of builds with SSSE3.
//!
//! Source: crate ahash 0.8.12 (`aes_hash.rs`, `operations.rs`); SMHasher3 `hashes/rust-ahash.cpp`.
//! The crate's licence is MIT or Apache-2.0.

use super::aes::{decrypt, encrypt};
use super::words::{PI, le32, le64, le128};

/// The two words, and the key of the lanes of long inputs.
#[derive(Clone, Copy)]
pub(super) struct State {
    encrypted: u128,
    sum: u128,
    key: u128,
}

/// Two sums of 64 bits.
#[inline(always)]
fn add(a: u128, b: u128) -> u128 {
    let low = (a as u64).wrapping_add(b as u64);
    let high = ((a >> 64) as u64).wrapping_add((b >> 64) as u64);
    u128::from(high) << 64 | u128::from(low)
}

/// A fixed order of the bytes, then two sums.
#[inline(always)]
fn shuffle_and_add(word: u128, other: u128) -> u128 {
    const ORDER: [usize; 16] = [4, 11, 9, 6, 8, 13, 15, 5, 14, 3, 1, 12, 0, 7, 10, 2];
    let bytes = word.to_le_bytes();
    add(u128::from_le_bytes(ORDER.map(|at| bytes[at])), other)
}

impl State {
    /// The state under four seeds, which are combined with digits of π first.
    pub(super) fn with_seeds(seeds: [u64; 4]) -> Self {
        let digits = [PI[1], PI[7], PI[3], PI[5]];
        let word = |at: usize| u128::from(seeds[at] ^ digits[at]);
        let (encrypted, sum) = (word(0) | word(1) << 64, word(2) | word(3) << 64);
        Self { encrypted, sum, key: encrypted ^ sum }
    }

    /// Takes a block.
    #[inline(always)]
    pub(super) fn take(&mut self, block: u128) {
        self.encrypted = decrypt(self.encrypted, block);
        self.sum = shuffle_and_add(self.sum, block);
    }

    /// Takes bytes of any number.
    #[inline(always)]
    pub(super) fn write(&mut self, bytes: &[u8]) {
        let len = bytes.len();
        self.encrypted = add(self.encrypted, len as u128);
        let words = |low: u64, high: u64| u128::from(high) << 64 | u128::from(low);
        match len {
            0 => self.take(0),
            1 => self.take(words(u64::from(bytes[0]), u64::from(bytes[0]))),
            2..4 => {
                let first = u64::from(bytes[0]) | u64::from(bytes[1]) << 8;
                self.take(words(first, u64::from(bytes[len - 1])));
            }
            4..=8 => self.take(words(u64::from(le32(bytes, 0)), u64::from(le32(bytes, len - 4)))),
            9..=16 => self.take(words(le64(bytes, 0), le64(bytes, len - 8))),
            17..=32 => [0, len - 16].into_iter().for_each(|at| self.take(le128(bytes, at))),
            33..=64 => {
                [0, 16, len - 32, len - 16].into_iter().for_each(|at| self.take(le128(bytes, at)));
            }
            _ => self.write_long(bytes),
        }
    }

    /// Takes more than 64 bytes: in four lanes and two sums the last 64, then all but the last 1–64.
    #[inline(always)]
    fn write_long(&mut self, bytes: &[u8]) {
        let blocks = |at: usize| [0, 16, 32, 48].map(|more| le128(bytes, at + more));
        let tail = blocks(bytes.len() - 64);
        let mut lanes = [
            encrypt(self.key, tail[0]),
            decrypt(self.key, tail[1]),
            encrypt(self.key, tail[2]),
            decrypt(self.key, tail[3]),
        ];
        let mut sums = [
            shuffle_and_add(add(self.key, tail[0]), tail[2]),
            shuffle_and_add(add(!self.key, tail[1]), tail[3]),
        ];
        for at in (0..bytes.len() - 64).step_by(64) {
            for (place, block) in blocks(at).into_iter().enumerate() {
                lanes[place] = decrypt(lanes[place], block);
                sums[place % 2] = shuffle_and_add(sums[place % 2], block);
            }
        }
        lanes.into_iter().chain(sums).for_each(|block| self.take(block));
    }

    /// The hash of what was taken.
    #[inline(always)]
    pub(super) fn finish(&self) -> u64 {
        let combined = encrypt(self.sum, self.encrypted);
        decrypt(decrypt(combined, self.key), combined) as u64
    }
}
