//! Bounds of a median from order statistics.

use super::descriptive::median;
use super::interval::{CONFIDENCE, Interval, coverage_of_extremes};

/// The median of `sample`, bounded by two values of the sample: the innermost pair, equally far from both
/// ends, that covers the true median at 95 %. Fewer than six values have no such pair; their smallest and
/// largest bound them, and the interval states its coverage.
///
/// The coverage holds for independent samples of any continuous distribution, at any number of them; for a
/// discrete one it is a lower bound. A percentile bootstrap does not keep its promise here: at seven samples
/// its 95 % bounds cover 87.5 %.
///
/// `None` if there is no value, or one is not finite.
///
/// Source: David and Nagaraja, Order Statistics, 2003, §7.1.
pub fn median_interval(sample: &[f64]) -> Option<Interval> {
    joint_median_interval(sample, 1)
}

/// [`median_interval`] of one of `count` medians, wide enough that the bounds of all of them hold together at
/// 95 %: each covers its median but for an equal share of the error (Bonferroni).
///
/// `None` if there is no value, one is not finite, or `count` is 0.
pub fn joint_median_interval(sample: &[f64], count: usize) -> Option<Interval> {
    if count == 0 || sample.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut sorted = sample.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let error = (1.0 - CONFIDENCE) / count as f64;
    let outside = outside(sorted.len(), error);
    let (low, high) = (*sorted.get(outside)?, *sorted.get(sorted.len() - 1 - outside)?);
    // The extremes miss the median with this probability, at least.
    let missed = 1.0 - coverage_of_extremes(sorted.len());
    let coverage = if missed <= error { CONFIDENCE } else { (1.0 - count as f64 * missed).max(0.0) };
    Some(Interval { coverage, ..Interval::bounded(median(&sorted)?, low, high) })
}

