//! One round of AES over a secret state for each block: a change of one byte stays in one column, and a later
//! block takes it back.
//!
//! Behind the S-box the byte has changed by an unknown number, and MixColumns multiplies that by the four
//! numbers of a column. So the state moves within 256 values, whatever the key: 256 values of the byte and
//! 256 columns in the next block of the same state are 65,536 keys of 256 hashes. Whoever sees results tries
//! the columns for one change of a byte: each of the 16 bytes of a block has another one.

use super::{About, Attack, FEWEST, Knowledge, LONGER, Miss, Target};
use crate::keys::Keys;
use crate::subject::Fault;

/// Keys of 256 hashes under every seed.
pub(super) struct Columns;

/// Pairs of one byte and the column that takes it back, learnt from buckets. The audit reads buckets in place
/// of the attacker's clock.
pub(super) struct LearntColumns;

/// Bytes of a block.
const BLOCK: usize = 16;

/// Bytes of keys that are tried, if none are demanded.
const USUAL: usize = 64;

/// Bytes from a block to the next one of the same state: of one, two, four and eight states.
const DISTANCES: [usize; 4] = [16, 32, 64, 128];

/// Blocks that are changed: the first bytes of a key may be treated apart.
const STARTS: [usize; 2] = [0, 16];

/// Fresh keys and seeds for which one column must take a change back.
const TRIALS: usize = 4;

/// Fresh keys by which a learnt column is confirmed.
const CONFIRMED: usize = 3;

/// Direction of a round.
///
/// Source: FIPS 197, §5.1 and §5.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    Encrypt,
    Decrypt,
}

impl Round {
    const BOTH: [Self; 2] = [Self::Encrypt, Self::Decrypt];

    /// The column, as bytes of a block, to which `change` of the byte in row `row` and column `column` of the
    /// state spreads behind the S-box.
    fn spread(self, place: usize, change: u8) -> [u8; BLOCK] {
        let (row, column) = (place % 4, place / 4);
        let (column, factors) = match self {
            Self::Encrypt => ((column + 4 - row) % 4, [2, 1, 1, 3]),
            Self::Decrypt => ((column + row) % 4, [14, 9, 13, 11]),
        };
        let mut block = [0; BLOCK];
        for (down, factor) in factors.into_iter().enumerate() {
            block[4 * column + (row + down) % 4] = product(change, factor);
        }
        block
    }
}

/// Product in the field of 256 elements with the polynomial x^8 + x^4 + x^3 + x + 1.
fn product(one: u8, other: u8) -> u8 {
    (0..8).rev().fold(0, |product: u8, bit| {
        let doubled = product << 1 ^ if product >> 7 == 1 { 0x1b } else { 0 };
        doubled ^ if other >> bit & 1 == 1 { one } else { 0 }
    })
}

/// A byte of a block, and the later block that takes its change back.
#[derive(Clone, Copy, Debug)]
struct Pair {
    round: Round,
    /// First byte of the block.
    start: usize,
    /// Number of the byte in it.
    place: usize,
    /// Bytes to the later block.
    distance: usize,
}

impl Pair {
    /// All pairs in keys of `length` bytes, ordered by the byte of a block.
    fn all(length: usize) -> Vec<Self> {
        let mut all = Vec::new();
        for place in 0..BLOCK {
            for start in STARTS {
                for distance in DISTANCES.into_iter().filter(|distance| start + distance + BLOCK <= length) {
                    all.extend(Round::BOTH.map(|round| Self { round, start, place, distance }));
                }
            }
        }
        all
    }

    /// Changes the byte of `key`, and adds the column of `spread` to the later block.
    fn apply(self, key: &mut [u8], change: u8, spread: u8) {
        key[self.start + self.place] ^= change;
        let column = self.round.spread(self.place, spread);
        key[self.start + self.distance..].iter_mut().zip(column).for_each(|(byte, by)| *byte ^= by);
    }

    /// `base`, and its forms of one changed byte with each of 255 columns.
    fn tries(self, base: &[u8]) -> Keys {
        let changed = |spread| {
            let mut key = base.to_vec();
            self.apply(&mut key, 1, spread);
            key
        };
        core::iter::once(base.to_vec()).chain((1..=u8::MAX).map(changed)).collect()
    }

