//! CityHash64 and FarmHash64 of 32 bytes: the two words before the last mixing can be set at will.

use super::arithmetic::{inverse, set_word, word};
use super::{About, Attack, Knowledge, Miss, Target};
use crate::keys::Keys;

/// Keys whose inner words are equal; seeds meet the result of the unseeded function alone.
pub(super) struct Inner;

const LENGTH: usize = 32;
const K1: u64 = 0xb492_b66f_be98_f273;
const K2: u64 = 0x9ae1_6a3b_2f90_404f;

impl Attack for Inner {
    fn about(&self) -> About {
        About {
            id: "cityhash64",
            title: "both words before the last mixing are set at will; seeds come after it",
            source: "Aumasson, Bernstein and Boßlet, Hash-flooding DoS reloaded, 29C3, 2012; version 1.1 by \
                     own analysis",
            knowledge: Knowledge::Nothing,
            aims_at: &[
                "cityhash64",
                "cityhash64-seed",
                "cityhash64-seeds",
                "farmhash-fingerprint64",
                "farmhash64-na-seed",
                "farmhash64-na-seeds",
            ],
        }
    }

    /// The key of the same inner words, with another first word.
    fn second_key(&self, given: &[u8]) -> Option<Vec<u8>> {
        if given.len() != LENGTH {
            return None;
        }
        let [first, second, third, fourth] = [0, 8, 16, 24].map(|at| word(given, at, 8));
        let (a, b, d) = (first.wrapping_mul(K1), second, third.wrapping_mul(K2));
        let c = fourth.wrapping_mul(K2.wrapping_add(2 * LENGTH as u64));
        let v = c.wrapping_add(a).wrapping_add(b.wrapping_add(K2).rotate_right(18));
        let u = d.wrapping_add(a.wrapping_add(b).rotate_right(43)).wrapping_add(c.rotate_right(30));
        Some(key(!first, second, u, v).to_vec())
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(LENGTH);
        if length != LENGTH {
            return Err(Miss::NotApplicable(format!("it needs keys of {LENGTH} bytes")));
        }
        let (u, v) = (target.draw.word(), target.draw.word());
        let keys = (0..target.count).map(|_| key(target.draw.word(), target.draw.word(), u, v));
        let keys: Keys = keys.collect();
        target.colliding(keys)
    }
}

/// The key with inner words `u` and `v` whose first two words are `first` and `second`.
fn key(first: u64, second: u64, u: u64, v: u64) -> [u8; LENGTH] {
    let of_length = K2.wrapping_add(2 * LENGTH as u64);
    let (a, b) = (first.wrapping_mul(K1), second);
    let c = v.wrapping_sub(a).wrapping_sub(b.wrapping_add(K2).rotate_right(18));
    let d = u.wrapping_sub(a.wrapping_add(b).rotate_right(43)).wrapping_sub(c.rotate_right(30));
    let words = [first, second, d.wrapping_mul(inverse(K2)), c.wrapping_mul(inverse(of_length))];
    let mut bytes = [0; LENGTH];
    for (number, word) in words.into_iter().enumerate() {
        set_word(&mut bytes, 8 * number, 8, word);
    }
    bytes
}
