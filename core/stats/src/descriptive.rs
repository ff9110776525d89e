//! Mean, standard deviation, median and quantiles of a sample.

/// The arithmetic mean, or `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() { None } else { Some(values.iter().sum::<f64>() / values.len() as f64) }
}

/// The standard deviation of a sample (divisor n − 1), or `None` of fewer than two values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    // Two passes: the sum of squares minus the square of the sum would lose the digits of a small spread.
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// The median: the middle value, or the mean of the two middle ones; `None` of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The quantile at `p`, 0 to 1, interpolated linearly between the order statistics around (n − 1)·p; `None`
/// of nothing or for a `p` outside 0 to 1.
///
/// Source: type 7 of Hyndman and Fan, Sample Quantiles in Statistical Packages, 1996.
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    quantile_in(&mut values.to_vec(), p)
}

/// [`quantile`], reordering `values` instead of copying them.
fn quantile_in(values: &mut [f64], p: f64) -> Option<f64> {
    if values.is_empty() || !(0.0..=1.0).contains(&p) {
        return None;
    }
    let position = (values.len() - 1) as f64 * p;
    let below = position.floor();
    let (_, &mut low, above) = values.select_nth_unstable_by(below as usize, f64::total_cmp);
    let fraction = position - below;
    if fraction == 0.0 {
        return Some(low);
    }
    let high = above.iter().copied().min_by(f64::total_cmp)?;
    Some(low + (high - low) * fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Treated mice, Efron and Tibshirani, An Introduction to the Bootstrap, 1993, table 2.1.
    const MICE: [f64; 7] = [94.0, 197.0, 16.0, 38.0, 99.0, 141.0, 23.0];

    #[test]
    fn agrees_with_published_mean_median_and_standard_error() {
        assert!((mean(&MICE).unwrap() - 86.86).abs() < 0.005);
        assert_eq!(median(&MICE), Some(94.0));
        let standard_error = standard_deviation(&MICE).unwrap() / 7f64.sqrt();
        assert!((standard_error - 25.24).abs() < 0.005);
    }

    #[test]
    fn interpolates_quantiles_as_type_7() {
        // R's quantile(1:10, c(.1, .25, .9)), whose default is type 7.
        let values: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        for (p, expected) in [(0.0, 1.0), (0.1, 1.9), (0.25, 3.25), (0.5, 5.5), (0.9, 9.1), (1.0, 10.0)] {
            assert!((quantile(&values, p).unwrap() - expected).abs() < 1e-12, "{p}");
        }
    }

    #[test]
    fn has_no_answer_without_values() {
        assert_eq!(mean(&[]), None);
        assert_eq!(median(&[]), None);
        assert_eq!(standard_deviation(&[1.0]), None);
        assert_eq!(quantile(&[1.0], 1.5), None);
        assert_eq!(quantile(&[1.0], f64::NAN), None);
    }

    #[test]
    fn keeps_the_digits_of_a_small_spread() {
        assert_eq!(standard_deviation(&[1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0]), Some(1.0));
    }

    proptest! {
        #[test]
        fn selects_as_sorting_does(values in prop::collection::vec(-1e6..1e6, 1..40), p in 0.0..=1.0f64) {
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let position = (sorted.len() - 1) as f64 * p;
            let (i, fraction) = (position as usize, position.fract());
            let next = sorted[(i + 1).min(sorted.len() - 1)];
            let expected = sorted[i] + (next - sorted[i]) * fraction;
            prop_assert_eq!(quantile(&values, p), Some(expected));
        }
    }
}
