//! The Poisson distribution: keys of one bucket under a uniform hash.

use hashlane_stats::Interval;

/// Probabilities of 0, 1, 2, … keys in a bucket that has `mean` on average, without end.
pub fn probabilities(mean: f64) -> impl Iterator<Item = f64> {
    // By logarithms: of a large mean, the probability of 0 is below the smallest number.
    let mut log = -mean;
    (0u64..).map(move |count| {
        if count > 0 {
            log += (mean / count as f64).ln();
        }
        log.exp()
    })
}

/// Smallest number of keys that a bucket stays at or below with the probability `share`, below 1.
pub fn quantile(mean: f64, share: f64) -> u64 {
    let mut sum = 0.0;
    for (count, probability) in (0u64..).zip(probabilities(mean)) {
        sum += probability;
        if sum >= share || (count as f64 > mean && probability < f64::MIN_POSITIVE) {
            return count;
        }
    }
    u64::MAX
}

/// Keys of the fullest of `buckets` buckets that each get a Poisson number of keys with mean `mean`: the
/// median, and the range of 99.9 %. The fixed sum of the numbers matters little with many buckets.
pub fn deepest(mean: f64, buckets: usize) -> Interval {
    // All buckets are at or below k with the probability P(X ≤ k)^buckets.
    let of = |share: f64| quantile(mean, share.powf(1.0 / buckets as f64)) as f64;
    Interval { coverage: 0.999, ..Interval::bounded(of(0.5), of(0.0005), of(0.9995)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_tables() {
        let found: Vec<f64> = probabilities(1.0).take(3).collect();
        let e = 1f64.exp();
        for (found, expected) in found.iter().zip([1.0 / e, 1.0 / e, 0.5 / e]) {
            assert!((found - expected).abs() < 1e-12, "{found}");
        }
        assert_eq!(probabilities(0.0).take(3).collect::<Vec<_>>(), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn quantiles_hold_for_small_and_large_means() {
        assert_eq!([0.5, 0.99].map(|share| quantile(1.0, share)), [1, 4]);
        assert_eq!(quantile(0.0, 0.99), 0);
        // The median of a mean that is a whole number is that number; exp(-100,000) is 0 as a number.
        assert_eq!(quantile(100_000.0, 0.5), 100_000);
    }

    #[test]
    fn the_deepest_bucket_is_that_of_tables_and_bounds() {
        // Raab and Steger 1998 give ln n / ln ln n (1 + o(1)) for n balls in n bins; for 2^20, observed
        // values are 8 or 9.
        let Interval { value, low, high, .. } = deepest(1.0, 1 << 20);
        assert!((8.0..=9.0).contains(&value) && low >= 7.0 && high <= 14.0, "{low} {value} {high}");
    }
}
