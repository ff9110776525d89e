//! Two forms of a part of a key that give one hash under most seeds, at several places of one key.

use super::{About, Attack, FEWEST, Knowledge, MAX_LENGTH, Miss, Target, USUAL_LENGTH};
use crate::keys::Keys;
use crate::subject::{Fault, Lengths};
use std::collections::BTreeSet;

/// Short words that lead to one state.
pub(super) struct CollidingWords;

/// Bytes of words that are compared, and how many: all of two bytes, and random ones.
const WORDS: [(usize, usize); 3] = [(2, 1 << 16), (4, 1 << 15), (8, 1 << 15)];

/// Pairs of words of one size that are tried under fresh seeds.
const PAIRS: usize = 16;

/// Fresh keys and seeds by which a pair is judged, and those for which it must hold.
const TRIALS: u32 = 16;
const NEEDED: u32 = TRIALS / 2;

/// Places of a word at which it must hold: fewer give too few keys.
const PLACES: usize = 8;

/// Bytes of a key behind its pairs.
const MARGIN: usize = 32;

/// Two forms of the bytes of a key from `at` on.
#[derive(Clone, Debug)]
struct Forms {
    at: usize,
    forms: [Vec<u8>; 2],
}

impl Forms {
    /// The bytes in which two keys of one length differ, and those around them up to multiples of `align`.
    fn between(keys: &[Vec<u8>; 2], align: usize) -> Option<Self> {
        let [one, other] = keys;
        let differs = |place: &usize| one[*place] != other[*place];
        let places = || 0..one.len();
        let (first, last) = (places().find(differs)?, places().rev().find(differs)?);
        let (from, end) = (first / align * align, (last + 1).next_multiple_of(align).min(one.len()));
        Some(Self { at: from, forms: [one[from..end].to_vec(), other[from..end].to_vec()] })
    }

    fn len(&self) -> usize {
        self.forms[0].len()
    }

    fn write(&self, form: usize, key: &mut [u8]) {
        key.iter_mut().skip(self.at).zip(&self.forms[form]).for_each(|(byte, by)| *byte = *by);
    }

    /// Fresh keys of `length` bytes and seeds for which both forms give one hash, of [`TRIALS`]; fewer are
    /// tried if none does.
    fn held(&self, target: &mut Target<'_>, length: usize) -> Result<u32, Fault> {
        let mut held = 0;
        for trial in 0..TRIALS {
            let (seed, key) = (target.draw.key(), target.draw.bytes(length));
            let keys = [0, 1].map(|form| {
                let mut key = key.clone();
                self.write(form, &mut key);
                key
            });
            held += u32::from(target.collide(&seed, keys.each_ref().map(Vec::as_slice))?);
            if held == 0 && trial == TRIALS / 2 {
                break;
            }
        }
        Ok(held)
    }

    /// Keys with either form at each place where the forms hold; `None` if there are too few.
    fn spread(&self, target: &mut Target<'_>) -> Result<Option<Keys>, Fault> {
        let wanted = target.count.max(FEWEST).ilog2() as usize;
        let step = self.len().next_multiple_of(if self.len() > 4 { 8 } else { 4 });
        let length = target.length_or((self.at + wanted * step + MARGIN).min(MAX_LENGTH));
        let mut placed: Vec<Self> = Vec::new();
        for at in (self.at % step..=length.saturating_sub(self.len())).step_by(step) {
            let moved = Self { at, ..self.clone() };
            if placed.len() < wanted && moved.held(target, length)? >= NEEDED {
                placed.push(moved);
            }
        }
        let mut base = target.draw.bytes(length);
        placed.iter().for_each(|forms| forms.write(0, &mut base));
        let keys = target.combinations(&base, placed.len(), &mut |key, number| placed[number].write(1, key));
        Ok((placed.len() >= PLACES.min(wanted)).then_some(keys))
    }
}

/// Keys in a row, each one of `pair`, filled with zeros up to multiples of `align` bytes, if the function
/// takes keys of any length.
fn rows(target: &Target<'_>, pair: &[Vec<u8>; 2], align: usize) -> Option<Keys> {
    let pair = pair.each_ref().map(|key| {
        let mut key = key.clone();
        key.resize(key.len().next_multiple_of(align), 0);
        key
    });
    let longest = pair[0].len().max(pair[1].len()).max(1);
    let places = (target.count.max(FEWEST).ilog2() as usize).min(MAX_LENGTH / longest);
    let is_free = (target.subject.info().lengths, target.length) == (Lengths::Any, None);
    if !is_free || 1 << places < FEWEST {
        return None;
    }
    let all = (0..1_usize << places).map(|number| {
        (0..places).flat_map(|place| pair[number >> place & 1].iter().copied()).collect::<Vec<u8>>()
    });
    let mut seen = BTreeSet::new();
    let keys: Keys = all.filter(|key| seen.insert(key.clone())).take(target.count).collect();
    Some(keys)
}