/// Values outside the bounds at each end, of `n` in order: the most for which P(B ≤ outside) is at most half
/// the error, B binomial of `n` trials at 1/2; 0 where not even the extremes err so seldom.
fn outside(n: usize, error: f64) -> usize {
    // As a logarithm: 0.5ⁿ leaves the range of f64 beyond 1,074 samples.
    let mut log_probability = -(n as f64) * core::f64::consts::LN_2;
    let mut tail = log_probability.exp();
    for outside in 0..n / 2 {
        // P(B = outside + 1) from P(B = outside).
        log_probability += ((n - outside) as f64 / (outside + 1) as f64).ln();
        tail += log_probability.exp();
        if tail > error / 2.0 {
            return outside;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_xoshiro::SplitMix64;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    /// The share of all samples of `n` values in which the bounds contain the true median, 0: exact, as only
    /// how many of the values lie below the median matters, which is binomial.
    fn exact_coverage(n: u32) -> f64 {
        let mut ways = 1.0;
        let mut covered = 0.0;
        for below in 0..=n {
            let sample: Vec<f64> = (0..n).map(|i| f64::from(i) - f64::from(below) + 0.5).collect();
            let interval = median_interval(&sample).unwrap();
            if interval.low <= 0.0 && 0.0 <= interval.high {
                covered += ways;
            }
            ways *= f64::from(n - below) / f64::from(below + 1);
        }
        covered / 2f64.powi(n as i32)
    }

    #[test]
    fn bounds_cover_what_they_state_at_every_small_number_of_samples() {
        for n in 1..=64 {
            let stated = median_interval(&vec![0.0; n as usize]).unwrap().coverage;
            let found = exact_coverage(n);
            assert!(found >= stated - 1e-12, "{n} samples: {found} covered, {stated} stated");
            assert_eq!(stated >= CONFIDENCE, n >= 6, "{n}");
            // Nor are they wider than they need be: one value further in covers less.
            if n >= 6 {
                let inner = found - 2.0 * binomial(n, outside(n as usize, 0.05) as u32 + 1);
                assert!(inner < CONFIDENCE, "{n} samples: {inner} would do");
            }
        }
    }

    fn binomial(n: u32, k: u32) -> f64 {
        (0..k).fold(0.5f64.powi(n as i32), |p, i| p * f64::from(n - i) / f64::from(i + 1))
    }

    #[test]
    fn joint_bounds_cover_with_a_share_of_the_error() {
        let sample: Vec<f64> = (0..40).map(f64::from).collect();
        let bounds = |count| joint_median_interval(&sample, count).map(|i| (i.low, i.high));
        // Critical values of the sign test for 40 samples at 5 % and at 1 %.
        assert_eq!((bounds(1), bounds(5), bounds(0)), (Some((13.0, 26.0)), Some((11.0, 28.0)), None));
        let coverage = |n: usize, count| joint_median_interval(&sample[..n], count).map(|i| i.coverage);
        assert_eq!((coverage(6, 1), coverage(6, 2), coverage(7, 3)), (Some(0.95), Some(0.9375), Some(0.95)));
    }

    #[test]
    fn agrees_with_the_critical_values_of_the_sign_test() {
        // The bounds are the d-th values from each end, d being the critical value of the two-sided sign test
        // at 5 %, plus one.
        for (n, d) in
            [(6, 1), (8, 1), (9, 2), (11, 2), (12, 3), (15, 4), (20, 6), (25, 8), (30, 10), (40, 14)]
        {
            assert_eq!(outside(n, 0.05) + 1, d, "{n}");
        }
        assert_eq!([0, 1, 2, 5].map(|n| outside(n, 0.05)), [0; 4]);
    }

    #[test]
    fn covers_the_median_of_lopsided_and_heavy_tailed_distributions() {
        type Draw = fn(f64) -> f64;
        // By their inverse distribution functions: the median is the value at 1/2.
        let shapes: [(&str, Draw); 3] = [
            ("exponential", |u| -(1.0 - u).ln()),
            ("Cauchy", |u| (core::f64::consts::PI * (u - 0.5)).tan()),
            ("two peaks", |u| if u < 0.45 { u } else { 10.0 + u }),
        ];
        let mut random = SplitMix64::seed_from_u64(7);
        for (name, shape) in shapes {
            for n in [2, 3, 5, 6, 7, 10, 15, 40] {
                let trials = 4000;
                let mut stated = 0.0;
                let covered = (0..trials)
                    .filter(|_| {
                        let unit = |x: u64| (x >> 11) as f64 / (1u64 << 53) as f64;
                        let sample: Vec<f64> = (0..n).map(|_| shape(unit(random.next_u64()))).collect();
                        let interval = median_interval(&sample).unwrap();
                        stated = interval.coverage;
                        interval.low <= shape(0.5) && shape(0.5) <= interval.high
                    })
                    .count();
                let share = covered as f64 / f64::from(trials);
                // Four standard errors of the share.
                let error = 4.0 * (stated * (1.0 - stated) / f64::from(trials)).sqrt();
                assert!(share >= stated - error, "{name}, {n} samples: {share} covered, {stated} stated");
            }
        }
    }

    #[test]
    fn takes_many_samples() {
        let sample: Vec<f64> = (0..10_001).map(f64::from).collect();
        let Interval { value, low, high, coverage, .. } = median_interval(&sample).unwrap();
        // 1.96 standard deviations of the binomial, 98, on each side.
        assert_eq!((value, coverage), (5000.0, CONFIDENCE));
        assert!((4900.0..4904.0).contains(&low) && (low + high - 10_000.0).abs() < 1e-9, "{low} {high}");
    }

    #[test]
    fn has_no_interval_without_finite_values() {
        assert_eq!(median_interval(&[]), None);
        assert_eq!(median_interval(&[1.0, f64::NAN]), None);
        assert_eq!(median_interval(&[1.0, f64::INFINITY]), None);
        let one = median_interval(&[3.0]).unwrap();
        assert_eq!((one.value, one.low, one.high, one.coverage), (3.0, 3.0, 3.0, 0.0));
    }

    proptest! {
        #[test]
        fn the_bounds_are_values_of_the_sample_around_its_median(
            sample in prop::collection::vec(-1e6..1e6, 1..60),
        ) {
            let interval = median_interval(&sample).unwrap();
            prop_assert!(sample.contains(&interval.low) && sample.contains(&interval.high));
            prop_assert!(interval.low <= interval.value && interval.value <= interval.high);
        }
    }
}
