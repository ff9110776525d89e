//! Meet in the middle: a change of one word that a change of a later word takes back, whatever that is.
//!
//! Keys of the first form have all values of the later word's one half, keys of the second form all of the
//! other half: their differences, by addition or by exclusive or, are all numbers of both halves.

use super::oracle::Oracle;
use super::unit::{Unit, Units, matches, write};
use super::{Search, about};
use crate::attack::{About, Knowledge};
use crate::keys::Keys;
use crate::subject::Fault;

/// Bytes of keys to search.
const LENGTHS: [usize; 4] = [64, 36, 32, 16];

/// Bytes from the word that changes to the one that takes it back.
const GAPS: [usize; 5] = [4, 8, 16, 32, 12];

/// Pairs of a step that are tried under other seeds.
const TRIED: usize = 16;

/// Pairs of words.
#[derive(Debug, Default)]
pub(super) struct Meet {
    steps: usize,
    units: Units,
}

/// Kinds of the later word: its bytes, and the bits of each half. Of eight bytes, the lowest bits stay: a
/// change of a high bit is often taken back by a multiple of a power of two.
const KINDS: [(usize, u32); 2] = [(4, 16), (8, 17)];

impl Search for Meet {
    fn about(&self) -> About {
        about(
            "blind/meet",
            "a change of one word is taken back by a later word, and n such pairs give 2^n keys",
            "search without priors: meet in the middle; Aumasson, Bernstein and Boßlet, 29C3, 2012",
            Knowledge::Nothing,
        )
    }

    fn step(&mut self, oracle: &mut Oracle<'_>) -> Result<Vec<Keys>, Fault> {
        let lengths = oracle.lengths(&LENGTHS);
        let number = self.steps;
        self.steps += 1;
        let (bytes, half) = KINDS[number % 2];
        let gap = GAPS[number / 2 % GAPS.len()];
        let length = lengths[number / 2 / GAPS.len() % lengths.len()];
        if gap < bytes || gap + bytes > length {
            return Ok(Vec::new());
        }
        // At first the highest bit of the first word, which passes sums and products.
        let is_first = number < 4 * GAPS.len() * lengths.len();
        let at = if is_first { 0 } else { 4 * oracle.below((length - gap - bytes) / 4 + 1) };
        let bit = match oracle.below(2) {
            0 => 8 * bytes - 1,
            _ if is_first => 8 * bytes - 1,
            _ => oracle.below(8 * bytes),
        };
        let is_big_endian = !is_first && oracle.below(4) == 0;
        let base = oracle.draw.bytes(length);
        let mut other = base.clone();
        let byte = if is_big_endian { bytes - 1 - bit / 8 } else { bit / 8 };
        other[at + byte] ^= 1 << (bit % 8);
        let words = Words { at: at + gap, bytes, half, is_big_endian };
        for pair in words.meeting(oracle, [&base, &other])? {
            let forms = pair.map(|key| key[at..at + gap + bytes].to_vec());
            let unit = Unit { at, forms };
            if unit.holds(oracle, length)? {
                return self.units.add(oracle, &unit, length);
            }
        }
        Ok(Vec::new())
    }
}

/// Values of a word whose differences are all numbers.
pub(super) struct Words {
    pub(super) at: usize,
    pub(super) bytes: usize,
    /// Bits of each half.
    pub(super) half: u32,
    pub(super) is_big_endian: bool,
}

impl Words {
    fn write(&self, key: &mut [u8], base: u64, number: u64, is_upper: bool) {
        let bits = 8 * self.bytes as u32;
        let word = base ^ number << if is_upper { bits - self.half } else { bits - 2 * self.half };
        match self.is_big_endian {
            false => write(key, self.at, &word.to_le_bytes()[..self.bytes]),
            true => write(key, self.at, &word.to_be_bytes()[8 - self.bytes..]),
        }
    }

    /// Keys of one hash: the one with values of the lower half in the word, the other with the upper half.
    /// All are combined with one random word, which keeps the differences.
    pub(super) fn meeting(
        &self,
        oracle: &mut Oracle<'_>,
        bases: [&[u8]; 2],
    ) -> Result<Vec<[Vec<u8>; 2]>, Fault> {
        let (seed, common) = (oracle.seed(), oracle.draw.word() >> (64 - 8 * self.bytes));
        let mut hashes = Vec::new();
        for (base, is_upper) in bases.into_iter().zip([false, true]) {
            let keys = (0..1 << self.half).map(|number| {
                let mut key = base.to_vec();
                self.write(&mut key, common, number, is_upper);
                key
            });
            hashes.push(oracle.under(&seed, &keys.collect())?);
        }
        let found = matches(&hashes[0], &hashes[1], TRIED);
        let keys = found.into_iter().map(|(one, other)| {
            let mut keys = bases.map(<[u8]>::to_vec);
            self.write(&mut keys[0], common, one as u64, false);
            self.write(&mut keys[1], common, other as u64, true);
            keys
        });
        Ok(keys.collect())
    }
}
