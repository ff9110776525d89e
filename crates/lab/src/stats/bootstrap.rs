//! Intervals by resampling: the percentile bootstrap.

use super::descriptive::quantile_in;
use super::random::SplitMix64;
use super::{Interval, mean};

/// How an interval is resampled. Equal settings and samples give equal intervals.
///
/// Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// How many times the sample is drawn anew, 200 to 100,000 (a number outside counts as the nearer end).
    ///
    /// Fewer are drawn, down to 200, where the sample is so large that more would cost over fifty million draws.
    pub resamples: usize,
    /// The share of the resampled statistics between the bounds, above 0 and below 1.
    pub level: f64,
    /// The seed of the draws.
    pub seed: u64,
}

const MIN_RESAMPLES: usize = 200;
const MAX_RESAMPLES: usize = 100_000;
const MAX_DRAWS: usize = 50_000_000;

/// 2,000 resamples, 95 %.
impl Default for Bootstrap {
    fn default() -> Self {
        Self { resamples: 2000, level: 0.95, seed: 0x6861_7368_6c61_6e65 }
    }
}

impl Bootstrap {
    /// The median of `sample` and its interval; `None` of nothing.
    pub fn median(&self, sample: &[f64]) -> Option<Interval> {
        self.of(sample, |values| quantile_in(values, 0.5).unwrap_or(f64::NAN))
    }

    /// The mean of `sample` and its interval; `None` of nothing.
    pub fn mean(&self, sample: &[f64]) -> Option<Interval> {
        self.of(sample, |values| mean(values).unwrap_or(f64::NAN))
    }

    /// Any `statistic` of `sample` and its interval.
    ///
    /// The statistic gets as many values as the sample has, at least one, and may reorder them. `None` if the sample is empty, the
    /// level is out of range, or the statistic of the sample or of any resample is not finite.
    pub fn of(&self, sample: &[f64], mut statistic: impl FnMut(&mut [f64]) -> f64) -> Option<Interval> {
        if sample.is_empty() || !(self.level > 0.0 && self.level < 1.0) {
            return None;
        }
        let value = statistic(&mut sample.to_vec());
        let mut replicates = self.replicates(sample, statistic);
        if !value.is_finite() || replicates.iter().any(|r| !r.is_finite()) {
            return None;
        }
        let tail = (1.0 - self.level) / 2.0;
        let low = quantile_in(&mut replicates, tail)?;
        let high = quantile_in(&mut replicates, 1.0 - tail)?;
        Some(Interval { value, low, high })
    }

    /// The statistic of each resample.
    fn replicates(&self, sample: &[f64], mut statistic: impl FnMut(&mut [f64]) -> f64) -> Vec<f64> {
        let affordable = (MAX_DRAWS / sample.len().max(1)).clamp(MIN_RESAMPLES, MAX_RESAMPLES);
        let count = self.resamples.clamp(MIN_RESAMPLES, affordable);
        let mut random = SplitMix64::new(self.seed);
        let mut drawn = sample.to_vec();
        (0..count)
            .map(|_| {
                drawn.fill_with(|| sample.get(random.below(sample.len())).copied().unwrap_or(f64::NAN));
                statistic(&mut drawn)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{median, standard_deviation};

    /// Treated mice, Efron and Tibshirani 1993, table 2.1.
    const MICE: [f64; 7] = [94.0, 197.0, 16.0, 38.0, 99.0, 141.0, 23.0];

    #[test]
    fn agrees_with_published_standard_errors() {
        // Efron and Tibshirani 1993, table 2.2, the column of infinitely many resamples: 23.36 and 37.83.
        let bootstrap = Bootstrap { resamples: 100_000, ..Bootstrap::default() };
        let of_mean = standard_deviation(&bootstrap.replicates(&MICE, |v| mean(v).unwrap())).unwrap();
        assert!((of_mean / 23.36 - 1.0).abs() < 0.01, "{of_mean}");
        let of_median = standard_deviation(&bootstrap.replicates(&MICE, |v| median(v).unwrap())).unwrap();
        assert!((of_median / 37.83 - 1.0).abs() < 0.01, "{of_median}");
    }

    #[test]
    fn agrees_with_the_exact_law_of_the_resampled_median() {
        // Of seven values the resampled median is the smallest with probability 0.0102 and the second with 0.0981 (Efron and
        // Tibshirani 1993, §2): 2.5 % lies within the second, and 97.5 % within the last but one.
        let replicates = Bootstrap { resamples: 100_000, ..Bootstrap::default() }
            .replicates(&MICE, |v| median(v).unwrap());
        let share = |x: f64| replicates.iter().filter(|&&r| r == x).count() as f64 / replicates.len() as f64;
        assert!((share(16.0) - 0.0102).abs() < 0.002);
        assert!((share(23.0) - 0.0981).abs() < 0.005);
        assert!((share(94.0) - 0.3062).abs() < 0.006);
        let interval = Bootstrap::default().median(&MICE).unwrap();
        assert_eq!(interval, Interval { value: 94.0, low: 23.0, high: 141.0 });
    }

    /// A normal deviate of mean 0 and variance 1 (Box and Muller 1958).
    fn normal(random: &mut SplitMix64) -> f64 {
        let mut unit = || (random.next() >> 11) as f64 / (1u64 << 53) as f64;
        let radius = (-2.0 * (1.0 - unit()).ln()).sqrt();
        radius * (core::f64::consts::TAU * unit()).cos()
    }

    #[test]
    fn covers_the_truth_about_as_often_as_it_says() {
        let mut random = SplitMix64::new(7);
        let trials = 400;
        let covered = (0..trials)
            .filter(|&seed| {
                let sample: Vec<f64> = (0..20).map(|_| 100.0 + 5.0 * normal(&mut random)).collect();
                let interval = Bootstrap { seed, ..Bootstrap::default() }.median(&sample).unwrap();
                interval.low <= 100.0 && 100.0 <= interval.high
            })
            .count();
        let share = covered as f64 / trials as f64;
        assert!((0.88..=0.99).contains(&share), "{share}");
    }

    #[test]
    fn gives_equal_intervals_for_equal_seeds() {
        let a = Bootstrap::default();
        assert_eq!(a.mean(&MICE), a.mean(&MICE));
        assert_ne!(a.mean(&MICE), Bootstrap { seed: 1, ..a }.mean(&MICE));
    }

    #[test]
    fn bounds_the_draws() {
        let mut calls = 0;
        let bootstrap = Bootstrap { resamples: usize::MAX, ..Bootstrap::default() };
        bootstrap.of(&[1.0; 100_000], |_| {
            calls += 1;
            1.0
        });
        assert_eq!(calls, 1 + 500);
    }

    #[test]
    fn has_no_interval_without_a_finite_statistic() {
        let bootstrap = Bootstrap::default();
        assert_eq!(bootstrap.median(&[]), None);
        assert_eq!(bootstrap.mean(&[1.0, f64::INFINITY]), None);
        assert_eq!(Bootstrap { level: 1.0, ..bootstrap }.median(&MICE), None);
        let one = Interval { value: 3.0, low: 3.0, high: 3.0 };
        assert_eq!(bootstrap.median(&[3.0]), Some(one));
    }
}
