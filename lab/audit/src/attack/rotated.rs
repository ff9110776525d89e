//! Chains of words that are multiplied by an odd number and combined with the next word, rotated.
//!
//! The highest bit of a word passes the product unchanged. Where the same word is also combined with the next
//! one, rotated by a fixed number, the bit goes on, rotated once more for each word, until it is back at the
//! highest place and cancels.

use super::{About, Attack, FEWEST, Knowledge, Miss, Target};
use crate::keys::Keys;
use crate::subject::Fault;
use hashlane_hash::scheme::Key;

/// The highest bit of a word, rotated once more in each of the words behind it.
pub(super) struct Rotated;

/// Bytes of a key if none are demanded: the longest chain of words of 64 bits, and room to move it.
const LENGTH: usize = 640;

/// Words of a chain.
const WORDS: core::ops::RangeInclusive<usize> = 2..=64;

/// Fresh keys and seeds for which a chain must hold.
const TRIALS: usize = 4;

/// Bytes of a stripe: keys are as long as several of them, so that the last words are no tail.
const STRIPE: usize = 32;

/// A difference of consecutive words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chain {
    /// Bytes of a word: 4 or 8.
    width: usize,
    is_big_endian: bool,
    /// Bits by which each word is rotated to the left against the one before.
    by: u32,
    /// Number of the words.
    words: usize,
}

impl Chain {
    /// All chains that keys of `length` bytes have room for, the shortest first.
    fn all(length: usize) -> impl Iterator<Item = Self> {
        let kinds = [(8, false), (4, false), (8, true), (4, true)];
        WORDS.flat_map(move |words| {
            let kinds = kinds.into_iter().filter(move |(width, _)| words * width <= length);
            kinds.flat_map(move |(width, is_big_endian)| {
                (0..8 * width as u32).map(move |by| Self { width, is_big_endian, by, words })
            })
        })
    }

    /// Changes the words from number `start` on.
    fn flip(&self, key: &mut [u8], start: usize) {
        let bits = 8 * self.width as u32;
        let words = key.chunks_exact_mut(self.width).skip(start).take(self.words);
        for (number, word) in (0..).zip(words) {
            let place = (bits - 1 + number * self.by) % bits;
            let byte = (place / 8) as usize;
            let byte = if self.is_big_endian { self.width - 1 - byte } else { byte };
            word[byte] ^= 1 << (place % 8);
        }
    }

    /// True if random keys keep their hashes, under fresh seeds, if the words from `start` on are changed,
    /// and not if the first of them is changed alone.
    fn holds(&self, target: &mut Target<'_>, length: usize, start: usize) -> Result<bool, Fault> {
        for _ in 0..TRIALS {
            let (seed, key) = (target.draw.key(), target.draw.bytes(length));
            let mut other = key.clone();
            self.flip(&mut other, start);
            let mut one = key.clone();
            Self { words: 1, ..*self }.flip(&mut one, start);
            if !target.collide(&seed, [&key, &other])? || target.collide(&seed, [&key, &one])? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Attack for Rotated {
    fn about(&self) -> About {
        About {
            id: "rotated-bits",
            title: "the highest bit of a word and rotated copies of it in the next words cancel",
            source: "own analysis of words that are multiplied by odd numbers, rotated and combined",
            knowledge: Knowledge::Nothing,
            aims_at: &[],
        }
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(LENGTH);
        let seed = target.key;
        for chain in suspicious(target, length, &seed)? {
            if !chain.holds(target, length, 0)? {
                continue;
            }
            let mut starts = Vec::new();
            let wanted = target.count.max(FEWEST).ilog2() as usize;
            for start in 0..=length / chain.width - chain.words {
                if starts.len() < wanted && chain.holds(target, length, start)? {
                    starts.push(start);
                }
            }
            let needed = starts.last().map_or(0, |last| (last + chain.words) * chain.width);
            let short = target.length_or(needed.next_multiple_of(STRIPE));
            for length in [short, length] {
                let base = target.draw.bytes(length);
                let keys = target.combinations(&base, starts.len(), &mut |key, number| {
                    chain.flip(key, starts[number]);
                });
                if let Ok(keys) = target.colliding(keys) {
                    return Ok(keys);
                }
            }
        }
        Err(Miss::NotApplicable("no chain of rotated bits keeps the hash".to_owned()))
    }
}

/// The chains that keep the hash of one key under `seed`.
fn suspicious(target: &mut Target<'_>, length: usize, seed: &Key) -> Result<Vec<Chain>, Fault> {
    /// Keys that are hashed at a time.
    const BATCH: usize = 1 << 10;
    let base = target.draw.bytes(length);
    let chains: Vec<Chain> = Chain::all(length).collect();
    let of_base = target.hash_under(seed, &[&base].into_iter().collect())?;
    let mut found = Vec::new();
    for chains in chains.chunks(BATCH) {
        let keys = chains.iter().map(|chain| {
            let mut key = base.clone();
            chain.flip(&mut key, 0);
            key
        });
        let hashes = target.hash_under(seed, &keys.collect())?;
        let equal = chains.iter().zip(&hashes).filter(|(_, hash)| of_base.first() == Some(hash));
        found.extend(equal.map(|(chain, _)| *chain));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_rotate_the_highest_bit() {
        let of = |chain: Chain| {
            let mut key = [0; 24];
            chain.flip(&mut key, 1);
            key
        };
        let words = of(Chain { width: 8, is_big_endian: false, by: 40, words: 2 });
        assert_eq!(words[8..16], (1_u64 << 63).to_le_bytes());
        assert_eq!(words[16..], (1_u64 << 63).rotate_left(40).to_le_bytes());
        let words = of(Chain { width: 4, is_big_endian: true, by: 31, words: 3 });
        let bits = [0, 1 << 31, 1 << 30, 1 << 29, 0, 0].map(u32::to_be_bytes);
        assert_eq!(words[..], bits.concat());
        assert_eq!(Chain::all(8).count(), 64);
        assert!(Chain::all(LENGTH).any(|chain| chain.words == 64 && chain.width == 8));
    }
}
