//! Names with one FxHash: rustc's former hash, which has no key.
//!
//! A word of eight bytes is mixed by h ← (rotate(h, 5) ⊕ word) · K, which can be undone: of two words, the
//! second is chosen so that the state becomes a given one. So a block of two words has two versions that lead
//! to the same state, and 12 blocks make 4,096 names with the same 64-bit hash.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Multiplier of rustc-hash 1, and its inverse modulo 2⁶⁴.
const K: u64 = 0x517c_c1b7_2722_0a95;
const K_INVERSE: u64 = inverse(K);

/// Blocks of a name, each with two versions.
const BLOCKS: usize = 12;

/// Blocks between two dots: a label has at most 63 bytes.
const BLOCKS_IN_LABEL: usize = 3;

/// A dot and the start of the next label.
const NEXT_LABEL: [u8; 8] = *b".aaaaaaa";

/// End of all names; fewer than eight bytes, the last word of four.
const LAST: &[u8] = b".com";

/// Names that collide.
pub(crate) const NAMES: usize = 1 << BLOCKS;

const fn inverse(odd: u64) -> u64 {
    let mut x = odd;
    let mut step = 0;
    // Newton's step doubles the bits that are right, 3 at first.
    while step < 5 {
        x = x.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(x)));
        step += 1;
    }
    x
}

fn mix(state: u64, word: u64) -> u64 {
    (state.rotate_left(5) ^ word).wrapping_mul(K)
}

/// The word that leads from a state to another.
fn word_between(from: u64, to: u64) -> u64 {
    to.wrapping_mul(K_INVERSE) ^ from.rotate_left(5)
}

/// `true` if no byte ends a label or has another case.
fn is_label(word: u64) -> bool {
    word.to_le_bytes().iter().all(|byte| *byte != b'.' && !byte.is_ascii_uppercase())
}

type Block = [u64; 2];

/// Names in dotted text whose bytes have the same FxHash as a slice; [`NAMES`] of them, all different. Labels
/// have any bytes but dots and upper-case letters (RFC 2181 §11).
pub(crate) fn names(seed: u64) -> Vec<Vec<u8>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let len = 16 * BLOCKS + NEXT_LABEL.len() * ((BLOCKS - 1) / BLOCKS_IN_LABEL) + LAST.len();
    // A slice is hashed after its length.
    let mut state = mix(0, len as u64);
    let mut blocks: Vec<[Block; 2]> = Vec::new();
    for at in 0..BLOCKS {
        if at > 0 && at % BLOCKS_IN_LABEL == 0 {
            state = mix(state, u64::from_le_bytes(NEXT_LABEL));
        }
        let first = [label_word(&mut random), label_word(&mut random)];
        let to = mix(mix(state, first[0]), first[1]);
        let second = loop {
            let word = label_word(&mut random);
            let last = word_between(mix(state, word), to);
            if word != first[0] && is_label(last) {
                break [word, last];
            }
        };
        blocks.push([first, second]);
        state = to;
    }
    (0..NAMES).map(|number| name(&blocks, number)).collect()
}

fn label_word(random: &mut Xoshiro256PlusPlus) -> u64 {
    loop {
        let word = random.next_u64();
        if is_label(word) {
            return word;
        }
    }
}

/// The name with the version of each block that a bit of `number` says.
fn name(blocks: &[[Block; 2]], number: usize) -> Vec<u8> {
    let mut name = Vec::new();
    for (at, [first, second]) in blocks.iter().enumerate() {
        if at > 0 && at % BLOCKS_IN_LABEL == 0 {
            name.extend_from_slice(&NEXT_LABEL);
        }
        let block = if number >> at & 1 == 0 { first } else { second };
        block.iter().for_each(|word| name.extend_from_slice(&word.to_le_bytes()));
    }
    name.extend_from_slice(LAST);
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::hash::{BuildHasher, BuildHasherDefault};

    #[test]
    fn all_names_differ_and_have_one_hash() {
        let names = names(1);
        let hash = BuildHasherDefault::<rustc_hash_1::FxHasher>::default();
        let hashes: HashSet<u64> = names.iter().map(|name| hash.hash_one(name.as_slice())).collect();
        assert_eq!((hashes.len(), names.iter().collect::<HashSet<_>>().len()), (1, NAMES));
        for name in &names {
            let labels: Vec<&[u8]> = name.split(|byte| *byte == b'.').collect();
            assert!(labels.len() == 5 && labels.iter().all(|label| (1..=63).contains(&label.len())));
            assert!(name.len() <= 253 && name.to_ascii_lowercase() == *name);
        }
    }
}
