//! Statistics of the loads of buckets.

use super::Spread;
use crate::error::{Error, within};
use crate::wire::{grown, total};
use statrs::function::erf::erfc;
use statrs::function::gamma::{checked_gamma_lr, checked_gamma_ur};
use std::collections::BTreeMap;

/// Statistics of the loads of buckets.
#[derive(Clone, Debug, PartialEq)]
pub struct SpreadResult {
    /// Number of keys.
    pub keys: u64,
    /// Number of buckets.
    pub buckets: u64,
    /// χ² of the loads against even ones: Σ (load − mean)² / mean, from sums of integers, rounded once. 0
    /// without keys.
    pub chi_squared: f64,
    /// Degrees of freedom: buckets − 1.
    pub degrees: u64,
    /// Probability that a random function has a χ² at least as large, by the χ² distribution. Hashes that are
    /// too even have values next to 1. The approximation is good from about 5 keys a bucket on, or with
    /// thousands of buckets.
    pub p_value: f64,
    /// Keys of the fullest bucket.
    pub longest: u64,
    /// Median of [`longest`](Self::longest) for a random function.
    pub longest_median: u64,
    /// Limit that [`longest`](Self::longest) of a random function passes in one of 1,000 cases, at most.
    pub longest_limit: u64,
    /// Number of buckets of each load that a bucket has, by load.
    pub loads: Vec<(u64, u64)>,
}

/// Buckets for each key from which on the keys are sorted instead of counted by bucket.
const FEW: usize = 8;

/// Loads that are counted in an array; larger ones are in a map.
const DIRECT: usize = 1 << 16;

impl SpreadResult {
    /// Statistics of a table of someone else's, such as a kernel's: the keys of each bucket.
    ///
    /// # Errors
    /// There are no buckets or more than [`Spread::MOST_BUCKETS`], or the total passes 2⁶³ − 1.
    ///
    /// ```
    /// # use hashlane_sketch::SpreadResult;
    /// let result = SpreadResult::from_counts(&[3, 5, 4, 4])?;
    /// assert_eq!((result.keys, result.longest), (16, 5));
    /// # Ok::<(), hashlane_sketch::Error>(())
    /// ```
    pub fn from_counts(counts: &[u64]) -> Result<Self, Error> {
        within("number of buckets", counts.len() as u64, 1, Spread::MOST_BUCKETS as u64)?;
        grown(0, total(counts.iter().copied()))?;
        Ok(Self::of(counts))
    }

    /// Statistics of `buckets` buckets; each key names its bucket, from 0.
    ///
    /// # Errors
    /// As [`from_counts`](Self::from_counts), or a key names a bucket that there is not.
    pub fn from_buckets<T: Copy + Into<u64>>(numbers: &[T], buckets: usize) -> Result<Self, Error> {
        within("number of buckets", buckets as u64, 1, Spread::MOST_BUCKETS as u64)?;
        let numbers = || numbers.iter().map(|number| (*number).into());
        if numbers().len() < buckets / FEW {
            return Self::from_few(numbers().collect(), buckets);
        }
        let mut counts = vec![0; buckets];
        for number in numbers() {
            match usize::try_from(number).ok().and_then(|number| counts.get_mut(number)) {
                Some(count) => *count += 1,
                None => within("bucket of a key", number, 0, buckets as u64 - 1)?,
            }
        }
        Ok(Self::of(&counts))
    }

    /// Acts as [`from_buckets`](Self::from_buckets) in memory and time of the keys, not of the buckets.
    fn from_few(mut numbers: Vec<u64>, buckets: usize) -> Result<Self, Error> {
        numbers.sort_unstable();
        if let Some(number) = numbers.last() {
            within("bucket of a key", *number, 0, buckets as u64 - 1)?;
        }
        let mut counts: Vec<u64> = numbers.chunk_by(u64::eq).map(|keys| keys.len() as u64).collect();
        counts.sort_unstable();
        let empty = buckets as u64 - counts.len() as u64;
        let used = counts.chunk_by(u64::eq).filter_map(|of| Some((*of.first()?, of.len() as u64)));
        let loads = [(0, empty)].into_iter().chain(used).collect();
        Ok(Self::of_loads(loads, buckets as u64))
    }

    /// Statistics of these loads, at least one.
    pub(super) fn of(counts: &[u64]) -> Self {
        Self::of_loads(loads(counts), counts.len() as u64)
    }

    /// Statistics of so many buckets of each load.
    fn of_loads(loads: Vec<(u64, u64)>, buckets: u64) -> Self {
        let keys: u128 = loads.iter().map(|(load, number)| u128::from(*load) * u128::from(*number)).sum();
        let longest = loads.last().map_or(0, |(load, _)| *load);
        let degrees = buckets.saturating_sub(1);
        let chi_squared = chi_squared(&loads, buckets, keys);
        let mean = keys as f64 / buckets as f64;
        Self {
            keys: keys.try_into().unwrap_or(u64::MAX),
            buckets,
            chi_squared,
            degrees,
            p_value: p_value(chi_squared, degrees),
            longest,
            longest_median: deepest(mean, buckets, 0.5),
            longest_limit: deepest(mean, buckets, 0.999),
            loads,
        }
    }

