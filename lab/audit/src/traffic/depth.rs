//! Depth of buckets: the number of keys in each.

use super::poisson;
use hashlane_stats::Interval;

/// Number of keys in each of `buckets` buckets, at least one. The bucket of a key is its hash modulo the
/// number of buckets: the lowest bits if that is a power of two.
pub fn counts(hashes: &[u64], buckets: usize) -> Vec<u32> {
    let mut counts = vec![0u32; buckets];
    for hash in hashes {
        if let Some(count) = counts.get_mut((hash % buckets as u64) as usize) {
            *count += 1;
        }
    }
    counts
}

/// Distribution of the depths of a table's buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depths {
    /// Keys in the table.
    pub keys: usize,
    /// Buckets of the table.
    pub buckets: usize,
    /// Number of buckets that have 0, 1, 2, … keys, to the deepest.
    pub histogram: Vec<u64>,
}

/// Buckets of some range of depths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Least number of keys.
    pub from: usize,
    /// Largest number of keys.
    pub to: usize,
    /// Buckets found.
    pub found: u64,
    /// Buckets expected of a uniform hash.
    pub ideal: f64,
}

/// Depths up to here have a row each; beyond, a row is twice as wide as the one before.
const SINGLE: usize = 16;

impl Depths {
    /// Spreads distinct keys with these hashes over `buckets` buckets, at least one.
    pub fn of(hashes: &[u64], buckets: usize) -> Self {
        let counts = counts(hashes, buckets);
        let deepest = counts.iter().max().copied().unwrap_or(0);
        let mut histogram = vec![0; deepest as usize + 1];
        for count in counts {
            if let Some(number) = histogram.get_mut(count as usize) {
                *number += 1;
            }
        }
        Self { keys: hashes.len(), buckets, histogram }
    }

    /// Mean number of keys in a bucket.
    pub fn mean(&self) -> f64 {
        self.keys as f64 / self.buckets as f64
    }

    /// Smallest depth that a `share` of the buckets does not exceed.
    pub fn quantile(&self, share: f64) -> usize {
        let wanted = share * self.buckets as f64;
        let mut sum = 0;
        let reached = self.histogram.iter().position(|number| {
            sum += number;
            sum as f64 >= wanted
        });
        reached.unwrap_or(self.deepest())
    }

    /// Keys in the deepest bucket.
    pub fn deepest(&self) -> usize {
        self.histogram.len().saturating_sub(1)
    }

    /// Smallest depth that a `share` of the buckets does not exceed under a uniform hash.
    pub fn ideal_quantile(&self, share: f64) -> u64 {
        poisson::quantile(self.mean(), share)
    }

    /// Keys in the deepest bucket under a uniform hash: the median and the range of 99.9 %.
    pub fn ideal_deepest(&self) -> Interval {
        poisson::deepest(self.mean(), self.buckets)
    }

    /// Rows of the histogram in which there is a bucket, or half a bucket is expected.
    pub fn rows(&self) -> Vec<Row> {
        let ideal_end = self.ideal_deepest().high as usize;
        let mut probabilities = poisson::probabilities(self.mean());
        let (mut rows, mut from) = (Vec::new(), 0);
        while from <= self.deepest().max(ideal_end) {
            let to = if from < SINGLE { from } else { 2 * from - 1 };
            let found = self.histogram.iter().skip(from).take(to + 1 - from).sum();
            let ideal = self.buckets as f64 * probabilities.by_ref().take(to + 1 - from).sum::<f64>();
            if found > 0 || ideal >= 0.5 {
                rows.push(Row { from, to, found, ideal });
            }
            from = to + 1;
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Draw;

    #[test]
    fn buckets_are_counted_by_their_depth() {
        let depths = Depths::of(&[0, 4, 8, 1, 3], 4);
        assert_eq!((depths.histogram.as_slice(), depths.deepest()), (&[1, 2, 0, 1][..], 3));
        assert_eq!([0.25, 0.5, 0.75, 0.99].map(|share| depths.quantile(share)), [0, 1, 1, 3]);
        let rows: Vec<_> = depths.rows().iter().map(|row| (row.from, row.found)).collect();
        assert_eq!(rows, [(0, 1), (1, 2), (2, 0), (3, 1)]);
        // Of a table without a power of two of buckets, too.
        assert_eq!(counts(&[7, 8, 9, u64::MAX], 3), [2, 1, 1]);
    }

    #[test]
    fn random_hashes_are_as_deep_as_the_ideal() {
        let mut draw = Draw::new(7);
        let hashes: Vec<u64> = (0..100_000).map(|_| draw.word()).collect();
        let depths = Depths::of(&hashes, 1 << 17);
        assert_eq!([0.5, 0.99].map(|share| depths.quantile(share) as u64), [1, 3]);
        assert_eq!([0.5, 0.99].map(|share| depths.ideal_quantile(share)), [1, 3]);
        let Interval { low, high, .. } = depths.ideal_deepest();
        assert!((low..=high).contains(&(depths.deepest() as f64)), "{low} {high} {depths:?}");
        for row in depths.rows() {
            let deviation = (row.found as f64 - row.ideal).abs();
            assert!(deviation < 5.0 * row.ideal.sqrt().max(1.0), "{row:?}");
        }
    }

    #[test]
    fn one_deep_bucket_and_none_at_all_have_rows() {
        let depths = Depths::of(&vec![5; 1 << 20], 1 << 20);
        let rows = depths.rows();
        assert_eq!((rows.len() < 40, rows.iter().map(|row| row.found).sum()), (true, 1 << 20));
        assert!(rows.last().is_some_and(|row| (row.from..=row.to).contains(&(1 << 20))));
        assert_eq!(Depths::of(&[], 1).histogram, [1]);
        assert_eq!(Depths::of(&vec![5; 1 << 20], 1).rows().iter().map(|row| row.found).sum::<u64>(), 1);
    }
}
