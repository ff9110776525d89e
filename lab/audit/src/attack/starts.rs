//! Hashes of one byte after the other, whose seed is a random start: it is no key.
//!
//! A byte is combined with the state, which is multiplied by a public number. The lowest bits of the state
//! then depend on the lowest bits of the start and of the bytes alone; and a sum of few single bits, each
//! times a power of the number, can be 0.

use super::lattice::{LATTICES, Order};
use super::{About, Attack, FEWEST, Knowledge, LONGER, Miss, Target, USUAL_LENGTH};
use crate::draw::Draw;
use crate::keys::Keys;
use crate::subject::Lengths;
use std::collections::HashSet;
use std::sync::LazyLock;

/// Keys that differ in the highest bit of their bytes.
pub(super) struct TopBits;

/// Keys for each bucket, at least, of a flood.
const CROWD: usize = 8;

impl Attack for TopBits {
    fn about(&self) -> About {
        About {
            id: "top-bits",
            title: "the lowest seven bits of the hash do not see the highest bits of bytes, under any start",
            source: "own analysis, after Klimov and Shamir, A new class of invertible mappings, CHES 2002",
            knowledge: Knowledge::Nothing,
            aims_at: &["fnv-1a-offset"],
        }
    }

    fn longer(&self) -> Option<usize> {
        Some(LONGER)
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(USUAL_LENGTH);
        let count = 1usize.checked_shl(length as u32).unwrap_or(usize::MAX).min(target.count);
        if count < FEWEST {
            return Err(Miss::NotApplicable("its keys are too short".to_owned()));
        }
        let base = target.draw.bytes(length);
        let keys = (0..count).map(|number| {
            let mut key = base.clone();
            for (place, byte) in key.iter_mut().enumerate() {
                *byte ^= ((number.checked_shr(place as u32).unwrap_or(0) & 1) as u8) << 7;
            }
            key
        });
        let keys: Keys = keys.collect();
        let hashes = target.hash(&keys)?;
        let buckets: HashSet<usize> =
            hashes.into_iter().map(|hash| target.geometry.bucket(hash, keys.len())).collect();
        match CROWD * buckets.len() <= keys.len() {
            true => Ok(keys),
            false => Err(Miss::NotApplicable("the highest bits of bytes reach most buckets".to_owned())),
        }
    }
}

/// A bit of a byte, and the sign of its change.
struct Term {
    /// Bytes after it.
    after: usize,
    bit: u32,
    #[cfg_attr(not(test), expect(dead_code, reason = "a test checks the sum"))]
    is_negative: bool,
}

/// Changes of single bits that cancel if each has the stated sign, or each the other one: an exclusive or
/// adds the value of its bit or takes it away, as the state has it.
struct Relation {
    source: &'static str,
    terms: &'static [Term],
}

/// A term that is added.
const fn plus(after: usize, bit: u32) -> Term {
    Term { after, bit, is_negative: false }
}

/// A term that is taken away.
const fn minus(after: usize, bit: u32) -> Term {
    Term { after, bit, is_negative: true }
}

/// Sums of few terms, found by sorting the sums of two and of three.
const RELATIONS: [Relation; 3] = [
    Relation {
        source: "a random start of FNV with a prime of 32 bits: five bits cancel; own analysis",
        terms: &[plus(0, 2), minus(18, 2), plus(25, 7), minus(27, 5), minus(29, 7)],
    },
    Relation {
        source: "a random start of a polynomial in 33 with exclusive or: 33 - 32 - 1; own analysis",
        terms: &[plus(1, 0), minus(0, 5), minus(0, 0)],
    },
    Relation {
        source: "a random start of a polynomial in 31 with exclusive or: 31 - 32 + 1; own analysis",
        terms: &[plus(1, 0), minus(0, 5), plus(0, 0)],
    },
];

/// Two keys that collide for a share of the starts, with the source of the pair.
#[derive(Clone, Debug)]
pub struct StartPair {
    /// Function that the pair is made for, in one clause.
    pub source: &'static str,
    /// The keys.
    pub keys: [Vec<u8>; 2],
}

/// Keys that collide with zeros wherever the lowest byte of a start of FNV is right. Zeros before them change
/// that byte alone.
static LOW_BYTES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let orders = [Order::After, Order::Before];
    let keys = LATTICES.iter().flat_map(|lattice| orders.map(|order| lattice.of_low_bytes(order)));
    keys.flatten().collect()
});

/// Pairs for functions that begin with a random start, as far as keys of `lengths`, or of `length` bytes if
/// stated, have room for them.
pub fn start_pairs(lengths: Lengths, length: Option<usize>, draw: &mut Draw) -> Vec<StartPair> {
    let of_lattices = LOW_BYTES.iter().filter_map(|key| {
        let zeros = length_or(lengths, length, USUAL_LENGTH).checked_sub(key.len())?;
        let source = "a random start of FNV, of which one byte must be right: small steps by a lattice (Lenstra, \
                      Lenstra and Lovász, 1982); own analysis";
        Some(StartPair { source, keys: [vec![0; zeros + key.len()], [&vec![0; zeros], &key[..]].concat()] })
    });
    let pairs = RELATIONS.iter().filter_map(|relation| {
        let needed = relation.terms.iter().map(|term| term.after + 1).max()?;
        let length = length_or(lengths, length, needed.max(USUAL_LENGTH));
        // A byte that is not 0 would change the difference of the states that it meets.
        let mut base = draw.bytes(length);
        base.get_mut(length.checked_sub(needed)?..)?.fill(0);
        let mut other = base.clone();
        for term in relation.terms {
            *other.get_mut(length.checked_sub(term.after + 1)?)? ^= 1 << term.bit;
        }
        Some(StartPair { source: relation.source, keys: [base, other] })
    });
    pairs.chain(of_lattices).collect()
}

fn length_or(lengths: Lengths, length: Option<usize>, usual: usize) -> usize {
    match (lengths, length) {
        (Lengths::Exactly(length), _) | (Lengths::Any, Some(length)) => length,
        (Lengths::Any, None) => usual,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terms_of_a_relation_sum_up_to_zero() {
        let functions = [(0x0100_0193_u64, 32), (33, 64), (31, 64)];
        for (relation, (multiplier, width)) in RELATIONS.iter().zip(functions) {
            let sum = relation.terms.iter().fold(0_u64, |sum, term| {
                let power = (0..term.after).fold(1_u64, |power, _| power.wrapping_mul(multiplier));
                let value = power.wrapping_mul(1 << term.bit);
                sum.wrapping_add(if term.is_negative { value.wrapping_neg() } else { value })
            });
            assert_eq!(sum << (64 - width), 0, "{}", relation.source);
        }
    }

    #[test]
    fn pairs_differ_in_the_bits_of_their_relation() {
        for pair in start_pairs(Lengths::Any, None, &mut Draw::new(1)).iter().take(RELATIONS.len()) {
            let bits: u32 = pair.keys[0].iter().zip(&pair.keys[1]).map(|(a, b)| (a ^ b).count_ones()).sum();
            assert!((3..=5).contains(&bits), "{}", pair.source);
        }
        // Only the two last relations have room in two bytes.
        assert_eq!(start_pairs(Lengths::Exactly(2), None, &mut Draw::new(1)).len(), 2);
        assert!(start_pairs(Lengths::Any, Some(0), &mut Draw::new(1)).is_empty());
    }
}