    /// Load that this share of the buckets, 0 to 1, does not exceed: 0.5 is the median, 1 the fullest bucket.
    pub fn quantile(&self, share: f64) -> u64 {
        let rank = (share.clamp(0.0, 1.0) * self.buckets as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        let found = self.loads.iter().find(|(_, number)| {
            below += number;
            below >= rank
        });
        found.map_or(self.longest, |(load, _)| *load)
    }
}

fn loads(counts: &[u64]) -> Vec<(u64, u64)> {
    let (mut direct, mut others) = (vec![0_u64; DIRECT], BTreeMap::new());
    for count in counts {
        match direct.get_mut(usize::try_from(*count).unwrap_or(usize::MAX)) {
            Some(number) => *number += 1,
            None => *others.entry(*count).or_insert(0) += 1,
        }
    }
    let direct = (0..).zip(direct).filter(|(_, number)| *number > 0);
    direct.chain(others).collect()
}

/// Σ (load − mean)² / mean = (buckets · Σ load² − keys²) / keys.
fn chi_squared(loads: &[(u64, u64)], buckets: u64, keys: u128) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    let squares = loads.iter().try_fold(0_u128, |sum, (load, number)| {
        let square = u128::from(*load) * u128::from(*load);
        sum.checked_add(square.checked_mul(u128::from(*number))?)
    });
    let scaled = squares.and_then(|squares| squares.checked_mul(u128::from(buckets)));
    match (scaled, keys.checked_mul(keys)) {
        (Some(scaled), Some(square)) => scaled.saturating_sub(square) as f64 / keys as f64,
        // Beyond 2⁶⁴ keys or so, in floating point.
        _ => {
            let mean = keys as f64 / buckets as f64;
            let terms = loads.iter().map(|(load, number)| (*load as f64 - mean).powi(2) * *number as f64);
            terms.sum::<f64>() / mean
        }
    }
}

/// Upper tail of the χ² distribution.
fn p_value(chi_squared: f64, degrees: u64) -> f64 {
    if degrees == 0 || chi_squared <= 0.0 {
        return 1.0;
    }
    gamma_tails(degrees as f64 / 2.0, chi_squared / 2.0)[1]
}

/// Shape from which the gamma distribution is approximated by the cube of a normal variable: the series takes
/// as many steps as its root, and the cube is within 10⁻⁵ from here on.
const LARGE_SHAPE: f64 = 1e6;

/// Lower and upper tail of the gamma distribution of this shape, at `x`: the regularised incomplete gamma
/// functions.
///
/// Source: Wilson and Hilferty, "The distribution of chi-square" (PNAS 17, 1931), for large shapes.
fn gamma_tails(shape: f64, x: f64) -> [f64; 2] {
    if shape < LARGE_SHAPE {
        return [checked_gamma_lr(shape, x), checked_gamma_ur(shape, x)]
            .map(|tail| tail.unwrap_or(0.0).clamp(0.0, 1.0));
    }
    let ninth = 1.0 / (9.0 * shape);
    let z = ((x / shape).cbrt() - (1.0 - ninth)) / ninth.sqrt();
    [-z, z].map(|z| erfc(z / core::f64::consts::SQRT_2) / 2.0)
}

