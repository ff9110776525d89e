//! The ratio of two estimates that were measured apart.

use super::interval::Interval;

/// The ratio `of` / `to` of two estimates from independent runs, or `None` unless all six numbers are above 0
/// and finite and each interval is in order.
///
/// The distances from the estimate to its bounds are taken on the logarithmic scale and added like the errors
/// of independent estimates: in squares. Drift between the two runs is not in the interval: if schemes were
/// timed in alternation, their measured ratio is the better figure.
///
/// Source: the delta method on the logarithm; each side by itself, after Donner and Zou, Closed-form
/// confidence intervals for functions of the normal mean and standard deviation, 2012 (MOVER).
pub fn independent(of: Interval, to: Interval) -> Option<Interval> {
    let in_order = |i: Interval| i.low > 0.0 && i.low <= i.value && i.value <= i.high && i.high.is_finite();
    if !in_order(of) || !in_order(to) {
        return None;
    }
    let value = of.value / to.value;
    // Not `hypot`: glibc has another since 2.35, and a wheel that calls it needs that version.
    let in_squares = |a: f64, b: f64| (a * a + b * b).sqrt();
    let down = in_squares((of.value / of.low).ln(), (to.high / to.value).ln());
    let up = in_squares((of.high / of.value).ln(), (to.value / to.low).ln());
    let coverage = of.coverage.min(to.coverage);
    let one_launch = of.one_launch || to.one_launch;
    let interval =
        Interval { value, low: value * (-down).exp(), high: value * up.exp(), coverage, one_launch };
    // Quotients of extreme numbers can still leave the range of f64.
    (interval.low > 0.0 && interval.high.is_finite()).then_some(interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn around(value: f64, factor: f64) -> Interval {
        Interval::bounded(value, value / factor, value * factor)
    }

    #[test]
    fn adds_errors_in_squares_on_the_log_scale() {
        let ratio = independent(around(200.0, 0.03f64.exp()), around(100.0, 0.04f64.exp())).unwrap();
        assert!((ratio.value - 2.0).abs() < 1e-12);
        assert!((ratio.high / 2.0 - 0.05f64.exp()).abs() < 1e-12);
        assert!((ratio.low / 2.0 - (-0.05f64).exp()).abs() < 1e-12);
    }

    #[test]
    fn keeps_lopsided_intervals_lopsided() {
        let of = Interval::bounded(100.0, 99.0, 150.0);
        let ratio = independent(of, Interval::exact(100.0)).unwrap();
        assert!((ratio.low - 0.99).abs() < 1e-12 && (ratio.high - 1.5).abs() < 1e-12);
    }

    #[test]
    fn has_no_ratio_of_what_is_not_positive() {
        let good = around(1.0, 1.1);
        let zero = Interval::bounded(0.0, 0.0, 1.0);
        assert_eq!(independent(zero, good), None);
        assert_eq!(independent(good, zero), None);
        assert_eq!(independent(Interval { low: 2.0, ..good }, good), None);
        assert_eq!(independent(around(1e300, 1.1), around(1e-300, 1.1)), None);
    }

    proptest! {
        #[test]
        fn the_inverse_ratio_has_the_inverse_interval(
            a in 0.1..1e3, b in 0.1..1e3, wide_a in 1.0..2.0, wide_b in 1.0..2.0,
        ) {
            let (a, b) = (around(a, wide_a), around(b, wide_b));
            let (ab, ba) = (independent(a, b).unwrap(), independent(b, a).unwrap());
            prop_assert!((ab.value * ba.value - 1.0).abs() < 1e-9);
            prop_assert!((ab.low * ba.high - 1.0).abs() < 1e-9);
            prop_assert!(ab.low <= ab.value && ab.value <= ab.high);
        }
    }
}
