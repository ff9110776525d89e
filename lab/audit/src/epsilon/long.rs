//! A longer search for pairs that collide, over keys as in real tables. The same seed repeats the search.

use super::search::{SEEDS, Suspect, tally};
use crate::draw::Draw;
use crate::keys::Keys;
use crate::subject::{AuditedHash, Fault};
use hashlane_flow::tuple::Tuple;
use std::collections::HashSet;

/// Keys of a round; all pairs of them are compared.
pub const KEYS: usize = 1 << 12;

/// Changes that make a key of a base, at most.
const CHANGES: u64 = 3;

/// A name, in whose bytes the bases of every fourth round are written.
const NAME: &[u8] = b"/example/video/2026-11-23/segment-00042/";

/// Outcome of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Rounds, each of [`KEYS`] keys under [`SEEDS`] seeds.
    pub rounds: u64,
    /// Pairs compared, under one seed each.
    pub compared: u64,
    /// Collisions. Chance has one in 2³² comparisons of a hash of 32 bits.
    pub collisions: u64,
    /// The pair that collided under most seeds of its round: at least two, or one for a hash of more than 32
    /// bits.
    pub worst: Option<Suspect>,
}

/// A search that was run, with the seed [`SEED`], and found no pair.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Id of the scheme.
    pub scheme: &'static str,
    /// Bytes of a key.
    pub length: usize,
    /// Rounds.
    pub rounds: u64,
    /// Binary logarithm of the pairs compared, under one seed each.
    pub log2_compared: f64,
    /// Collisions; no pair collided twice in a round.
    pub collisions: u64,
}

/// Seed of the [`RUNS`].
pub const SEED: u64 = 1;

/// Searches that were run, the budget being ten minutes of one core for all.
pub const RUNS: &[Run] = &[
    Run { scheme: "multilinear", length: 36, rounds: 6000, log2_compared: 42.9, collisions: 1919 },
    Run { scheme: "multilinear-hm", length: 36, rounds: 2000, log2_compared: 41.32, collisions: 650 },
    Run { scheme: "ahash-aes", length: 56, rounds: 1000, log2_compared: 40.42, collisions: 0 },
    Run { scheme: "foldhash-quality", length: 36, rounds: 500, log2_compared: 39.32, collisions: 0 },
    Run { scheme: "rapidhash-protected", length: 36, rounds: 500, log2_compared: 39.32, collisions: 0 },
    Run { scheme: "halfsiphash-1-3", length: 36, rounds: 500, log2_compared: 39.32, collisions: 171 },
    Run { scheme: "ahash", length: 36, rounds: 1000, log2_compared: 40.32, collisions: 0 },
];

/// Searches for `rounds` rounds: in each, keys of `length` bytes that differ in a few bits, bytes or words
/// are made of a base (zeros, random bytes, a tuple, a name), and hashed under seeds of their own.
///
/// # Errors
/// The function fails.
pub fn search(
    subject: &mut dyn AuditedHash,
    length: usize,
    rounds: u64,
    draw: &mut Draw,
) -> Result<Outcome, Fault> {
    let fewest = if subject.info().width <= 32 { 2 } else { 1 };
    let mut outcome = Outcome::default();
    for round in 0..rounds {
        let keys = keys(&base(round, length, draw), draw);
        let found = tally(subject, &keys, SEEDS, draw)?;
        let pairs = keys.len() as u64 * (keys.len() as u64).saturating_sub(1) / 2;
        outcome.rounds += 1;
        outcome.compared += pairs * SEEDS as u64;
        outcome.collisions += found.values().map(|count| u64::from(*count)).sum::<u64>();
        let most = found.into_iter().max_by_key(|(pair, count)| (*count, core::cmp::Reverse(*pair)));
        let before = outcome.worst.as_ref().map_or(fewest - 1, |suspect| suspect.collisions);
        if let Some(((one, other), collisions)) = most.filter(|(_, count)| *count > before)
            && let (Some(one), Some(other)) = (keys.get(one), keys.get(other))
        {
            outcome.worst = Some(Suspect { keys: [one.to_vec(), other.to_vec()], collisions, seeds: SEEDS });
        }
    }
    Ok(outcome)
}

