//! Comparisons of records as runs make them.

use super::launches::{Round, needed, order};
use super::{Doubt, Verdict, folders, launches};
use crate::{Record, RecordSet, metric};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::f64::consts::{PI, TAU};
use std::path::Path;

/// Records of a run: cycles and a ratio of six schemes.
pub(super) fn run() -> RecordSet {
    let mut set = RecordSet::new();
    for (at, value) in [10.0, 20.0, 30.0, 40.0, 50.0, 60.0].into_iter().enumerate() {
        let scheme = format!("scheme-{at}");
        for (metric, unit, value) in
            [(metric::CYCLES_MEAN, "cycles", value), (metric::RATIO, "scheme-0", value / 10.0)]
        {
            let columns = ["sample", "sample", "12Bx5", &scheme, "tsc", metric, unit];
            set.insert(Record::new(columns, [value, 0.99 * value, 1.01 * value], 20, 1)).unwrap();
        }
    }
    set
}

#[test]
fn compares_the_metrics_that_are_asked_for() {
    let run = run();
    let metrics = |chosen: &[String], of_study: fn(&str) -> Option<String>| -> Vec<String> {
        let comparison = folders::compare(&run, &run, chosen, of_study);
        let mut metrics: Vec<String> = comparison.rows().map(|row| row.key.metric.clone()).collect();
        metrics.dedup();
        metrics
    };
    assert_eq!(metrics(&[metric::RATIO.into()], |_| Some(metric::CYCLES_MEAN.into())), [metric::RATIO]);
    assert_eq!(metrics(&[], |_| Some(metric::RATIO.into())), [metric::RATIO]);
    // Of an unknown study, and of one without its metric: all metrics but ratios.
    assert_eq!(metrics(&[], |_| None), [metric::CYCLES_MEAN]);
    assert_eq!(metrics(&[], |_| Some("miles".into())), [metric::CYCLES_MEAN]);
    assert_eq!(folders::metrics(&run, &run), [metric::CYCLES_MEAN, metric::RATIO]);
}

#[test]
fn runs_without_a_record_or_a_metric_in_common_are_refused() {
    let (run, none) = (run(), RecordSet::new());
    let check = |b: &RecordSet, chosen: &[&str]| {
        let chosen: Vec<String> = chosen.iter().map(|metric| (*metric).to_owned()).collect();
        let checked = folders::check([Path::new("a"), Path::new("b")], [&run, b], &chosen);
        checked.map_err(|error| error.to_string())
    };
    assert_eq!(check(&run, &[metric::RATIO]), Ok(()));
    let nothing = "a and b have no record in common: a has sample, b has no records; compare runs of the same \
                   study";
    assert_eq!(check(&none, &[]), Err(nothing.into()));
    let metric = "no metric \"miles\" in both; the metrics are cycles_mean, ratio";
    assert_eq!(check(&run, &[metric::RATIO, "miles"]), Err(metric.into()));
}

#[test]
fn a_set_beside_itself_has_ratios_of_one() {
    let comparison = folders::compare(&run(), &run(), &[], |_| None);
    assert!(comparison.rows().count() == 6 && comparison.only_a.is_empty() && comparison.only_b.is_empty());
    assert!(comparison.rows().all(|row| row.ratio.is_some_and(|ratio| ratio.value == 1.0)));
    assert!(comparison.rows().all(|row| row.verdict().is_none()));
    assert!(comparison.rank().more.is_empty() && comparison.rank().less.is_empty());
}

/// Records of one launch with these figures, one of each scheme.
fn launch(figures: &[f64]) -> RecordSet {
    let mut set = RecordSet::new();
    for (at, &value) in figures.iter().enumerate() {
        let scheme = format!("scheme-{at}");
        let columns = ["sample", "sample", "12Bx5", &scheme, "tsc", metric::CYCLES_MEAN, "cycles"];
        set.insert(Record::new(columns, [value; 3], 6, 6)).unwrap();
    }
    set
}

/// Noise of a launch, on the logarithmic scale.
type Noise = fn(&mut SplitMix64) -> f64;

fn unit(random: &mut SplitMix64) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// Normal noise of 1 %.
fn normal(random: &mut SplitMix64) -> f64 {
    0.01 * (-2.0 * unit(random).ln()).sqrt() * (TAU * unit(random)).cos()
}

/// Noise of 1 % and, in one launch of 25, a core that runs at two thirds of its rate.
fn slowed(random: &mut SplitMix64) -> f64 {
    normal(random) + if unit(random) < 0.04 { 0.4 } else { 0.0 }
}

/// Noise without a mean or a variance, up to a factor of 150.
fn cauchy(random: &mut SplitMix64) -> f64 {
    (0.003 * (PI * (unit(random) - 0.5)).tan()).clamp(-5.0, 5.0)
}

