//! Tables whose seed is one of few: fixed, from a clock or a process id, or of few bits.

use super::truncation::of_bucket;
use super::{About, Attack, FEWEST, Knowledge, Miss, Target, USUAL_LENGTH};
use crate::keys::Keys;
use crate::subject::Fault;
use hashlane_hash::scheme::{Key, Keying};
use std::collections::HashSet;

/// Keys of every one of few seeds in one flood.
pub(super) struct FewSeeds;

/// Seeds for which keys are made, at most. The keys of the other seeds fill the table like random ones: to
/// have an effect, those of one seed must grow with the number of seeds.
const MOST_SEEDS: usize = 16;

/// Keys of each seed, as a multiple of the number of seeds: half their square is then several times the work
/// of all random keys.
const KEYS_A_SEED: usize = 12;

/// Seeds drawn.
const DRAWN: usize = 1024;

/// Keys by whose hashes functions are told apart.
const PROBES: usize = 4;

impl Attack for FewSeeds {
    fn about(&self) -> About {
        About {
            id: "few-seeds",
            title: "the seed is one of few: the flood has keys for each of them",
            source: "CWE-337 (predictable seed); Crosby and Wallach, USENIX Security 2003",
            knowledge: Knowledge::Nothing,
            aims_at: &[],
        }
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let probes = target.draw.keys(PROBES, target.length_or(USUAL_LENGTH));
        let mut seeds: Vec<Key> = Vec::new();
        let mut functions = HashSet::new();
        for _ in 0..DRAWN {
            let seed = target.geometry.seed(target.draw);
            if functions.insert(hashes(target, &seed, &probes)?) {
                seeds.push(seed);
            }
            if seeds.len() > MOST_SEEDS {
                return Err(Miss::NotApplicable(format!("there are more than {MOST_SEEDS} seeds")));
            }
        }
        let each = (target.count / 4 / seeds.len().max(1)).max(KEYS_A_SEED * seeds.len());
        let held = each * seeds.len();
        if held > target.count {
            return Err(Miss::NotApplicable(format!("{} seeds need {held} keys", seeds.len())));
        }
        let mut all = HashSet::new();
        let mut keys = Keys::default();
        for seed in &seeds {
            let found = of_bucket(target, seed, each, held)?;
            found.iter().filter(|key| all.insert(key.to_vec())).for_each(|key| keys.push(key));
        }
        match keys.len() {
            few if few < FEWEST => Err(Miss::NotApplicable("too few keys share a bucket".to_owned())),
            _ => Ok(keys),
        }
    }
}

/// Keys of the table's seed, which is found by trying all seeds against learnt collisions.
pub(super) struct Guessed;

/// Bits of a seed up to which the audit tries all of them.
const TRIED_BITS: u32 = 12;

/// Bits of a seed up to which an attacker can try all: about a minute of one core.
const GUESSED_BITS: u32 = 32;

/// Random keys among which collisions are learnt.
const LEARNT: usize = 2048;

/// Learnt collisions that a guess must explain.
const PAIRS: usize = 8;

impl Attack for Guessed {
    fn about(&self) -> About {
        About {
            id: "seed-guessed",
            title: "few bits of seed: all are tried against a few learnt collisions",
            source: "Bar-Yosef and Wool, Remote algorithmic complexity attacks, 2007; Linux commit df453700e8d8 \
                     (Klein and Pinkas: jhash with a short secret)",
            knowledge: Knowledge::Results,
            aims_at: &["jhash"],
        }
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    /// Up to 2¹² seeds are tried; beyond, the audit takes the seed in place of the attacker's computer.
    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let stated = match target.subject.info().keying {
            Keying::None => return Err(Miss::NotApplicable("it has no seed".to_owned())),
            Keying::Seed(bits) | Keying::Secret(bits) => bits,
        };
        let unknown = stated.min(target.geometry.seed_bits);
        if unknown > GUESSED_BITS {
            return Err(Miss::NotApplicable(format!("its seed has {unknown} bits")));
        }
        let seed = match target.geometry.seed_bits {
            few if few <= TRIED_BITS => guess(target, 1 << few)?,
            _ => Some(target.key),
        };
        let Some(seed) = seed else {
            return Err(Miss::NotApplicable("no seed explains the learnt collisions".to_owned()));
        };
        let count = target.count / 4;
        match of_bucket(target, &seed, count, count)? {
            keys if keys.len() < FEWEST => Err(Miss::NotApplicable("too few keys share a bucket".to_owned())),
            keys => Ok(keys),
        }
    }
}

/// The first of `seeds` seeds under which keys collide as they do in the table.
fn guess(target: &mut Target<'_>, seeds: u128) -> Result<Option<Key>, Fault> {
    let keys = target.draw.keys(LEARNT, target.length_or(USUAL_LENGTH));
    let key = target.key;
    let bucket = |target: &Target<'_>, hash: u64| target.geometry.bucket(hash, LEARNT);
    let mut learnt: Vec<(usize, &[u8])> = hashes(target, &key, &keys)?
        .into_iter()
        .zip(keys.iter())
        .map(|(hash, key)| (bucket(target, hash), key))
        .collect();
    learnt.sort_unstable();
    let pairs: Keys = learnt
        .windows(2)
        .filter(|pair| pair[0].0 == pair[1].0)
        .flat_map(|pair| [pair[0].1, pair[1].1])
        .take(2 * PAIRS)
        .collect();
    for number in 0..seeds {
        let seed = target.geometry.seed_of(number);
        let explained = hashes(target, &seed, &pairs)?
            .as_chunks::<2>()
            .0
            .iter()
            .all(|[a, b]| bucket(target, *a) == bucket(target, *b));
        if explained {
            return Ok(Some(seed));
        }
    }
    Ok(None)
}

fn hashes(target: &mut Target<'_>, seed: &Key, keys: &Keys) -> Result<Vec<u64>, Fault> {
    let mut hashes = Vec::new();
    target.subject.hash_all(seed, keys, &mut hashes)?;
    Ok(hashes)
}
