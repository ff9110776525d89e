//! Centre of a symmetric sample, by Wilcoxon's signed ranks.

use super::descriptive::median;
use super::interval::Interval;

/// Most values that are ranked: their pairs are sorted, and rounds of launches are never more.
const MOST: usize = 1000;

/// The centre of `sample`: the median of the means of all pairs (Hodges and Lehmann), and bounds that miss
/// the true centre with probability `error` at most, both sides together.
///
/// The bounds hold at any number of independent values of any symmetric distribution, heavy tails included.
/// Differences of two figures measured alike are symmetric around the true difference, whatever the noise of
/// one figure. For normal noise the bounds are hardly wider than Student's; bounds of the
/// [median](super::median_interval) need half as many values again.
///
/// `None` if there are fewer values than [`fewest`], more than 1000, or one is not finite.
///
/// Source: Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 2014, §3.1 to 3.3.
pub fn center(sample: &[f64], error: f64) -> Option<Interval> {
    let n = sample.len();
    if n < fewest(error) || n > MOST || sample.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut means: Vec<f64> = Vec::with_capacity(n * (n + 1) / 2);
    for (at, a) in sample.iter().enumerate() {
        means.extend(sample.iter().skip(at).map(|b| f64::midpoint(*a, *b)));
    }
    means.sort_unstable_by(f64::total_cmp);
    let outside = outside(n, error / 2.0)?;
    let (low, high) = (*means.get(outside)?, *means.get(means.len() - 1 - outside)?);
    Some(Interval { coverage: 1.0 - error, ..Interval::bounded(median(&means)?, low, high) })
}

/// The fewest values that bound a centre with this error probability: the sum of signed ranks is extreme with
/// 2 · 0.5ⁿ at least.
pub fn fewest(error: f64) -> usize {
    (2.0 / error).log2().ceil().max(1.0) as usize
}

/// Means of pairs outside the bounds at each end: the most for which P(W ≤ outside) ≤ `tail`, W the sum of
/// the ranks of positive values among `n`; `None` if not even 0 has a probability so small.
fn outside(n: usize, tail: f64) -> Option<usize> {
    // Probability of each sum, rank by rank: each is in it or not.
    let mut of_sum = vec![0.0; n * (n + 1) / 2 + 1];
    *of_sum.first_mut()? = 1.0;
    for rank in 1..=n {
        for sum in (0..of_sum.len()).rev() {
            let with = sum.checked_sub(rank).and_then(|less| of_sum.get(less)).copied().unwrap_or(0.0);
            if let Some(probability) = of_sum.get_mut(sum) {
                *probability = (*probability + with) / 2.0;
            }
        }
    }
    let below = of_sum.iter().scan(0.0, |below, probability| {
        *below += probability;
        Some(*below)
    });
    below.take_while(|below| *below <= tail).count().checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CONFIDENCE;

    #[test]
    fn agrees_with_the_published_critical_values() {
        // Hollander, Wolfe and Chicken, table A.4, and Wilcoxon's own: two-sided 5 % and 1 %.
        for (n, five, one) in
            [(6, 0, None), (8, 3, Some(0)), (10, 8, Some(3)), (20, 52, Some(37)), (25, 89, Some(68))]
        {
            assert_eq!(outside(n, 0.025), Some(five), "{n}");
            assert_eq!(outside(n, 0.005), one, "{n}");
        }
    }

    #[test]
    fn states_how_many_values_it_needs() {
        assert_eq!([0.05, 0.01, 0.05 / 26.0, 0.05 / 329.0].map(fewest), [6, 8, 11, 14]);
        for error in [0.05, 0.01, 0.05 / 26.0, 0.05 / 329.0] {
            let n = fewest(error);
            let sample: Vec<f64> = (0..n).map(|i| i as f64).collect();
            assert!(center(&sample, error).is_some() && center(&sample[1..], error).is_none(), "{error}");
        }
    }

    #[test]
    fn bounds_the_centre_of_a_classical_sample() {
        // Hamilton's depression scale factors, Hollander, Wolfe and Chicken, table 3.1: estimate −0.46, and
        // at 96 % the bounds −0.786 and −0.010.
        let differences = [-0.952, 0.147, -1.022, -0.430, -0.620, -0.590, -0.490, 0.080, -0.010];
        let found = center(&differences, 0.04).unwrap();
        assert!((found.value + 0.46).abs() < 1e-9, "{found:?}");
        assert!((found.low + 0.786).abs() < 1e-9 && (found.high + 0.010).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn has_no_bounds_of_what_is_not_finite() {
        assert_eq!(center(&[], 0.05), None);
        assert_eq!(center(&[f64::NAN; 9], 0.05), None);
        assert_eq!(center(&[0.0; 1001], 0.05), None);
        let same = center(&[2.0; 9], 1.0 - CONFIDENCE).unwrap();
        assert_eq!((same.value, same.low, same.high), (2.0, 2.0, 2.0));
    }
}
