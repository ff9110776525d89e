//! Tables of shared objects, measured with hostile and with random keys.

use super::hash::{absolute, batches};
use super::measure::Sample;
use super::process::{Deadline, Launcher, Session, foreign_reply};
use super::wire::{Reply, Request};
use crate::keys::Keys;
use crate::subject::Fault;
use core::fmt;
use hashlane_hash::scheme::Key;
use hashlane_stats::format::count;
use hashlane_stats::{Interval, median_interval};
use std::path::Path;
use std::time::{Duration, Instant};

/// Samples of a measurement.
const SAMPLES: u64 = 64;

/// Pairs of measurements of a comparison: the fewest whose extremes cover the median at 95 %.
const PAIRS: usize = 6;

/// A table of a shared object, in a separate process: one that exports the functions of `hashlane_audit.h`.
///
/// As with a [`Library`](super::Library), crashes are faults, and a table is used from one thread.
#[derive(Debug)]
pub struct Table {
    session: Session,
    source: String,
}

impl Table {
    /// Loads the library at `path`. Neither loading nor one measurement may take longer than `limit`.
    ///
    /// # Errors
    /// The library cannot be loaded, lacks a function of the header, or was built with another version of it.
    pub fn load(launcher: Launcher, path: &Path, limit: Duration) -> Result<Self, Fault> {
        let load = Request::LoadTable { parent: std::process::id(), path: absolute(path)? };
        let session = Session::start(launcher, load, limit)?;
        Ok(Self { session, source: path.display().to_string() })
    }

    /// Path of the library, as it was given.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Inserts the keys in order into a new table of this seed and capacity, and looks them up while it
    /// fills.
    ///
    /// # Errors
    /// The table has failed, has not ended within the limit, or does not hold the keys that it has taken; the
    /// samples up to then are in the error.
    pub fn measure(&mut self, seed: &Key, capacity: u64, keys: &Keys) -> Result<Measurement, TableFault> {
        let limit = self.session.limit();
        let inserted = keys.len() as u64;
        let mut samples = Vec::new();
        let request =
            Request::Measure { seed: seed.to_bytes(), capacity, batch: inserted.div_ceil(SAMPLES).max(1) };
        let result = self.session.run(|process| {
            for batch in batches(keys) {
                let batch = Request::Keys(batch.map_err(Fault::Length)?);
                match process.ask(&batch, Deadline::after(limit))? {
                    Reply::Ready => {}
                    _ => return Err(foreign_reply()),
                }
            }
            let deadline = Deadline::after(limit);
            process.send(&request, deadline)?;
            loop {
                match process.receive(deadline)? {
                    Reply::Ready => return Ok(()),
                    Reply::Sample(sample) if samples.len() < SAMPLES as usize => samples.push(sample),
                    _ => return Err(foreign_reply()),
                }
            }
        });
        match result {
            Ok(()) => {
                let measurement = Measurement { samples };
                match measurement.lost_keys() {
                    None => Ok(measurement),
                    Some(why) => Err(TableFault {
                        fault: Fault::LosesKeys(why),
                        samples: measurement.samples,
                        keys: inserted,
                    }),
                }
            }
            Err(fault) => Err(TableFault { fault, samples, keys: inserted }),
        }
    }

    /// True if the table ignores its seed: it compares as many entries for `keys` under each of `seeds`,
    /// batch by batch, and other numbers for `others`, which are as many random keys. False if it counts no
    /// entries, or as many for any keys.
    ///
    /// # Errors
    /// As [`measure`](Self::measure).
    pub fn ignores_seed(&mut self, seeds: &[Key], keys: &Keys, others: &Keys) -> Result<bool, TableFault> {
        let Some((first, rest)) = seeds.split_first() else { return Ok(false) };
        let mut counts = |seed: &Key, keys: &Keys| {
            let measured = self.measure(seed, keys.len() as u64, keys)?;
            let count = |sample: &Sample| Some((sample.len, sample.refused, sample.compared?));
            Ok(measured.samples.iter().map(count).collect::<Option<Vec<_>>>())
        };
        let Some(ours) = counts(first, keys)? else { return Ok(false) };
        // Keys that the table refuses, and others that it takes, differ for more than their hashes.
        let Some(theirs) = counts(first, others)? else { return Ok(false) };
        let held =
            |counts: &[(u64, u64, _)]| counts.iter().map(|count| (count.0, count.1)).collect::<Vec<_>>();
        if ours == theirs || held(&ours) != held(&theirs) {
            return Ok(false);
        }
        for seed in rest {
            if counts(seed, keys)?.as_ref() != Some(&ours) {
                return Ok(false);
            }
        }
        Ok(!rest.is_empty())
    }