    /// True if one column, and no other, takes a change back, for fresh keys and seeds.
    fn holds(self, target: &mut Target<'_>, length: usize, trials: usize) -> Result<bool, Fault> {
        for _ in 0..trials {
            let (seed, base) = (target.draw.key(), target.draw.bytes(length));
            let hashes = target.hash_under(&seed, &self.tries(&base))?;
            let Some((of_base, others)) = hashes.split_first() else { return Ok(false) };
            if others.iter().filter(|hash| *hash == of_base).count() != 1 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A pair that holds, and the bytes of its keys; an error if no pair holds.
fn found(target: &mut Target<'_>) -> Result<(Pair, usize), Miss> {
    let length = target.length_or(USUAL);
    for pair in Pair::all(length) {
        if pair.holds(target, length, 1)? && pair.holds(target, length, TRIALS)? {
            return Ok((pair, length));
        }
    }
    Err(Miss::NotApplicable("no column of a block takes back a change of a byte".to_owned()))
}

impl Attack for Columns {
    fn about(&self) -> About {
        About {
            id: "round-columns",
            title: "one round of AES for each block: 256 values of a byte and columns in a later block have \
                    256 hashes",
            source: "truncated differentials: Knudsen, FSE 1994; the round: FIPS 197; own analysis",
            knowledge: Knowledge::Nothing,
            aims_at: &[],
        }
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    fn longer(&self) -> Option<usize> {
        Some(LONGER)
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let (pair, length) = found(target)?;
        let base = target.draw.bytes(length);
        let all = (0..=u8::MAX).flat_map(|spread| (0..=u8::MAX).map(move |change| (change, spread)));
        let keys = all.take(target.count).map(|(change, spread)| {
            let mut key = base.clone();
            pair.apply(&mut key, change, spread);
            key
        });
        Ok(keys.collect())
    }
}

impl Attack for LearntColumns {
    fn about(&self) -> About {
        About {
            id: "round-columns-learnt",
            title: "one round of AES for each block: the column that takes back a change of a byte is learnt",
            knowledge: Knowledge::Results,
            ..Columns.about()
        }
    }

    fn longer(&self) -> Option<usize> {
        Some(LONGER)
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let (pair, length) = found(target)?;
        let mut base = target.draw.bytes(length);
        let wanted = target.count.max(FEWEST).ilog2() as usize;
        let (mut learnt, mut tries) = (Vec::new(), 0);
        for place in 0..BLOCK {
            let pair = Pair { place, ..pair };
            if learnt.len() < wanted
                && let Some(spread) = learn(target, pair, &mut base, &mut tries)?
            {
                learnt.push((pair, spread));
            }
        }
        let keys = target.combinations(&base, learnt.len(), &mut |key, number| {
            let (pair, spread) = learnt[number];
            pair.apply(key, 1, spread);
        });
        target.note = Some(format!("{} bytes, learnt with {tries} keys", learnt.len()));
        target.colliding(keys)
    }
}

/// The column that takes back the change of a byte of `base` under the seed of the table: its keys share a
/// bucket, also if all bytes from the block on are others but the byte itself. `tries` counts the keys.
fn learn(
    target: &mut Target<'_>,
    pair: Pair,
    base: &mut [u8],
    tries: &mut usize,
) -> Result<Option<u8>, Fault> {
    let (seed, count) = (target.key, target.count);
    let hashes = target.hash_under(&seed, &pair.tries(base))?;
    *tries += hashes.len();
    let buckets: Vec<usize> = hashes.iter().map(|hash| target.geometry.bucket(*hash, count)).collect();
    for spread in (1..=u8::MAX).filter(|spread| buckets[usize::from(*spread)] == buckets[0]) {
        let mut is_right = true;
        for _ in 0..CONFIRMED {
            let mut one = base.to_vec();
            let byte = one[pair.start + pair.place];
            one[pair.start..].copy_from_slice(&target.draw.bytes(base.len() - pair.start));
            one[pair.start + pair.place] = byte;
            let mut other = one.clone();
            pair.apply(&mut other, 1, spread);
            let hashes = target.hash_under(&seed, &[one, other].iter().collect())?;
            *tries += 2;
            let [one, other] = [0, 1].map(|at| target.geometry.bucket(hashes[at], count));
            is_right &= one == other;
        }
        if is_right {
            return Ok(Some(spread));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aes::Block;
    use aes::hazmat::{cipher_round, equiv_inv_cipher_round};

    #[test]
    fn a_change_of_a_byte_spreads_over_the_stated_column() {
        for round in Round::BOTH {
            for place in 0..BLOCK {
                let states = [0x00, 0x5a].map(|change| {
                    let mut block: [u8; BLOCK] = core::array::from_fn(|at| 15 * at as u8 + 3);
                    block[place] ^= change;
                    let mut block = Block::from(block);
                    match round {
                        Round::Encrypt => cipher_round(&mut block, &Block::default()),
                        Round::Decrypt => equiv_inv_cipher_round(&mut block, &Block::default()),
                    }
                    <[u8; BLOCK]>::from(block)
                });
                let moved: [u8; BLOCK] = core::array::from_fn(|at| states[0][at] ^ states[1][at]);
                let spread = (1..=u8::MAX).filter(|spread| round.spread(place, *spread) == moved).count();
                assert_eq!(spread, 1, "{round:?}, byte {place}: {moved:02x?}");
            }
        }
    }

    #[test]
    fn later_blocks_lie_inside_the_key() {
        for length in [0, 31, 32, 36, 64, 256] {
            let all = Pair::all(length);
            assert!(all.iter().all(|pair| pair.start + pair.distance + BLOCK <= length));
            assert_eq!(all.is_empty(), length < 32, "{length}");
        }
    }
}
