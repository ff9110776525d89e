//! Words of one bucket whose differences form a lattice, learnt from buckets: products under a secret number,
//! some bits of which the table takes.
//!
//! If a hash is some bits of a product and a sum, or its remainder modulo a prime, two words that share a
//! bucket differ by a number whose product is small in some sense. Sums and differences of such numbers are
//! others. Those whose multiples stay longest in the bucket lead from one word of the bucket to the next.

mod lattice;

use super::arithmetic::set_word;
use super::terms::{is_deep, theorem};
use super::{About, Attack, FEWEST, Knowledge, Miss, Target, USUAL_LENGTH};
use crate::keys::Keys;
use crate::subject::{Fault, Lengths};
use crate::table::MAX_BUCKETS;
use lattice::{differences, grown, steps};
use std::collections::BTreeSet;

/// Words of a bucket. The audit reads buckets in place of the attacker's clock.
pub(super) struct Progression;

/// Numbers that share the bucket of a word: by which the structure is noticed, and from which small ones are
/// made.
const NOTICED: usize = 6;
const LEARNT: usize = 24;

/// Words whose buckets are read to learn a number, on average, over the number of buckets.
const PATIENCE: usize = 2;

/// Words whose buckets are read at a time.
const BATCH: usize = 1 << 12;

/// Bits of a word of 8 bytes that no number changes, beyond those that choose the bucket: a product keeps
/// them, and a hash that folds the halves of a product has an exact sum in the upper half.
const KEPT: u32 = 8;

/// Buckets of a larger table, in which the keys shall share a bucket as well, over the table's.
const LARGER: usize = 16;

/// A word of a key, little-endian, and the bytes around it.
struct Place {
    at: usize,
    width: usize,
    /// Lowest bits of the word that no number changes.
    kept: u32,
    base: Vec<u8>,
    /// The word whose bucket the others share: in the middle of its range.
    word: u64,
    /// Buckets of the table.
    buckets: usize,
    bucket: usize,
}

impl Place {
    fn new(
        target: &mut Target<'_>,
        (at, width, kept): (usize, usize, u32),
        length: usize,
    ) -> Result<Self, Fault> {
        let (base, bits) = (target.draw.bytes(length), 8 * width as u32);
        let word = (3 << (bits - 3)) + (target.draw.word() >> (64 - bits) >> 2);
        let buckets = target.geometry.buckets_for(target.count);
        Self { at, width, kept, base, word, buckets, bucket: 0 }.in_table(target, buckets)
    }

    /// The same word in a table of `buckets` buckets.
    fn in_table(mut self, target: &mut Target<'_>, buckets: usize) -> Result<Self, Fault> {
        self.buckets = buckets;
        self.bucket = self.buckets(target, &[0])?.first().copied().unwrap_or(0);
        Ok(self)
    }

    /// Largest number: sums with the word stay in its range.
    fn most(&self) -> i64 {
        1 << (8 * self.width as u32 - 2 - self.kept)
    }

    /// The key whose word is larger by a number.
    fn key(&self, by: i64) -> Vec<u8> {
        let mut key = self.base.clone();
        set_word(&mut key, self.at, self.width, self.word.wrapping_add_signed(by << self.kept));
        key
    }

    fn buckets(&self, target: &mut Target<'_>, by: &[i64]) -> Result<Vec<usize>, Fault> {
        let (seed, keys) = (target.key, by.iter().map(|by| self.key(*by)).collect());
        let hashes = target.hash_under(&seed, &keys)?;
        Ok(hashes.into_iter().map(|hash| target.geometry.bucket_of(hash, self.buckets)).collect())
    }

    /// Numbers that are in range and share the bucket.
    fn sharing(&self, target: &mut Target<'_>, by: impl IntoIterator<Item = i64>) -> Result<Vec<i64>, Fault> {
        let by: Vec<i64> = by.into_iter().filter(|by| by.abs() <= self.most()).collect();
        let buckets = self.buckets(target, &by)?;
        let all = by.into_iter().zip(buckets).filter(|(_, bucket)| *bucket == self.bucket);
        Ok(all.map(|(by, _)| by).collect())
    }

