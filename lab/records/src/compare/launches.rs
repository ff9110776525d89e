//! Launches of A and B in alternation: A, B and A again (A′) in each round.

use std::collections::{BTreeMap, BTreeSet};

use super::verdict::{Doubt, Verdict, is_broken, judge};
use super::{Comparison, Judged, Launches, Row, Study};
use crate::{Key, RecordSet};
use hashlane_stats::{CONFIDENCE, Interval, center, fewest, mean, median_interval};

/// Launches of a round: A, B, and A′, which is A again.
pub const SIDES: usize = 3;

/// Places of A, B and A′ in a round.
const A: usize = 0;
const B: usize = 1;
const AGAIN: usize = 2;

/// Records of the launches of a round, by [`order`]: A, B, A′.
pub type Round = [RecordSet; SIDES];

/// Turns of the launches in a round. In six rounds, each launch has each turn twice and follows each other
/// launch as often.
///
/// Source: E. J. Williams, Experimental designs balanced for the estimation of residual effects of
/// treatments, Australian Journal of Scientific Research A 2, 1949.
pub fn order(round: usize) -> [usize; SIDES] {
    const ORDERS: [[usize; SIDES]; 6] =
        [[A, B, AGAIN], [B, AGAIN, A], [AGAIN, A, B], [AGAIN, B, A], [A, AGAIN, B], [B, A, AGAIN]];
    ORDERS[round % ORDERS.len()]
}

/// Rounds without which `rows` rows of one of `studies` studies cannot have bounds.
pub fn needed(rows: usize, studies: usize) -> usize {
    fewest(error(rows, studies))
}

/// Compares the launches of a study, one of `studies` that are compared together. `is_compared` chooses the
/// records; those that are not above 0 in all launches have no ratio.
///
/// A row's ratio is the centre of its rounds' ratios ([`center`]), with bounds at 95 % for all rows of all
/// studies together: each study has an equal share of the 5 %, and each row of that (Bonferroni). Rounds are
/// independent, and in each the builds have their turns in another order, so no distribution is assumed.
pub fn compare(
    slug: &str,
    rounds: &[Round],
    seconds: f64,
    studies: usize,
    is_compared: impl Fn(&Key) -> bool,
) -> Comparison {
    let keys = |side: usize| -> BTreeSet<Key> {
        let sets = rounds.iter().filter_map(|round| round.get(side));
        sets.flat_map(RecordSet::iter).map(|record| record.key()).filter(|key| is_compared(key)).collect()
    };
    let (of_a, of_b) = (&keys(A) | &keys(AGAIN), keys(B));
    let mut comparison = Comparison {
        only_a: of_a.difference(&of_b).cloned().collect(),
        only_b: of_b.difference(&of_a).cloned().collect(),
        studies: Vec::new(),
    };
    // In the order of the records, not of the keys.
    let first = rounds.first().map(|round| &round[A]);
    let places: BTreeMap<Key, usize> = first
        .into_iter()
        .flat_map(RecordSet::iter)
        .enumerate()
        .map(|(at, record)| (record.key(), at))
        .collect();
    let mut common: Vec<Key> = of_a.intersection(&of_b).cloned().collect();
    common.sort_by_key(|key| places.get(key).copied().unwrap_or(usize::MAX));

    let series: Vec<(Key, Vec<[f64; SIDES]>)> =
        common.into_iter().map(|key| (key.clone(), figures(rounds, &key))).collect();
    let control = mean_of(&series, AGAIN);
    let all_differ = control.filter(Interval::is_conclusive).is_some_and(is_broken);
    let error = error(series.len(), studies);
    let rows: Vec<Row> = series.iter().map(|(key, figures)| row(key, figures, error, all_differ)).collect();
    if !rows.is_empty() {
        let mean = mean_of(&series, B);
        let launches = Some(Launches { rounds: rounds.len(), control, seconds });
        comparison.studies.push(Study { slug: slug.into(), rows, mean, launches });
    }
    comparison
}

/// Error probability of the bounds of each of `rows` rows of one of `studies` studies.
fn error(rows: usize, studies: usize) -> f64 {
    (1.0 - CONFIDENCE) / rows.max(1) as f64 / studies.max(1) as f64
}

/// Figures of a row, round by round; rounds in which a launch lacks it are left out.
fn figures(rounds: &[Round], key: &Key) -> Vec<[f64; SIDES]> {
    let figure = |set: &RecordSet| set.find(key).map(|record| record.value);
    let round = |[a, b, again]: &Round| Some([figure(a)?, figure(b)?, figure(again)?]);
    rounds.iter().filter_map(round).collect()
}

fn row(key: &Key, figures: &[[f64; SIDES]], error: f64, all_differ: bool) -> Row {
    let figure = |side: usize| {
        let of_side: Vec<f64> = figures.iter().map(|round| round[side]).collect();
        median_interval(&of_side).unwrap_or(Interval::exact(0.0))
    };
    let (ratio, control) = (ratio(figures, B, error), ratio(figures, AGAIN, error));
    let verdict = match (ratio, control) {
        (Some(_), Some(_)) if all_differ => Verdict::Undecided(Doubt::AllControls),
        (Some(ratio), Some(control)) => judge(ratio, control),
        _ => Verdict::Undecided(Doubt::FewRounds { needed: fewest(error) }),
    };
    // Too few rounds for bounds: the estimate without.
    let ratio = ratio.or_else(|| estimate(&logs(figures, B)));
    let control = control.or_else(|| estimate(&logs(figures, AGAIN)));
    Row { key: key.clone(), a: figure(A), b: figure(B), ratio, judged: Some(Judged { control, verdict }) }
}

/// The ratio of a side to A, on the logarithmic scale within each round.
fn logs(figures: &[[f64; SIDES]], side: usize) -> Vec<f64> {
    figures.iter().map(|round| (round[side] / round[A]).ln()).collect()
}

fn ratio(figures: &[[f64; SIDES]], side: usize, error: f64) -> Option<Interval> {
    center(&logs(figures, side), error).map(exp)
}

/// The ratio with bounds that cover nothing.
fn estimate(logs: &[f64]) -> Option<Interval> {
    Some(Interval { coverage: 0.0, ..exp(median_interval(logs)?) })
}

/// Geometric mean over the rows of the ratio of a side to A, round by round.
fn mean_of(series: &[(Key, Vec<[f64; SIDES]>)], side: usize) -> Option<Interval> {
    let rows: Vec<Vec<f64>> = series
        .iter()
        .map(|(_, figures)| logs(figures, side))
        .filter(|logs| logs.iter().all(|log| log.is_finite()))
        .collect();
    let rounds = rows.iter().map(Vec::len).min()?;
    let means: Vec<f64> = (0..rounds)
        .filter_map(|round| mean(&rows.iter().filter_map(|row| row.get(round).copied()).collect::<Vec<_>>()))
        .collect();
    center(&means, 1.0 - CONFIDENCE).map(exp).or_else(|| estimate(&means))
}

fn exp(logs: Interval) -> Interval {
    Interval { value: logs.value.exp(), low: logs.low.exp(), high: logs.high.exp(), ..logs }
}
