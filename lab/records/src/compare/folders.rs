//! Two sets of records of separate runs.

use core::fmt;
use std::path::Path;

use super::{Comparison, Row, Study, is_ratio};
use crate::{Key, Record, RecordSet};
use hashlane_stats::{Interval, ratio::independent};

/// Compares `b` with `a`: the metrics of `chosen` or, if that is empty, of each study the one that
/// `of_study` names. A study without such a metric is compared by all its metrics but ratios.
pub fn compare(
    a: &RecordSet,
    b: &RecordSet,
    chosen: &[String],
    of_study: impl Fn(&str) -> Option<String>,
) -> Comparison {
    let mut comparison = Comparison::default();
    for slug in slugs(a, b) {
        let of_slug = |set: &RecordSet| -> Vec<Record> {
            set.iter().filter(|record| record.study == slug).cloned().collect()
        };
        let (of_a, of_b) = (of_slug(a), of_slug(b));
        let own = of_study(&slug).filter(|own| of_a.iter().chain(&of_b).any(|r| r.metric == *own));
        let is_compared = |key: &Key| match (chosen, &own) {
            ([], Some(own)) => key.metric == *own,
            ([], None) => !is_ratio(&key.metric),
            (chosen, _) => chosen.contains(&key.metric),
        };
        let keys = |records: &[Record]| -> Vec<Key> {
            records.iter().map(Record::key).filter(|key| is_compared(key)).collect()
        };
        let mut rows = Vec::new();
        for key in keys(&of_a) {
            match (a.find(&key), b.find(&key)) {
                (Some(a), Some(b)) => rows.push(row(key, a.interval(), b.interval())),
                _ => comparison.only_a.push(key),
            }
        }
        comparison.only_b.extend(keys(&of_b).into_iter().filter(|key| a.find(key).is_none()));
        if !rows.is_empty() {
            let mean = mean(&rows);
            comparison.studies.push(Study { slug, rows, mean, launches: None });
        }
    }
    comparison
}

/// Checks that two runs, named `names`, have a record in common, and each of the `chosen` metrics.
///
/// # Errors
/// They have not; the message states the next step.
pub fn check(names: [&Path; 2], [a, b]: [&RecordSet; 2], chosen: &[String]) -> Result<(), NotInCommon> {
    let common = metrics(a, b);
    if common.is_empty() {
        let content = |name: &Path, set: &RecordSet| match set.studies().as_slice() {
            [] => format!("{} has no records", name.display()),
            studies => format!("{} has {}", name.display(), studies.join(", ")),
        };
        return Err(NotInCommon(format!(
            "{} and {} have no record in common: {}, {}; compare runs of the same study",
            names[0].display(),
            names[1].display(),
            content(names[0], a),
            content(names[1], b)
        )));
    }
    match chosen.iter().find(|metric| !common.contains(metric)) {
        Some(unknown) => {
            let known = common.join(", ");
            Err(NotInCommon(format!("no metric {unknown:?} in both; the metrics are {known}")))
        }
        None => Ok(()),
    }
}

/// Two runs without a record, or without a metric, in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotInCommon(String);

impl fmt::Display for NotInCommon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for NotInCommon {}

/// Metrics that both sets have, in order.
pub fn metrics(a: &RecordSet, b: &RecordSet) -> Vec<String> {
    let common = a.iter().filter(|record| b.find(&record.key()).is_some());
    let mut metrics: Vec<String> = common.map(|record| record.metric.clone()).collect();
    metrics.sort_unstable();
    metrics.dedup();
    metrics
}

fn row(key: Key, a: Interval, b: Interval) -> Row {
    Row { key, a, b, ratio: independent(b, a), judged: None }
}

/// Slugs of both sets, the slugs in `a` first.
fn slugs(a: &RecordSet, b: &RecordSet) -> Vec<String> {
    let mut slugs: Vec<String> = Vec::new();
    for record in a.iter().chain(b.iter()) {
        if !slugs.contains(&record.study) {
            slugs.push(record.study.clone());
        }
    }
    slugs
}

/// Geometric mean of the ratios, without bounds: separate runs have none.
fn mean(rows: &[Row]) -> Option<Interval> {
    let logs: Vec<f64> = rows.iter().filter_map(|row| row.ratio).map(|ratio| ratio.value.ln()).collect();
    hashlane_stats::mean(&logs).map(|mean| Interval::exact(mean.exp()))
}
