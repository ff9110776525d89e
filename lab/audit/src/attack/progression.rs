//! Arithmetic progressions of one word, learnt from buckets, as multiply-shift under a secret multiplier has.
//!
//! If a hash is some bits in the middle of a product and a sum, two words that share a bucket differ by a
//! number whose product is small. Differences and sums of such numbers are smaller still, which the buckets
//! of their multiples show. The multiples of a number with a small product stay in few buckets.

use super::arithmetic::set_word;
use super::terms::{is_deep, theorem};
use super::{About, Attack, Knowledge, Miss, Target, USUAL_LENGTH};
use crate::keys::Keys;
use crate::subject::{Fault, Lengths};
use std::collections::BTreeSet;

/// Progressions of a word of the key. The audit reads buckets in place of the attacker's clock.
pub(super) struct Progression;

/// Numbers that share the bucket of a word: by which the structure is noticed, and from which small ones are
/// made.
const NOTICED: usize = 4;
const LEARNT: usize = 40;

/// Differences of the first numbers that must share the bucket, too.
const NEEDED: usize = 1;

/// Words of which buckets are read to learn a number, on average, over the number of buckets.
const PATIENCE: usize = 2;

/// Numbers of small products that are combined, and how often.
const SMALL: usize = 12;
const ROUNDS: usize = 2;

/// Binary logarithms of the multiples that tell how small a product is.
const POWERS: core::ops::RangeInclusive<u32> = 2..=12;

/// Most keys of a progression: so many multiples of a number reach no end of a word.
const MOST: usize = 1 << 12;

/// Bits of a word less those of a number whose multiples stay inside it, and those of the first numbers.
const ROOM: u32 = 13;
const LEARNT_ROOM: u32 = 14;

/// A word of a key, little-endian, and the bytes around it.
struct Place {
    at: usize,
    width: usize,
    base: Vec<u8>,
    /// The word whose bucket the others share: far from its upper end.
    word: u64,
    bucket: usize,
}

impl Place {
    fn new(target: &mut Target<'_>, (at, width): (usize, usize), base: Vec<u8>) -> Result<Self, Fault> {
        let bits = 8 * width as u32;
        let word = target.draw.word() & ((1 << (bits - 2)) - 1);
        let mut place = Self { at, width, base, word, bucket: 0 };
        place.bucket = place.buckets(target, &[0])?.first().copied().unwrap_or(0);
        Ok(place)
    }

    /// The key whose word is larger by a number.
    fn key(&self, by: i64) -> Vec<u8> {
        let mut key = self.base.clone();
        set_word(&mut key, self.at, self.width, self.word.wrapping_add_signed(by));
        key
    }

    fn buckets(&self, target: &mut Target<'_>, by: &[i64]) -> Result<Vec<usize>, Fault> {
        let (seed, keys) = (target.key, by.iter().map(|by| self.key(*by)).collect());
        let hashes = target.hash_under(&seed, &keys)?;
        Ok(hashes.into_iter().map(|hash| target.geometry.bucket(hash, target.count)).collect())
    }

    /// Multiples by powers of two that share the bucket, up to the first one that does not: many if the
    /// product of the number is small.
    fn shared(&self, target: &mut Target<'_>, by: i64) -> Result<usize, Fault> {
        let buckets = self.buckets(target, &POWERS.map(|power| by << power).collect::<Vec<_>>())?;
        Ok(buckets.into_iter().take_while(|bucket| *bucket == self.bucket).count())
    }

    /// The numbers of the smallest products first, those whose multiples stay inside the word.
    fn smallest(
        &self,
        target: &mut Target<'_>,
        numbers: impl IntoIterator<Item = i64>,
    ) -> Result<Vec<(usize, i64)>, Fault> {
        let most = 1_i64 << (8 * self.width as u32 - ROOM);
        let mut all = BTreeSet::new();
        for by in numbers.into_iter().filter(|by| (1..most).contains(by)).collect::<BTreeSet<_>>() {
            all.insert((self.shared(target, by)?, by));
        }
        Ok(all.into_iter().rev().take(SMALL).collect())
    }

