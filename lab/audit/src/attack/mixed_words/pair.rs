//! Two changes of words behind their mixing, which cancel.

use super::super::Target;
use super::super::arithmetic::{set_word, word};
use super::super::mixing::{Mixing, Step};
use crate::subject::Fault;
use core::fmt;

/// Fresh keys and seeds by which a change is judged, and those for which it must hold: carries of a sum take
/// one half of them.
pub(super) const TRIALS: u32 = 16;
pub(super) const NEEDED: u32 = 3;

/// Runs of so many trials in which a shorter mixing is compared with a longer one.
const SHARES: u32 = 8;

/// Words of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Words {
    /// Bytes: 4 or 8.
    pub(super) width: usize,
    pub(super) is_big_endian: bool,
}

impl Words {
    pub(super) fn bits(self) -> u32 {
        8 * self.width as u32
    }

    /// Changes word `number` of a key behind its mixing.
    pub(super) fn change(self, key: &mut [u8], number: usize, mixing: &Mixing, change: Step) {
        let at = number * self.width;
        let swapped =
            |word: u64| if self.is_big_endian { word.swap_bytes() >> (64 - self.bits()) } else { word };
        let changed = mixing.changed(swapped(word(key, at, self.width)), change, self.bits());
        set_word(key, at, self.width, swapped(changed));
    }
}

/// Changes of two words behind a mixing, which cancel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MixedPair {
    pub(super) words: Words,
    pub(super) mixing: Mixing,
    /// Bits that are flipped behind the mixing of the first word, and of the second one.
    pub(super) bits: [u64; 2],
    /// Words from the first to the second.
    pub(super) distance: usize,
}

impl MixedPair {
    pub(super) fn apply(&self, key: &mut [u8], start: usize) {
        for (number, bits) in [start, start + self.distance].into_iter().zip(self.bits) {
            self.words.change(key, number, &self.mixing, Step::Xor(bits));
        }
    }

    /// `key` with its first two words changed; `None` if it is too short.
    pub(crate) fn second_key(&self, key: &[u8]) -> Option<Vec<u8>> {
        let mut key = key.to_vec();
        (key.len() >= (1 + self.distance) * self.words.width).then(|| self.apply(&mut key, 0))?;
        Some(key)
    }

    /// The same pair with as few steps of its mixing as keep the hash as often: a step that the keys do not
    /// need need not be in the function.
    pub(super) fn simplest(mut self, target: &mut Target<'_>, length: usize) -> Result<Self, Fault> {
        let often = self.share(target, length)?;
        let mut step = 0;
        while step < self.mixing.0.len() {
            let mut shorter = self.clone();
            shorter.mixing.0.remove(step);
            match 4 * shorter.share(target, length)? >= 3 * often {
                true => self = shorter,
                false => step += 1,
            }
        }
        Ok(self)
    }

    /// Times that the pair of the first words holds.
    fn share(&self, target: &mut Target<'_>, length: usize) -> Result<u32, Fault> {
        (0..SHARES).map(|_| self.held(target, length, 0)).sum()
    }

    /// Fresh keys of `length` bytes and seeds, of [`TRIALS`], for which the pair at word `start` keeps the
    /// hash, and the first change alone does not. Stops early if there are none.
    pub(super) fn held(&self, target: &mut Target<'_>, length: usize, start: usize) -> Result<u32, Fault> {
        let mut held = 0;
        for trial in 0..TRIALS {
            let (seed, key) = (target.draw.key(), target.draw.bytes(length));
            let mut keys = [key.clone(), key.clone(), key];
            self.apply(&mut keys[1], start);
            self.words.change(&mut keys[2], start, &self.mixing, Step::Xor(self.bits[0]));
            let hashes = target.hash_under(&seed, &keys.iter().collect())?;
            held += u32::from(hashes[0] == hashes[1] && hashes[0] != hashes[2]);
            if held == 0 && trial == TRIALS / 2 {
                break;
            }
        }
        Ok(held)
    }
}

/// The change and its mixing in words.
impl fmt::Display for MixedPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.words.bits();
        let later = match self.distance {
            1 => "the next one".to_owned(),
            distance => format!("that {distance} words later"),
        };
        let [first, second] = self.bits.map(places);
        if self.mixing.0.is_empty() {
            return write!(f, "{first} of a word of {bits} bits changes, and {second} of {later}");
        }
        let steps: Vec<String> = self.mixing.0.iter().map(ToString::to_string).collect();
        let steps = steps.join(", ");
        write!(
            f,
            "each word of {bits} bits is mixed by {steps}; behind it, {first} of a word changes, and \
             {second} of {later}"
        )
    }
}

/// Numbers of the bits that are set, the highest first.
fn places(bits: u64) -> String {
    let set = (0..u64::BITS).rev().filter(|bit| bits >> bit & 1 == 1);
    let set: Vec<String> = set.map(|bit| bit.to_string()).collect();
    let noun = if set.len() == 1 { "bit" } else { "bits" };
    match set.split_last() {
        Some((last, [])) => format!("{noun} {last}"),
        Some((last, others)) => format!("{noun} {} and {last}", others.join(", ")),
        None => "no bit".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_states_its_bits_and_its_mixing() {
        let words = Words { width: 8, is_big_endian: false };
        let top = 1_u64 << 63;
        let mut pair =
            MixedPair { words, mixing: Mixing::default(), bits: [top, top | top >> 2], distance: 1 };
        assert_eq!(
            pair.to_string(),
            "bit 63 of a word of 64 bits changes, and bits 63 and 61 of the next one"
        );
        pair = MixedPair { mixing: Mixing(vec![Step::Multiply(3)]), distance: 4, ..pair };
        let expected = "each word of 64 bits is mixed by x *= 0x3; behind it, bit 63 of a word changes, and \
                        bits 63 and 61 of that 4 words later";
        assert_eq!(pair.to_string(), expected);
    }
}
