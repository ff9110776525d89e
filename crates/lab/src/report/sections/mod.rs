//! The sections of a report: one file for each kind, a function of the records alone.
//!
//! What kind a record is of is said by its model, so that a study file of the user's own has the same sections.

mod cost;
mod flood;
mod forwarder;
mod kernel;
mod mca;
mod pit;
mod published;
mod render;
mod sizes;
mod spread;

use std::collections::{HashMap, HashSet};

use super::section::{Section, Table};
use crate::record::{Record, RecordSet};
use crate::study::definition::Definition;

/// The sections that there are records for, in the order of the page.
pub(super) fn sections(definition: &Definition, records: &RecordSet) -> Vec<Section> {
    let sections: [fn(&Definition, &RecordSet) -> Option<Section>; 9] = [
        cost::section,
        mca::section,
        spread::section,
        flood::section,
        kernel::section,
        sizes::section,
        render::section,
        forwarder::section,
        pit::section,
    ];
    sections.iter().filter_map(|section| section(definition, records)).collect()
}

/// Whether the figures of a model stand in a section of their own, so that no other table need show them.
pub(super) fn show(model: &str) -> bool {
    let of_load = [forwarder::MODEL, forwarder::PARTS, forwarder::MEMORY].contains(&model)
        || [pit::MODEL, pit::LOAD, pit::PARTS, pit::DIGEST].contains(&model);
    of_load
        || [kernel::STREAMS, kernel::CYCLES, kernel::SYN].contains(&model)
        || [cost::MODEL, mca::MODEL, spread::MODEL, flood::MODEL, sizes::MODEL, render::MODEL]
            .contains(&model)
}

/// A section shows no more workloads, and no more schemes: tables have a cell for each pair, and a file of records may name
/// what it likes.
const MAX_WORKLOADS: usize = 256;
const MAX_SCHEMES: usize = 512;

/// The records of one study and one model.
struct Facts<'a> {
    study: &'a str,
    records: &'a RecordSet,
    /// In the study's order, then those that it does not name.
    workloads: Vec<&'a str>,
    /// In the study's order, then those that it does not name.
    schemes: Vec<&'a str>,
    /// The schemes of each workload, in the same order.
    measured: HashMap<&'a str, Vec<&'a str>>,
    /// Whether there are more workloads or schemes than are shown.
    cut: bool,
}

impl<'a> Facts<'a> {
    /// `None` if there are no such records.
    fn of(definition: &'a Definition, records: &'a RecordSet, model: &str) -> Option<Self> {
        let of = |r: &&Record| r.study == definition.slug && r.model == model;
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

    /// The note of a section, and what it leaves out.
    fn note(&self, words: String) -> String {
        if !self.cut {
            return words;
        }
        format!("{words} Only the first {MAX_WORKLOADS} workloads and {MAX_SCHEMES} schemes are shown.")
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
        self.measured.get(workload).into_iter().flatten().filter(any).copied().collect()
    }
}

/// Each id once: those that are `named` in their order, then the others as they come.
fn ordered<'a>(named: &'a [String], found: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let place: HashMap<&str, usize> = named.iter().enumerate().map(|(i, id)| (id.as_str(), i)).collect();
    let mut seen = HashSet::new();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::flow_sample;
    use crate::report::section::Block;

    #[test]
    fn every_kind_of_record_has_its_section() {
        let records = flow_sample::records();
        for (definition, count) in flow_sample::definitions().iter().zip([3, 1, 1]) {
            assert_eq!(sections(definition, &records).len(), count, "{}", definition.slug);
            assert!(sections(definition, &RecordSet::new()).is_empty());
            assert!(show(&definition.model));
        }
        assert!(!show("names"));
    }

    #[test]
    fn shows_no_more_than_a_reader_can_take() {
        let definition = &flow_sample::definitions()[1];
        let first = flow_sample::records();
        let first = first.iter().find(|r| r.study == definition.slug).unwrap();
        let mut records = RecordSet::new();
        for i in 0..2 * MAX_SCHEMES {
            let (workload, scheme) = (format!("attack-{i}"), format!("scheme-{i}@{i}"));
            records.insert(Record { workload, scheme, ..first.clone() }).unwrap();
        }
        let section = sections(definition, &records).remove(0);
        assert!(section.note.contains("Only the first 256 workloads"), "{}", section.note);
        let Some(Block::Lines(lines)) = section.blocks.first() else { panic!("no plot") };
        assert_eq!((lines.plots.len(), lines.series.len()), (MAX_WORKLOADS, MAX_SCHEMES));
    }
}
