//! Differences of two keys of one hash, carried over to other keys.

use crate::attack::MixedPair;
use hashlane_hash::scheme::Key;

/// A change of a key that may keep its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    /// Bits that are flipped.
    Xor(Vec<u8>),
    /// Numbers that are added to the little-endian words of `width` bytes.
    Add {
        /// Bytes of a word.
        width: usize,
        /// The number of each word, and of the bytes behind the last one.
        by: Vec<u64>,
    },
    /// Bytes that change places, in keys of one length.
    Swap {
        /// The length.
        length: usize,
        /// Pairs of places.
        places: Vec<[usize; 2]>,
    },
    /// Two words that are changed behind their mixing.
    Mixed(MixedPair),
    /// Zeros at the end.
    Append(usize),
    /// Zeros at the start.
    Prepend(usize),
}

impl Transfer {
    /// All changes that lead from the first key to the second.
    pub(super) fn between(one: &[u8], other: &[u8]) -> Vec<Self> {
        let zeros = |bytes: &[u8]| !bytes.is_empty() && bytes.iter().all(|byte| *byte == 0);
        if one.len() != other.len() {
            let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
            let more = long.len() - short.len();
            let mut found = Vec::new();
            if long.starts_with(short) && zeros(&long[short.len()..]) {
                found.push(Self::Append(more));
            }
            if long.ends_with(short) && zeros(&long[..more]) {
                found.push(Self::Prepend(more));
            }
            return found;
        }
        let adds = [1, 4, 8].map(|width| Self::Add {
            width,
            by: one
                .chunks(width)
                .zip(other.chunks(width))
                .map(|(a, b)| word(b).wrapping_sub(word(a)))
                .collect(),
        });
        let xor = one.iter().zip(other).map(|(a, b)| a ^ b).collect();
        core::iter::once(Self::Xor(xor)).chain(adds).chain(Self::swap(one, other)).collect()
    }

    /// The first half of the bytes that differ has changed places with the second half.
    fn swap(one: &[u8], other: &[u8]) -> Option<Self> {
        let differ: Vec<usize> = (0..one.len()).filter(|place| one[*place] != other[*place]).collect();
        let (first, second) = differ.split_at(differ.len() / 2);
        let places: Vec<[usize; 2]> = first.iter().zip(second).map(|(a, b)| [*a, *b]).collect();
        let has_swapped = |[a, b]: &[usize; 2]| one[*a] == other[*b] && one[*b] == other[*a];
        let is_swap = !first.is_empty() && first.len() == second.len() && places.iter().all(has_swapped);
        is_swap.then_some(Self::Swap { length: one.len(), places })
    }

    /// `key` with the change; `None` if it has another length.
    pub(super) fn apply(&self, key: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Xor(bits) => {
                (bits.len() == key.len()).then(|| key.iter().zip(bits).map(|(byte, by)| byte ^ by).collect())
            }
            Self::Add { width, by } => {
                let words = key.chunks(*width);
                (words.len() == by.len()).then(|| {
                    let changed = words.zip(by).flat_map(|(bytes, by)| {
                        let sum = word(bytes).wrapping_add(*by).to_le_bytes();
                        sum.into_iter().take(bytes.len())
                    });
                    changed.collect()
                })
            }
            Self::Swap { length, places } => (*length == key.len()).then(|| {
                let mut key = key.to_vec();
                places.iter().for_each(|[one, other]| key.swap(*one, *other));
                key
            }),
            Self::Mixed(pair) => pair.second_key(key),
            Self::Append(zeros) => Some([key, &vec![0; *zeros]].concat()),
            Self::Prepend(zeros) => Some([&vec![0; *zeros], key].concat()),
        }
    }
}

/// Up to eight bytes as a little-endian number.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// A change, its source and the length of keys that it is for.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) source: String,
    pub(super) transfer: Transfer,
    pub(super) length: usize,
}

/// Two keys of one hash under `seed`.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) keys: [Vec<u8>; 2],
    pub(super) seed: Key,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_leads_from_one_key_to_the_other() {
        let (one, other) = ([1, 2, 255, 4, 5, 6, 7, 8, 200], [2, 2, 3, 4, 5, 0, 7, 8, 100]);
        let found = Transfer::between(&one, &other);
        assert_eq!(found.len(), 4);
        assert!(found.iter().all(|transfer| transfer.apply(&one).as_deref() == Some(&other[..])));
        assert!(found.iter().all(|transfer| transfer.apply(&[0; 20]).is_none()));
        let swap = Transfer::between(&[1, 2, 9, 3, 4], &[3, 4, 9, 1, 2]).pop();
        assert_eq!(swap, Some(Transfer::Swap { length: 5, places: vec![[0, 3], [1, 4]] }));
        assert_eq!(swap.unwrap().apply(&[5, 6, 7, 8, 9]), Some(vec![8, 9, 7, 5, 6]));
        assert_eq!(Transfer::between(&[1, 2], &[1, 2, 0, 0]), [Transfer::Append(2)]);
        assert_eq!(Transfer::between(&[0, 1, 2], &[1, 2]), [Transfer::Prepend(1)]);
        assert_eq!(Transfer::Append(2).apply(&[7]), Some(vec![7, 0, 0]));
    }
}