/// Keys that have two given ones, which collide under every seed, at several places. `None` if they do not
/// collide there.
///
/// # Errors
/// The function fails.
pub(crate) fn repeated(target: &mut Target<'_>, pair: &[Vec<u8>; 2]) -> Result<Option<Keys>, Fault> {
    let mut sets: Vec<Option<Keys>> = [1, 8, 16, 64].iter().map(|align| rows(target, pair, *align)).collect();
    if pair[0].len() == pair[1].len() {
        for align in [8, 4, 1] {
            if let Some(forms) = Forms::between(pair, align) {
                sets.push(forms.spread(target)?);
            }
        }
    }
    for keys in sets.into_iter().flatten() {
        match target.colliding(keys) {
            Ok(keys) => return Ok(Some(keys)),
            Err(Miss::NotApplicable(_)) => {}
            Err(Miss::Fault(fault)) => return Err(fault),
        }
    }
    Ok(None)
}

/// The attack by [`repeated`] pairs.
pub(crate) fn about() -> About {
    About {
        id: "repeated-pair",
        title: "two keys that collide under every seed, at several places of one key",
        source: "Joux, Multicollisions in iterated hash functions, CRYPTO 2004",
        knowledge: Knowledge::Nothing,
        aims_at: &[],
    }
}

impl Attack for CollidingWords {
    fn about(&self) -> About {
        About {
            id: "colliding-words",
            title: "two short words lead to one state, at several places of one key",
            source: "birthday search; Joux, Multicollisions in iterated hash functions, CRYPTO 2004",
            knowledge: Knowledge::Nothing,
            aims_at: &[],
        }
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(USUAL_LENGTH);
        for (width, count) in WORDS {
            let at = if length >= 2 * width { width } else { 0 };
            if length < at + width {
                continue;
            }
            for pair in equal(target, (at, width, count), length)? {
                if pair.held(target, length)? >= NEEDED
                    && let Some(keys) = pair.spread(target)?
                {
                    return Ok(keys);
                }
            }
        }
        Err(Miss::NotApplicable("no two short words lead to one state".to_owned()))
    }
}

/// Pairs of words of `width` bytes at `at` that give one hash to a key of `length` bytes under the attacker's
/// seed, among `count` of them.
fn equal(
    target: &mut Target<'_>,
    (at, width, count): (usize, usize, usize),
    length: usize,
) -> Result<Vec<Forms>, Fault> {
    /// Keys that are hashed at a time.
    const BATCH: usize = 1 << 14;
    let base = target.draw.bytes(length);
    let words: Vec<Vec<u8>> = match width {
        2 => (0..=u16::MAX).map(|word| word.to_le_bytes().to_vec()).collect(),
        _ => (0..count).map(|_| target.draw.bytes(width)).collect(),
    };
    let mut order: Vec<(u64, usize)> = Vec::with_capacity(words.len());
    for words in words.chunks(BATCH) {
        let keys = words.iter().map(|word| {
            let mut key = base.clone();
            key[at..at + width].copy_from_slice(word);
            key
        });
        let hashes = target.hash(&keys.collect())?;
        let first = order.len();
        order.extend(hashes.into_iter().zip(first..));
    }
    order.sort_unstable();
    let pairs = order.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    let forms = pairs.map(|pair| [words[pair[0].1].clone(), words[pair[1].1].clone()]);
    Ok(forms.filter(|[one, other]| one != other).take(PAIRS).map(|forms| Forms { at, forms }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_the_bytes_that_differ() {
        let keys = [b"abcdefghijkl".to_vec(), b"abcdeXghijYl".to_vec()];
        let of = |align| Forms::between(&keys, align).map(|forms| (forms.at, forms.forms));
        assert_eq!(of(1), Some((5, [b"fghijk".to_vec(), b"XghijY".to_vec()])));
        assert_eq!(of(4), Some((4, [b"efghijkl".to_vec(), b"eXghijYl".to_vec()])));
        assert_eq!(of(8), Some((0, keys.clone())));
        assert!(Forms::between(&[keys[0].clone(), keys[0].clone()], 1).is_none());
        let mut key = [0; 8];
        Forms { at: 6, forms: [vec![1, 2, 3], vec![4, 5, 6]] }.write(1, &mut key);
        assert_eq!(key, [0, 0, 0, 0, 0, 0, 4, 5]);
    }
}