    /// Adds random numbers that share the bucket until there are so many of them; false if patience ends
    /// before.
    fn learn(
        &self,
        target: &mut Target<'_>,
        found: &mut BTreeSet<i64>,
        wanted: usize,
    ) -> Result<bool, Fault> {
        let mut left = PATIENCE * self.buckets * wanted.saturating_sub(found.len());
        while found.len() < wanted && left > 0 {
            let mask = 2 * self.most() as u64 - 1;
            let by: Vec<i64> = (0..left.min(BATCH))
                .map(|_| (target.draw.word() & mask).cast_signed() - self.most())
                .filter(|by| *by != 0)
                .collect();
            left = left.saturating_sub(by.len().max(1));
            let sharing = self.sharing(target, by)?;
            found.extend(sharing.into_iter().take(wanted - found.len()));
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
        let kept = target.geometry.lowest_bits(target.count).map(|bits| bits + KEPT);
        // Keys that hold for every seed come first.
        let kinds = kept.map(|kept| (8, kept)).into_iter().chain([(8, 0), (4, 0)]);
        let mut most = Keys::default();
        for (width, kept) in kinds {
            for at in places(length, width, target.subject.info().lengths) {
                let place = Place::new(target, (at, width, kept), length)?;
                let keys = words(target, place)?;
                if keys.len() > most.len() && keys.len() >= FEWEST && is_deep(target, &keys)? {
                    most = keys;
                }
                if most.len() == target.count {
                    return Ok(most);
                }
            }
        }
        match most.is_empty() {
            true => Err(Miss::NotApplicable("no word has multiples of a number in one bucket".to_owned())),
            false => Ok(most),
        }
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

/// Keys whose words share a bucket, of the largest table in which there are as many as wanted; none if the
/// buckets show no structure.
fn words(target: &mut Target<'_>, mut place: Place) -> Result<Keys, Fault> {
    let mut learnt = BTreeSet::new();
    if !place.learn(target, &mut learnt, NOTICED)? {
        return Ok(Keys::default());
    }
    if place.sharing(target, differences(&learnt))?.is_empty() {
        return Ok(Keys::default());
    }
    // Of short words, there may be fewer.
    place.learn(target, &mut learnt, LEARNT)?;
    let mut words: Vec<i64> = Vec::new();
    loop {
        let steps = steps(target, &place, learnt)?;
        let found = grown(target, &place, &steps)?;
        if !words.is_empty() && found.len() < target.count {
            break;
        }
        words = found;
        let larger = LARGER * place.buckets;
        if words.len() < target.count || target.geometry.grows_at.is_none() || larger > MAX_BUCKETS {
            break;
        }
        place = place.in_table(target, larger)?;
        let sharing = place.sharing(target, words.iter().copied())?.into_iter().filter(|by| *by != 0);
        learnt = sharing.take(LEARNT).collect();
        if learnt.len() < NOTICED {
            break;
        }
    }
    Ok(words.into_iter().map(|by| place.key(by)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_keys_of_one_length_are_all_tried() {
        assert_eq!(places(36, 8, Lengths::Any), [0, 8, 24]);
        assert_eq!(places(36, 8, Lengths::Exactly(36)), [0, 8, 16, 24]);
        assert_eq!((places(4, 4, Lengths::Any), places(4, 8, Lengths::Any)), (vec![0], vec![]));
    }

    #[test]
    fn sums_with_the_largest_number_stay_inside_the_word() {
        for (width, kept, largest) in [(4, 0, u64::from(u32::MAX)), (8, 0, u64::MAX), (8, 24, u64::MAX)] {
            let bits = 8 * width as u32;
            for word in [3 << (bits - 3), (3 << (bits - 3)) + (largest >> 2)] {
                let place = Place { at: 0, width, kept, base: vec![0; width], word, buckets: 1, bucket: 0 };
                let by = (place.most() << kept).cast_unsigned();
                assert!(
                    word.checked_sub(by).is_some() && word.checked_add(by).is_some_and(|sum| sum <= largest)
                );
            }
        }
    }
}
