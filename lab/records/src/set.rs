//! Records, and a set of them without duplicates.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::{Deserialize, Serialize};

use super::metric;
use hashlane_stats::{Interval, coverage};

/// One fact: a row of `records.csv`, whose columns are these fields in this order.
///
/// A ratio of times has the metric `ratio`; its unit is the id of the scheme that it is relative to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The study's slug.
    pub study: String,
    /// Model of the study.
    pub model: String,
    /// The workload's id, or the file that the user gave.
    pub workload: String,
    /// The scheme's id.
    pub scheme: String,
    /// Probe that measured it.
    pub probe: String,
    /// Metric; times name their unit, as in `cycles_mean`.
    pub metric: String,
    /// The unit.
    pub unit: String,
    /// The figure: the median of the samples, unless the metric names another statistic. Finite.
    pub value: f64,
    /// Lower bound of the figure, at 95 % from six samples on; the figure itself if it is exact. Finite.
    pub low: f64,
    /// The upper bound, not below `low`. Finite.
    pub high: f64,
    /// Number of samples behind the figure.
    pub samples: u64,
    /// Launches of a program between which the bounds hold, including launches of the next run. 1 if they
    /// hold within one launch only, or the figure is exact; 0 if they come from chance, whatever the launch.
    #[serde(default = "one")]
    pub launches: u64,
}

/// The launches of older records, which have no such column.
fn one() -> u64 {
    1
}

/// Subject of a record: all columns before the value. Ordered by study, workload, scheme, metric, unit,
/// model, probe.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The study's slug.
    pub study: String,
    /// The workload's id.
    pub workload: String,
    /// The scheme's id.
    pub scheme: String,
    /// Metric.
    pub metric: String,
    /// The unit.
    pub unit: String,
    /// Model of the study.
    pub model: String,
    /// Probe that measured it.
    pub probe: String,
}

impl Record {
    /// A record with these columns before the value, in the order of the fields; with the figure and its
    /// bounds.
    pub fn new(columns: [&str; 7], [value, low, high]: [f64; 3], samples: u64, launches: u64) -> Self {
        let [study, model, workload, scheme, probe, metric, unit] = columns.map(str::to_owned);
        Self { study, model, workload, scheme, probe, metric, unit, value, low, high, samples, launches }
    }

    /// Subject of the record.
    pub fn key(&self) -> Key {
        Key {
            study: self.study.clone(),
            workload: self.workload.clone(),
            scheme: self.scheme.clone(),
            metric: self.metric.clone(),
            unit: self.unit.clone(),
            model: self.model.clone(),
            probe: self.probe.clone(),
        }
    }

    /// The figure with its bounds. Within one launch, fewer than six samples give their smallest and largest
    /// as bounds, which cover less than 95 %.
    pub fn interval(&self) -> Interval {
        let Self { value, low, high, samples, launches, .. } = *self;
        let interval = Interval::bounded(value, low, high);
        match (low == high, launches > 1) {
            (true, _) => Interval { coverage: 1.0, ..interval },
            (false, true) => interval,
            (false, false) => Interval { coverage: coverage(samples), one_launch: launches == 1, ..interval },
        }
    }

    /// Checks that all figures are finite and the bounds in order.
    pub fn is_well_formed(&self) -> bool {
        self.value.is_finite() && self.low.is_finite() && self.high.is_finite() && self.low <= self.high
    }
}

/// Records in the order they were made, at most one of each key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordSet {
    records: Vec<Record>,
    places: BTreeMap<Key, usize>,
}

impl RecordSet {
    /// No records.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a record at the end, or gives it back if it is not [well formed](Record::is_well_formed) or there
    /// is one with its key.
    ///
    /// # Errors
    /// The record.
    pub fn insert(&mut self, record: Record) -> Result<(), Box<Record>> {
        if !record.is_well_formed() {
            return Err(Box::new(record));
        }
        match self.places.entry(record.key()) {
            Entry::Occupied(_) => Err(Box::new(record)),
            Entry::Vacant(place) => {
                place.insert(self.records.len());
                self.records.push(record);
                Ok(())
            }
        }
    }

    /// Adds the records of `others` whose keys are not there yet.
    pub fn extend(&mut self, others: &Self) {
        for record in others.iter() {
            // Refused only where its key is there.
            let _ = self.insert(record.clone());
        }
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// `true` if the set has no records.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// All records, in the order they were made.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Record> + Clone {
        self.records.iter()
    }

    /// The record with exactly this key.
    pub fn find(&self, key: &Key) -> Option<&Record> {
        self.places.get(key).and_then(|&place| self.records.get(place))
    }

    /// The record of a metric, whatever its unit, model and probe: the first in the order of keys if there
    /// are several.
    pub fn metric(&self, study: &str, workload: &str, scheme: &str, metric: &str) -> Option<&Record> {
        self.first(study, workload, scheme, metric, "").filter(|r| r.metric == metric)
    }

