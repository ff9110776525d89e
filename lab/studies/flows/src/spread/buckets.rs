//! Spread of tuples over buckets under a hash.

use hashlane_audit::traffic::{depth, poisson};
use hashlane_records::Record;
use hashlane_stats::Interval;

/// Distribution of a set of tuples under a hash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    /// Tuples thrown.
    pub keys: usize,
    /// Buckets: the power of two at or above the number of tuples, as a kernel sizes its table; the hash's
    /// low bits choose.
    pub buckets: usize,
    /// Tuples in the fullest bucket.
    pub longest_chain: u32,
    /// The median of that for a random function, and where 99.9 % of random functions lie.
    pub longest_expected: Interval,
    /// χ² of the buckets' counts against even ones, divided by the degrees of freedom.
    pub chi_squared: f64,
    /// 1, and where 99.9 % of random functions lie.
    pub chi_expected: Interval,
    /// Tuples less distinct hash values.
    pub collisions: usize,
    /// Expected collisions of a random function of as many bits.
    pub collisions_expected: f64,
}

impl Spread {
    /// Distributes tuples by their hashes of so many bits, at most 2³¹.
    pub(super) fn of(bits: u32, hashes: &[u64]) -> Self {
        let buckets = hashes.len().next_power_of_two();
        let counts = depth::counts(hashes, buckets);
        let mut distinct = hashes.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let expected = hashes.len() as f64 / buckets as f64;
        let squares: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2)).sum();
        let chi = if hashes.is_empty() { 0.0 } else { squares / expected };
        let degrees = (buckets - 1).max(1) as f64;
        Self {
            keys: hashes.len(),
            buckets,
            longest_chain: counts.iter().copied().max().unwrap_or(0),
            longest_expected: poisson::deepest(expected, buckets),
            chi_squared: chi / degrees,
            chi_expected: Interval {
                coverage: 0.999,
                ..Interval::bounded(1.0, chi_per_degree(degrees, -Z_999), chi_per_degree(degrees, Z_999))
            },
            collisions: hashes.len() - distinct.len(),
            collisions_expected: collisions(hashes.len() as f64, f64::from(bits)),
        }
    }

    /// The facts as records.
    pub(super) fn records(&self, study: &str, workload: &str, scheme: &str) -> Vec<Record> {
        let exact = Interval::exact;
        let facts = [
            ("keys", "keys", exact(self.keys as f64)),
            ("buckets", "buckets", exact(self.buckets as f64)),
            ("longest_chain", "entries", exact(f64::from(self.longest_chain))),
            ("longest_chain_expected", "entries", self.longest_expected),
            ("chi_squared", "per-degree", exact(self.chi_squared)),
            ("chi_squared_expected", "per-degree", self.chi_expected),
            ("collisions", "keys", exact(self.collisions as f64)),
            ("collisions_expected", "keys", exact(self.collisions_expected)),
        ];
        let of =
            |(metric, unit, interval)| record(study, workload, scheme, metric, unit, interval, self.keys);
        facts.into_iter().map(of).collect()
    }
}

/// The slots of the source's test: not a power of two, so that every bit of the hash counts.
const SLOTS: u64 = 65535;

/// Number of tuples in each tenth of 65,535 slots, as the source counts them: the tenths begin at i · 65535 /
/// 10 and have 6,553 slots, so five slots belong to none.
///
/// Source: q2ven/inet6_ehashfn, `test/variance.c`.
pub(super) fn bins(hashes: &[u64]) -> [u32; 10] {
    const WIDTH: u64 = SLOTS / 10;
    let mut bins = [0; 10];
    for hash in hashes {
        let slot = hash % SLOTS;
        for (i, bin) in (0..).zip(&mut bins) {
            let first = i * SLOTS / 10;
            if (first..first + WIDTH).contains(&slot) {
                *bin += 1;
            }
        }
    }
    bins
}

/// The bins as records.
pub(super) fn bin_records(study: &str, workload: &str, scheme: &str, bins: &[u32; 10]) -> Vec<Record> {
    let of = |(i, &count): (usize, &u32)| {
        let value = f64::from(count);
        let interval = Interval::exact(value);
        record(study, workload, scheme, &format!("bin_{i}"), "keys", interval, 1)
    };
    bins.iter().enumerate().map(of).collect()
}

fn record(
    study: &str,
    workload: &str,
    scheme: &str,
    metric: &str,
    unit: &str,
    interval: Interval,
    samples: usize,
) -> Record {
    let Interval { value, low, high, .. } = interval;
    let columns = [study, "spread", workload, scheme, "spread", metric, unit];
    Record::new(columns, [value, low, high], samples as u64, 0)
}

/// The quantile of the normal distribution that leaves 0.05 % on its side.
const Z_999: f64 = 3.290_527;

/// The quantile of χ² per degree of freedom where the normal distribution has `z` (Wilson and Hilferty 1931).
fn chi_per_degree(degrees: f64, z: f64) -> f64 {
    let ninth = 2.0 / (9.0 * degrees);
    (1.0 - ninth + z * ninth.sqrt()).max(0.0).powi(3)
}