    /// Measures the table with hostile and with random keys in turn, in pairs: six, unless one takes long.
    /// Each pair has a different seed, derived from `seed` if `new_seeds`: keys that collide under one seed
    /// alone are harmless then.
    ///
    /// # Errors
    /// The table has failed; for hostile keys also, and first of all, if it has not ended within the limit.
    pub fn compare(
        &mut self,
        seed: &Key,
        new_seeds: bool,
        capacity: u64,
        hostile: &Keys,
        random: &Keys,
    ) -> Result<Comparison, TableFault> {
        let start = Instant::now();
        let mut pairs = Vec::new();
        for pair in 0..PAIRS {
            if !pairs.is_empty() && start.elapsed() > self.session.limit() {
                break;
            }
            let seed = if new_seeds { seed.derive(b"table   ", pair as u64) } else { *seed };
            let random = self.measure(&seed, capacity, random)?;
            pairs.push((self.measure(&seed, capacity, hostile)?, random));
        }
        Ok(Comparison { pairs })
    }
}

/// Failure of a table, with the samples up to then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFault {
    /// The failure.
    pub fault: Fault,
    /// Samples of the batches that were complete.
    pub samples: Vec<Sample>,
    /// Keys that were to be inserted.
    pub keys: u64,
}

impl TableFault {
    /// Keys inserted before the failure, in complete batches.
    pub fn inserted(&self) -> u64 {
        self.samples.last().map_or(0, |sample| sample.inserted)
    }
}

impl fmt::Display for TableFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (inserted, keys) = (self.inserted(), self.keys);
        match &self.fault {
            Fault::Hung(seconds) => write!(
                f,
                "the table has not ended within {seconds} s: {inserted} of {keys} keys were inserted and \
                 looked up; quadratic growth is likely"
            ),
            Fault::Crashed(how) => {
                write!(f, "the table has ended its process after {inserted} of {keys} keys: {how}")
            }
            fault => write!(f, "{fault}"),
        }
    }
}

impl std::error::Error for TableFault {}

/// Times and counts of a table while it was filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// One sample for each batch of keys.
    pub samples: Vec<Sample>,
}

impl Measurement {
    /// Entries that the table held at the end.
    pub fn stored(&self) -> u64 {
        self.samples.last().map_or(0, |sample| sample.len)
    }

    /// Keys that were not in the table at the end: refused, or evicted.
    pub fn missing(&self) -> u64 {
        self.samples.last().map_or(0, |sample| sample.inserted.saturating_sub(sample.len))
    }

    /// The reason why the table does not work, in words: it takes no keys, holds none, or does not find keys
    /// that it holds.
    fn lost_keys(&self) -> Option<String> {
        let last = self.samples.last()?;
        let [keys, refused] = [last.inserted, last.refused].map(|number| count(number as f64));
        if last.refused >= last.inserted {
            return Some(format!("insert refused {refused} of {keys} keys"));
        }
        if last.len == 0 {
            return Some(format!("the table says that it holds none of {keys} keys: insert returned 0"));
        }
        let taken = last.inserted - last.refused;
        let (found, lost) = self
            .samples
            .iter()
            .fold((0_u64, 0_u64), |(found, lost), sample| (found + sample.found, lost + sample.lost));
        // A table that holds fewer keys than it has taken has evicted some.
        (lost > 0 && (found == 0 || last.len >= taken))
            .then(|| format!("an inserted key is not found: {} lookups missed", count(lost as f64)))
    }

    /// Samples of the last quarter, when the table was almost full.
    fn last_quarter(&self) -> &[Sample] {
        self.samples.get(self.samples.len() / 4 * 3..).unwrap_or(&[])
    }

    /// CPU time of a lookup in nanoseconds, over the last quarter.
    pub fn lookup_ns(&self) -> f64 {
        mean(self.last_quarter(), |sample| sample.find_ns)
    }

    /// CPU time of an insertion in nanoseconds, over the last quarter.
    pub fn insert_ns(&self) -> f64 {
        mean(self.last_quarter(), |sample| sample.insert_ns)
    }

    /// Entries compared by a lookup, over the last quarter. `None` if the table does not count them.
    pub fn lookup_compared(&self) -> Option<f64> {
        let samples = self.last_quarter();
        let counted = samples.iter().all(|sample| sample.compared.is_some());
        counted.then(|| mean(samples, |sample| sample.compared.map_or(0, |(_, find)| find)))
    }

    /// Entries compared by all insertions and lookups. `None` if the table does not count them.
    pub fn compared(&self) -> Option<u64> {
        let counts = self.samples.iter().map(|sample| sample.compared);
        counts.map(|counts| counts.map(|(insert, find)| insert.saturating_add(find))).sum()
    }
}

fn mean(samples: &[Sample], total: impl Fn(&Sample) -> u64) -> f64 {
    let lookups: u64 = samples.iter().map(|sample| sample.looked_up).sum();
    samples.iter().map(|sample| total(sample) as f64).sum::<f64>() / lookups.max(1) as f64
}