    /// Adds numbers that share the bucket until there are so many of them; false if patience ends before.
    fn learn(
        &self,
        target: &mut Target<'_>,
        found: &mut BTreeSet<i64>,
        wanted: usize,
    ) -> Result<bool, Fault> {
        let buckets = target.geometry.buckets_for(target.count);
        let mut left = PATIENCE * buckets * wanted.saturating_sub(found.len());
        let mask = (1_u64 << (8 * self.width as u32 - LEARNT_ROOM)) - 1;
        while found.len() < wanted && left > 0 {
            let by: Vec<i64> =
                (0..left.min(MOST)).map(|_| (target.draw.word() & mask).cast_signed()).collect();
            left -= by.len();
            let buckets = self.buckets(target, &by)?;
            let equal = by.iter().zip(buckets).filter(|(by, bucket)| **by != 0 && *bucket == self.bucket);
            found.extend(equal.map(|(by, _)| *by));
        }
        Ok(found.len() >= wanted)
    }
}

impl Attack for Progression {
    fn about(&self) -> About {
        About {
            id: "progression-learnt",
            title: "words of one bucket differ by numbers whose multiples share it, too",
            source: "multiply-shift: Dietzfelbinger, Universal hashing and k-wise independent random variables \
                     via integer arithmetic without primes, STACS 1996; own analysis",
            knowledge: Knowledge::Results,
            aims_at: &[],
        }
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        theorem(target)?;
        let length = target.length_or(USUAL_LENGTH);
        for width in [8, 4] {
            for at in places(length, width, target.subject.info().lengths) {
                let base = target.draw.bytes(length);
                let place = Place::new(target, (at, width), base)?;
                let Some(step) = step(target, &place)? else { continue };
                let keys = (0..target.count.min(MOST) as i64).map(|number| place.key(number * step));
                let keys: Keys = keys.collect();
                if is_deep(target, &keys)? {
                    return Ok(keys);
                }
            }
        }
        Err(Miss::NotApplicable("no word has multiples of a number in one bucket".to_owned()))
    }
}

/// Places of words of `width` bytes: all, or of keys of any length the first two and the last, as most
/// functions treat their words alike.
fn places(length: usize, width: usize, lengths: Lengths) -> Vec<usize> {
    let mut all: Vec<usize> = (0..(length + 1).saturating_sub(width)).step_by(width).collect();
    if let (Lengths::Any, 4..) = (lengths, all.len()) {
        all.drain(2..all.len() - 1);
    }
    all
}

/// The number whose multiples stay longest in the bucket; `None` if the buckets show no such numbers.
fn step(target: &mut Target<'_>, place: &Place) -> Result<Option<i64>, Fault> {
    let mut learnt = BTreeSet::new();
    if !place.learn(target, &mut learnt, NOTICED)? {
        return Ok(None);
    }
    let buckets = place.buckets(target, &differences(&learnt))?;
    if buckets.into_iter().filter(|bucket| *bucket == place.bucket).count() < NEEDED {
        return Ok(None);
    }
    // Of short words, there may be fewer.
    place.learn(target, &mut learnt, LEARNT)?;
    let mut small = place.smallest(target, differences(&learnt))?;
    for _ in 0..ROUNDS {
        let numbers: BTreeSet<i64> = small.iter().map(|(_, by)| *by).collect();
        let sums = numbers.iter().flat_map(|one| numbers.iter().map(move |other| one + other));
        let all: Vec<i64> = numbers.iter().copied().chain(sums).chain(differences(&numbers)).collect();
        small = place.smallest(target, all)?;
    }
    Ok(small.first().map(|(_, by)| *by))
}

/// Differences of any two of the numbers, the larger less the smaller one.
fn differences(numbers: &BTreeSet<i64>) -> Vec<i64> {
    let of = |one: &i64| numbers.range(..*one).map(move |other| *one - other).collect::<Vec<_>>();
    numbers.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_those_of_all_pairs() {
        assert_eq!(differences(&BTreeSet::from([1, 4, 9])), [3, 8, 5]);
        assert!(differences(&BTreeSet::from([7])).is_empty());
    }

    #[test]
    fn words_of_keys_of_one_length_are_all_tried() {
        assert_eq!(places(36, 8, Lengths::Any), [0, 8, 24]);
        assert_eq!(places(36, 8, Lengths::Exactly(36)), [0, 8, 16, 24]);
        assert_eq!((places(4, 4, Lengths::Any), places(4, 8, Lengths::Any)), (vec![0], vec![]));
    }

    #[test]
    fn multiples_of_the_largest_number_stay_inside_the_word() {
        for (width, most) in [(4, u64::from(u32::MAX)), (8, u64::MAX)] {
            let bits = 8 * width as u32;
            let (largest_word, largest) = ((1_u64 << (bits - 2)) - 1, (1_u64 << (bits - ROOM)) - 1);
            let end = largest_word.checked_add(largest * MOST as u64);
            assert!(end.is_some_and(|word| word <= most) && MOST == 1 << POWERS.end());
        }
    }
}
