//! Sums of one term for each place of the key, as tabulation makes them, and sums that are one but for
//! carries into the bits of the bucket, as those modulo a prime.

use super::{About, Attack, FEWEST, Knowledge, Miss, Target, USUAL_LENGTH};
use crate::epsilon::proved;
use crate::keys::Keys;
use crate::subject::Fault;
use std::collections::HashMap;

/// Learnt collisions at different places of the key, in all combinations: the attacker has learnt one pair
/// for each place from the table's answers. The audit reads buckets in place of the attacker's clock; each
/// pair costs him about as many keys as the square root of the buckets.
pub(super) struct Terms;

/// Bytes of a place, and of keys that have enough such places.
const PLACES: [(usize, usize); 4] = [(2, USUAL_LENGTH), (4, 64), (8, 128), (1, USUAL_LENGTH)];

/// Keys and pairs of places by which the sum is tested.
const TRIALS: usize = 24;

/// Values of a place among which a pair is learnt, at most.
const VALUES: usize = 1 << 12;

/// Depth of a bucket, over the mean of the table, from which combined keys of no exact sum are a flood.
const DEPTH: usize = 16;

/// Operation by which the terms are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sum {
    Xor,
    Add,
}

impl Sum {
    /// True if the terms of two places stand in the hashes of four keys: as they were, with one changed, with
    /// the other one, and with both.
    fn explains(self, [none, one, other, both]: [u64; 4], mask: u64) -> bool {
        let rest = match self {
            Self::Xor => none ^ one ^ other ^ both,
            Self::Add => none.wrapping_sub(one).wrapping_sub(other).wrapping_add(both),
        };
        rest & mask == 0
    }
}

impl Attack for Terms {
    fn about(&self) -> About {
        About {
            id: "terms-learnt",
            title: "a sum of one term for each place of the key: collisions learnt at different places combine",
            source: "Zobrist, A new hashing method, 1970; Carter and Wegman, JCSS 18, 1979; own run",
            knowledge: Knowledge::Results,
            aims_at: &[],
        }
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        for (width, usual) in PLACES {
            let length = target.length_or(usual);
            let places = length / width;
            if places >= FEWEST.ilog2() as usize && is_sum(target, width, length)? {
                if let Some(keys) = combined(target, width, length)? {
                    return Ok(keys);
                }
                return Err(Miss::NotApplicable(
                    "too few of its places have two values of one bucket".to_owned(),
                ));
            }
        }
        theorem(target)?;
        // A sum modulo a prime, some bits of which the table takes: each reduction moves a key to another
        // bucket, and there are few of them.
        for (width, usual) in PLACES {
            let length = target.length_or(usual);
            if length / width >= FEWEST.ilog2() as usize
                && let Some(keys) = combined(target, width, length)?
                && is_deep(target, &keys)?
            {
                target.note = Some("the sum is not exact: the keys meet in several buckets".to_owned());
                return Ok(keys);
            }
        }
        Err(Miss::NotApplicable(
            "its hash is not exactly a sum of one term for each place, and learnt collisions do not combine"
                .to_owned(),
        ))
    }
}

/// An error for functions with a theorem: it is about keys that are chosen without results, and its author
/// states no more.
pub(super) fn theorem(target: &Target<'_>) -> Result<(), Miss> {
    if proved(&target.subject.info().id).is_some() {
        return Err(Miss::NotApplicable(
            "its author's theorem is about keys that are chosen without results; learnt collisions, which whoever \
             sees results may combine, are outside of it and were not tried"
                .to_owned(),
        ));
    }
    Ok(())
}

