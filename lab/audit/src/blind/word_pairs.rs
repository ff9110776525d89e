//! Pairs of words that lead to one state, found among many words by sorting their hashes.

use super::oracle::Oracle;
use super::unit::{Unit, Units, write};
use super::{Search, about};
use crate::attack::{About, Knowledge};
use crate::keys::Keys;
use crate::subject::Fault;
use hashlane_hash::scheme::Key;
use std::collections::BTreeSet;

/// Bytes of keys to search.
const LENGTHS: [usize; 4] = [36, 64, 16, 24];

/// Bytes of a word.
const WORDS: [usize; 3] = [2, 4, 8];

/// Words of a step: their pairs are 2³³, so that a state of 32 bits has two collisions.
const MANY: usize = 17;

/// Pairs of a step that are tried under other seeds.
const TRIED: usize = 64;

/// Pairs that hold under most seeds.
#[derive(Debug, Default)]
pub(super) struct WordPairs {
    steps: usize,
    units: Units,
}

impl Search for WordPairs {
    fn about(&self) -> About {
        about(
            "blind/word-pairs",
            "two words lead to one state under every seed, and n pairs to 2^n keys",
            "search without priors: birthday search; Joux, Multicollisions in iterated hash functions, \
             CRYPTO 2004",
            Knowledge::Nothing,
        )
    }

    fn step(&mut self, oracle: &mut Oracle<'_>) -> Result<Vec<Keys>, Fault> {
        let lengths = oracle.lengths(&LENGTHS);
        let (bytes, round) = (WORDS[self.steps % WORDS.len()], self.steps / WORDS.len());
        let length = lengths[round % lengths.len()];
        self.steps += 1;
        let Some(last) = length.checked_sub(bytes) else { return Ok(Vec::new()) };
        let at = oracle.below(last / 4 + 1) * 4;
        let base = oracle.draw.bytes(length);
        let seed = oracle.seed();
        let mut sets = Vec::new();
        for forms in colliding(oracle, &base, at, bytes, &seed)? {
            let unit = Unit { at, forms };
            if unit.holds(oracle, length)? {
                sets.extend(self.units.add(oracle, &unit, length)?);
                break;
            }
        }
        Ok(sets)
    }
}

/// Pairs of words of `bytes` bytes that make keys of one hash if they are written at `at` into `base`.
pub(super) fn colliding(
    oracle: &mut Oracle<'_>,
    base: &[u8],
    at: usize,
    bytes: usize,
    seed: &Key,
) -> Result<Vec<[Vec<u8>; 2]>, Fault> {
    let words: Vec<Vec<u8>> = match bytes {
        2 => (0..=u16::MAX).map(|word| word.to_le_bytes().to_vec()).collect(),
        _ => {
            let words: BTreeSet<Vec<u8>> = (0..1 << MANY).map(|_| oracle.draw.bytes(bytes)).collect();
            words.into_iter().collect()
        }
    };
    let keys = words.iter().map(|word| {
        let mut key = base.to_vec();
        write(&mut key, at, word);
        key
    });
    let hashes = oracle.under(seed, &keys.collect())?;
    let mut sorted: Vec<(u64, usize)> = hashes.into_iter().zip(0..).collect();
    sorted.sort_unstable();
    let equal = sorted.windows(2).filter(|pair| pair[0].0 == pair[1].0).take(TRIED);
    Ok(equal.map(|pair| [words[pair[0].1].clone(), words[pair[1].1].clone()]).collect())
}
