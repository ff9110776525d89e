//! Bounds over the launches of a run.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use hashlane_stats::{CONFIDENCE, Interval, median, standard_deviation};

/// The median of the figures of several launches, and bounds that hold the figure of a further launch at
/// [`CONFIDENCE`]: t · s · √(1 + 1/n) on each side, on the logarithmic scale if all figures are above 0.
///
/// A launch is the random effect: layout of memory, neighbours and clock rates differ between launches and
/// stay within one. The bounds are for the next run of the same build on the same machine, which is a median
/// of launches, too. They hold it more often than 95 % if launches are independent (96 to 100 % over normal,
/// skewed, two-peaked and Cauchy launches, from five on), and at 90 % if neighbouring launches correlate by
/// 0.6, or if runs differ by three quarters as much as the launches of one.
///
/// `None` of fewer than two figures, or if one is not finite.
///
/// Source: prediction interval of a further observation (Hahn and Meeker, Statistical Intervals, 1991, §4.7);
/// the launch as a separate level: Kalibera and Jones, Rigorous benchmarking in reasonable time, ISMM 2013.
pub fn over_launches(figures: &[f64]) -> Option<Interval> {
    let value = median(figures)?;
    let n = figures.len() as f64;
    let t = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(f64::midpoint(1.0, CONFIDENCE));
    let half = |figures: &[f64]| Some(t * standard_deviation(figures)? * (1.0 + 1.0 / n).sqrt());
    let (low, high) = if figures.iter().all(|figure| *figure > 0.0) {
        let logs: Vec<f64> = figures.iter().map(|figure| figure.ln()).collect();
        let half = half(&logs)?;
        (value * (-half).exp(), value * half.exp())
    } else {
        let half = half(figures)?;
        (value - half, value + half)
    };
    (low.is_finite() && high.is_finite()).then(|| Interval::bounded(value, low, high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_stats::median_interval;
    use rand_xoshiro::SplitMix64;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};
    use std::f64::consts::{PI, TAU};

    fn unit(random: &mut SplitMix64) -> f64 {
        ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn normal(random: &mut SplitMix64) -> f64 {
        (-2.0 * unit(random).ln()).sqrt() * (TAU * unit(random)).cos()
    }

    /// Effect of each launch of a run, on the logarithmic scale.
    type Effects = fn(&mut SplitMix64, usize) -> Vec<f64>;

    fn independent(random: &mut SplitMix64, launches: usize, draw: fn(&mut SplitMix64) -> f64) -> Vec<f64> {
        (0..launches).map(|_| 0.01 * draw(random)).collect()
    }

    /// Launches that each keep 0.6 of the effect of the one before.
    fn drifting(random: &mut SplitMix64, launches: usize) -> Vec<f64> {
        let mut effect = normal(random);
        let step = |_| {
            effect = 0.6 * effect + 0.8 * normal(random);
            0.01 * effect
        };
        (0..launches).map(step).collect()
    }

    /// Launches with an effect of their run in common, half as large as their own.
    fn with_run(random: &mut SplitMix64, launches: usize) -> Vec<f64> {
        let common = 0.005 * normal(random);
        independent(random, launches, normal).into_iter().map(|own| common + own).collect()
    }

    const SHAPES: [(&str, Effects); 6] = [
        ("normal", |random, n| independent(random, n, normal)),
        ("skewed", |random, n| independent(random, n, |random| normal(random).exp())),
        ("Cauchy", |random, n| independent(random, n, |random| (PI * (unit(random) - 0.5)).tan())),
        ("two peaks", |random, n| {
            independent(random, n, |random| if unit(random) < 0.7 { 0.0 } else { 5.0 } + 0.3 * normal(random))
        }),
        ("drifting", drifting),
        ("with an effect of the run", with_run),
    ];

    /// Share of runs whose interval holds the value of the next one, in which the effects of launches
    /// dominate:
    /// each launch has 8 rounds with a tenth of their noise.
    fn coverage(effects: Effects, launches: usize, interval: fn(&[Vec<f64>]) -> Interval) -> f64 {
        const RUNS: usize = 1500;
        let mut random = SplitMix64::seed_from_u64(5);
        let mut run = || {
            let effects = effects(&mut random, launches);
            let rounds =
                |effect: &f64| (0..8).map(|_| (effect + 0.001 * normal(&mut random)).exp()).collect();
            interval(&effects.iter().map(rounds).collect::<Vec<Vec<f64>>>())
        };
        let holds = |_: &usize| {
            let (this, next) = (run(), run());
            this.low <= next.value && next.value <= this.high
        };
        (0..RUNS).filter(holds).count() as f64 / RUNS as f64
    }

    fn by_launch(rounds: &[Vec<f64>]) -> Interval {
        let launches: Vec<f64> = rounds.iter().filter_map(|rounds| median(rounds)).collect();
        over_launches(&launches).unwrap()
    }

    /// All rounds in one launch, as all runs were once.
    fn in_one(rounds: &[Vec<f64>]) -> Interval {
        median_interval(&rounds.concat()).unwrap()
    }

    #[test]
    fn bounds_hold_the_value_of_the_next_run() {
        for (name, effects) in SHAPES {
            for launches in [5, 6, 8] {
                let share = coverage(effects, launches, by_launch);
                assert!(share >= 0.9, "{name}, {launches} launches: {share}");
            }
        }
    }

    #[test]
    fn bounds_within_one_launch_do_not() {
        for (name, effects) in SHAPES {
            let share = coverage(effects, 1, in_one);
            assert!(share < 0.5, "{name}: {share}");
        }
    }

    #[test]
    fn agrees_with_tabulated_quantiles() {
        // Student's t at 97.5 %: 2.776 for 4 degrees of freedom. The sample has a standard deviation of
        // 1.581.
        let interval = over_launches(&[-2.0, -1.0, 0.0, 1.0, 2.0]).unwrap();
        let half = 2.776 * 2.5f64.sqrt() * 1.2f64.sqrt();
        assert!((interval.high - half).abs() < 1e-3 && (interval.low + half).abs() < 1e-3, "{interval:?}");
        assert!(interval.is_conclusive());
        // Ratios keep their bounds if they are taken the other way round.
        let (of, to) =
            (over_launches(&[2.0, 2.2, 2.1]).unwrap(), over_launches(&[0.5, 1.0 / 2.2, 1.0 / 2.1]));
        assert!((of.low * to.unwrap().high - 1.0).abs() < 1e-9);
    }

    #[test]
    fn has_no_bounds_of_one_launch() {
        assert_eq!(over_launches(&[]), None);
        assert_eq!(over_launches(&[1.0]), None);
        assert_eq!(over_launches(&[1.0, f64::NAN]), None);
        let equal = over_launches(&[3.0; 4]).unwrap();
        assert_eq!((equal.value, equal.low, equal.high), (3.0, 3.0, 3.0));
    }
}