/// Measurements of one table with as many hostile keys as random ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Pairs of measurements: with hostile keys, with random keys.
    pub pairs: Vec<(Measurement, Measurement)>,
}

impl Comparison {
    /// Criterion of [`is_flooded`](Self::is_flooded) where entries are counted: times as many compared for
    /// hostile keys as for random ones.
    pub const CRITERION: f64 = 4.0;
    /// Criterion of [`is_flooded`](Self::is_flooded) where only time is measured, which caches and other
    /// programs change, too.
    pub const TIME_CRITERION: f64 = 10.0;
    /// Entries more that a lookup must compare, or keys that the table must hold, where it has refused or
    /// evicted keys: a ratio over few entries shows no flood.
    pub const FLOOR: u64 = 64;

    /// Time of a lookup, hostile keys over random ones, in a table that is almost full.
    pub fn lookup_time(&self) -> Option<Interval> {
        self.ratio(|measurement| Some(measurement.lookup_ns()))
    }

    /// Time of an insertion, hostile keys over random ones, in a table that is almost full.
    pub fn insert_time(&self) -> Option<Interval> {
        self.ratio(|measurement| Some(measurement.insert_ns()))
    }

    /// Entries that a lookup compares, hostile keys over random ones, in a table that is almost full. `None`
    /// if the table does not count them, or compares none.
    pub fn lookup_compared(&self) -> Option<Interval> {
        self.ratio(Measurement::lookup_compared)
    }

    /// True if a lookup among hostile keys reaches the criterion in every pair: in entries compared, if the
    /// table counts them, else in its time or in an insertion's. A table that has refused or evicted keys
    /// must reach the floor, too.
    pub fn is_flooded(&self) -> bool {
        if !self.pairs.iter().all(Self::reaches_floor) {
            return false;
        }
        let reached = |ratio: Option<Interval>, criterion| ratio.is_some_and(|ratio| ratio.low >= criterion);
        match self.lookup_compared() {
            Some(compared) => reached(Some(compared), Self::CRITERION),
            None => [self.lookup_time(), self.insert_time()]
                .into_iter()
                .any(|time| reached(time, Self::TIME_CRITERION)),
        }
    }

    /// Fewest keys that the table held at the end, of all measurements, if it has refused or evicted any.
    pub fn stored(&self) -> Option<u64> {
        let all = self.pairs.iter().flat_map(|(hostile, random)| [hostile, random]);
        all.filter(|measurement| measurement.missing() > 0).map(Measurement::stored).min()
    }

    fn reaches_floor((hostile, random): &(Measurement, Measurement)) -> bool {
        let more = match [hostile, random].map(Measurement::lookup_compared) {
            [Some(hostile), Some(random)] => hostile - random,
            _ => hostile.stored() as f64,
        };
        hostile.missing() == 0 || more >= Self::FLOOR as f64
    }

    fn ratio(&self, value: impl Fn(&Measurement) -> Option<f64>) -> Option<Interval> {
        let ratio = |(hostile, random): &(Measurement, Measurement)| Some(value(hostile)? / value(random)?);
        median_interval(&self.pairs.iter().map(ratio).collect::<Option<Vec<f64>>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(compared: Option<u64>, find_ns: u64) -> Measurement {
        let sample = |inserted| Sample {
            inserted,
            refused: 0,
            len: inserted,
            insert_ns: 100,
            looked_up: 10,
            found: 10,
            lost: 0,
            find_ns,
            compared: compared.map(|compared| (1, compared)),
        };
        Measurement { samples: (1..=8).map(|batch| sample(batch * 10)).collect() }
    }

    #[test]
    fn ratios_are_of_pairs_and_need_all_of_them() {
        let pairs = [20, 30, 100, 40].map(|ns| (measurement(None, ns), measurement(None, 10)));
        let comparison = Comparison { pairs: pairs.into() };
        let bounds = |ratio: Option<Interval>| ratio.map(|ratio| (ratio.low, ratio.value, ratio.high));
        assert_eq!(bounds(comparison.lookup_time()), Some((2.0, 3.5, 10.0)));
        assert_eq!(bounds(comparison.insert_time()), Some((1.0, 1.0, 1.0)));
        assert_eq!(comparison.lookup_compared(), None);
        assert!(!comparison.is_flooded(), "one pair of four is");
        assert_eq!(Comparison { pairs: vec![] }.lookup_time(), None);
    }

    #[test]
    fn compared_entries_decide_before_times() {
        let pair = |hostile, random| Comparison { pairs: vec![(hostile, random)] };
        assert!(pair(measurement(Some(4_000), 10), measurement(Some(10), 10)).is_flooded());
        assert!(!pair(measurement(Some(11), 5_000), measurement(Some(10), 10)).is_flooded());
        assert!(pair(measurement(None, 5_000), measurement(None, 10)).is_flooded());
        assert_eq!(measurement(Some(5), 1).compared(), Some(48));
        assert_eq!(measurement(None, 1).compared(), None);
    }
}
