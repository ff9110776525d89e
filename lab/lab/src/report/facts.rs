//! Records of one study and one model, looked up by sections of the report.

use std::collections::{HashMap, HashSet};

use super::section::{Shown, Table};
use crate::definition::{CriterionFigure, Definition};
use hashlane_records::{Record, RecordSet};

/// Most workloads and schemes of a section: tables have a cell for each pair, and a file of records may name
/// any number.
const MAX_WORKLOADS: usize = 256;
const MAX_SCHEMES: usize = 512;

/// The records of one study and one model.
pub struct Facts<'a> {
    /// Slug of the study.
    pub study: &'a str,
    /// All records.
    pub records: &'a RecordSet,
    /// Workloads in the study's order, then those that it does not name.
    pub workloads: Vec<&'a str>,
    /// Schemes in the study's order, then those that it does not name.
    pub schemes: Vec<&'a str>,
    /// The schemes of each workload, in the same order.
    measured: HashMap<&'a str, Vec<&'a str>>,
    /// `true` if there are more workloads or schemes than are shown.
    cut: bool,
}

impl<'a> Facts<'a> {
    /// Records of `model` in the study; `None` if there are none.
    pub fn of(definition: &'a Definition, records: &'a RecordSet, model: &str) -> Option<Self> {
        let of =
            |r: &&Record| r.study == definition.slug && r.model == model && !definition.is_control(&r.scheme);
        let mut workloads = ordered(&definition.workloads, records.iter().filter(of).map(|r| &r.workload));
        let mut schemes = ordered(&definition.schemes, records.iter().filter(of).map(|r| &r.scheme));
        let cut = workloads.len() > MAX_WORKLOADS || schemes.len() > MAX_SCHEMES;
        workloads.truncate(MAX_WORKLOADS);
        schemes.truncate(MAX_SCHEMES);
        let place: HashMap<&str, usize> = schemes.iter().enumerate().map(|(i, id)| (*id, i)).collect();
        let mut measured: HashMap<&str, Vec<&str>> = HashMap::new();
        for record in records.iter().filter(of) {
            if place.contains_key(record.scheme.as_str()) {
                measured.entry(&record.workload).or_default().push(&record.scheme);
            }
        }
        for schemes in measured.values_mut() {
            schemes.sort_by_key(|id| place.get(id));
            schemes.dedup();
        }
        let facts = Self { study: &definition.slug, records, workloads, schemes, measured, cut };
        (!facts.workloads.is_empty()).then_some(facts)
    }

    /// Note of a section, with the workloads and schemes that it leaves out.
    pub fn note(&self, words: String) -> String {
        if !self.cut {
            return words;
        }
        format!("{words} Only the first {MAX_WORKLOADS} workloads and {MAX_SCHEMES} schemes are shown.")
    }

    /// Record of a metric.
    pub fn record(&self, workload: &str, scheme: &str, metric: &str) -> Option<&'a Record> {
        self.records.metric(self.study, workload, scheme, metric)
    }

    /// Value of a metric.
    pub fn value(&self, workload: &str, scheme: &str, metric: &str) -> Option<f64> {
        self.record(workload, scheme, metric).map(|r| r.value)
    }

    /// Schemes that were measured on the workload.
    pub fn schemes_on(&self, workload: &str) -> impl Iterator<Item = &'a str> {
        self.measured.get(workload).into_iter().flatten().copied()
    }

    /// Schemes with any of these metrics on the workload.
    pub fn schemes_with(&self, workload: &str, metrics: &[&str]) -> Vec<&'a str> {
        let any = |scheme: &&&str| metrics.iter().any(|m| self.record(workload, scheme, m).is_some());
        self.measured.get(workload).into_iter().flatten().filter(any).copied().collect()
    }
}

/// Each id once: those that are `named` in their order, then the others in order of appearance.
fn ordered<'a>(named: &'a [String], found: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let place: HashMap<&str, usize> = named.iter().enumerate().map(|(i, id)| (id.as_str(), i)).collect();
    let mut seen = HashSet::new();
    let mut ids: Vec<&str> = found.map(String::as_str).filter(|id| seen.insert(*id)).collect();
    ids.sort_by_key(|id| place.get(id).copied().unwrap_or(usize::MAX));
    ids
}

