//! Words that are numbers of a prime field, but larger than its prime: two words are one number.

use super::arithmetic::set_word;
use super::{About, Attack, FEWEST, Knowledge, LONGER, Miss, Target, USUAL_LENGTH};
use crate::keys::Keys;

/// Multiples of the prime in the words of a key.
pub(super) struct Residues;

/// Bytes of a word, and primes of fields in which hashes work: those near a power of two, and those that
/// programs for contests use. Bytes are smaller than all of them.
const FIELDS: [(usize, &[u64]); 2] = [
    (
        8,
        &[
            (1 << 61) - 1,
            (1 << 32) - 5,
            (1 << 31) - 1,
            (1 << 60) - 93,
            (1 << 63) - 25,
            (1 << 56) - 5,
            59_u64.wrapping_neg(),
            1_000_000_007,
            998_244_353,
        ],
    ),
    (4, &[(1 << 31) - 1, (1 << 31) - 19, (1 << 32) - 5, 1_000_000_007, 998_244_353, 1_000_000_009]),
];

impl Attack for Residues {
    fn about(&self) -> About {
        About {
            id: "residues",
            title: "words above the prime of a field are the numbers of smaller words",
            source: "Dietzfelbinger et al., Polynomial hash functions are reliable, ICALP 1992, whose blocks are \
                     numbers below the prime",
            knowledge: Knowledge::Nothing,
            aims_at: &[],
        }
    }

    fn longer(&self) -> Option<usize> {
        Some(LONGER)
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(USUAL_LENGTH);
        for (width, primes) in FIELDS {
            for prime in primes {
                // Words that are at most `most` times the prime larger.
                let most = (u64::MAX >> (64 - 8 * width as u32)) / prime;
                let base = target.draw.bytes(length);
                let numbers = most.saturating_add(1).min(1 << 8) as usize;
                let places: Vec<usize> = (0..length / width).map(|word| word * width).collect();
                let all = numbers.checked_pow(places.len() as u32).unwrap_or(usize::MAX);
                if all < FEWEST {
                    continue;
                }
                let keys = (0..all.min(target.count)).map(|number| {
                    let (mut key, mut rest) = (base.clone(), number);
                    for place in &places {
                        let multiple = (rest % numbers) as u64 * prime;
                        set_word(&mut key, *place, width, multiple + u64::from(base[*place] & 1));
                        rest /= numbers;
                    }
                    key
                });
                let Ok(keys) = target.colliding(keys.collect()) else { continue };
                // Words that are not hashed are no numbers of any field.
                let others = places.iter().map(|place| {
                    let mut other = base.clone();
                    set_word(&mut other, *place, width, target.draw.word());
                    other
                });
                let others: Keys = core::iter::once(base.clone()).chain(others).collect();
                let hashes = target.hash(&others)?;
                if hashes.iter().skip(1).all(|hash| hashes.first() != Some(hash)) {
                    return Ok(keys);
                }
            }
        }
        Err(Miss::NotApplicable("its words are no numbers of a known prime field".to_owned()))
    }
}
