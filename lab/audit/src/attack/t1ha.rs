//! t1ha1 of 32 bytes: each word reaches a sum by a public product alone, so that sums can be chosen.

use super::arithmetic::set_word;
use super::folded::unfolded;
use super::{About, Attack, Knowledge, Miss, Target};
use crate::keys::Keys;
use std::sync::LazyLock;

/// Keys whose words add up alike; the seed is added to the sum of two of them.
pub(super) struct Sums;

const LENGTH: usize = 32;

/// Multipliers of the words at bytes 0, 8, 16 and 24; the first and the third are added up, as are the
/// others.
const PRIMES: [u64; 4] =
    [0x9c06_faf4_d023_e3ab, 0xbd9c_acc2_2c6e_9571, 0xd4f0_6db9_9d67_be4b, 0x8243_4fe9_0edc_ef39];

/// The pairs of both sums, which depend on no function and no seed.
static PAIRS: LazyLock<[Vec<[u64; 2]>; 2]> =
    LazyLock::new(|| [0, 1].map(|first| pairs(PRIMES[first], PRIMES[first + 2])));

/// Bits of a sum; its subsets are the values that the words are given.
const BITS: u32 = 10;

impl Attack for Sums {
    fn about(&self) -> About {
        About {
            id: "t1ha1",
            title: "words are folded by public products and added up: the products can be inverted",
            source: "by own analysis of t1ha1.c (Yuriev), which claims no resistance",
            knowledge: Knowledge::Nothing,
            aims_at: &["t1ha1-le"],
        }
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(LENGTH);
        if length != LENGTH {
            return Err(Miss::NotApplicable(format!("it needs keys of {LENGTH} bytes")));
        }
        let [even, odd] = &*PAIRS;
        let keys: Keys = even
            .iter()
            .flat_map(|even| odd.iter().map(move |odd| [even[0], odd[0], even[1], odd[1]]))
            .map(|words| {
                let mut key = [0; LENGTH];
                (0..).step_by(8).zip(words).for_each(|(at, word)| set_word(&mut key, at, 8, word));
                key
            })
            .take(target.count)
            .collect();
        target.colliding(keys)
    }
}

/// Pairs of words whose products by `first` and by `second`, folded to 64 bits each, have one sum.
fn pairs(first: u64, second: u64) -> Vec<[u64; 2]> {
    let all = (1 << BITS) - 1;
    let of = |prime, sum| unfolded(prime, sum).map(|words| words.into_iter().next());
    let pair = |part: u64| Some([of(first, part)??, of(second, all ^ part)??]);
    (0..=all).filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_inverted() {
        let fold = |a: u64, b: u64| {
            let product = u128::from(a) * u128::from(b);
            (product as u64) ^ (product >> 64) as u64
        };
        for prime in PRIMES {
            for folded in [1, 0x3ff, 0x155, 1 << 63 | 1] {
                for word in unfolded(prime, folded).unwrap() {
                    assert_eq!(fold(word, prime), folded);
                }
            }
        }
        let pairs = pairs(PRIMES[0], PRIMES[2]);
        assert!(pairs.len() > 100, "{}", pairs.len());
        let sums = pairs.iter().map(|[a, b]| fold(*a, PRIMES[0]).wrapping_add(fold(*b, PRIMES[2])));
        assert!(sums.into_iter().all(|sum| sum == (1 << BITS) - 1));
    }
}
