//! MuseAir v0.3 of 32 bytes: the last 16 reach the first 16 through public products alone.

use super::arithmetic::set_word;
use super::{About, Attack, Knowledge, Miss, Target};
use crate::keys::Keys;

/// Keys whose first half takes back the products of the second.
pub(super) struct Cancelled;

const LENGTH: usize = 32;

/// Digits of the Airy function at 0, from the third on.
const DIGITS: [u64; 4] =
    [0x7ab1_006b_26f9_eb64, 0x2123_3394_220b_8457, 0x047c_b955_7c9f_3b43, 0xd24f_2590_c0bc_ee28];

impl Attack for Cancelled {
    fn about(&self) -> About {
        About {
            id: "museair-v0.3",
            title: "the second half meets the first through public products, which the first half cancels",
            source: "github.com/eternal-io/museair #3 and #4",
            knowledge: Knowledge::Nothing,
            aims_at: &["museair-v0.3"],
        }
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(LENGTH);
        if length != LENGTH {
            return Err(Miss::NotApplicable(format!("it needs keys of {LENGTH} bytes")));
        }
        let sums = [target.draw.word(), target.draw.word()];
        let keys = (0..target.count).map(|_| key(sums, [target.draw.word(), target.draw.word()]));
        let keys: Keys = keys.collect();
        target.colliding(keys)
    }
}

/// The key whose second half is `tail` and whose state before the last mixing is `sums`.
fn key(sums: [u64; 2], tail: [u64; 2]) -> [u8; LENGTH] {
    let product = |place: usize| {
        let product = u128::from(DIGITS[2 * place]) * u128::from(DIGITS[2 * place + 1] ^ tail[place]);
        (product as u64, (product >> 64) as u64)
    };
    let [(low0, high0), (low1, high1)] = [product(0), product(1)];
    let head = [sums[0] ^ low0 ^ high1, sums[1] ^ low1 ^ high0];
    let mut bytes = [0; LENGTH];
    // Of 16 bytes, the first word is read from the outer half words, the second from the inner ones.
    for (half, words) in [head, tail].into_iter().enumerate() {
        for (word, places) in words.into_iter().zip([[0, 12], [4, 8]]) {
            set_word(&mut bytes, 16 * half + places[0], 4, word >> 32);
            set_word(&mut bytes, 16 * half + places[1], 4, word);
        }
    }
    bytes
}
