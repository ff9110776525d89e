//! Histogram of latencies, which one thread writes and any thread may read.

use crate::face::Counter;
use core::time::Duration;

/// Upper bounds of the buckets, in nanoseconds: 100 µs to 10 s in steps of 1, 2, 5.
pub const BOUNDS: [u64; 16] = {
    let mut bounds = [0; 16];
    let (mut at, mut decade) = (0, 100_000);
    while at < bounds.len() {
        bounds[at] = match at % 3 {
            0 => decade,
            1 => 2 * decade,
            _ => 5 * decade,
        };
        if at % 3 == 2 {
            decade *= 10;
        }
        at += 1;
    }
    bounds
};

/// Histogram of latencies.
#[derive(Debug, Default)]
pub struct Latency {
    /// Latencies of each bucket; the last one has those above all bounds.
    buckets: [Counter; BOUNDS.len() + 1],
    /// Sum of all latencies, in nanoseconds.
    sum: Counter,
}

impl Latency {
    /// Adds a latency. Only one thread may write.
    #[inline(always)]
    pub fn add(&self, latency: Duration) {
        let nanos = latency.as_nanos() as u64;
        // No branch: the compiler compares with all bounds at once.
        let at: usize = BOUNDS.iter().map(|bound| usize::from(nanos > *bound)).sum();
        if let Some(bucket) = self.buckets.get(at) {
            bucket.add(1);
        }
        self.sum.add(nanos);
    }

    /// Number of latencies in a bucket: up to the bound of this index, and above the one before.
    pub fn bucket(&self, at: usize) -> u64 {
        self.buckets.get(at).map_or(0, Counter::value)
    }

    /// Sum of all latencies, in nanoseconds.
    pub fn sum(&self) -> u64 {
        self.sum.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_counted_up_to_their_bound() {
        assert_eq!((BOUNDS[0], BOUNDS[1], BOUNDS[2], BOUNDS[3]), (100_000, 200_000, 500_000, 1_000_000));
        assert_eq!(BOUNDS[15], 10_000_000_000);
        let latency = Latency::default();
        for nanos in [0, 100_000, 100_001, 7_000_000, 10_000_000_000, 10_000_000_001] {
            latency.add(Duration::from_nanos(nanos));
        }
        let counts: [u64; 17] = core::array::from_fn(|at| latency.bucket(at));
        assert_eq!(counts, [2, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!(latency.sum(), 20_007_200_002);
    }
}
