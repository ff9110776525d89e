//! Functions to which each byte adds a fixed multiple of itself, as a public multiplier under any start does.

use super::reduce::cancelling;
use super::{About, Attack, FEWEST, Knowledge, LONGER, Miss, Target, USUAL_LENGTH};
use crate::keys::Keys;
use crate::subject::Fault;

/// Small numbers, added to bytes, whose multiples sum up to 0.
pub(super) struct Additive;

/// Random keys and seeds in which each byte is changed.
const TRIALS: usize = 4;

/// Bytes that are changed, at most: the last ones of the key.
const CHANGED: usize = 32;

/// Largest number that is added to a byte.
const LARGEST: i64 = 100;

impl Attack for Additive {
    fn about(&self) -> About {
        About {
            id: "additive-lattice",
            title: "each byte adds a public multiple of itself: small numbers that cancel, by a reduced lattice",
            source: "polynomials with a public multiplier; Lenstra, Lenstra and Lovász, 1982",
            knowledge: Knowledge::Nothing,
            aims_at: &[],
        }
    }

    fn longer(&self) -> Option<usize> {
        Some(LONGER)
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(USUAL_LENGTH);
        let first = length.saturating_sub(CHANGED);
        let factors = factors(target, length, first)?;
        let width = target.subject.info().width;
        if factors.len() < FEWEST.ilog2() as usize {
            return Err(Miss::NotApplicable("too few bytes add a fixed multiple of themselves".to_owned()));
        }
        let mut basis = cancelling(&factors.iter().map(|(_, factor)| *factor).collect::<Vec<_>>(), width);
        basis.sort_by_key(|numbers| numbers.iter().map(|number| number.abs()).sum::<i64>());
        basis.retain(|numbers| numbers.iter().all(|number| number.abs() <= LARGEST));
        let mut base = target.draw.bytes(length);
        for (place, _) in &factors {
            base[*place] = 0x80;
        }
        let wanted = target.count.max(FEWEST).ilog2() as usize;
        let changed = |number: usize| {
            let mut key = base.clone();
            let chosen = basis.iter().take(wanted).enumerate().filter(|(bit, _)| number >> bit & 1 == 1);
            let mut sums = vec![0; factors.len()];
            for (_, numbers) in chosen {
                sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
            }
            for (sum, (place, _)) in sums.iter().zip(&factors) {
                key[*place] = u8::try_from(i64::from(key[*place]) + sum).ok()?;
            }
            Some(key)
        };
        let all = 1 << basis.len().min(wanted);
        target.colliding((0..all).filter_map(changed).take(target.count).collect())
    }
}

/// Places from `first` on whose bytes add a multiple of themselves to every hash, and its factor.
fn factors(target: &mut Target<'_>, length: usize, first: usize) -> Result<Vec<(usize, u64)>, Fault> {
    let mask = u64::MAX >> (64 - target.subject.info().width.clamp(1, 64));
    let mut factors: Vec<(usize, Option<u64>)> = (first..length).map(|place| (place, None)).collect();
    for _ in 0..TRIALS {
        let (seed, mut base) = (target.draw.key(), target.draw.bytes(length));
        base.iter_mut().for_each(|byte| *byte &= 0x7f);
        let by = 1 + target.draw.word() as u8 % 0x80;
        let changes: Vec<(usize, u8)> =
            factors.iter().flat_map(|(place, _)| [(*place, 1), (*place, by)]).collect();
        let keys = core::iter::once(base.clone()).chain(changes.iter().map(|(place, by)| {
            let mut key = base.clone();
            key[*place] += by;
            key
        }));
        let hashes = target.hash_under(&seed, &keys.collect())?;
        let Some((of_base, of_changed)) = hashes.split_first() else { break };
        let mut of_changed = of_changed.as_chunks::<2>().0.iter();
        factors.retain_mut(|(_, factor)| {
            let Some([one, more]) =
                of_changed.next().map(|hashes| hashes.map(|hash| hash.wrapping_sub(*of_base) & mask))
            else {
                return false;
            };
            let is_multiple = one.wrapping_mul(u64::from(by)) & mask == more;
            one != 0 && is_multiple && *factor.get_or_insert(one) == one
        });
    }
    Ok(factors.into_iter().filter_map(|(place, factor)| Some((place, factor?))).collect())
}