/// True if hashes are sums of a term for each `width` bytes, for random keys, places and seeds.
fn is_sum(target: &mut Target<'_>, width: usize, length: usize) -> Result<bool, Fault> {
    let mask = u64::MAX >> (64 - target.subject.info().width.clamp(1, 64));
    let mut sums = vec![Sum::Xor, Sum::Add];
    for trial in 0..TRIALS {
        let base = target.draw.bytes(length);
        let first = target.draw.word() as usize % (length / width);
        let second = (first + 1 + target.draw.word() as usize % (length / width - 1)) % (length / width);
        let values = [0, 1].map(|_| target.draw.bytes(width));
        let keys = [[false, false], [true, false], [false, true], [true, true]].map(|changed| {
            let mut key = base.clone();
            let places = [first, second].into_iter().zip(&values).zip(changed);
            for ((place, value), _) in places.filter(|(_, is_changed)| *is_changed) {
                key[place * width..][..width].copy_from_slice(value);
            }
            key
        });
        let seed = if trial % 2 == 0 { target.key } else { target.draw.key() };
        let hashes = target.hash_under(&seed, &keys.iter().collect())?;
        let Ok(hashes) = <[u64; 4]>::try_from(hashes) else { return Ok(false) };
        sums.retain(|sum| sum.explains(hashes, mask));
        if sums.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// True if one bucket has [`DEPTH`] times as many of `keys` as the mean, and half as many again as the
/// fullest bucket has of fresh keys.
pub(super) fn is_deep(target: &mut Target<'_>, keys: &Keys) -> Result<bool, Fault> {
    let (own, buckets) = (target.key, target.geometry.buckets_for(keys.len()));
    let fresh = target.draw.like(keys);
    let hashes = [target.hash_under(&own, keys)?, target.hash_under(&own, &fresh)?];
    let [combined, random] = hashes.map(|hashes| {
        let mut held: HashMap<usize, usize> = HashMap::new();
        hashes
            .iter()
            .for_each(|hash| *held.entry(target.geometry.bucket(*hash, keys.len())).or_default() += 1);
        held.into_values().max().unwrap_or(0)
    });
    let mean = keys.len().div_ceil(buckets);
    Ok(combined >= DEPTH * mean && 2 * combined >= 3 * random)
}

/// Keys that have one of two values in each place; two keys that differ in one place share a bucket.
fn combined(target: &mut Target<'_>, width: usize, length: usize) -> Result<Option<Keys>, Fault> {
    let mut base = target.draw.bytes(length);
    let mut learnt: Vec<(usize, Vec<u8>)> = Vec::new();
    let wanted = target.count.max(FEWEST).ilog2() as usize;
    for place in (0..length / width).map(|place| place * width) {
        if learnt.len() == wanted {
            break;
        }
        let values: Vec<Vec<u8>> = match width {
            1 => (0..=u8::MAX).map(|byte| vec![byte]).collect(),
            _ => (0..VALUES).map(|_| target.draw.bytes(width)).collect(),
        };
        let keys = values.iter().map(|value| {
            let mut key = base.clone();
            key[place..place + width].copy_from_slice(value);
            key
        });
        let key = target.key;
        let hashes = target.hash_under(&key, &keys.collect())?;
        let mut seen: HashMap<usize, &Vec<u8>> = HashMap::new();
        let pair = values.iter().zip(&hashes).find_map(|(value, hash)| {
            let before = *seen.entry(target.geometry.bucket(*hash, target.count)).or_insert(value);
            (before != value).then_some((before, value))
        });
        if let Some((one, other)) = pair {
            base[place..place + width].copy_from_slice(one);
            learnt.push((place, other.clone()));
        }
    }
    if (1 << learnt.len()) < FEWEST {
        return Ok(None);
    }
    Ok(Some(target.combinations(&base, learnt.len(), &mut |key, number| {
        if let Some((place, value)) = learnt.get(number) {
            key[*place..place + width].copy_from_slice(value);
        }
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_terms_are_told_from_others() {
        let [a, b, c] = [0x0123_4567_89ab_cdef_u64, 0xfedc_ba98_7654_3211, 0x0f1e_2d3c_4b5a_6978];
        let xor = [a, a ^ b, a ^ c, a ^ b ^ c];
        assert!(Sum::Xor.explains(xor, u64::MAX) && !Sum::Add.explains(xor, u64::MAX));
        let add = [a, a.wrapping_add(b), a.wrapping_add(c), a.wrapping_add(b).wrapping_add(c)];
        assert!(Sum::Add.explains(add, u64::MAX) && !Sum::Xor.explains(add, u64::MAX));
        assert!(Sum::Add.explains(add.map(|hash| hash & 0xffff), 0xffff));
    }
}
