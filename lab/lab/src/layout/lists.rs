//! Workloads and schemes of one model, in the order of the report.

use crate::definition::{CriterionFigure, Definition};
use hashlane_records::{Record, RecordSet};
use std::collections::{HashMap, HashSet};

/// Most workloads and schemes of a section: tables have a cell for each pair, and a file of records may name
/// any number.
const MAX_WORKLOADS: usize = 256;
const MAX_SCHEMES: usize = 512;

/// Workloads and schemes that have records of one model.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Those in the study's order, then those that it does not name.
    pub(super) workloads: Vec<String>,
    /// In the same order.
    pub(super) schemes: Vec<String>,
    /// Schemes of each workload.
    measured: HashMap<String, Vec<String>>,
    /// There are more workloads or schemes than are listed.
    cut: bool,
}

impl Lists {
    /// Workloads and schemes of `model` in the study; `None` without records.
    pub(super) fn of(definition: &Definition, records: &RecordSet, model: &str) -> Option<Self> {
        let of =
            |r: &&Record| r.study == definition.slug && r.model == model && !definition.is_control(&r.scheme);
        let mut workloads = ordered(&definition.workloads, records.iter().filter(of).map(|r| &r.workload));
        let mut schemes = ordered(&definition.schemes, records.iter().filter(of).map(|r| &r.scheme));
        let cut = workloads.len() > MAX_WORKLOADS || schemes.len() > MAX_SCHEMES;
        workloads.truncate(MAX_WORKLOADS);
        schemes.truncate(MAX_SCHEMES);
        let place: HashMap<&str, usize> = schemes.iter().enumerate().map(|(i, id)| (*id, i)).collect();
        let mut measured: HashMap<String, Vec<&str>> = HashMap::new();
        for record in records.iter().filter(of) {
            if place.contains_key(record.scheme.as_str()) {
                measured.entry(record.workload.clone()).or_default().push(&record.scheme);
            }
        }
        let owned = |ids: Vec<&str>| ids.into_iter().map(str::to_owned).collect::<Vec<_>>();
        let in_order = |(workload, mut schemes): (String, Vec<&str>)| {
            schemes.sort_by_key(|id| place.get(id));
            schemes.dedup();
            (workload, owned(schemes))
        };
        let measured = measured.into_iter().map(in_order).collect();
        let lists = Self { workloads: owned(workloads), schemes: owned(schemes), measured, cut };
        (!lists.workloads.is_empty()).then_some(lists)
    }

    /// All schemes on all workloads.
    pub(super) fn all(definition: &Definition) -> Self {
        let (workloads, schemes) = (definition.workloads.clone(), definition.schemes.clone());
        let measured = workloads.iter().map(|workload| (workload.clone(), schemes.clone())).collect();
        Self { workloads, schemes, measured, cut: false }
    }

    /// Schemes that were measured on a workload.
    pub(super) fn on(&self, workload: &str) -> &[String] {
        self.measured.get(workload).map_or(&[], Vec::as_slice)
    }

    /// Note of a section, with the workloads and schemes that it leaves out.
    pub(super) fn note(&self, words: String) -> String {
        if !self.cut {
            return words;
        }
        format!("{words} Only the first {MAX_WORKLOADS} workloads and {MAX_SCHEMES} schemes are shown.")
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

/// `names`, the most interesting first: the reference, then the schemes that criteria and claims
/// compare.
pub(super) fn by_interest<'a>(
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
        let lists = Lists::of(&definition, &records, &definition.model).unwrap();
        assert_eq!((lists.workloads.len(), lists.schemes.len()), (MAX_WORKLOADS, MAX_SCHEMES));
        assert!(lists.note(String::new()).contains("Only the first 256 workloads"));
        assert!(Lists::of(&definition, &records, "another").is_none());
    }
}
