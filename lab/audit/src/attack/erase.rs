//! Products with a public factor of 0, which erase the other factor: rows of data.

use super::arithmetic::set_word;
use super::{About, Attack, Knowledge, Miss, Target, USUAL_LENGTH};
use crate::keys::Keys;
use core::ops::Range;

/// A place in a key.
#[derive(Clone, Copy)]
enum KeyPosition {
    Start(usize),
    /// Bytes before the end.
    End(usize),
}

impl KeyPosition {
    /// Start of eight bytes in a key of `length` bytes; `None` if it has no such place.
    fn of(self, length: usize) -> Option<usize> {
        let at = match self {
            Self::Start(at) => Some(at),
            Self::End(before) => length.checked_sub(before),
        };
        at.filter(|at| at + 8 <= length)
    }
}

/// Word that makes a factor 0.
pub(super) struct Erased {
    id: &'static str,
    source: &'static str,
    aims_at: &'static [&'static str],
    /// The word, eight bytes little-endian.
    word: u64,
    /// True if the function combines the word with the length of the key, by exclusive or.
    with_length: bool,
    /// Place of the word.
    at: KeyPosition,
    /// Place of eight bytes that are erased.
    erased: KeyPosition,
    /// Bytes of a key if none are demanded.
    usual: usize,
}

/// Second secret of `rapidhash.h` and of wyhash from its final version 4 on.
const SECRET: u64 = 0x8bb8_4b93_962e_acc9;

pub(super) const ALL: [Erased; 8] = [
    Erased {
        id: "erase-rapidhash-v3",
        source: "github.com/Nicoshev/rapidhash #10 and #25, for its third version",
        aims_at: &["rapidhash", "rapidhash-micro", "rapidhash-nano"],
        word: SECRET,
        with_length: true,
        at: KeyPosition::End(16),
        erased: KeyPosition::End(8),
        usual: USUAL_LENGTH,
    },
    Erased {
        id: "erase-wyhash",
        source: "github.com/wangyi-fudan/wyhash #15 and #49; github.com/Nicoshev/rapidhash #25; CVE-2025-27209 \
                 (V8)",
        aims_at: &["wyhash", "rapidhash-v1", "rapidhash-v2"],
        word: SECRET,
        with_length: false,
        at: KeyPosition::End(16),
        erased: KeyPosition::End(8),
        usual: USUAL_LENGTH,
    },
    Erased {
        id: "erase-wyhash-3",
        source: "github.com/wangyi-fudan/wyhash #15 and #49, with the secrets of final version 3",
        aims_at: &[],
        word: 0xe703_7ed1_a0b4_28db,
        with_length: false,
        at: KeyPosition::End(16),
        erased: KeyPosition::End(8),
        usual: USUAL_LENGTH,
    },
    // The factor is the third word of the state, digits of π that no seed reaches, plus the word.
    Erased {
        id: "erase-a5hash128",
        source: "github.com/avaneev/komihash #24 (a5hash128, every seed); these keys by own analysis",
        aims_at: &["a5hash128-low"],
        word: 0xa409_3822_299f_31d0u64.wrapping_neg().rotate_left(32),
        with_length: false,
        at: KeyPosition::End(16),
        erased: KeyPosition::End(8),
        usual: 32,
    },
    Erased {
        id: "erase-absl-16",
        source: "github.com/abseil/abseil-cpp #2171",
        aims_at: &["absl-hash"],
        word: 0x79d5_f9e0_de1e_8cf5,
        with_length: false,
        at: KeyPosition::End(8),
        erased: KeyPosition::Start(0),
        usual: 16,
    },
    Erased {
        id: "erase-absl-33",
        source: "github.com/abseil/abseil-cpp #2171, for more than 32 bytes by own analysis",
        aims_at: &["absl-hash"],
        word: 0x1319_8a2e_0370_7344,
        with_length: false,
        at: KeyPosition::End(32),
        erased: KeyPosition::End(24),
        // Of other lengths, the erased bytes are read once more.
        usual: 96,
    },
    // The first factor of the bulk is a public word combined with the first of the key.
    Erased {
        id: "erase-rustc-hash",
        source: "crate rustc-hash 2.1.3, whose documentation claims no resistance; by own analysis",
        aims_at: &["rustc-hash"],
        word: 0x243f_6a88_85a3_08d3,
        with_length: false,
        at: KeyPosition::Start(0),
        erased: KeyPosition::Start(8),
        usual: USUAL_LENGTH,
    },
    Erased {
        id: "erase-vmum",
        source: "github.com/vnmakarov/mum-hash #18 (VMUM)",
        aims_at: &[],
        word: 0xf3c1_369c_62c5_dfc1,
        with_length: false,
        at: KeyPosition::Start(0),
        erased: KeyPosition::Start(8),
        usual: 16,
    },
];

impl Attack for Erased {
    fn about(&self) -> About {
        About {
            id: self.id,
            title: "a product with a public factor of 0 erases the rest",
            source: self.source,
            knowledge: Knowledge::Nothing,
            aims_at: self.aims_at,
        }
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(self.usual);
        let (Some(at), Some(erased)) = (self.at.of(length), self.erased.of(length)) else {
            return Err(Miss::NotApplicable("its keys are too short".to_owned()));
        };
        let mut base = target.draw.bytes(length);
        let with = if self.with_length { length as u64 } else { 0 };
        set_word(&mut base, at, 8, self.word ^ with);
        let keys = with_erased(&base, erased..erased + 8, target.count);
        target.colliding(keys)
    }
}

/// Keys that have the numbers below `count` in the first 4 or 8 bytes of `erased`, and else the bytes of
/// `base`.
pub(super) fn with_erased(base: &[u8], erased: Range<usize>, count: usize) -> Keys {
    let width = if erased.len() < 8 { 4 } else { 8 };
    let key = |number| {
        let mut key = base.to_vec();
        set_word(&mut key, erased.start, width, number);
        key
    };
    (0..count as u64).map(key).collect()
}
