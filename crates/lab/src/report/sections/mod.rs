//! The sections of a report: one file for each kind, a function of the records alone.
//!
//! What kind a record is of is said by its model, so that a study file of the user's own has the same sections.

mod cost;
mod flood;
mod mca;
mod published;
mod sizes;
mod spread;

use super::section::{Section, Table};
use crate::record::{Record, RecordSet};
use crate::study::definition::Definition;

/// The sections that there are records for, in the order of the page.
pub(super) fn sections(definition: &Definition, records: &RecordSet) -> Vec<Section> {
    [cost::section, mca::section, spread::section, flood::section, sizes::section]
        .iter()
        .filter_map(|section| section(definition, records))
        .collect()
}

/// Whether the figures of a model stand in a section of their own, so that no other table need show them.
pub(super) fn show(model: &str) -> bool {
    [cost::MODEL, mca::MODEL, spread::MODEL, flood::MODEL, sizes::MODEL].contains(&model)
}

/// The records of one study and one model.
struct Facts<'a> {
    study: &'a str,
    records: &'a RecordSet,
    /// In the study's order, then those that it does not name.
    workloads: Vec<&'a str>,
    /// In the study's order, then those that it does not name.
    schemes: Vec<&'a str>,
}

impl<'a> Facts<'a> {
    /// `None` if there are no such records.
    fn of(definition: &'a Definition, records: &'a RecordSet, model: &str) -> Option<Self> {
        let of = |r: &&Record| r.study == definition.slug && r.model == model;
        let workloads = ordered(&definition.workloads, records.iter().filter(of).map(|r| &r.workload));
        let schemes = ordered(&definition.schemes, records.iter().filter(of).map(|r| &r.scheme));
        let facts = Self { study: &definition.slug, records, workloads, schemes };
        (!facts.workloads.is_empty()).then_some(facts)
    }

    fn record(&self, workload: &str, scheme: &str, metric: &str) -> Option<&'a Record> {
        self.records.metric(self.study, workload, scheme, metric)
    }

    fn value(&self, workload: &str, scheme: &str, metric: &str) -> Option<f64> {
        self.record(workload, scheme, metric).map(|r| r.value)
    }

    /// The schemes with any of these metrics on the workload.
    fn schemes_with(&self, workload: &str, metrics: &[&str]) -> Vec<&'a str> {
        let any = |scheme: &&&str| metrics.iter().any(|m| self.record(workload, scheme, m).is_some());
        self.schemes.iter().filter(any).copied().collect()
    }
}

/// Each id once: those that are `named` in their order, then the others as they come.
fn ordered<'a>(named: &'a [String], found: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let place: std::collections::HashMap<&str, usize> =
        named.iter().enumerate().map(|(i, id)| (id.as_str(), i)).collect();
    let mut seen = std::collections::HashSet::new();
    let mut ids: Vec<&str> = found.map(String::as_str).filter(|id| seen.insert(*id)).collect();
    ids.sort_by_key(|id| place.get(id).copied().unwrap_or(usize::MAX));
    ids
}

/// `names` with those first that the study is about: the reference, then what its targets and claims compare.
fn by_interest<'a>(
    definition: &Definition,
    names: impl Iterator<Item = &'a str>,
    name_of: fn(&str) -> &str,
) -> Vec<&'a str> {
    let targets = definition.targets.iter().flat_map(|t| [&t.of, &t.to]);
    let claims = definition.claims.iter().flat_map(|c| &c.pairs).flat_map(|(of, to)| [of, to]);
    let about: Vec<&str> =
        [&definition.reference].into_iter().chain(targets).chain(claims).map(|id| name_of(id)).collect();
    let mut names: Vec<&str> = names.collect();
    names.sort_by_key(|name| about.iter().position(|id| id == name).unwrap_or(usize::MAX));
    names
}

/// Drops the columns, after the first `left`, that have nothing but dashes.
fn without_empty_columns(mut table: Table) -> Table {
    let none = super::format::NONE;
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
