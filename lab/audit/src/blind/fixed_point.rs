//! Fixed points: blocks that leave the state of a function as it was, so that any number of them can be added
//! or moved.

use super::oracle::Oracle;
use super::unit::write;
use super::{Search, about};
use crate::attack::{About, FEWEST, Knowledge, MAX_LENGTH};
use crate::keys::Keys;
use crate::subject::Fault;
use hashlane_hash::scheme::Key;

/// Blocks of a step.
const BLOCKS: usize = 512;

/// Bytes before and after a block.
const AROUND: usize = 16;

/// Fresh keys and seeds by which a block is judged.
const TRIALS: usize = 8;

/// Trials in which it must hold.
const NEEDED: usize = 2;

/// Digits of π, e and the golden ratio, and others that functions take as constants for no reason but their
/// origin.
const DIGITS: [u64; 11] = [
    0x243f_6a88_85a3_08d3,
    0x1319_8a2e_0370_7344,
    0xa409_3822_299f_31d0,
    0x082e_fa98_ec4e_6c89,
    0x4528_21e6_38d0_1377,
    0xbe54_66cf_34e9_0c6c,
    0xb7e1_5162_8aed_2a6a,
    0x9e37_79b9_7f4a_7c15,
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x5555_5555_5555_5555,
];

/// Blocks in the order in which they are tried: plain ones of each size, then all of two bytes, then random
/// ones of four and eight.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    next: usize,
}

impl Blocks {
    /// The next `count` blocks.
    pub(super) fn take(&mut self, oracle: &mut Oracle<'_>, count: usize) -> Vec<Vec<u8>> {
        let plain = plain();
        (0..count)
            .map(|_| {
                let number = self.next;
                self.next += 1;
                match (plain.get(number), number - number.min(plain.len())) {
                    (Some(block), _) => block.clone(),
                    (None, two) if two < 1 << 16 => (two as u16).to_le_bytes().to_vec(),
                    (None, more) if more % 4 == 0 => oracle.draw.bytes(8),
                    (None, _) => oracle.draw.bytes(4),
                }
            })
            .collect()
    }
}

/// Zeros, ones, small numbers, single bits, digits of constants and their negatives, in both byte orders.
fn plain() -> Vec<Vec<u8>> {
    let bits = (0..64).map(|bit| 1_u64 << bit);
    let digits = DIGITS.into_iter().flat_map(|word| [word, word.wrapping_neg(), !word]);
    let words: Vec<u64> = [0, u64::MAX].into_iter().chain(1..=64).chain(digits).chain(bits).collect();
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    for word in words {
        for block in [
            word.to_le_bytes()[..1].to_vec(),
            word.to_le_bytes()[..4].to_vec(),
            word.to_be_bytes()[..4].to_vec(),
            word.to_le_bytes().to_vec(),
            word.to_be_bytes().to_vec(),
        ] {
            if !blocks.contains(&block) {
                blocks.push(block);
            }
        }
    }
    blocks.extend([12, 16, 32].into_iter().flat_map(|length| [vec![0; length], vec![0xff; length]]));
    blocks
}

/// Blocks that hold for most seeds.
#[derive(Debug, Default)]
pub(super) struct FixedPoint {
    blocks: Blocks,
}

/// Keys of one shape: a prefix, a block some times, and an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// The block at the start.
    Start,
    /// The block between random bytes.
    Middle,
    /// The block at the end.
    End,
    /// The block before another one and after it.
    Moved,
}

impl Shape {
    const ALL: [Self; 4] = [Self::Start, Self::Middle, Self::End, Self::Moved];

    /// Key number `times` of at most `most`, with `block`.
    fn key(self, around: &[Vec<u8>; 2], block: &[u8], times: usize, most: usize) -> Vec<u8> {
        let [start, end] = around;
        match self {
            Self::Moved => [&block.repeat(times)[..], start, &block.repeat(most - times), end].concat(),
            Self::Start | Self::Middle | Self::End => [&start[..], &block.repeat(times), end].concat(),
        }
    }

    /// Random bytes around a block that stands up to `most` times in a key: of keys of one length, as many as
    /// the function takes beside the blocks. `None` if it takes no such keys.
    fn around(self, oracle: &mut Oracle<'_>, block: usize, most: usize) -> Option<[Vec<u8>; 2]> {
        let (start, end) = match (self, oracle.takes_any_length()) {
            (Self::Start, true) => (0, AROUND),
            (Self::Middle | Self::Moved, true) => (AROUND, AROUND),
            (Self::End, true) => (AROUND, 0),
            (Self::Moved, false) => {
                // The part that moves has the length of a block, so that words stay whole.
                let rest = oracle.lengths(&[])[0].checked_sub(block * most)?;
                (block.max(4), rest.checked_sub(block.max(4))?)
            }
            (Self::Start | Self::Middle | Self::End, false) => return None,
        };
        Some([start, end].map(|length| oracle.draw.bytes(length)))
    }
}

