//! Keys of one bucket among random ones: a table takes few bits of a hash, so that many keys share them.

use super::{About, Attack, FEWEST, Knowledge, Miss, Target, USUAL_LENGTH};
use crate::epsilon::proved;
use crate::keys::Keys;
use crate::subject::Fault;
use hashlane_hash::scheme::{Key, Keying};
use std::collections::HashSet;

/// Random keys that are hashed, at most.
const BUDGET: usize = 1 << 21;

/// Keys that are hashed at a time.
const BATCH: usize = 1 << 14;

/// The attack on functions whose results no seed changes.
pub(super) struct Unkeyed;

impl Attack for Unkeyed {
    fn about(&self) -> About {
        About {
            id: "truncation-unkeyed",
            title: "the seed does not reach the hash: anyone can look for keys of one bucket",
            source: "Crosby and Wallach, USENIX Security 2003; CVE-2025-24946, CVE-2025-24947 (QUIC stacks)",
            knowledge: Knowledge::Nothing,
            aims_at: &["fnv-1a", "fxhash", "seahash", "cityhash32"],
        }
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let keys = target.draw.keys(8, target.length_or(USUAL_LENGTH));
        let ours = target.hash(&keys)?;
        let mut others = Vec::new();
        target.subject.hash_all(&target.draw.key(), &keys, &mut others)?;
        match ours == others {
            true => in_one_bucket(target),
            false => Err(Miss::NotApplicable("the seed changes the hash".to_owned())),
        }
    }
}

/// The attack under a seed that has leaked.
pub(super) struct KnownSeed;

impl Attack for KnownSeed {
    fn about(&self) -> About {
        About {
            id: "truncation-known",
            title: "the seed has leaked: keys of one bucket are found among random ones",
            source: "Crosby and Wallach, USENIX Security 2003; Bar-Yosef and Wool, Remote \
                     algorithmic complexity attacks, 2007",
            knowledge: Knowledge::Seed,
            aims_at: &["t1ha1-le", "t1ha2-atonce", "xxh3", "jhash"],
        }
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    /// A function with a claim for its secret key is left out: whoever has the key of a table can fill its
    /// buckets, whatever the function.
    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let info = target.subject.info();
        match info.keying {
            Keying::Seed(_) if proved(&info.id).is_some() => {
                Err(Miss::NotApplicable("its theorem is about a secret key".to_owned()))
            }
            Keying::Secret(_) => {
                Err(Miss::NotApplicable("it claims nothing once its key is known".to_owned()))
            }
            Keying::None | Keying::Seed(_) => in_one_bucket(target),
        }
    }
}

/// Random keys that share the bucket of the first, as many as [`BUDGET`] random ones have.
fn in_one_bucket(target: &mut Target<'_>) -> Result<Keys, Miss> {
    // The table that holds the keys has as many buckets as the keys make it have: fewer keys are found in a
    // table of more buckets.
    let mut count = target.count;
    while count >= FEWEST && count.saturating_mul(target.geometry.buckets_for(count)) > BUDGET {
        count /= 2;
    }
    let key = target.key;
    let found = of_bucket(target, &key, count, count)?;
    match found.len() {
        few if few < FEWEST => {
            Err(Miss::NotApplicable(format!("{BUDGET} random keys have {few} in one bucket of this table")))
        }
        _ => Ok(found),
    }
}

/// Up to `count` random keys that share a bucket under the seed `key` in a table of `held` keys.
///
/// # Errors
/// The function fails.
pub(super) fn of_bucket(
    target: &mut Target<'_>,
    key: &Key,
    count: usize,
    held: usize,
) -> Result<Keys, Fault> {
    let length = target.length_or(USUAL_LENGTH);
    let mut found = Keys::default();
    let mut seen = HashSet::new();
    let mut bucket = None;
    let mut hashes = Vec::new();
    // Of short keys, eight times as many random ones as there are have shown nearly all.
    let all = u32::try_from(8 * length + 3).ok().and_then(|bits| 1_usize.checked_shl(bits));
    let budget = all.map_or(BUDGET, |all| all.min(BUDGET));
    for _ in 0..budget.div_ceil(BATCH) {
        let keys = target.draw.keys(BATCH, length);
        target.subject.hash_all(key, &keys, &mut hashes)?;
        for (key, hash) in keys.iter().zip(&hashes) {
            let of_key = target.geometry.bucket(*hash, held.max(FEWEST));
            // Of short keys, random ones repeat.
            if *bucket.get_or_insert(of_key) == of_key && found.len() < count && seen.insert(key.to_vec()) {
                found.push(key);
            }
        }
        if found.len() >= count {
            break;
        }
    }
    Ok(found)
}
