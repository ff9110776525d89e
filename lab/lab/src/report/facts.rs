//! Workloads and the unit of a study's report, and tables without empty columns.

use super::section::Table;
use crate::definition::Definition;
use hashlane_records::{Record, RecordSet};

/// Drops the columns, after the first `left`, that have nothing but dashes.
pub(crate) fn without_empty_columns(mut table: Table) -> Table {
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

/// Measured workloads in the order of the report: the study's, then the user's own.
pub(crate) fn workloads<'a>(definition: &'a Definition, records: &'a RecordSet) -> Vec<&'a str> {
    let measured = records.workloads(&definition.slug);
    let named = definition.workloads.iter().map(String::as_str).filter(|w| measured.contains(w));
    let mut all: Vec<&str> = named.collect();
    all.extend(definition.own_workloads(records));
    let metric = |w: &str, scheme: &str| records.metric(&definition.slug, w, scheme, &definition.metric);
    all.retain(|w| definition.schemes.iter().any(|scheme| metric(w, scheme).is_some()));
    all
}

/// Unit of the study's metric.
pub(crate) fn unit<'a>(definition: &Definition, records: &'a RecordSet) -> &'a str {
    let of = |r: &&Record| r.study == definition.slug && r.metric == definition.metric;
    records.iter().find(of).map_or("cycles", |r| &r.unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn lists_the_users_own_workloads_last() {
        let definition = sample::definition();
        let records = sample::records(&definition, &["mine"]);
        assert_eq!(workloads(&definition, &records), ["12Bx5", "6Bx10", "mine"]);
        assert!(workloads(&definition, &RecordSet::new()).is_empty());
    }
}
