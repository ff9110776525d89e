//! Tables whose seed is one of few: fixed, from a clock or a process id, or of few bits.

use super::truncation::of_bucket;
use super::{About, Attack, FEWEST, Knowledge, Miss, Target, USUAL_LENGTH};
use crate::keys::Keys;
use crate::subject::Fault;
use hashlane_hash::scheme::{Key, Keying};
use std::collections::{BTreeSet, HashSet};

/// Keys of every one of few seeds in one flood.
pub(super) struct FewSeeds;

/// Seeds for which keys are made, at most. The keys of the other seeds fill the table like random ones: to
/// have an effect, the keys for one seed must grow with the number of seeds.
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
const TRIED_BITS: usize = 12;

/// Bits of a seed up to which an attacker can try all: about a minute of one core.
const GUESSED_BITS: usize = 32;

/// Random keys among which collisions are learnt, at least.
const LEARNT: usize = 2048;

/// Learnt collisions that a guess must explain.
const PAIRS: usize = 16;

/// Seeds under which each bit is changed, and keys whose buckets show the change.
const PROBED: (usize, usize) = (2, 128);

impl Attack for Guessed {
    fn about(&self) -> About {
        About {
            id: "seed-guessed",
            title: "few bits of the seed reach the bucket: all are tried against a few learnt collisions",
            source: "Bar-Yosef and Wool, Remote algorithmic complexity attacks, 2007; Linux commit \
                     df453700e8d8 (Klein and Pinkas: jhash with a short secret)",
            knowledge: Knowledge::Results,
            aims_at: &["jhash", "fnv-1a-offset"],
        }
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    /// Up to 2¹² seeds are tried; beyond, the audit takes the seed in place of the attacker's computer.
    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        if target.subject.info().keying == Keying::None {
            return Err(Miss::NotApplicable("it has no seed".to_owned()));
        }
        let count = target.count / 4;
        let learnt = count.max(LEARNT);
        let bits = reaching_bits(target, learnt)?;
        if bits.is_empty() {
            return Err(Miss::NotApplicable("no bit of its seed reaches the bucket".to_owned()));
        }
        if bits.len() > GUESSED_BITS {
            let bits = bits.len();
            return Err(Miss::NotApplicable(format!("{bits} bits of its seed reach the bucket")));
        }
        let seed = match bits.len() {
            few if few <= TRIED_BITS => guess(target, learnt, &bits)?,
            _ => Some(target.key),
        };
        let Some(seed) = seed else {
            return Err(Miss::NotApplicable("no seed explains the learnt collisions".to_owned()));
        };
        match of_bucket(target, &seed, count, count)? {
            keys if keys.len() < FEWEST => Err(Miss::NotApplicable("too few keys share a bucket".to_owned())),
            keys => Ok(keys),
        }
    }
}

/// Unknown bits of the seed that change the bucket of a key in a table of `held` keys.
///
/// The lowest bits of a product or a sum depend on no higher ones: of the 64 bits of a seed that FNV-1a
/// starts with, a table of 4,096 buckets sees 12.
fn reaching_bits(target: &mut Target<'_>, held: usize) -> Result<Vec<u32>, Fault> {
    let (seeds, keys) = PROBED;
    let length = target.length_or(USUAL_LENGTH);
    let mut reaching = BTreeSet::new();
    for _ in 0..seeds {
        let (seed, keys) = (target.geometry.seed(target.draw), target.draw.keys(keys, length));
        let first = buckets(target, &seed, &keys, held)?;
        for bit in (0..target.geometry.seed_bits).filter(|bit| !reaching.contains(bit)).collect::<Vec<_>>() {
            let flipped = Key::new((number(&seed) ^ 1 << bit).to_le_bytes());
            if buckets(target, &flipped, &keys, held)? != first {
                reaching.insert(bit);
            }
        }
    }
    Ok(reaching.into_iter().collect())
}

/// The first seed under which keys collide as they do in the table, of those that differ in `bits`. The other
/// bits are the attacker's own.
fn guess(target: &mut Target<'_>, learnt: usize, bits: &[u32]) -> Result<Option<Key>, Fault> {
    let key = target.key;
    let pairs = learnt_pairs(target, &key, learnt)?;
    let own = number(&target.geometry.seed(target.draw));
    let all = bits.iter().fold(0, |all, bit| all | 1_u128 << bit);
    for tried in 0..1_u128 << bits.len() {
        let set = (0..).zip(bits).fold(0, |set, (place, bit)| set | (tried >> place & 1) << bit);
        let seed = Key::new((own & !all | set).to_le_bytes());
        if explains(target, &seed, &pairs, learnt)? {
            return Ok(Some(seed));
        }
    }
    Ok(None)
}

/// Pairs of random keys, one after the other, that share a bucket of a table under the seed `key`, as the
/// attacker learns them from a table that holds `learnt` keys.
pub(super) fn learnt_pairs(target: &mut Target<'_>, key: &Key, learnt: usize) -> Result<Keys, Fault> {
    let keys = target.draw.keys(learnt, target.length_or(USUAL_LENGTH));
    let mut seen: Vec<(usize, &[u8])> =
        buckets(target, key, &keys, learnt)?.into_iter().zip(keys.iter()).collect();
    seen.sort_unstable();
    let pairs = seen.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    Ok(pairs.flat_map(|pair| [pair[0].1, pair[1].1]).take(2 * PAIRS).collect())
}

/// True if each pair shares a bucket under `seed`.
pub(super) fn explains(
    target: &mut Target<'_>,
    seed: &Key,
    pairs: &Keys,
    learnt: usize,
) -> Result<bool, Fault> {
    Ok(buckets(target, seed, pairs, learnt)?.as_chunks::<2>().0.iter().all(|[a, b]| a == b))
}

fn number(seed: &Key) -> u128 {
    u128::from_le_bytes(seed.to_bytes())
}

/// Buckets of `keys` in a table that holds `held`.
fn buckets(target: &mut Target<'_>, seed: &Key, keys: &Keys, held: usize) -> Result<Vec<usize>, Fault> {
    let hashes = hashes(target, seed, keys)?;
    Ok(hashes.into_iter().map(|hash| target.geometry.bucket(hash, held)).collect())
}

fn hashes(target: &mut Target<'_>, seed: &Key, keys: &Keys) -> Result<Vec<u64>, Fault> {
    let mut hashes = Vec::new();
    target.subject.hash_all(seed, keys, &mut hashes)?;
    Ok(hashes)
}
