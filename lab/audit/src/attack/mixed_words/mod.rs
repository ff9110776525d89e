//! Words that are mixed one to one by a public mixing, and then combined with the state.
//!
//! Whoever can take the mixing back knows the word whose mixing differs in one bit. The highest bit of the
//! state passes an odd product or a sum unchanged, and the next word, changed in the same manner, takes it
//! back, under every seed. Shifts and rotations move the bit to places that the constants of the function
//! tell. The steps of the mixing are found by trial of all short ones with these constants.

mod pair;

pub use pair::MixedPair;

use super::mixing::{Mixing, Step};
use super::mixings::{Steps, rotations};
use super::{About, Attack, FEWEST, Knowledge, Miss, Target};
use crate::constants::Constants;
use crate::keys::Keys;
use crate::subject::Fault;
use pair::{NEEDED, TRIALS, Words};
use std::collections::HashMap;

/// Pairs of words that are changed behind their mixing.
pub(super) struct MixedWords;

/// Most steps of a mixing.
const STEPS: usize = 6;

/// Keys that are hashed to find a mixing, for each kind of words: with changes of the highest bits alone, and
/// with all changes that the constants suggest.
const HASHES: [usize; 2] = [1 << 18, 1 << 19];

/// The same for mixings with steps of two rotations or two shifts.
const HASHES_OF_PAIRS: usize = 1 << 19;

/// Keys that are hashed at a time.
const BATCH: usize = 1 << 14;

/// Bytes of keys in which mixings are tried: two stripes of four words, and a tail.
const TRIED: usize = 72;

/// Bytes behind the words that are changed.
const MARGIN: usize = 32;

/// Words from one to the next of a lane, at most.
const LANES: usize = 4;

/// Changes of a mixed word, and of the next one: the highest bit, moved by the rotations and shifts of the
/// function. Of a bit and its negative as numbers, one flips the bit alone, also in a sum.
fn changes(constants: &Constants, bits: u32) -> [Vec<Step>; 2] {
    let top = 1_u64 << (bits - 1);
    let [mut before, mut after] = [vec![Step::Xor(top)], vec![Step::Xor(top)]];
    for by in rotations(constants, bits) {
        // Rotated to the left, the first is the highest bit, which becomes the second.
        for (changes, bit) in [(&mut before, top >> by), (&mut after, 1 << (by - 1))] {
            changes.extend([Step::Add(bit), Step::Add(bit.wrapping_neg())]);
        }
    }
    for by in constants.right.iter().filter(|by| **by < bits) {
        before.push(Step::Xor((0..bits / by).fold(top, |word, _| top ^ word >> by)));
        after.push(Step::Xor(top ^ top >> by));
    }
    [before, after]
}

/// Bits that a change flips.
fn flipped(change: Step) -> u64 {
    match change {
        Step::Add(number) => number & number.wrapping_neg(),
        Step::Xor(bits) => bits,
        _ => 0,
    }
}

impl Attack for MixedWords {
    fn about(&self) -> About {
        About {
            id: "mixed-words",
            title: "a word changes, behind its own mixing if it has one, and a later word takes the change back",
            source: "own analysis; the mixing is found with the constants of the function's machine code",
            knowledge: Knowledge::Nothing,
            aims_at: &[],
        }
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let constants = target.constants()?;
        let length = target.length_or(TRIED);
        let orders: &[bool] = if constants.swaps_bytes { &[false, true] } else { &[false] };
        for (hashes, has_pairs) in
            HASHES.map(|hashes| (hashes, false)).into_iter().chain([(HASHES_OF_PAIRS, true)])
        {
            for is_big_endian in orders {
                for width in [8, 4] {
                    let words = Words { width, is_big_endian: *is_big_endian };
                    if length < 2 * width {
                        continue;
                    }
                    for pair in cancelling(target, (&constants, has_pairs), words, (length, hashes))? {
                        if let Some(keys) = of_pair(target, &pair)? {
                            let pair = pair.simplest(target, length)?;
                            target.note = Some(pair.to_string());
                            target.pair = Some(pair);
                            return Ok(keys);
                        }
                    }
                }
            }
        }
        Err(Miss::NotApplicable("no mixing by its constants explains its words".to_owned()))
    }
}