/// The load that the fullest of `buckets` buckets of a random function does not pass with a probability of
/// `share`, at least: the loads are Poisson numbers of this mean, next to independent.
fn deepest(mean: f64, buckets: u64, share: f64) -> u64 {
    if mean <= 0.0 {
        return 0;
    }
    let holds = |load: f64| {
        // P(X > load) of the Poisson distribution is the lower incomplete gamma function.
        let [above, _] = gamma_tails(load + 1.0, mean);
        buckets as f64 * (-above).ln_1p() >= share.ln()
    };
    let (mut low, mut high) = (0.0_f64, (mean + 100.0 * mean.sqrt() + 200.0).ceil());
    // Numbers beyond 2⁵³ have no fractions, and bisecting them may come to stand.
    for _ in 0..64 {
        let middle = ((low + high) / 2.0).floor();
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1.0;
        }
        if low >= high {
            break;
        }
    }
    high as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64, relative: f64) {
        assert!((found - expected).abs() <= relative * expected, "{found}, expected {expected}");
    }

    #[test]
    fn few_keys_in_many_buckets_have_the_result_of_counts() {
        for numbers in [vec![], vec![7_u32], vec![9, 3, 9, 999, 0, 3, 9]] {
            let mut counts = vec![0; 1000];
            numbers.iter().for_each(|number| counts[*number as usize] += 1);
            assert_eq!(SpreadResult::from_buckets(&numbers, 1000), SpreadResult::from_counts(&counts));
        }
        assert!(matches!(SpreadResult::from_buckets(&[1000_u32], 1000), Err(Error::Parameter { .. })));
    }

    #[test]
    fn given_buckets_have_the_statistics_of_their_counts() {
        let result = SpreadResult::from_counts(&[1, 0, 2]).unwrap();
        assert_eq!(SpreadResult::from_buckets(&[2_u64, 0, 2], 3), Ok(result));
        assert_eq!(SpreadResult::from_counts(&[u64::MAX, 1]), Err(Error::Full));
        assert!(matches!(SpreadResult::from_counts(&[]), Err(Error::Parameter { value: 0, .. })));
        assert!(matches!(SpreadResult::from_buckets::<u64>(&[], 0), Err(Error::Parameter { value: 0, .. })));
        let beyond = SpreadResult::from_buckets(&[0_u64, 3], 3);
        assert!(matches!(beyond, Err(Error::Parameter { name: "bucket of a key", value: 3, most: 2, .. })));
    }

    #[test]
    fn chi_squared_is_that_of_its_definition() {
        let counts = [3, 0, 7, 5, 5];
        let result = SpreadResult::of(&counts);
        assert_eq!((result.keys, result.degrees, result.longest), (20, 4, 7));
        assert_eq!(result.chi_squared, (1.0 + 16.0 + 9.0 + 1.0 + 1.0) / 4.0);
        assert_eq!(result.loads, [(0, 1), (3, 1), (5, 2), (7, 1)]);
    }

    /// Quantiles of χ² at 5 % and 1 %: NIST/SEMATECH e-Handbook of Statistical Methods, §1.3.6.7.4.
    #[test]
    fn p_values_are_those_of_tables() {
        for (chi, degrees, p) in [
            (3.841, 1, 0.05),
            (18.307, 10, 0.05),
            (124.342, 100, 0.05),
            (135.807, 100, 0.01),
            (6.635, 1, 0.01),
        ] {
            near(p_value(chi, degrees), p, 1e-3);
        }
    }

    /// Wilson and Hilferty 1931: the cube root is next to normal; 1.644854 leaves 5 %.
    #[test]
    fn p_values_hold_for_millions_of_buckets() {
        for degrees in [65_535_u64, (1 << 20) - 1, (1 << 26) - 1] {
            for (z, p) in [(1.644_854, 0.05), (0.0, 0.5), (-1.644_854, 0.95), (4.753_424, 1e-6)] {
                let ninth = 2.0 / (9.0 * degrees as f64);
                let chi = degrees as f64 * (1.0 - ninth + z * ninth.sqrt()).powi(3);
                near(p_value(chi, degrees), p, 2e-3);
            }
            assert_eq!(p_value(degrees as f64 * 20.0, degrees), 0.0);
            assert_eq!(p_value(degrees as f64 / 20.0, degrees), 1.0);
        }
        assert_eq!(p_value(1e30, 7), 0.0);
        assert_eq!((p_value(0.0, 7), p_value(5.0, 0)), (1.0, 1.0));
    }

    #[test]
    fn quantiles_are_loads_of_buckets() {
        let result = SpreadResult::of(&[3, 0, 7, 5, 5]);
        let found = [0.0, 0.2, 0.4, 0.5, 0.8, 0.9, 1.0].map(|share| result.quantile(share));
        assert_eq!(found, [0, 0, 3, 5, 5, 7, 7]);
    }

    /// Gonnet 1981: the fullest of 10⁶ buckets with one key each, on average, has about Γ⁻¹(10⁶) − 3/2 = 8.3.
    #[test]
    fn the_fullest_bucket_of_a_random_function_is_known() {
        assert_eq!(deepest(1.0, 1_000_000, 0.5), 9);
        assert!((9..=13).contains(&deepest(1.0, 1_000_000, 0.999)));
        assert_eq!(deepest(0.0, 8, 0.5), 0);
        // One bucket: the median of the Poisson distribution.
        assert_eq!(deepest(1e6, 1, 0.5), 1_000_000);
        let wide = deepest(152_588.0, 65_536, 0.5);
        near(wide as f64, 152_588.0 + 4.25 * 152_588_f64.sqrt(), 1e-3);
    }

    #[test]
    fn buckets_without_keys_and_with_too_many_have_figures() {
        let empty = SpreadResult::of(&[0; 4]);
        assert_eq!((empty.keys, empty.chi_squared, empty.p_value, empty.longest_limit), (0, 0.0, 1.0, 0));
        let full = SpreadResult::of(&[i64::MAX as u64; 4]);
        assert!(full.keys == u64::MAX && full.p_value == 1.0 && full.chi_squared.is_finite());
        let uneven = SpreadResult::of(&[i64::MAX as u64, 0, 0, 0]);
        near(uneven.chi_squared, i64::MAX as f64 * 3.0, 1e-9);
    }
}
