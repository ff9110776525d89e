//! Words that change places together with the public numbers that they are combined with.
//!
//! A sum of one function of each word forgets the order of the words, so that a word is combined with the
//! number of its place first. A number that is public and linear, as a multiple of the place, moves along.

use super::arithmetic::{set_word, word};
use super::{About, Attack, FEWEST, Knowledge, Miss, Target};
use crate::keys::Keys;
use crate::subject::Fault;
use std::collections::BTreeSet;

/// Words and their offsets that change places.
pub(super) struct OffsetSwaps;

/// Bytes of a key if none are demanded: twelve pairs of words of eight bytes, and a tail.
const LENGTH: usize = 12 * 16 + 12;

/// Largest distance of two words, in words.
const DISTANCE: usize = 4;

/// Fresh keys and seeds for which an exchange must hold.
const TRIALS: usize = 4;

/// Operation by which a word is combined with the offset of its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Combined {
    /// Exclusive or; the first place has this number.
    Xor(u64),
    /// Sum: the number of the first place makes no difference.
    Add,
}

/// Two words that change places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Exchange {
    /// Number of the first word.
    first: usize,
    /// Words from the first to the second.
    distance: usize,
    width: usize,
    /// Offset of a place: this many times its number.
    multiplier: u64,
    combined: Combined,
}

impl Exchange {
    /// All exchanges of the first words of a key of `length` bytes, with the multipliers.
    fn all(multipliers: &BTreeSet<u64>, length: usize) -> Vec<Self> {
        let mut all = Vec::new();
        for width in [8, 4] {
            for distance in 1..=DISTANCE {
                for multiplier in multipliers.iter().copied() {
                    let firsts = [0, 1, 2].map(Combined::Xor).into_iter().chain([Combined::Add]);
                    all.extend(firsts.map(|combined| Self {
                        first: 0,
                        distance,
                        width,
                        multiplier,
                        combined,
                    }));
                }
            }
        }
        all.retain(|exchange| exchange.end() <= length);
        all
    }

    fn end(&self) -> usize {
        (self.first + self.distance + 1) * self.width
    }

    fn apply(&self, key: &mut [u8]) {
        let places = [self.first, self.first + self.distance];
        let [one, other] = places.map(|place| word(key, place * self.width, self.width));
        let offset = |place: usize, from: u64| self.multiplier.wrapping_mul(place as u64 + from);
        let [new_one, new_other] = match self.combined {
            Combined::Xor(from) => {
                let offset = offset(places[0], from) ^ offset(places[1], from);
                [other ^ offset, one ^ offset]
            }
            Combined::Add => {
                let offset = self.multiplier.wrapping_mul(self.distance as u64);
                [other.wrapping_add(offset), one.wrapping_sub(offset)]
            }
        };
        set_word(key, places[0] * self.width, self.width, new_one);
        set_word(key, places[1] * self.width, self.width, new_other);
    }

    /// True if fresh keys keep their hashes under fresh seeds, and change them if only one of the words
    /// changes.
    fn holds(&self, target: &mut Target<'_>, length: usize) -> Result<bool, Fault> {
        for _ in 0..TRIALS {
            let (seed, key) = (target.draw.key(), target.draw.bytes(length));
            let mut other = key.clone();
            self.apply(&mut other);
            let mut one = key.clone();
            one[self.first * self.width] ^= 1;
            if other == key
                || !target.collide(&seed, [&key, &other])?
                || target.collide(&seed, [&key, &one])?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Attack for OffsetSwaps {
    fn about(&self) -> About {
        About {
            id: "offset-swaps",
            title: "words change places together with the public multiples of their places",
            source: "as exclusive-or MACs are forged if their blocks are not told apart: Bellare, Guérin and \
                     Rogaway, XOR MACs, CRYPTO 1995",
            knowledge: Knowledge::Nothing,
            aims_at: &[],
        }
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(LENGTH);
        let constants = target.subject.constants().unwrap_or_default();
        let numbers = constants.numbers.iter().chain(&constants.table).copied();
        // Places are counted in words, in bytes, or in the upper half of a word.
        let multipliers: BTreeSet<u64> = numbers.chain([1, 4, 8, 1 << 32, 1 << 56]).collect();
        let exchanges = Exchange::all(&multipliers, length);
        let base = target.draw.bytes(length);
        let keys = core::iter::once(base.clone()).chain(exchanges.iter().map(|exchange| {
            let mut key = base.clone();
            exchange.apply(&mut key);
            key
        }));
        let hashes = target.hash(&keys.collect())?;
        let Some((of_base, hashes)) = hashes.split_first() else {
            return Err(Miss::NotApplicable("its keys are too short".to_owned()));
        };
        let equal = exchanges.iter().zip(hashes).filter(|(_, hash)| *hash == of_base);
        for exchange in equal.map(|(exchange, _)| *exchange).collect::<Vec<_>>() {
            if exchange.holds(target, length)? {
                let all = disjoint(target, exchange, length)?;
                let keys = target.combinations(&base, all.len(), &mut |key, number| all[number].apply(key));
                if let Ok(keys) = target.colliding(keys) {
                    return Ok(keys);
                }
            }
        }
        Err(Miss::NotApplicable("no two of its words change places with their offsets".to_owned()))
    }
}

/// The same exchange at other places that share no word.
fn disjoint(target: &mut Target<'_>, exchange: Exchange, length: usize) -> Result<Vec<Exchange>, Fault> {
    let (mut used, mut found) = (BTreeSet::new(), Vec::new());
    for first in 0..length / exchange.width {
        let moved = Exchange { first, ..exchange };
        let places = [first, first + exchange.distance];
        if found.len() < target.count.max(FEWEST).ilog2() as usize
            && moved.end() <= length
            && places.iter().all(|place| !used.contains(place))
            && moved.holds(target, length)?
        {
            used.extend(places);
            found.push(moved);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_keeps_both_words_with_their_offsets() {
        let multipliers = BTreeSet::from([1, 0x9e37_79b9_7f4a_7c15]);
        assert!(Exchange::all(&multipliers, 7).is_empty());
        for exchange in Exchange::all(&multipliers, 40) {
            let key: Vec<u8> = (100..140).collect();
            let mut other = key.clone();
            exchange.apply(&mut other);
            assert_ne!(key, other);
            let mask = u64::MAX >> (64 - 8 * exchange.width);
            let terms = |key: &[u8]| {
                let mut terms = [0, exchange.distance].map(|place| {
                    let word = word(key, place * exchange.width, exchange.width);
                    let offset = |from| exchange.multiplier.wrapping_mul(place as u64 + from);
                    mask & match exchange.combined {
                        Combined::Xor(from) => word ^ offset(from),
                        Combined::Add => word.wrapping_add(offset(5)),
                    }
                });
                terms.sort_unstable();
                terms
            };
            assert_eq!(terms(&key), terms(&other), "{exchange:?}");
            exchange.apply(&mut other);
            assert_eq!(key, other, "{exchange:?}");
        }
    }
}
