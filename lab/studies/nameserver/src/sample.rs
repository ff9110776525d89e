//! Records for tests.

use crate::workloads::MODEL;
use hashlane_lab::definition::Definition;
use hashlane_records::{Record, RecordSet};

/// The study that comes with the command.
pub(crate) fn definition() -> Definition {
    Definition::parse(include_str!("../dns-serve/study.toml"), "study.toml").unwrap()
}

/// Records of six samples each, of workload, scheme, metric, unit and value. Bounds are 2 % away, but a
/// count is exact.
pub(crate) fn records(figures: &[(&str, &str, &str, &str, f64)]) -> RecordSet {
    let mut all = RecordSet::new();
    for &(workload, scheme, metric, unit, value) in figures {
        let is_count = ["queries", "records", "reloads"].contains(&unit);
        let bounds = if is_count { [value; 3] } else { [value, value * 0.98, value * 1.02] };
        let columns = ["dns-serve", MODEL, workload, scheme, "p", metric, unit];
        all.insert(Record::new(columns, bounds, 6, 6)).unwrap();
    }
    all
}