/// Noise that only ever adds.
fn exponential(random: &mut SplitMix64) -> f64 {
    -0.02 * unit(random).ln()
}

/// Rounds of launches of `rows` schemes; the first takes `factor` of its time in B. Half of the noise is
/// common to all rows of a launch.
fn rounds(count: usize, rows: usize, factor: f64, noise: Noise, random: &mut SplitMix64) -> Vec<Round> {
    let mut round = || {
        [1.0, factor, 1.0].map(|factor| {
            let common = noise(random);
            let figures: Vec<f64> = (0..rows)
                .map(|row| {
                    let slowed = if row == 0 { factor } else { 1.0 };
                    let own = noise(random);
                    100.0 * (1 + row) as f64 * slowed * f64::midpoint(common, own).exp()
                })
                .collect();
            launch(&figures)
        })
    };
    (0..count).map(|_| round()).collect()
}

fn verdicts(rounds: &[Round]) -> Vec<Verdict> {
    let comparison = launches::compare("sample", rounds, 1.0, 1, |_| true);
    comparison.rows().filter_map(super::Row::verdict).collect()
}

fn called(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Slower | Verdict::Faster)
}

/// Of runs without a difference, at most 5 % may call any row; bounds of B / A alone would take all of that,
/// and the control leaves less.
#[test]
fn equal_builds_are_rarely_called_different() {
    const RUNS: usize = 100;
    for (name, noise) in
        [("normal", normal as Noise), ("slowed", slowed), ("cauchy", cauchy), ("exponential", exponential)]
    {
        for rows in [1, 12] {
            let mut random = SplitMix64::seed_from_u64(7);
            let wrong = (0..RUNS)
                .filter(|_| verdicts(&rounds(24, rows, 1.0, noise, &mut random)).iter().any(called))
                .count();
            assert!(wrong <= RUNS / 40, "{name}, {rows} rows: {wrong} of {RUNS} runs");
        }
    }
}

#[test]
fn three_percent_are_seen() {
    const RUNS: usize = 40;
    for (name, noise) in [("normal", normal as Noise), ("slowed", slowed), ("cauchy", cauchy)] {
        for rows in [3, 12] {
            let mut random = SplitMix64::seed_from_u64(8);
            let seen = (0..RUNS)
                .filter(|_| {
                    let found = verdicts(&rounds(40, rows, 1.03, noise, &mut random));
                    found.first() == Some(&Verdict::Slower)
                })
                .count();
            assert!(seen >= 34, "{name}, {rows} rows: {seen} of {RUNS} runs");
        }
    }
}

#[test]
fn too_few_rounds_decide_nothing() {
    let mut random = SplitMix64::seed_from_u64(9);
    let enough = needed(26, 1);
    assert_eq!((enough, needed(329, 1), needed(26, 4)), (11, 14, 13));
    let few = verdicts(&rounds(enough - 1, 26, 2.0, normal, &mut random));
    assert!(few.iter().all(|verdict| *verdict == Verdict::Undecided(Doubt::FewRounds { needed: enough })));
    assert_eq!(verdicts(&rounds(enough, 26, 2.0, normal, &mut random)).first(), Some(&Verdict::Slower));
    assert!(verdicts(&[]).is_empty());
}

#[test]
fn a_build_that_differs_from_itself_decides_nothing() {
    let mut random = SplitMix64::seed_from_u64(10);
    let mut rounds = rounds(24, 3, 1.5, normal, &mut random);
    for [_, _, again] in &mut rounds {
        *again = launch(&[110.0, 220.0, 330.0]);
    }
    assert_eq!(verdicts(&rounds), [Verdict::Undecided(Doubt::AllControls); 3]);
}

#[test]
fn a_regression_is_slower_by_the_threshold() {
    let mut random = SplitMix64::seed_from_u64(11);
    let rounds = rounds(24, 4, 1.1, normal, &mut random);
    let comparison = launches::compare("sample", &rounds, 19.4, 1, |_| true);
    assert_eq!(comparison.regressions(0.03).count(), 1);
    assert_eq!(comparison.regressions(0.2).count(), 0);
}

#[test]
fn every_launch_has_every_turn_and_follows_every_other() {
    let mut turns = [[0; 3]; 3];
    let mut follows = [[0; 3]; 3];
    for round in 0..6 {
        let order = order(round);
        for (turn, side) in order.into_iter().enumerate() {
            turns[side][turn] += 1;
        }
        for pair in order.windows(2) {
            follows[pair[0]][pair[1]] += 1;
        }
    }
    assert_eq!(turns, [[2; 3]; 3]);
    assert_eq!(follows, [[0, 2, 2], [2, 0, 2], [2, 2, 0]]);
}
