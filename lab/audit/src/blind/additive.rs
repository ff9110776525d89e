//! Additive search: words of the key in which one more adds the same to the lowest bits of every hash. Two of
//! them are changed so that the sums cancel.

use super::oracle::Oracle;
use super::{Search, about};
use crate::attack::{About, Knowledge};
use crate::keys::Keys;
use crate::subject::Fault;

/// Bytes of keys to search.
const LENGTHS: [usize; 6] = [36, 16, 64, 24, 32, 128];

/// Lowest bits of the hash that must stay the same.
const BITS: [u32; 8] = [64, 32, 24, 20, 16, 12, 10, 8];

/// Random keys, each under another seed, in which each word is changed.
const SAMPLES: usize = 6;

/// Pairs of words that are tried.
const PAIRS: usize = 4;

/// Sums of words.
#[derive(Debug, Default)]
pub(super) struct Additive {
    steps: usize,
}

/// A kind of word.
#[derive(Clone, Copy)]
struct Words {
    bytes: usize,
    is_big_endian: bool,
}

const KINDS: [Words; 4] = [
    Words { bytes: 4, is_big_endian: false },
    Words { bytes: 8, is_big_endian: false },
    Words { bytes: 4, is_big_endian: true },
    Words { bytes: 8, is_big_endian: true },
];

impl Words {
    /// Adds to the word at `at`.
    fn add(self, key: &mut [u8], at: usize, by: u64) {
        let Some(word) = key.get_mut(at..at + self.bytes) else { return };
        let mut bytes = [0; 8];
        let places = word.iter().copied();
        match self.is_big_endian {
            false => bytes.iter_mut().zip(places).for_each(|(byte, by)| *byte = by),
            true => bytes.iter_mut().zip(places.rev()).for_each(|(byte, by)| *byte = by),
        }
        let sum = u64::from_le_bytes(bytes).wrapping_add(by).to_le_bytes();
        match self.is_big_endian {
            false => word.iter_mut().zip(sum).for_each(|(byte, by)| *byte = by),
            true => word.iter_mut().rev().zip(sum).for_each(|(byte, by)| *byte = by),
        }
    }
}

impl Search for Additive {
    fn about(&self) -> About {
        about(
            "blind/additive",
            "one more in a word adds the same to the lowest bits of the hash under every seed",
            "search without priors: sampled differences modulo powers of two",
            Knowledge::Nothing,
        )
    }

    fn step(&mut self, oracle: &mut Oracle<'_>) -> Result<Vec<Keys>, Fault> {
        let lengths = oracle.lengths(&LENGTHS);
        let (words, round) = (KINDS[self.steps % KINDS.len()], self.steps / KINDS.len());
        let length = lengths[round % lengths.len()];
        self.steps += 1;
        let places: Vec<usize> = (0..(length + 1).saturating_sub(words.bytes)).step_by(4).collect();
        let mut sums = vec![[0_u64; SAMPLES]; places.len()];
        for sample in 0..SAMPLES {
            let base = oracle.draw.bytes(length);
            let changed = places.iter().map(|at| {
                let mut key = base.clone();
                words.add(&mut key, *at, 1);
                key
            });
            let keys: Keys = core::iter::once(base.clone()).chain(changed).collect();
            let seed = oracle.seed();
            let hashes = oracle.under(&seed, &keys)?;
            let Some((of_base, of_changed)) = hashes.split_first() else { break };
            sums.iter_mut().zip(of_changed).for_each(|(sum, hash)| sum[sample] = hash.wrapping_sub(*of_base));
        }
        let most = oracle.width().min(8 * words.bytes as u32);
        for bits in BITS.into_iter().filter(|bits| *bits <= most) {
            let mask = u64::MAX >> (64 - bits);
            let is_constant = |sum: &[u64; SAMPLES]| sum.iter().all(|by| (by ^ sum[0]) & mask == 0);
            let constant: Vec<(usize, u64)> = places
                .iter()
                .zip(&sums)
                .filter(|(_, sum)| is_constant(sum) && sum[0] & mask != 0)
                .map(|(at, sum)| (*at, sum[0] & mask))
                .collect();
            let pairs = constant
                .iter()
                .enumerate()
                .flat_map(|(number, one)| constant[number + 1..].iter().map(move |other| (*one, *other)));
            let apart = pairs.filter(|(one, other)| one.0 + words.bytes <= other.0).take(PAIRS);
            let keys: Vec<Keys> = apart.map(|pair| cancelling(oracle, words, length, pair)).collect();
            if !keys.is_empty() {
                return Ok(keys);
            }
        }
        Ok(Vec::new())
    }
}

/// Keys in which one word grows by multiples of the other's step, and the other shrinks likewise.
fn cancelling(
    oracle: &mut Oracle<'_>,
    words: Words,
    length: usize,
    (one, other): ((usize, u64), (usize, u64)),
) -> Keys {
    let base = oracle.draw.bytes(length);
    let keys = (0..oracle.scope.count as u64).map(|times| {
        let mut key = base.clone();
        words.add(&mut key, one.0, other.1.wrapping_mul(times));
        words.add(&mut key, other.0, one.1.wrapping_mul(times).wrapping_neg());
        key
    });
    keys.collect()
}
