//! Short numbers of a lattice that is known by the buckets of words alone, and the words that they lead to.

use super::super::Target;
use super::Place;
use crate::subject::Fault;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Numbers that are kept from one round of sums and differences to the next, and most rounds.
const KEPT: usize = 48;
const ROUNDS: usize = 12;

/// Numbers that lead from word to word.
const STEPS: usize = 16;

/// Binary logarithm of the multiples of a number that are tried: the least for a step, and the most.
const LEAST: usize = 3;
const MOST: usize = 12;

/// Words whose buckets are read, over the wanted ones.
const PATIENCE: usize = 8;

/// Differences of any two of the numbers, the larger less the smaller one.
pub(super) fn differences(numbers: &BTreeSet<i64>) -> Vec<i64> {
    let of = |one: &i64| numbers.range(..*one).map(move |other| one.wrapping_sub(*other)).collect::<Vec<_>>();
    numbers.iter().flat_map(of).collect()
}

/// The numbers, made out of `learnt` ones by sums and differences, whose multiples by powers of two stay
/// longest in the bucket and in range. The best come first.
pub(super) fn steps(
    target: &mut Target<'_>,
    place: &Place,
    learnt: BTreeSet<i64>,
) -> Result<Vec<i64>, Fault> {
    let (mut numbers, mut best) = (learnt, Vec::new());
    for _ in 0..ROUNDS {
        // Of a number and its opposite, both directions are tried.
        let both: BTreeSet<i64> = numbers.iter().flat_map(|by| [*by, -by]).chain([0]).collect();
        let all = differences(&both).into_iter().filter(|by| (1..=place.most()).contains(by));
        let ranked = ranked(target, place, all.collect())?;
        if ranked == best {
            break;
        }
        numbers = ranked.iter().map(|(_, by)| *by).collect();
        best = ranked;
    }
    let steps = best.into_iter().filter(|(rank, _)| *rank > LEAST).map(|(_, by)| by);
    Ok(steps.take(STEPS).collect())
}

/// The best of the numbers, and how many powers of two in a row have a multiple in the bucket.
fn ranked(
    target: &mut Target<'_>,
    place: &Place,
    numbers: BTreeSet<i64>,
) -> Result<Vec<(usize, i64)>, Fault> {
    let mut ranks: BTreeMap<i64, usize> = BTreeMap::new();
    let mut alive: Vec<i64> = numbers.into_iter().flat_map(|by| [by, -by]).collect();
    for power in 0..=MOST {
        alive.retain(|by| by.abs() <= place.most() >> power);
        let sharing = place.sharing(target, alive.iter().map(|by| by << power))?;
        alive = sharing.into_iter().map(|by| by >> power).collect();
        alive.iter().for_each(|by| _ = ranks.insert(by.abs(), power + 1));
    }
    let mut all: Vec<(usize, i64)> = ranks.into_iter().map(|(by, rank)| (rank, by)).collect();
    all.sort_by_key(|(rank, by)| (core::cmp::Reverse(*rank), *by));
    all.truncate(KEPT);
    Ok(all)
}

/// Numbers that share the bucket, at most as many as keys are wanted: each is a step away from another one.
pub(super) fn grown(target: &mut Target<'_>, place: &Place, steps: &[i64]) -> Result<Vec<i64>, Fault> {
    let (mut found, mut seen) = (vec![0], HashSet::from([0]));
    let (mut from, mut left) = (0, PATIENCE * target.count);
    while from < found.len() && found.len() < target.count && left > 0 {
        let around =
            found[from..].iter().flat_map(|by| steps.iter().flat_map(move |step| [by + step, by - step]));
        let new: Vec<i64> = around.filter(|by| seen.insert(*by)).take(left).collect();
        left -= new.len();
        from = found.len();
        found.extend(place.sharing(target, new)?);
    }
    found.truncate(target.count);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_those_of_all_pairs() {
        assert_eq!(differences(&BTreeSet::from([1, 4, 9])), [3, 8, 5]);
        assert!(differences(&BTreeSet::from([7])).is_empty());
    }
}
