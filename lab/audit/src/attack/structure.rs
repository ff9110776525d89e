//! Words of the key that are folded into one before they are mixed.

use super::arithmetic::{set_word, word};
use super::{About, Attack, Knowledge, Miss, Target, USUAL_LENGTH};
use crate::keys::Keys;

/// Combination of two words that keeps the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fold {
    /// Both change by the same bits.
    Xor,
    /// One grows by what the other shrinks by, as little-endian numbers.
    Add,
    /// The same, as big-endian numbers.
    AddBigEndian,
}

/// A fold of the words of `width` bytes at two places.
#[derive(Clone, Copy)]
struct Folded {
    fold: Fold,
    width: usize,
    places: [usize; 2],
}

/// Differences of two words that cancel.
pub(super) struct Structure;

/// Keys in which a fold is tried before it is believed.
const TRIALS: u64 = 4;

/// Longest keys that are searched: the pairs of words grow with the square of the length.
const MAX_SEARCHED: usize = 128;

impl Attack for Structure {
    fn about(&self) -> About {
        About {
            id: "folded-words",
            title: "two words are folded by exclusive or or by addition before they are mixed",
            source: "CVE-2023-1206 (Linux inet6_ehashfn); found here by changing all pairs of words",
            knowledge: Knowledge::Nothing,
            aims_at: &["ehash/base"],
        }
    }

    fn longer(&self) -> Option<usize> {
        Some(MAX_SEARCHED)
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(USUAL_LENGTH);
        let none = || Miss::NotApplicable("no two of its words are folded".to_owned());
        if length > MAX_SEARCHED {
            return Err(Miss::NotApplicable(format!(
                "keys of more than {MAX_SEARCHED} bytes are not searched"
            )));
        }
        let mut candidates = candidates(length);
        for _ in 0..TRIALS {
            let base = target.draw.bytes(length);
            let by = target.draw.word();
            let keys: Keys = core::iter::once(base.clone())
                .chain(candidates.iter().map(|folded| changed(&base, *folded, by)))
                .collect();
            let hashes = target.hash(&keys)?;
            let Some((of_base, of_changed)) = hashes.split_first() else { break };
            let mut of_changed = of_changed.iter();
            candidates.retain(|_| of_changed.next() == Some(of_base));
        }
        // A fold of unhashed words does not count.
        let base = target.draw.bytes(length);
        for folded in candidates {
            let mut one = base.clone();
            let at = folded.places[0];
            set_word(&mut one, at, folded.width, !word(&base, at, folded.width));
            let hashes = target.hash(&[&base, &one].into_iter().collect())?;
            if hashes.first() != hashes.get(1) {
                let keys = (0..target.count as u64).map(|by| changed(&base, folded, by)).collect();
                return target.colliding(keys);
            }
        }
        Err(none())
    }
}

/// All folds of two words in keys of `length` bytes.
fn candidates(length: usize) -> Vec<Folded> {
    let mut candidates = Vec::new();
    for width in [4, 8] {
        let places: Vec<usize> = (0..(length + 1).saturating_sub(width)).step_by(4).collect();
        for (number, from) in places.iter().enumerate() {
            for to in places[number + 1..].iter().filter(|to| **to >= from + width) {
                for fold in [Fold::Xor, Fold::Add, Fold::AddBigEndian] {
                    candidates.push(Folded { fold, width, places: [*from, *to] });
                }
            }
        }
    }
    candidates
}

/// `base` with both words changed by `by`.
fn changed(base: &[u8], folded: Folded, by: u64) -> Vec<u8> {
    let Folded { fold, width, places } = folded;
    let mut bytes = base.to_vec();
    let swapped = |word: u64| word.swap_bytes() >> (64 - 8 * width);
    for (at, signed) in places.into_iter().zip([by, by.wrapping_neg()]) {
        let old = word(base, at, width);
        let new = match fold {
            Fold::Xor => old ^ by,
            Fold::Add => old.wrapping_add(signed),
            Fold::AddBigEndian => swapped(swapped(old).wrapping_add(signed)),
        };
        set_word(&mut bytes, at, width, new);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fold_of_two_words_is_kept() {
        let base: Vec<u8> = (0..24).collect();
        for folded in candidates(base.len()) {
            let key = changed(&base, folded, 0x0123_4567_89ab_cdef);
            assert_ne!(key, base);
            let fold = |bytes: &[u8]| {
                let [a, b] = folded.places.map(|at| word(bytes, at, folded.width));
                let swapped = |word: u64| word.swap_bytes() >> (64 - 8 * folded.width);
                let mask = u64::MAX >> (64 - 8 * folded.width);
                match folded.fold {
                    Fold::Xor => a ^ b,
                    Fold::Add => a.wrapping_add(b) & mask,
                    Fold::AddBigEndian => swapped(a).wrapping_add(swapped(b)) & mask,
                }
            };
            assert_eq!(fold(&key), fold(&base), "{:?}", folded.fold);
        }
    }
}