fn base(round: u64, length: usize, draw: &mut Draw) -> Vec<u8> {
    match round % 4 {
        0 => vec![0; length],
        1 => draw.bytes(length),
        2 => Tuple::CHECK.as_bytes().iter().copied().cycle().take(length).collect(),
        _ => NAME.iter().copied().cycle().take(length).collect(),
    }
}

/// The base and changed forms of it, all different; fewer than [`KEYS`] if it is short.
fn keys(base: &[u8], draw: &mut Draw) -> Keys {
    let mut seen = HashSet::from([base.to_vec()]);
    let mut keys: Keys = [base].into_iter().collect();
    for _ in 1..KEYS {
        let mut key = base.to_vec();
        // Sums of few changes: so the difference of two keys is one, too.
        for _ in 0..=draw.word() % CHANGES {
            change(&mut key, draw);
        }
        if seen.insert(key.clone()) {
            keys.push(&key);
        }
    }
    keys
}

/// Changes one bit, one byte, the highest bit of a word, a whole word, the same byte of two blocks of 16, or
/// adds a small number to a word.
fn change(key: &mut [u8], draw: &mut Draw) {
    let [place, kind, value] = [(); 3].map(|()| draw.word());
    let length = key.len().max(1) as u64;
    let at = (place % length) as usize;
    let mut flip = |at: usize, by: u8| {
        if let Some(byte) = key.get_mut(at) {
            *byte ^= by;
        }
    };
    let word = at / 8 * 8;
    match kind % 6 {
        0 => flip(at, 1 << (value % 8)),
        1 => flip(at, value as u8),
        2 => flip(at / 4 * 4 + 3, 0x80),
        3 => (word..word + 8).for_each(|at| flip(at, 0xff)),
        4 => [at, at + 16].into_iter().for_each(|at| flip(at, value as u8)),
        _ => {
            let number = &mut key[at / 4 * 4..];
            let carried = number.iter().take(4).rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
            let sum = carried.wrapping_add(1 << (value % 16)).to_le_bytes();
            number.iter_mut().zip(sum).for_each(|(byte, new)| *byte = new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registered;

    fn found(id: &str, length: usize) -> Outcome {
        let mut subjects = registered::subjects();
        let subject = subjects.iter_mut().find(|subject| subject.info().id == id).unwrap();
        search(subject, length, 2, &mut Draw::new(7)).unwrap()
    }

    /// All rounds take minutes in a release build: `cargo test --release -p hashlane-audit --lib -- --ignored
    /// recorded_searches`.
    #[test]
    #[ignore = "takes minutes"]
    fn recorded_searches_are_repeated() {
        for run in RUNS {
            let mut subjects = registered::subjects();
            let subject = subjects.iter_mut().find(|subject| subject.info().id == run.scheme).unwrap();
            let outcome = search(subject, run.length, run.rounds, &mut Draw::new(SEED)).unwrap();
            assert_eq!((outcome.collisions, outcome.worst), (run.collisions, None), "{}", run.scheme);
            assert!(((outcome.compared as f64).log2() - run.log2_compared).abs() < 0.06, "{}", run.scheme);
        }
    }

    #[test]
    fn the_search_is_the_same_from_the_same_seed_and_finds_what_collides_often() {
        let outcome = found("xxh3", 36);
        assert_eq!(outcome, found("xxh3", 36));
        assert!(outcome.compared > 1 << 31);
        assert_eq!(found("siphash-1-3", 36).worst, None);
        assert!(found("ehash/base", 36).worst.is_some_and(|suspect| suspect.collisions == SEEDS as u32));
        assert_eq!(found("siphash-1-3", 1).rounds, 2);
        assert_eq!(found("siphash-1-3", 0).compared, 0);
    }
}
