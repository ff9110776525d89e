//! Absorbing words: a word that makes a function forget bytes beside it, as a factor of 0 does.

use super::fixed_point::Blocks;
use super::oracle::Oracle;
use super::unit::write;
use super::{Search, about};
use crate::attack::{About, Knowledge};
use crate::keys::Keys;
use crate::subject::Fault;
use core::ops::Range;
use hashlane_hash::scheme::Key;

/// Bytes of keys to search.
const LENGTHS: [usize; 6] = [36, 16, 32, 64, 24, 96];

/// Words of a step.
const WORDS: usize = 256;

/// Fresh keys and seeds by which a word is judged.
const TRIALS: usize = 8;

/// Trials in which it must hold.
const NEEDED: usize = 2;

/// Times that a word stands in a row.
const ROWS: [usize; 2] = [1, 4];

/// Words and their places.
#[derive(Debug, Default)]
pub(super) struct Absorbing {
    steps: usize,
    blocks: Blocks,
    words: Vec<Vec<u8>>,
}

/// A word, or a row of it, in keys of one length, and the bytes that it makes the function forget.
#[derive(Clone, Debug)]
struct Absorbed {
    length: usize,
    at: usize,
    row: Vec<u8>,
    forgotten: Range<usize>,
}

impl Absorbed {
    /// A random key with the row, and the same with other bytes where they are forgotten.
    fn pair(&self, oracle: &mut Oracle<'_>) -> [Vec<u8>; 2] {
        let mut one = oracle.draw.bytes(self.length);
        write(&mut one, self.at, &self.row);
        let mut other = one.clone();
        let fresh = oracle.draw.bytes(self.forgotten.len());
        write(&mut other, self.forgotten.start, &fresh);
        [one, other]
    }

    /// Keys that differ where bytes are forgotten.
    fn keys(&self, oracle: &mut Oracle<'_>) -> Keys {
        let [base, _] = self.pair(oracle);
        let bits = (8 * self.forgotten.len()).min(16);
        let keys = (0..oracle.scope.count.min(1 << bits)).map(|number| {
            let mut key = base.clone();
            let number = &number.to_le_bytes()[..self.forgotten.len().min(8)];
            write(&mut key, self.forgotten.start, number);
            key
        });
        keys.collect()
    }
}

impl Search for Absorbing {
    fn about(&self) -> About {
        about(
            "blind/absorbing",
            "a word makes the function forget bytes beside it",
            "search without priors: plain and random words in every place",
            Knowledge::Nothing,
        )
    }

    fn step(&mut self, oracle: &mut Oracle<'_>) -> Result<Vec<Keys>, Fault> {
        let lengths = oracle.lengths(&LENGTHS);
        // The same words for every length, then the next ones.
        if self.steps.is_multiple_of(lengths.len()) {
            self.words = self.blocks.take(oracle, WORDS);
        }
        let length = lengths[self.steps % lengths.len()];
        self.steps += 1;
        let all: Vec<Absorbed> = self.words.iter().flat_map(|word| places(word, length)).collect();
        let seed = oracle.seed();
        let mut suspicious = colliding(oracle, all, &seed)?;
        suspicious.truncate(WORDS);
        let mut held = vec![0; suspicious.len()];
        for _ in 0..TRIALS {
            let seed = oracle.seed();
            for (one, held) in suspicious.iter().zip(&mut held) {
                *held += colliding(oracle, vec![one.clone()], &seed)?.len();
            }
        }
        let held = suspicious.iter().zip(held).filter(|(_, held)| *held >= NEEDED);
        Ok(held.take(4).map(|(one, _)| one.keys(oracle)).collect())
    }
}

/// A word in all places of keys of `length` bytes: it may make the function forget the eight bytes before or
/// after it, or all of them.
fn places(word: &[u8], length: usize) -> Vec<Absorbed> {
    let mut all = Vec::new();
    for row in ROWS.map(|times| word.repeat(times)) {
        let Some(last) = length.checked_sub(row.len()) else { continue };
        // Words at the end of a key need not be at a whole multiple.
        let ends =
            (1..=2).filter_map(|words| length.checked_sub(words * word.len())).filter(|at| *at <= last);
        let mut starts: Vec<usize> = (0..=last).step_by(4).chain(ends).collect();
        starts.sort_unstable();
        starts.dedup();
        for at in starts {
            let end = at + row.len();
            let mut ranges = vec![0..at, at.saturating_sub(8)..at, end..length.min(end + 8), end..length];
            ranges.dedup();
            for forgotten in ranges.into_iter().filter(|range| range.len() > 1) {
                all.push(Absorbed { length, at, row: row.clone(), forgotten });
            }
        }
    }
    all
}

/// Members of `all` for which two keys collide under `seed`.
fn colliding(oracle: &mut Oracle<'_>, all: Vec<Absorbed>, seed: &Key) -> Result<Vec<Absorbed>, Fault> {
    let mut keys = Keys::default();
    for one in &all {
        keys.extend(one.pair(oracle));
    }
    let hashes = oracle.under(seed, &keys)?;
    let pairs = all.into_iter().zip(hashes.as_chunks::<2>().0);
    Ok(pairs.filter(|(_, [one, other])| one == other).map(|(one, _)| one).collect())
}
