//! The unit of a study's report, and tables without empty columns.

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

/// Unit of the study's metric.
pub(crate) fn unit<'a>(definition: &Definition, records: &'a RecordSet) -> &'a str {
    let of = |r: &&Record| r.study == definition.slug && r.metric == definition.metric;
    records.iter().find(of).map_or("cycles", |r| &r.unit)
}
