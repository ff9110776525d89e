//! The MurmurHash family: a difference that one block makes and the next takes back, under every seed.
//!
//! Each block is mixed by a map that has an inverse before it meets the state. A difference in the highest
//! bit of the state passes additions and products by odd numbers unchanged, so the next block cancels it.
//! Every unit of blocks has two forms, and n units have 2ⁿ keys of one hash.

use super::arithmetic::{inverse, set_word, word};
use super::{About, Attack, Knowledge, Miss, Target};
use crate::keys::Keys;

/// Mixing of a word before it meets the state.
#[derive(Clone, Copy)]
enum Mixing {
    /// Times `m`, combined with itself shifted right by `shift`, times `m`.
    Shift { m: u64, shift: u32 },
    /// Times `c`, rotated left, times `d`.
    Rotate { c: u64, left: u32, d: u64 },
}

/// A change of the mixed word at `at` in a unit, by the bit `bit`.
struct Change {
    at: usize,
    bit: u32,
    mixing: Mixing,
}

/// A member of the family.
pub(super) struct Murmur {
    id: &'static str,
    aims_at: &'static [&'static str],
    /// Bytes of a word.
    width: usize,
    /// Bytes of a unit.
    unit: usize,
    changes: &'static [Change],
}

const MURMUR2: Mixing = Mixing::Shift { m: 0x5bd1_e995, shift: 24 };
const MURMUR64A: Mixing = Mixing::Shift { m: 0xc6a4_a793_5bd1_e995, shift: 47 };
const X86: Mixing = Mixing::Rotate { c: 0xcc9e_2d51, left: 15, d: 0x1b87_3593 };
const X64: [Mixing; 2] = {
    const C1: u64 = 0x87c3_7b91_1142_53d5;
    const C2: u64 = 0x4cf5_ad43_2745_937f;
    [Mixing::Rotate { c: C1, left: 31, d: C2 }, Mixing::Rotate { c: C2, left: 33, d: C1 }]
};

pub(super) const ALL: [Murmur; 4] = [
    Murmur {
        id: "murmur2-32",
        aims_at: &["murmurhash2-32"],
        width: 4,
        unit: 8,
        changes: &[Change { at: 0, bit: 31, mixing: MURMUR2 }, Change { at: 4, bit: 31, mixing: MURMUR2 }],
    },
    Murmur {
        id: "murmur2-64a",
        aims_at: &["murmurhash2-64a"],
        width: 8,
        unit: 16,
        changes: &[
            Change { at: 0, bit: 63, mixing: MURMUR64A },
            Change { at: 8, bit: 63, mixing: MURMUR64A },
        ],
    },
    // The state is rotated left by 13 after it has met the word.
    Murmur {
        id: "murmur3-x86-32",
        aims_at: &["murmurhash3-x86-32"],
        width: 4,
        unit: 8,
        changes: &[Change { at: 0, bit: 18, mixing: X86 }, Change { at: 4, bit: 31, mixing: X86 }],
    },
    // The first half of the state is rotated by 27 and added to the second, which is rotated by 31 and so
    // brings the difference that cancels it.
    Murmur {
        id: "murmur3-x64-128",
        aims_at: &["murmurhash3-x64-128-low"],
        width: 8,
        unit: 32,
        changes: &[
            Change { at: 0, bit: 36, mixing: X64[0] },
            Change { at: 8, bit: 32, mixing: X64[1] },
            Change { at: 16, bit: 63, mixing: X64[0] },
        ],
    },
];

/// Units that give 4,096 keys.
const UNITS: usize = 12;

impl Attack for Murmur {
    fn about(&self) -> About {
        About {
            id: self.id,
            title: "a difference that the next block takes back, under every seed",
            source: "Aumasson, Bernstein and Boßlet, Hash-flooding DoS reloaded, 29C3, 2012 (CVE-2012-5371)",
            knowledge: Knowledge::Nothing,
            aims_at: self.aims_at,
        }
    }

    fn second_key(&self, given: &[u8]) -> Option<Vec<u8>> {
        let mut key = given.to_vec();
        self.change(key.get_mut(..self.unit)?);
        Some(key)
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(UNITS * self.unit);
        let base = target.draw.bytes(length);
        let units = length / self.unit;
        let count = 1usize.checked_shl(units as u32).unwrap_or(usize::MAX).min(target.count);
        let keys = (0..count).map(|number| {
            let mut key = base.clone();
            let chosen = key.chunks_exact_mut(self.unit).enumerate();
            for (_, unit) in
                chosen.filter(|(place, _)| number.checked_shr(*place as u32).unwrap_or(0) & 1 == 1)
            {
                self.change(unit);
            }
            key
        });
        let keys: Keys = keys.collect();
        target.colliding(keys)
    }
}

impl Murmur {
    /// Makes the changes in a unit.
    fn change(&self, unit: &mut [u8]) {
        for change in self.changes {
            let old = word(unit, change.at, self.width);
            set_word(unit, change.at, self.width, change.mixing.changed(old, change.bit, self.width));
        }
    }
}

impl Mixing {
    /// The word whose mixture differs from `word`'s in one bit.
    fn changed(self, word: u64, bit: u32, width: usize) -> u64 {
        let bits = 8 * width as u32;
        let mask = u64::MAX >> (64 - bits);
        let times = |a: u64, b: u64| a.wrapping_mul(b) & mask;
        let left = |word: u64, by: u32| (word << by | word >> (bits - by)) & mask;
        match self {
            Self::Shift { m, shift } => {
                // A shift by at least half the bits undoes itself when repeated; one by less, in more steps.
                let mix = |word: u64| word ^ word >> shift;
                let unmix = |mixed: u64| (0..bits / shift).fold(mixed, |word, _| mixed ^ word >> shift);
                let mixed = times(mix(times(word, m)), m) ^ 1 << bit;
                times(unmix(times(mixed, inverse(m))), inverse(m))
            }
            Self::Rotate { c, left: by, d } => {
                let mixed = times(left(times(word, c), by), d) ^ 1 << bit;
                times(left(times(mixed, inverse(d)), bits - by), inverse(c))
            }
        }
    }
}