/// `names`, with those of most interest first: the reference, then the schemes that criteria and claims
/// compare.
pub fn by_interest<'a>(
    definition: &Definition,
    names: impl Iterator<Item = &'a str>,
    name_of: impl Fn(&str) -> &str,
) -> Vec<&'a str> {
    let criteria = definition.criteria.iter().flat_map(|criterion| match &criterion.figure {
        CriterionFigure::Ratio(to) => vec![&criterion.of, to],
        _ => vec![&criterion.of],
    });
    let claims = definition.claims.iter().flat_map(|c| &c.pairs).flat_map(|(of, to)| [of, to]);
    let about: Vec<&str> =
        [&definition.reference].into_iter().chain(criteria).chain(claims).map(|id| name_of(id)).collect();
    let mut names: Vec<&str> = names.collect();
    names.sort_by_key(|name| about.iter().position(|id| id == name).unwrap_or(usize::MAX));
    names
}

/// An open table with `left` columns of words, without the columns that are empty; `None` if it has no rows.
pub fn table(caption: &str, columns: &[&str], left: usize, rows: Vec<Vec<String>>) -> Option<Table> {
    let columns = columns.iter().map(|name| (*name).to_owned()).collect();
    let table = Table { caption: caption.to_owned(), columns, left, rows, shown: Shown::Open };
    (!table.rows.is_empty()).then(|| without_empty_columns(table))
}

/// Drops the columns, after the first `left`, that have nothing but dashes.
pub fn without_empty_columns(mut table: Table) -> Table {
    let none = hashlane_stats::format::NONE;
    let filled: Vec<bool> = (0..table.columns.len())
        .map(|i| i < table.left || table.rows.iter().any(|row| row.get(i).is_some_and(|cell| cell != none)))
        .collect();
    let keep = |cells: &mut Vec<String>| {
        let mut column = filled.iter();
        cells.retain(|_| column.next().copied().unwrap_or(true));
    };
    keep(&mut table.columns);
    table.rows.iter_mut().for_each(keep);
    table
}

/// Measured workloads in the order of the report: those of the study, then the user's own.
pub fn workloads<'a>(definition: &'a Definition, records: &'a RecordSet) -> Vec<&'a str> {
    let measured = records.workloads(&definition.slug);
    let named = definition.workloads.iter().map(String::as_str).filter(|w| measured.contains(w));
    let mut all: Vec<&str> = named.collect();
    all.extend(definition.own_workloads(records));
    let metric = |w: &str, scheme: &str| records.metric(&definition.slug, w, scheme, &definition.metric);
    all.retain(|w| definition.schemes.iter().any(|scheme| metric(w, scheme).is_some()));
    all
}

/// Unit of the study's metric.
pub fn unit<'a>(definition: &Definition, records: &'a RecordSet) -> &'a str {
    let of = |r: &&Record| r.study == definition.slug && r.metric == definition.metric;
    records.iter().find(of).map_or("cycles", |r| &r.unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn keeps_no_more_than_a_reader_can_take() {
        let definition = sample::definition();
        let first = sample::records(&definition, &[]).iter().next().unwrap().clone();
        let mut records = RecordSet::new();
        for i in 0..2 * MAX_SCHEMES {
            let (workload, scheme) = (format!("workload-{i}"), format!("scheme-{i}"));
            records.insert(Record { workload, scheme, ..first.clone() }).unwrap();
        }
        let facts = Facts::of(&definition, &records, &definition.model).unwrap();
        assert_eq!((facts.workloads.len(), facts.schemes.len()), (MAX_WORKLOADS, MAX_SCHEMES));
        assert!(facts.note(String::new()).contains("Only the first 256 workloads"));
        assert!(Facts::of(&definition, &records, "another").is_none());
    }

    #[test]
    fn lists_the_users_own_workloads_last() {
        let definition = sample::definition();
        let records = sample::records(&definition, &["mine"]);
        assert_eq!(workloads(&definition, &records), ["12Bx5", "6Bx10", "mine"]);
        assert!(workloads(&definition, &RecordSet::new()).is_empty());
    }
}
