//! Few functions, though their seeds are long.

use super::seeds::{explains, learnt_pairs};
use super::truncation::of_bucket;
use super::{About, Attack, FEWEST, Knowledge, Miss, Target, USUAL_LENGTH};
use crate::keys::Keys;
use crate::subject::Fault;
use hashlane_hash::scheme::{Key, Keying};
use std::collections::BTreeMap;

/// Keys of the function of the table, which is found among all by a few learnt collisions.
pub(super) struct SeedSpace;

/// Random seeds: two of them have one function if there are fewer than about 2³³ functions.
const DRAWN: usize = 1 << 17;

/// Seeds under which keys are hashed at a time.
const BATCH: usize = 1 << 11;

/// Bits of a seed from which it counts as long: shorter ones are all tried.
const LONG: u32 = 33;

/// Pairs of seeds that are compared by more keys.
const COMPARED: usize = 64;

/// Random keys among which collisions are learnt, at least.
const LEARNT: usize = 2048;

impl Attack for SeedSpace {
    fn about(&self) -> About {
        About {
            id: "few-functions",
            title: "long seeds give few functions: all are tried against a few learnt collisions",
            source: "birthday search over seeds; Bar-Yosef and Wool, Remote algorithmic complexity attacks, 2007",
            knowledge: Knowledge::Results,
            aims_at: &[],
        }
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    /// Functions that the drawn seeds have nearly all of are tried; of more, the audit takes the seed in
    /// place of the attacker's computer.
    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let bits = match target.subject.info().keying {
            Keying::None => return Err(Miss::NotApplicable("it has no seed".to_owned())),
            Keying::Seed(bits) | Keying::Secret(bits) => bits.min(target.geometry.seed_bits),
        };
        if bits < LONG {
            return Err(Miss::NotApplicable(format!("its seed has {bits} bits, which can all be tried")));
        }
        let probes = target.draw.keys(2, target.length_or(USUAL_LENGTH));
        let mut functions: BTreeMap<Vec<u64>, Key> = BTreeMap::new();
        let (mut drawn, mut pairs) = (0_u64, Vec::new());
        let mut hashes = Vec::new();
        for _ in 0..DRAWN / BATCH {
            let seeds: Vec<Key> = (0..BATCH).map(|_| target.geometry.seed(target.draw)).collect();
            target.subject.hash_under_all(&seeds, &probes, &mut hashes)?;
            for (seed, hashes) in seeds.into_iter().zip(hashes.chunks(probes.len())) {
                drawn += 1;
                if let Some(before) = functions.insert(hashes.to_vec(), seed) {
                    pairs.push([before, seed]);
                }
            }
        }
        let equal = equal(target, &pairs)?;
        if equal == 0.0 {
            return Err(Miss::NotApplicable(format!("{DRAWN} seeds gave as many functions")));
        }
        let repeated = (equal * pairs.len() as f64) as u64;
        let log2 = functions_of(drawn, drawn - repeated).log2();
        let (own, count) = (target.key, target.count / 4);
        let learnt = learnt_pairs(target, &own, count.max(LEARNT))?;
        let mut seed = None;
        if (functions.len() as u64) < drawn / 2 {
            for tried in functions.values() {
                if explains(target, tried, &learnt, count.max(LEARNT))? {
                    seed = Some(*tried);
                    break;
                }
            }
        }
        match of_bucket(target, &seed.unwrap_or(own), count, count)? {
            keys if keys.len() < FEWEST => Err(Miss::NotApplicable("too few keys share a bucket".to_owned())),
            keys => {
                target.note = Some(format!("about 2^{log2:.1} functions"));
                Ok(keys)
            }
        }
    }
}

/// Share of `pairs` of seeds that have one function, by the hashes of fresh keys.
fn equal(target: &mut Target<'_>, pairs: &[[Key; 2]]) -> Result<f64, Fault> {
    let (mut equal, mut compared) = (0, 0);
    for [one, other] in pairs.iter().take(COMPARED) {
        let fresh = target.draw.keys(4, target.length_or(USUAL_LENGTH));
        equal += u32::from(target.hash_under(one, &fresh)? == target.hash_under(other, &fresh)?);
        compared += 1;
    }
    Ok(f64::from(equal) / f64::from(compared.max(1)))
}

/// Number of functions at which `drawn` random ones have `distinct` different ones, by bisection.
fn functions_of(drawn: u64, distinct: u64) -> f64 {
    let expected = |functions: f64| -functions * (-(drawn as f64) / functions).exp_m1();
    let (mut low, mut high) = (0.0_f64, 64.0_f64);
    for _ in 0..64 {
        let middle = f64::midpoint(low, high);
        match expected(middle.exp2()) < distinct as f64 {
            true => low = middle,
            false => high = middle,
        }
    }
    low.exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_functions_follows_from_repetitions() {
        for (drawn, distinct, log2) in
            [(1 << 17, 56_668, 16.0), (1 << 17, 1 << 10, 10.0), (1 << 17, (1 << 17) - 2, 32.0)]
        {
            let found = functions_of(drawn, distinct).log2();
            assert!((found - log2).abs() < 0.01, "{found} {log2}");
        }
    }
}
