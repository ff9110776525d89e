//! Collisions of jhash under a known seed: its final mixing can be inverted.

use super::arithmetic::{set_word, word};
use super::{About, Attack, Knowledge, Miss, Target, USUAL_LENGTH};
use crate::keys::Keys;
use hashlane_hash::jhash::JHASH_INITVAL;

/// Last blocks that lead to one hash.
pub(super) struct Inverted;

/// Bytes of a block.
const BLOCK: usize = 12;

impl Attack for Inverted {
    fn about(&self) -> About {
        About {
            id: "jhash-inverted",
            title: "the final mixing is one to one, and is run backwards from one hash",
            source: "Jenkins, lookup3.c, 2006; Bar-Yosef and Wool, Remote algorithmic complexity attacks",
            knowledge: Knowledge::Seed,
            aims_at: &["jhash", "ehash/jhash-unseeded"],
        }
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(USUAL_LENGTH);
        if length == 0 || !length.is_multiple_of(BLOCK) {
            return Err(Miss::NotApplicable(format!("it needs keys of a multiple of {BLOCK} bytes")));
        }
        let base = target.draw.bytes(length);
        let mut missed = Miss::NotApplicable("its keys do not collide".to_owned());
        for seed in [target.key.halves().0 as u32, 0] {
            let keys = (0..target.count as u32).map(|number| key(&base, seed, number)).collect();
            match target.colliding(keys) {
                Ok(keys) => return Ok(keys),
                Err(miss) => missed = miss,
            }
        }
        Err(missed)
    }
}

/// `base`, whose length is a multiple of 12 but not 0, with the last block that leads to outcome `number` of
/// the final mixing of jhash under `seed`: all outcomes have one hash.
///
/// # Panics
/// `base` has fewer than 12 bytes.
pub fn key(base: &[u8], seed: u32, number: u32) -> Vec<u8> {
    /// The hash of all keys.
    const HASH: u32 = 0x6861_7368;
    with_hash(base, seed, number, HASH)
}

/// The same with this `hash`; `None` if the length is not a multiple of 12 or 0.
pub(crate) fn key_of_hash(base: &[u8], seed: u32, number: u32, hash: u32) -> Option<Vec<u8>> {
    let fits = !base.is_empty() && base.len().is_multiple_of(BLOCK);
    fits.then(|| with_hash(base, seed, number, hash))
}

fn with_hash(base: &[u8], seed: u32, number: u32, hash: u32) -> Vec<u8> {
    let start = JHASH_INITVAL.wrapping_add(base.len() as u32).wrapping_add(seed);
    let last = base.len() - BLOCK;
    let mut state = [start; 3];
    for block in base[..last].chunks_exact(BLOCK) {
        let block = [0, 4, 8].map(|at| word(block, at, 4) as u32);
        state = mix(core::array::from_fn(|i| state[i].wrapping_add(block[i])));
    }
    // The hash is the third word of the outcome; the others are anything.
    let before = unmixed([number, !number, hash]);
    let mut key = base.to_vec();
    for i in 0..3 {
        set_word(&mut key, last + 4 * i, 4, u64::from(before[i].wrapping_sub(state[i])));
    }
    key
}

/// `__jhash_mix`, as rows of the lane that is changed, the lane that is read, and the rotation.
fn mix(mut lanes: [u32; 3]) -> [u32; 3] {
    for (to, from, bits) in [(0, 2, 4), (1, 0, 6), (2, 1, 8), (0, 2, 16), (1, 0, 19), (2, 1, 4)] {
        lanes[to] = lanes[to].wrapping_sub(lanes[from]) ^ lanes[from].rotate_left(bits);
        lanes[from] = lanes[from].wrapping_add(lanes[3 - to - from]);
    }
    lanes
}

/// Inverse of `__jhash_final` on these lanes: its rows from the last to the first, each undone.
fn unmixed(mut lanes: [u32; 3]) -> [u32; 3] {
    for (to, from, bits) in
        [(2, 1, 24), (1, 0, 14), (0, 2, 4), (2, 1, 16), (1, 0, 25), (0, 2, 11), (2, 1, 14)]
    {
        lanes[to] = lanes[to].wrapping_add(lanes[from].rotate_left(bits)) ^ lanes[from];
    }
    lanes
}