impl Search for FixedPoint {
    fn about(&self) -> About {
        about(
            "blind/fixed-point",
            "a block leaves the state as it was: keys have it in any number or place",
            "search without priors: plain and random blocks",
            Knowledge::Nothing,
        )
    }

    fn step(&mut self, oracle: &mut Oracle<'_>) -> Result<Vec<Keys>, Fault> {
        let blocks = self.blocks.take(oracle, BLOCKS);
        let mut sets = Vec::new();
        for shape in Shape::ALL {
            let seed = oracle.seed();
            for block in suspicious(oracle, shape, &blocks, &seed)? {
                let mut held = 0;
                for _ in 0..TRIALS {
                    let seed = oracle.seed();
                    held += suspicious(oracle, shape, core::slice::from_ref(&block), &seed)?.len();
                }
                if held >= NEEDED {
                    sets.push(keys(oracle, shape, &block));
                }
            }
        }
        Ok(sets)
    }
}

/// Blocks for which two keys have one hash under `seed`, with random bytes around.
fn suspicious(
    oracle: &mut Oracle<'_>,
    shape: Shape,
    blocks: &[Vec<u8>],
    seed: &Key,
) -> Result<Vec<Vec<u8>>, Fault> {
    let (mut keys, mut tried) = (Keys::default(), Vec::new());
    for block in blocks {
        let Some(around) = shape.around(oracle, block.len(), 1) else { continue };
        // A part that is the block itself moves nowhere.
        if around[0] == *block {
            continue;
        }
        keys.extend((0..2).map(|times| shape.key(&around, block, times, 1)));
        tried.push(block);
    }
    let hashes = oracle.under(seed, &keys)?;
    let pairs = tried.into_iter().zip(hashes.as_chunks::<2>().0);
    Ok(pairs.filter(|(_, [one, other])| one == other).map(|(block, _)| block.clone()).collect())
}

/// Keys with the block from not at all to as many times as a key has room for.
fn keys(oracle: &mut Oracle<'_>, shape: Shape, block: &[u8]) -> Keys {
    let room = match oracle.takes_any_length() {
        true => MAX_LENGTH / 4,
        // A part that moves needs a separate place.
        false => oracle.lengths(&[])[0].saturating_sub(block.len().max(4)),
    };
    let most = (room / block.len()).min(oracle.scope.count - 1);
    match shape.around(oracle, block.len(), most) {
        Some(around) if most + 1 >= FEWEST => {
            (0..=most).map(|times| shape.key(&around, block, times, most)).collect()
        }
        _ => Keys::default(),
    }
}

/// Blocks that leave one state as it was, for someone who knows the seed.
#[derive(Debug, Default)]
pub(super) struct KnownState {
    blocks: Blocks,
    start: Vec<u8>,
}

/// Blocks of a step of [`KnownState`]: chance has one in 2³² of four bytes for a state of 32 bits.
const MANY: usize = 1 << 16;

impl Search for KnownState {
    fn about(&self) -> About {
        about(
            "blind/fixed-point-known",
            "a block leaves one state as it was, once the seed is known",
            "search without priors: plain and random blocks after one prefix",
            Knowledge::Seed,
        )
    }

    fn step(&mut self, oracle: &mut Oracle<'_>) -> Result<Vec<Keys>, Fault> {
        if !oracle.takes_any_length() {
            return Ok(Vec::new());
        }
        // The state at the start of a key may be special, as 0.
        if self.blocks.next == MANY {
            self.start = oracle.draw.bytes(AROUND);
        }
        let blocks = self.blocks.take(oracle, MANY);
        let (seed, mut end) = (oracle.leaked(), oracle.draw.bytes(AROUND));
        let one = |block: &[u8], end: &[u8]| [&self.start[..], block, end].concat();
        let without = oracle.under(&seed, &[one(&[], &end)].into_iter().collect())?;
        let hashes = oracle.under(&seed, &blocks.iter().map(|block| one(block, &end)).collect())?;
        let mut sets = Vec::new();
        for (block, _) in blocks.iter().zip(&hashes).filter(|(_, hash)| without.first() == Some(hash)) {
            // The state, and not the hash by chance: the same with another end.
            write(&mut end, 0, &oracle.draw.bytes(AROUND));
            let pair = [one(&[], &end), one(block, &end)].into_iter().collect();
            let hashes = oracle.under(&seed, &pair)?;
            if hashes.first() == hashes.get(1) {
                let most = (MAX_LENGTH / 4 / block.len()).min(oracle.scope.count - 1);
                sets.push((0..=most).map(|times| one(&block.repeat(times), &end)).collect());
            }
        }
        Ok(sets)
    }
}
