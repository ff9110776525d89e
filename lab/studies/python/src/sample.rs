//! Records for tests.

use hashlane_lab::definition::Definition;
use hashlane_records::{Record, RecordSet};

/// Records of six samples each, of workload, scheme, metric, unit and value, with bounds 1 % away.
pub(crate) fn records(study: &Definition, figures: &[(&str, &str, &str, &str, f64)]) -> RecordSet {
    let mut all = RecordSet::new();
    for &(workload, scheme, metric, unit, value) in figures {
        let columns = [&study.slug, &study.model, workload, scheme, "p", metric, unit];
        all.insert(Record::new(columns, [value, value * 0.99, value * 1.01], 6, 6)).unwrap();
    }
    all
}
