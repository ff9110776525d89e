//! Sums of products of words with secret multipliers that are kept to the width of the words.

use super::{About, Attack, Knowledge, LONGER, Miss, Target, USUAL_LENGTH};
use crate::keys::Keys;
use std::collections::HashSet;

/// Keys that differ in the two highest bits of their words: times any multiplier, they change the two highest
/// bits of the sum alone, so that all keys have four hashes.
pub(super) struct SmallWords;

/// Hashes of all keys, at most: four, and as many again for a carry.
const CLASSES: usize = 8;

/// Keys whose hashes are counted.
const TRIED: usize = 256;

impl Attack for SmallWords {
    fn about(&self) -> About {
        About {
            id: "small-words",
            title: "multilinear in words as wide as the sum: the highest bits of words keep to the highest bits",
            source: "the condition K > L of Lemire and Kaser, The Computer Journal 57(11), 2014, §3",
            knowledge: Knowledge::Nothing,
            aims_at: &[],
        }
    }

    fn longer(&self) -> Option<usize> {
        Some(LONGER)
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(USUAL_LENGTH);
        let base = target.draw.bytes(length);
        for width in [4, 8] {
            // The highest byte of a word is its last one, or its first one.
            for highest in [width - 1, 0] {
                let places: Vec<usize> = (0..length / width).map(|word| word * width + highest).collect();
                let keys: Keys = keys(&base, &places, target.count);
                let first: Keys = keys.iter().take(TRIED).collect();
                let classes: HashSet<u64> = target.hash(&first)?.into_iter().collect();
                if first.len() == TRIED && classes.len() <= CLASSES {
                    return Ok(keys);
                }
            }
        }
        Err(Miss::NotApplicable("the highest bits of its words reach the other bits of the hash".to_owned()))
    }
}

/// `base` with all combinations of the two highest bits of the bytes at `places`, as many as `count`.
fn keys(base: &[u8], places: &[usize], count: usize) -> Keys {
    let all = 1usize.checked_shl(2 * places.len() as u32).unwrap_or(usize::MAX);
    (0..all.min(count))
        .map(|number| {
            let mut key = base.to_vec();
            for (place, shift) in places.iter().zip((0..usize::BITS).step_by(2)) {
                key[*place] ^= ((number >> shift & 3) as u8) << 6;
            }
            key
        })
        .collect()
}
