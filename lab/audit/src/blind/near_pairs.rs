//! Near pairs: two words after which a parity of the hash is the same under every seed, and a second pair
//! that takes the rest of the difference back.
//!
//! Many hashes end with products and shifts that hide a difference of one high bit of the state from all bits
//! but a few parities. Under 64 seeds, a word has 64 values of a parity; words that agree in all of them do
//! not by chance.

use super::meet::Words;
use super::oracle::Oracle;
use super::unit::{Unit, Units, write};
use super::{Search, about};
use crate::attack::{About, Knowledge};
use crate::keys::Keys;
use crate::subject::Fault;
use std::collections::{BTreeSet, HashSet};

/// Bytes of keys to search.
const LENGTHS: [usize; 3] = [36, 8, 32];

/// Bytes of a word.
const WORD: usize = 4;

/// Seeds of a round.
const SEEDS: usize = 64;

/// Seeds of a step.
const SEEDS_A_STEP: usize = 4;

/// Binary logarithm of the words of a round, for hashes of up to 32 bits and of more: the planes of bits take
/// 32 MiB.
const WORDS: [u32; 2] = [17, 16];

/// Parities of a step.
const MASKS_A_STEP: usize = 8;

/// Pairs of one parity that are kept: if there are more, hardly any is of a difference that later words keep.
const KEPT: usize = 64;

/// Samples of later words for each pair.
const TRIES: usize = 4;

/// Words of one round, and the pairs among them.
#[derive(Debug, Default)]
pub(super) struct NearPairs {
    rounds: usize,
    round: Round,
    units: Units,
}

#[derive(Debug, Default)]
struct Round {
    length: usize,
    at: usize,
    words: Vec<u32>,
    /// For each bit of the hash and each word, its values under the seeds.
    planes: Vec<Vec<u64>>,
    seeds: usize,
    masks: Vec<u64>,
    pairs: Vec<[u32; 2]>,
}

impl Search for NearPairs {
    fn about(&self) -> About {
        about(
            "blind/near-pairs",
            "two words keep a parity of the hash under every seed, and a later pair takes the rest back",
            "search without priors: birthday search over parities, then meet in the middle",
            Knowledge::Nothing,
        )
    }

    fn step(&mut self, oracle: &mut Oracle<'_>) -> Result<Vec<Keys>, Fault> {
        if let Some(pair) = self.round.pairs.pop() {
            return self.taken_back(oracle, pair);
        }
        if self.round.masks.is_empty() {
            let lengths = oracle.lengths(&LENGTHS);
            let length = lengths[self.rounds / 2 % lengths.len()];
            // A difference shows after the last word, or after one more that keeps it.
            let from_end = WORD * (2 - self.rounds % 2);
            self.rounds += 1;
            if length < 2 * WORD {
                return Ok(Vec::new());
            }
            self.round = Round::new(oracle, length, length - from_end);
        } else if self.round.seeds < SEEDS {
            self.round.hash(oracle)?;
        } else {
            self.round.compare(oracle);
        }
        Ok(Vec::new())
    }
}

impl NearPairs {
    /// Keys of a pair before the last word and of the two last words that take it back.
    fn taken_back(&mut self, oracle: &mut Oracle<'_>, pair: [u32; 2]) -> Result<Vec<Keys>, Fault> {
        let length = self.round.length;
        let at = length - 2 * WORD;
        let base = oracle.draw.bytes(length);
        let keys = pair.map(|word| {
            let mut key = base.clone();
            write(&mut key, at, &word.to_le_bytes());
            key
        });
        let words = Words { at: at + WORD, bytes: WORD, half: 16, is_big_endian: false };
        // The words are a sample of all pairs: one of them takes the difference back with a chance of 63 %.
        for _ in 0..TRIES {
            for forms in words.meeting(oracle, [&keys[0], &keys[1]])? {
                let unit = Unit { at, forms: forms.map(|key| key[at..].to_vec()) };
                if unit.holds(oracle, length)? {
                    return self.units.add(oracle, &unit, length);
                }
            }
        }
        Ok(Vec::new())
    }
}

impl Round {
    /// A round with random words at `at` in keys of `length` bytes.
    fn new(oracle: &mut Oracle<'_>, length: usize, at: usize) -> Self {
        let width = oracle.width();
        // Random ones: the differences of words in a regular order are few.
        let count = 1_usize << WORDS[usize::from(width > 32)];
        let words: BTreeSet<u32> = (0..count).map(|_| oracle.draw.word() as u32).collect();
        let words: Vec<u32> = words.into_iter().collect();
        let planes = vec![vec![0; words.len()]; width as usize];
        Self { length, at, words, planes, seeds: 0, masks: masks(width), pairs: Vec::new() }
    }

    /// Hashes all words under the next seeds, each with random bytes around them.
    fn hash(&mut self, oracle: &mut Oracle<'_>) -> Result<(), Fault> {
        for _ in 0..SEEDS_A_STEP {
            let (seed, mut key) = (oracle.seed(), oracle.draw.bytes(self.length));
            let keys = self.words.iter().map(|word| {
                write(&mut key, self.at, &word.to_le_bytes());
                key.clone()
            });
            let hashes = oracle.under(&seed, &keys.collect())?;
            for (bit, plane) in self.planes.iter_mut().enumerate() {
                let values = plane.iter_mut().zip(&hashes);
                values.for_each(|(values, hash)| *values |= (hash >> bit & 1) << self.seeds);
            }
            self.seeds += 1;
        }
        Ok(())
    }

    /// Looks for words that agree in the next parities.
    fn compare(&mut self, oracle: &mut Oracle<'_>) {
        for _ in 0..MASKS_A_STEP {
            let Some(mask) = self.masks.pop() else { return };
            oracle.add_work(64 * self.words.len() as u64);
            let mut parities = vec![0_u64; self.words.len()];
            for plane in self.planes.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1) {
                parities.iter_mut().zip(plane.1).for_each(|(parity, values)| *parity ^= values);
            }
            let mut sorted: Vec<(u64, u32)> = parities.into_iter().zip(self.words.iter().copied()).collect();
            sorted.sort_unstable();
            let equal = sorted.windows(2).filter(|pair| pair[0].0 == pair[1].0);
            let pairs: Vec<[u32; 2]> = equal.map(|pair| [pair[0].1, pair[1].1]).take(KEPT + 1).collect();
            if pairs.len() <= KEPT {
                self.pairs
                    .extend(pairs.into_iter().filter(|pair| !self.pairs.contains(pair)).collect::<Vec<_>>());
            }
        }
    }
}

/// Parities: single bits, two bits that a shift combines, and all bits that repeated shifts combine.
fn masks(width: u32) -> Vec<u64> {
    let mut masks: Vec<u64> = Vec::new();
    for shift in (1..width).rev() {
        let all = (0..width).step_by(shift as usize).fold(0, |mask, bit| mask | 1_u64 << bit);
        let down = (0..width).step_by(shift as usize).fold(0, |mask, bit| mask | 1_u64 << (width - 1 - bit));
        masks.extend([1 | 1 << shift, all, down, 1 << (width - 1) | 1 << (width - 1 - shift)]);
    }
    masks.extend((0..width).rev().map(|bit| 1_u64 << bit));
    let mut seen = HashSet::new();
    masks.retain(|mask| seen.insert(*mask));
    masks
}