/// Keys less distinct values of a random function into 2^`bits` values, on average.
fn collisions(keys: f64, bits: f64) -> f64 {
    let values = bits.exp2();
    // values · (1 − (1 − 1/values)^keys) are hit; the differences of large numbers are left to ln_1p and
    // exp_m1.
    (keys + values * (keys * (-1.0 / values).ln_1p()).exp_m1()).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hashes::{hashes_of_source, tuple_hash};
    use crate::tables::{self, Bins};
    use crate::tuples::TupleSet;
    use crate::{Cost, sample};
    use hashlane_hash::scheme::Key;
    use rand_xoshiro::SplitMix64;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    fn spread(id: &str, set: TupleSet, count: usize) -> Spread {
        let hash = tuple_hash(id).unwrap();
        let tuples = set.generate(count, 1, u64::MAX).unwrap();
        Spread::of(hash.info.width, &(hash.hash)(&Key::VECTOR, &tuples))
    }

    #[test]
    fn finds_a_keyed_hash_even_and_the_base_collapsed() {
        let even = spread("siphash-1-3", TupleSet::Seed, 1 << 16);
        assert!((even.chi_expected.low..=even.chi_expected.high).contains(&even.chi_squared), "{even:?}");
        let longest = f64::from(even.longest_chain);
        assert!((even.longest_expected.low..=even.longest_expected.high).contains(&longest), "{even:?}");
        assert_eq!(even.collisions, 0);
        let collapsed = spread("base", TupleSet::Seed, 1 << 16);
        assert_eq!((collapsed.longest_chain, collapsed.collisions), (1 << 16, (1 << 16) - 1));
        assert!(collapsed.chi_squared > 1000.0);
    }

    #[test]
    fn counts_the_source_s_bins() {
        let seed = TupleSet::Seed.generate(1 << 20, 1, u64::MAX).unwrap();
        let published = tables::spread(&sample::study(&Cost)).unwrap().unwrap().bins;
        assert_eq!(published.len(), 4);
        for Bins { scheme, bins: published } in published {
            assert_eq!(bins(&hashes_of_source(&scheme, &seed).unwrap()), published, "{scheme}");
        }
    }

    #[test]
    fn expects_what_tables_and_bounds_say() {
        // The birthday bound: n² / 2m.
        assert!((collisions(1e6, 32.0) - 116.4).abs() < 0.1, "{}", collisions(1e6, 32.0));
        assert!(collisions(1e6, 64.0) < 1e-3);
        // χ² tables: 0.1 % and 99.9 % of 100 degrees are 61.918 and 149.449; of ours 0.05 % are 59.896 and
        // 153.167.
        assert!((chi_per_degree(100.0, -Z_999) - 0.598_96).abs() < 1e-3);
        assert!((chi_per_degree(100.0, Z_999) - 1.531_67).abs() < 1e-3);
    }

    #[test]
    fn random_throws_lie_where_they_are_expected() {
        const THROWS: u32 = 4000;
        const BITS: u32 = 20;
        let mut random = SplitMix64::seed_from_u64(1);
        // Tables that are full, and hardly more than half full.
        for keys in [1024, 600] {
            let (mut shorter, mut longest, mut uneven, mut collisions) = (0, 0, 0, 0.0);
            let mut expected = None;
            for _ in 0..THROWS {
                let hashes: Vec<u64> = (0..keys).map(|_| random.next_u64() >> (64 - BITS)).collect();
                let spread = Spread::of(BITS, &hashes);
                let chain = f64::from(spread.longest_chain);
                let within = |interval: Interval, value| (interval.low..=interval.high).contains(&value);
                shorter += u32::from(chain < spread.longest_expected.value);
                longest += u32::from(!within(spread.longest_expected, chain));
                uneven += u32::from(!within(spread.chi_expected, spread.chi_squared));
                collisions += spread.collisions as f64;
                expected = Some(spread.collisions_expected);
            }
            // One in a thousand is to be outside: 4 of 4,000, and hardly ever more than 12. Chains have whole
            // lengths, so that fewer may be.
            assert!(longest <= 12, "{keys}: {longest}");
            assert!((1..=12).contains(&uneven), "{keys}: {uneven}");
            assert!(shorter <= THROWS / 2 + 100, "{keys}: {shorter}");
            // The mean of 4,000 Poisson numbers, within four of its deviations.
            let (mean, expected) = (collisions / f64::from(THROWS), expected.unwrap());
            let deviation = (expected / f64::from(THROWS)).sqrt();
            assert!((mean - expected).abs() < 4.0 * deviation, "{keys}: {mean}, expected {expected}");
        }
    }

    #[test]
    fn few_tuples_or_none_have_figures() {
        for keys in (0..4).chain([1000]) {
            let spread = spread("siphash-1-3", TupleSet::Random, keys);
            let records = spread.records("s", "w", "h");
            assert!(records.len() == 8 && records.iter().all(Record::is_well_formed), "{spread:?}");
            assert!(spread.longest_chain as usize <= keys && spread.keys == keys);
        }
    }
}