    /// The time of `of` as a ratio to the time of `to`, as it was measured pair by pair.
    pub fn ratio(&self, study: &str, workload: &str, of: &str, to: &str) -> Option<&Record> {
        self.metric_in(study, workload, of, metric::RATIO, to)
    }

    /// The record of a metric in a unit, which for a ratio is the scheme that it is relative to.
    pub fn metric_in(
        &self,
        study: &str,
        workload: &str,
        scheme: &str,
        metric: &str,
        unit: &str,
    ) -> Option<&Record> {
        self.first(study, workload, scheme, metric, unit).filter(|r| r.metric == metric && r.unit == unit)
    }

    /// The first record at or after a place in the order of keys, if it is about this scheme.
    fn first(&self, study: &str, workload: &str, scheme: &str, metric: &str, unit: &str) -> Option<&Record> {
        let from = Key {
            study: study.to_owned(),
            workload: workload.to_owned(),
            scheme: scheme.to_owned(),
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            model: String::new(),
            probe: String::new(),
        };
        let (_, &place) = self.places.range(from..).next()?;
        self.records.get(place).filter(|r| r.study == study && r.workload == workload && r.scheme == scheme)
    }

    /// The studies, in the order they were measured.
    pub fn studies(&self) -> Vec<&str> {
        let mut slugs: Vec<&str> = self.records.iter().map(|record| record.study.as_str()).collect();
        slugs.dedup();
        let mut seen = std::collections::HashSet::new();
        slugs.retain(|slug| seen.insert(*slug));
        slugs
    }

    /// The workloads of a study, in the order they were measured.
    pub fn workloads(&self, study: &str) -> Vec<&str> {
        self.distinct(study, |r| &r.workload)
    }

    /// The schemes of a study, in the order they were measured.
    pub fn schemes(&self, study: &str) -> Vec<&str> {
        self.distinct(study, |r| &r.scheme)
    }

    fn distinct<'a>(&'a self, study: &str, field: impl Fn(&'a Record) -> &'a String) -> Vec<&'a str> {
        let mut seen = std::collections::HashSet::new();
        self.records
            .iter()
            .filter(|r| r.study == study)
            .map(|r| field(r).as_str())
            .filter(|&name| seen.insert(name))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(scheme: &str, metric: &str, unit: &str, value: f64) -> Record {
        let columns = ["s", "names", "w", scheme, "tsc", metric, unit];
        Record::new(columns, [value, value - 1.0, value + 1.0], 10, 1)
    }

    #[test]
    fn finds_records_by_key_metric_and_ratio() {
        let mut set = RecordSet::new();
        for r in [
            record("b", "cycles_mean", "cycles", 2.0),
            record("a", metric::RATIO, "c", 4.0),
            record("a", metric::RATIO, "b", 3.0),
            record("a", "cycles_mean", "cycles", 1.0),
        ] {
            set.insert(r).unwrap();
        }
        let key = record("a", "cycles_mean", "cycles", 0.0).key();
        assert_eq!(set.find(&key).unwrap().value, 1.0);
        assert_eq!(set.metric("s", "w", "a", "cycles_mean").unwrap().value, 1.0);
        assert_eq!(set.metric("s", "w", "a", "cycles"), None);
        assert_eq!(set.metric("s", "w", "c", "cycles_mean"), None);
        assert_eq!(set.ratio("s", "w", "a", "b").unwrap().value, 3.0);
        assert_eq!(set.ratio("s", "w", "a", "c").unwrap().value, 4.0);
        assert_eq!(set.ratio("s", "w", "b", "a"), None);
        assert_eq!(set.ratio("s", "w", "a", "bb"), None);
        assert_eq!(set.schemes("s"), ["b", "a"]);
        assert_eq!(set.workloads("s"), ["w"]);
        assert!(set.workloads("t").is_empty());
    }

    #[test]
    fn takes_one_record_of_each_key() {
        let mut set = RecordSet::new();
        set.insert(record("a", "m", "u", 1.0)).unwrap();
        assert_eq!(set.insert(record("a", "m", "u", 2.0)).unwrap_err().value, 2.0);
        assert_eq!(set.len(), 1);
    }

    #[test]
    fn refuses_figures_that_are_not_well_formed() {
        let mut set = RecordSet::new();
        let good = record("a", "m", "u", 1.0);
        assert!(set.insert(Record { value: f64::NAN, ..good.clone() }).is_err());
        assert!(set.insert(Record { high: f64::INFINITY, ..good.clone() }).is_err());
        assert!(set.insert(Record { low: 3.0, high: 2.0, ..good }).is_err());
        assert!(set.is_empty());
    }
}
