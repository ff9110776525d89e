//! Key sets of simple patterns, hashed under one seed.

use super::avalanche::Flips;
use crate::draw::Draw;
use crate::keys::Keys;
use crate::subject::Lengths;

/// Keys of one pattern.
#[derive(Debug)]
pub(super) struct KeySet {
    /// Name of the test.
    pub(super) test: &'static str,
    /// Length of every key; `None` if they differ in length.
    length: Option<usize>,
    /// The keys, all different unless `flips` is given.
    pub(super) keys: Keys,
    /// Order of the keys of an avalanche test.
    pub(super) flips: Option<Flips>,
}

impl KeySet {
    /// True for a function that takes keys of these lengths.
    pub(super) fn fits(&self, lengths: Lengths) -> bool {
        match lengths {
            Lengths::Any => true,
            Lengths::Exactly(length) => self.length == Some(length),
        }
    }
}

/// Random keys of an avalanche test.
const AVALANCHE_KEYS: usize = 1 << 10;

/// Keys of a set of cycles.
const CYCLES: usize = 1 << 14;

/// Keys of zeros: of every length below this one.
const ZEROES: usize = 1 << 12;

/// All key sets.
pub(super) fn all(draw: &mut Draw) -> Vec<KeySet> {
    let mut sets = Vec::new();
    let mut add = |test, length, keys| sets.push(KeySet { test, length, keys, flips: None });
    add("Zeroes", None, (0..ZEROES).map(|length| vec![0; length]).collect());
    for length in [3, 4, 5, 8] {
        for times in [4, 8, 16] {
            add("Cyclic", Some(length * times), cycles(length, times, draw));
        }
    }
    for (length, bits) in [(2, 6), (4, 4), (8, 3), (36, 2), (64, 2)] {
        add("Sparse", Some(length), sparse(length, bits));
    }
    for (words, word, most) in [
        // Three low or high bits of a word, and a word with one low or high bit.
        ((0..8).collect::<Vec<u64>>(), 4, 5),
        ((0..8).map(|number| number << 29).collect(), 4, 5),
        (vec![0, 1], 4, 14),
        (vec![0, 1 << 31], 4, 14),
        (vec![0, 1], 8, 14),
        (vec![0, 1 << 63], 8, 14),
    ] {
        add("Permutation", None, permutations(&words, word, most));
    }
    for (length, values) in [(3, 255), (8, 48), (36, 12)] {
        add("TwoBytes", Some(length), two_bytes(length, values));
    }
    for length in [4, 36] {
        let keys = neighbours(length, draw);
        sets.push(KeySet {
            test: "Avalanche",
            length: Some(length),
            keys,
            flips: Some(Flips { bits: 8 * length }),
        });
    }
    sets
}

/// Random keys of `length` bytes, each followed by those that differ in one bit.
fn neighbours(length: usize, draw: &mut Draw) -> Keys {
    let mut keys = Keys::default();
    for _ in 0..AVALANCHE_KEYS {
        let mut key = draw.bytes(length);
        keys.push(&key);
        for bit in 0..8 * length {
            key[bit / 8] ^= 1 << (bit % 8);
            keys.push(&key);
            key[bit / 8] ^= 1 << (bit % 8);
        }
    }
    keys
}

/// Random words of `length` bytes, each repeated.
fn cycles(length: usize, times: usize, draw: &mut Draw) -> Keys {
    let mut words: Vec<Vec<u8>> = (0..CYCLES).map(|_| draw.bytes(length)).collect();
    words.sort_unstable();
    words.dedup();
    words.into_iter().map(|word| word.repeat(times)).collect()
}

/// Keys with up to `most` bits set.
fn sparse(length: usize, most: usize) -> Keys {
    fn set(key: &mut [u8], from: usize, left: usize, keys: &mut Keys) {
        keys.push(key);
        if left == 0 {
            return;
        }
        for bit in from..8 * key.len() {
            key[bit / 8] ^= 1 << (bit % 8);
            set(key, bit + 1, left - 1, keys);
            key[bit / 8] ^= 1 << (bit % 8);
        }
    }
    let mut keys = Keys::default();
    set(&mut vec![0; length], 0, most, &mut keys);
    keys
}

/// Sequences of up to `most` words out of a few, each of `bytes` bytes, little-endian.
fn permutations(words: &[u64], bytes: usize, most: u32) -> Keys {
    let count = words.len();
    let sequences = (1..=most).flat_map(|length| (0..count.pow(length)).map(move |number| (length, number)));
    let key = |(length, mut number): (u32, usize)| -> Vec<u8> {
        let word = |_| {
            let word = words[number % count];
            number /= count;
            word
        };
        (0..length).map(word).flat_map(|word| word.to_le_bytes().into_iter().take(bytes)).collect()
    };
    sequences.map(key).collect()
}

/// Keys of zeros but for one or two bytes, which are from 1 to `values`.
fn two_bytes(length: usize, values: u8) -> Keys {
    let mut keys = Keys::default();
    let mut key = vec![0; length];
    for first in 0..length {
        for value in 1..=values {
            key[first] = value;
            keys.push(&key);
            for second in first + 1..length {
                for value in 1..=values {
                    key[second] = value;
                    keys.push(&key);
                }
                key[second] = 0;
            }
        }
        key[first] = 0;
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn keys_of_a_set_differ_and_are_as_many_as_their_pattern_has() {
        for set in all(&mut Draw::new(1)).iter().filter(|set| set.flips.is_none()) {
            let different: HashSet<&[u8]> = set.keys.iter().collect();
            assert_eq!(different.len(), set.keys.len(), "{} {:?}", set.test, set.length);
            if let Some(length) = set.length {
                assert!(set.keys.iter().all(|key| key.len() == length), "{} {length}", set.test);
            }
        }
        // 1 + 16 + 120 + 560; 8 + 64 + 512; 3 · 255 + 3 · 255².
        assert_eq!(sparse(2, 3).len(), 697);
        assert_eq!(permutations(&[0, 1, 2, 3, 4, 5, 6, 7], 4, 3).len(), 584);
        assert_eq!(two_bytes(3, 255).len(), 195_840);
    }

    #[test]
    fn functions_of_one_length_get_keys_of_that_length() {
        let sets = all(&mut Draw::new(1));
        let tests: HashSet<_> =
            sets.iter().filter(|set| set.fits(Lengths::Exactly(36))).map(|set| set.test).collect();
        assert_eq!(tests, HashSet::from(["Avalanche", "Sparse", "TwoBytes"]));
    }
}
