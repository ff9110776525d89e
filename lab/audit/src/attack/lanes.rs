//! Lanes that add a multiple of each word and rotate: a small sum passes the rotation, and a later word takes
//! it back, under nearly every seed.

use super::arithmetic::{inverse, set_word, word};
use super::{About, Attack, Knowledge, Miss, Target};
use crate::keys::Keys;

/// A word that changes by a multiple of the number of the key.
struct Term {
    at: usize,
    /// Factor of the number, before the division by the factor of the lane.
    times: u64,
    /// Odd factor by which the lane multiplies the word.
    of_lane: u64,
}

/// A function of lanes.
pub(super) struct Lanes {
    id: &'static str,
    source: &'static str,
    aims_at: &'static [&'static str],
    width: usize,
    terms: &'static [Term],
    usual: usize,
}

const XXH32: [u64; 2] = [0x9e37_79b1, 0x85eb_ca77];
const XXH64: [u64; 2] = [0x9e37_79b1_85eb_ca87, 0xc2b2_ae3d_27d4_eb4f];

const fn minus(number: u64) -> u64 {
    number.wrapping_neg()
}

pub(super) const ALL: [Lanes; 4] = [
    // The lane adds the word times the second prime, is rotated by 13, and multiplied by the first prime.
    Lanes {
        id: "lanes-xxh32",
        source: "github.com/Cyan4973/xxHash #180",
        aims_at: &["xxh32"],
        width: 4,
        terms: &[
            Term { at: 0, times: 1, of_lane: XXH32[1] },
            Term { at: 16, times: minus(XXH32[0] << 13), of_lane: XXH32[1] },
        ],
        usual: 36,
    },
    // The same with words of 64 bits, and rotation by 31.
    Lanes {
        id: "lanes-xxh64",
        source: "github.com/Cyan4973/xxHash #180, for words of 64 bits by own analysis",
        aims_at: &["xxh64"],
        width: 8,
        terms: &[
            Term { at: 0, times: 1, of_lane: XXH64[1] },
            Term { at: 32, times: minus(XXH64[0] << 31), of_lane: XXH64[1] },
        ],
        usual: 64,
    },
    // A lane is rotated right by 29, which is left by 35, and takes in another one.
    Lanes {
        id: "lanes-metrohash64",
        source: "own analysis, after the method of github.com/Cyan4973/xxHash #180",
        aims_at: &["metrohash64"],
        width: 8,
        terms: &[
            Term { at: 0, times: 1, of_lane: 0xd6d0_18f5 },
            Term { at: 16, times: minus(1), of_lane: 0x6299_2fc1 },
            Term { at: 32, times: minus(1 << 35), of_lane: 0xd6d0_18f5 },
        ],
        usual: 64,
    },
    Lanes {
        id: "lanes-metrohash128",
        source: "own analysis, after the method of github.com/Cyan4973/xxHash #180",
        aims_at: &["metrohash128-low"],
        width: 8,
        terms: &[
            Term { at: 0, times: 1, of_lane: 0xc83a_91e1 },
            Term { at: 16, times: minus(1), of_lane: 0x7bde_c03b },
            Term { at: 32, times: minus(1 << 35), of_lane: 0xc83a_91e1 },
        ],
        usual: 64,
    },
];

impl Attack for Lanes {
    fn about(&self) -> About {
        About {
            id: self.id,
            title: "a small sum passes the rotation of a lane, and a later word takes it back",
            source: self.source,
            knowledge: Knowledge::Nothing,
            aims_at: self.aims_at,
        }
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(self.usual);
        if self.terms.iter().any(|term| term.at + self.width > length) {
            return Err(Miss::NotApplicable("its keys are too short".to_owned()));
        }
        let base = target.draw.bytes(length);
        let keys = (0..target.count as u64).map(|number| {
            let mut key = base.clone();
            for term in self.terms {
                let by = number.wrapping_mul(term.times).wrapping_mul(inverse(term.of_lane));
                let old = word(&base, term.at, self.width);
                set_word(&mut key, term.at, self.width, old.wrapping_add(by));
            }
            key
        });
        let keys: Keys = keys.collect();
        target.colliding(keys)
    }
}