/// Pairs that keep the hash of one key of `length` bytes, among the mixings for which `most` hashes suffice.
fn cancelling(
    target: &mut Target<'_>,
    (constants, has_pairs): (&Constants, bool),
    words: Words,
    (length, most): (usize, usize),
) -> Result<Vec<MixedPair>, Fault> {
    let [mut before, mut after] = changes(constants, words.bits());
    if most == HASHES[0] {
        before.truncate(1);
        after.truncate(1);
    }
    let distances = 1..=LANES.min(length / words.width - 1);
    let each = before.len() + distances.clone().count() * after.len();
    let mut steps = Steps::new(constants, words.bits());
    if has_pairs {
        let Some(with_pairs) = steps.with_pairs() else { return Ok(Vec::new()) };
        steps = with_pairs;
    }
    let mut mixings = steps.mixings(STEPS).take(most / each);
    let (seed, mut found) = (target.key, Vec::new());
    loop {
        let batch: Vec<Mixing> = mixings.by_ref().take((BATCH / each).max(1)).collect();
        if batch.is_empty() {
            return Ok(found);
        }
        let base = target.draw.bytes(length);
        let changed = |number: usize, mixing: &Mixing, change: Step| {
            let mut key = base.clone();
            words.change(&mut key, number, mixing, change);
            key
        };
        let mut keys = Keys::default();
        keys.push(&base);
        for mixing in &batch {
            keys.extend(before.iter().map(|change| changed(0, mixing, *change)));
            for distance in distances.clone() {
                keys.extend(after.iter().map(|change| changed(distance, mixing, *change)));
            }
        }
        let hashes = target.hash_under(&seed, &keys)?;
        let Some((of_base, hashes)) = hashes.split_first() else { return Ok(found) };
        for (mixing, hashes) in batch.into_iter().zip(hashes.chunks(each)) {
            let (first, second) = hashes.split_at(before.len());
            let first: HashMap<u64, Step> = first.iter().copied().zip(before.iter().copied()).collect();
            for (place, hash) in second.iter().enumerate().filter(|(_, hash)| *hash != of_base) {
                if let Some(change) = first.get(hash) {
                    let (distance, number) = (1 + place / after.len(), place % after.len());
                    let bits = [*change, after[number]].map(flipped);
                    found.push(MixedPair { words, mixing: mixing.clone(), bits, distance });
                }
            }
        }
        if !found.is_empty() {
            return Ok(found);
        }
    }
}

/// Keys with every choice of changed pairs, if the pair holds for other keys and seeds.
fn of_pair(target: &mut Target<'_>, pair: &MixedPair) -> Result<Option<Keys>, Miss> {
    let wanted = target.count.max(FEWEST).ilog2() as usize;
    let width = pair.words.width;
    let longest = target.length_or((2 * wanted + LANES) * width + MARGIN);
    let (mut starts, mut used, mut is_certain) = (Vec::new(), Vec::new(), true);
    for start in 0..(longest / width).saturating_sub(pair.distance) {
        let places = [start, start + pair.distance];
        if starts.len() == wanted || places.iter().any(|place| used.contains(place)) {
            continue;
        }
        match pair.held(target, longest, start)? {
            0..NEEDED if starts.is_empty() && start > LANES => break,
            0..NEEDED => {}
            held => {
                is_certain &= held == TRIALS;
                starts.push(start);
                used.extend(places);
            }
        }
    }
    let base = target.draw.bytes(longest);
    let keys = target.combinations(&base, starts.len(), &mut |key, number| pair.apply(key, starts[number]));
    if !is_certain {
        return Ok((keys.len() >= FEWEST).then_some(keys));
    }
    match target.colliding(keys) {
        Ok(keys) => Ok(Some(keys)),
        Err(Miss::NotApplicable(_)) => Ok(None),
        Err(fault) => Err(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_bit_moves_by_shifts_and_rotations() {
        let constants = Constants { right: vec![29], rotations: vec![27], ..Constants::default() };
        let [before, after] = changes(&constants, 64);
        let top = 1_u64 << 63;
        assert_eq!(before[..2], [Step::Xor(top), Step::Add(1 << 36)]);
        assert_eq!(
            before[..3].iter().map(|change| flipped(*change)).collect::<Vec<_>>(),
            [top, 1 << 36, 1 << 36]
        );
        let Step::Xor(shifted) = before[3] else { panic!("{before:?}") };
        assert_eq!(shifted ^ shifted >> 29, top);
        assert_eq!(
            after[1..],
            [Step::Add(1 << 26), Step::Add((1_u64 << 26).wrapping_neg()), Step::Xor(top | top >> 29)]
        );
        let [before, _] = changes(&constants, 32);
        assert_eq!(before[1], Step::Add(1 << 4));
    }
}
