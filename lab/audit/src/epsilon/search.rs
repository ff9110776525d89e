//! Search for pairs that collide under many seeds, the same again from the same seed.

use crate::draw::Draw;
use crate::keys::Keys;
use crate::subject::{AuditedHash, Fault};
use std::collections::HashMap;

/// Seeds under which all keys of the search are hashed.
pub const SEEDS: usize = 1 << 8;

/// Seeds under which keys that differ from zeros and from ones are hashed besides.
const FIXED_SEEDS: usize = 1 << 5;

/// Bytes at the start of a key in which the search makes changes; those behind change all at once.
const SEARCHED: usize = 64;

/// Two keys of the search that collided under `collisions` of `seeds` seeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    /// The keys.
    pub keys: [Vec<u8>; 2],
    /// Seeds under which they collided.
    pub collisions: u32,
    /// Seeds tried.
    pub seeds: usize,
}

/// Number of the keys that are compared with each other, for keys of `length` bytes.
pub fn keys_of(length: usize) -> usize {
    differences(length).len() + 1
}

/// Hashes a base of `length` bytes and that base under all differences of low weight and of whole words, and
/// returns the pair of any two of them that collides under most seeds, if it does under two at least. By
/// chance, a pair of a hash of 32 bits collides once in 2³² seeds. Zeros and ones are bases, too, under fewer
/// seeds, so that a pair of theirs that always collides is found whatever the draw.
///
/// # Errors
/// The function fails.
pub fn search(
    subject: &mut dyn AuditedHash,
    length: usize,
    draw: &mut Draw,
) -> Result<Option<Suspect>, Fault> {
    let base = if draw.word().is_multiple_of(2) { draw.bytes(length) } else { vec![0; length] };
    let mut worst: Option<Suspect> = None;
    for (base, seeds) in [(base, SEEDS), (vec![0; length], FIXED_SEEDS), (vec![0xff; length], FIXED_SEEDS)] {
        let share = |suspect: &Suspect| f64::from(suspect.collisions) / suspect.seeds as f64;
        let found = around(subject, &base, seeds, draw)?;
        if found.as_ref().map_or(0.0, share) > worst.as_ref().map_or(0.0, share) {
            worst = found;
        }
    }
    Ok(worst)
}

/// The worst pair of keys that differ from one base.
fn around(
    subject: &mut dyn AuditedHash,
    base: &[u8],
    seeds: usize,
    draw: &mut Draw,
) -> Result<Option<Suspect>, Fault> {
    let keys: Vec<Vec<u8>> = core::iter::once(base.to_vec())
        .chain(
            differences(base.len())
                .iter()
                .map(|difference| base.iter().zip(difference).map(|(byte, by)| byte ^ by).collect()),
        )
        .collect();
    let as_keys: Keys = keys.iter().collect();
    let most = tally(subject, &as_keys, seeds, draw)?.into_iter().filter(|(_, collisions)| *collisions > 1);
    // The first pair of equals, so that the outcome does not depend on the order of the map.
    let most = most.max_by_key(|(pair, collisions)| (*collisions, core::cmp::Reverse(*pair)));
    Ok(most.map(|((one, other), collisions)| Suspect {
        keys: [one, other].map(|number| keys[number].clone()),
        collisions,
        seeds,
    }))
}

/// Pairs of `keys`, by their numbers, that collide under `seeds` fresh seeds, and for how many of them.
///
/// # Errors
/// The function fails.
pub(super) fn tally(
    subject: &mut dyn AuditedHash,
    keys: &Keys,
    seeds: usize,
    draw: &mut Draw,
) -> Result<HashMap<(usize, usize), u32>, Fault> {
    let mut tally: HashMap<(usize, usize), u32> = HashMap::new();
    let mut hashes = Vec::new();
    for _ in 0..seeds {
        subject.hash_all(&draw.key(), keys, &mut hashes)?;
        let mut order: Vec<(u64, usize)> = hashes.iter().copied().zip(0..).collect();
        order.sort_unstable();
        for (one, other) in order.iter().zip(order.iter().skip(1)) {
            if one.0 == other.0 {
                *tally.entry((one.1, other.1)).or_default() += 1;
            }
        }
    }
    Ok(tally)
}

/// Differences: each bit; the highest bits of two words; each byte, each word, each two words and all bytes
/// complemented.
fn differences(length: usize) -> Vec<Vec<u8>> {
    let mut differences = Vec::new();
    let mut add = |bits: &[(usize, u8)]| {
        let mut difference = vec![0; length];
        bits.iter().for_each(|(at, by)| difference[*at] ^= by);
        differences.push(difference);
    };
    for bit in 0..8 * length.min(SEARCHED) {
        add(&[(bit / 8, 1 << (bit % 8))]);
    }
    for width in [1, 4, 8, 16] {
        let complement = |at: usize| (at..at + width).map(|at| (at, 0xff));
        let ends = (length.min(SEARCHED) + 1).saturating_sub(width);
        let places: Vec<usize> = (0..ends).step_by(width.min(4)).collect();
        for (number, at) in places.iter().enumerate() {
            add(&complement(*at).collect::<Vec<_>>());
            let later = places[number + 1..].iter().filter(|later| **later >= at + width);
            for later in later.filter(|_| width > 1).take(16) {
                add(&complement(*at).chain(complement(*later)).collect::<Vec<_>>());
                add(&[(at + width - 1, 0x80), (later + width - 1, 0x80)]);
            }
        }
    }
    if length > 0 {
        add(&(0..length).map(|at| (at, 0xff)).collect::<Vec<_>>());
    }
    differences.sort_unstable();
    differences.dedup();
    differences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registered;

    fn found(id: &str, seed: u64) -> Option<Suspect> {
        let mut subjects = registered::subjects();
        let subject = subjects.iter_mut().find(|subject| subject.info().id == id).unwrap();
        search(subject, 36, &mut Draw::new(seed)).unwrap()
    }

    #[test]
    fn finds_the_fold_of_linux_and_nothing_in_siphash() {
        assert_eq!(found("ehash/base", 1).map(|suspect| suspect.collisions), Some(SEEDS as u32));
        assert_eq!(found("ehash/base", 1), found("ehash/base", 1));
        assert_eq!(found("siphash-1-3", 1), None);
    }
}
