//! Words of the key that make a factor 0: the constants of the function, also where nobody published them.
//!
//! A word that is combined with a public constant, and then multiplied, makes the product 0 if it equals the
//! constant, its complement or its negative. Whatever else reaches the product is erased: the next word, the
//! one before, or the state with the seed and all of the key before.

use super::arithmetic::set_word;
use super::erase::with_erased;
use super::{About, Attack, Knowledge, Miss, Target, USUAL_LENGTH};
use crate::constants::Constants;
use crate::keys::Keys;
use crate::subject::Fault;
use core::ops::Range;
use std::collections::BTreeSet;

/// Constants of the function as words of the key.
pub(super) struct EraseConstants;

/// Bytes of the keys in which words are tried, if none are demanded.
const LENGTHS: [usize; 3] = [16, USUAL_LENGTH, 64];

/// Bytes from one place of a word to the next.
const ALIGNED: usize = 4;

/// Bytes of a key up to which words are placed.
const REACH: usize = 128;

/// Suspicious words of one length that are tried under fresh seeds, at most.
const SUSPECTS: usize = 32;

/// Fresh keys and seeds under which a word must erase.
const TRIALS: usize = 3;

/// A word at a place of the key, and the bytes that it may erase.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Erasing {
    word: u64,
    width: usize,
    at: usize,
    erased: Range<usize>,
}

impl Erasing {
    /// The word at each place of a key of `length` bytes, with everything that it may erase: all before it,
    /// the word before and the word behind.
    fn all(words: &BTreeSet<(usize, u64)>, length: usize) -> Vec<Self> {
        let of = |(width, word): (usize, u64)| {
            let places = (0..(length.min(REACH) + 1).saturating_sub(width)).step_by(ALIGNED);
            places.flat_map(move |at| {
                let end = at + width;
                let near = [at.saturating_sub(8)..at, at.saturating_sub(4)..at, end..end + 8, end..end + 4];
                let erased: BTreeSet<(usize, usize)> = core::iter::once(0..at)
                    .chain(near)
                    .filter(|erased| erased.len() >= ALIGNED && erased.end <= length)
                    .map(|erased| (erased.start, erased.end))
                    .collect();
                erased.into_iter().map(move |(start, end)| Self { word, width, at, erased: start..end })
            })
        };
        words.iter().copied().flat_map(of).collect()
    }

    /// Two keys with the word that differ in the bytes that it may erase.
    fn keys(&self, base: &[u8]) -> [Vec<u8>; 2] {
        let mut one = base.to_vec();
        set_word(&mut one, self.at, self.width, self.word);
        let mut other = one.clone();
        other[self.erased.clone()]
            .iter_mut()
            .for_each(|byte| *byte = byte.wrapping_mul(5).wrapping_add(0x3b));
        [one, other]
    }

    /// True if fresh keys have one hash under fresh seeds, and no longer if the word is another one: bytes
    /// that are not hashed do not count.
    fn holds(&self, target: &mut Target<'_>, length: usize) -> Result<bool, Fault> {
        for _ in 0..TRIALS {
            let (seed, base) = (target.draw.key(), target.draw.bytes(length));
            let others = Self { word: target.draw.word(), ..self.clone() };
            let [[one, other], [a, b]] = [self.keys(&base), others.keys(&base)];
            if !target.collide(&seed, [&one, &other])? || target.collide(&seed, [&a, &b])? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Words of 4 and 8 bytes that the constants suggest for keys of `length` bytes.
fn words(constants: &Constants, length: usize) -> BTreeSet<(usize, u64)> {
    let mut words = BTreeSet::new();
    for constant in constants.numbers.iter().chain(&constants.table) {
        let forms = [*constant, !constant, constant.wrapping_neg(), constant ^ length as u64];
        for form in forms {
            words.insert((8, form));
            words.extend([form, form >> 32].map(|half| (4, half & u64::from(u32::MAX))));
        }
        // Of a constant of 32 bits in a word of 64, the complement may have either width.
        if *constant <= u64::from(u32::MAX) {
            words.extend(forms.map(|form| (8, form & u64::from(u32::MAX))));
        }
    }
    words
}

impl Attack for EraseConstants {
    fn about(&self) -> About {
        About {
            id: "erase-constants",
            title: "a word that equals a constant of the function makes a factor 0, which erases the rest",
            source: "as for wyhash, github.com/wangyi-fudan/wyhash #49, with the constants of the function's \
                     machine code",
            knowledge: Knowledge::Nothing,
            aims_at: &[],
        }
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let constants = target.constants()?;
        let lengths: BTreeSet<usize> = LENGTHS.map(|length| target.length_or(length)).into();
        for length in lengths {
            for erasing in suspects(target, &constants, length)? {
                if erasing.holds(target, length)? {
                    let mut base = target.draw.bytes(length);
                    set_word(&mut base, erasing.at, erasing.width, erasing.word);
                    let keys = with_erased(&base, erasing.erased.clone(), target.count);
                    if let Ok(keys) = target.colliding(keys) {
                        let Erasing { word, width, at, .. } = erasing;
                        target.note = Some(format!("the {width} bytes from byte {at} on are {word:#x}"));
                        return Ok(keys);
                    }
                }
            }
        }
        Err(Miss::NotApplicable("no word that equals a constant erases others".to_owned()))
    }
}

/// Words of keys of `length` bytes that keep the hash of one key under the attacker's seed.
fn suspects(target: &mut Target<'_>, constants: &Constants, length: usize) -> Result<Vec<Erasing>, Fault> {
    /// Pairs that are hashed at a time.
    const BATCH: usize = 1 << 12;
    let base = target.draw.bytes(length);
    let mut found = Vec::new();
    for batch in Erasing::all(&words(constants, length), length).chunks(BATCH) {
        let keys: Keys = batch.iter().flat_map(|erasing| erasing.keys(&base)).collect();
        let hashes = target.hash(&keys)?;
        let equal = batch.iter().zip(hashes.as_chunks::<2>().0).filter(|(_, [one, other])| one == other);
        found.extend(equal.map(|(erasing, _)| erasing.clone()));
    }
    found.truncate(SUSPECTS);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_at_all_aligned_places_and_erase_other_bytes() {
        let constants = Constants { numbers: vec![0x5899_65cd], ..Constants::default() };
        let words = words(&constants, 16);
        assert!(words.contains(&(4, 0x5899_65cd)) && words.contains(&(4, !0x5899_65cd_u64 & 0xffff_ffff)));
        assert!(words.contains(&(8, 0x5899_65cd_u64.wrapping_neg())));
        for length in [0, 3, 8, 16, 36] {
            let base: Vec<u8> = (0..length as u8).collect();
            let all = Erasing::all(&words, length);
            assert_eq!(all.is_empty(), length < 8);
            for erasing in all {
                let [one, other] = erasing.keys(&base);
                let differ: Vec<usize> = (0..length).filter(|place| one[*place] != other[*place]).collect();
                assert!(!differ.is_empty() && differ.iter().all(|place| erasing.erased.contains(place)));
                let word = erasing.at..erasing.at + erasing.width;
                assert_eq!(one[word.clone()], other[word.clone()]);
                assert_eq!(one[word], erasing.word.to_le_bytes()[..erasing.width]);
            }
        }
    }
}
