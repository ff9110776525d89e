//! Records for tests.

use hashlane_records::Record;

/// A record of six samples; `at` is its workload, scheme, metric and unit, `bounds` its value, low and high.
pub(crate) fn record(study: &str, model: &str, at: [&str; 4], bounds: (f64, f64, f64)) -> Record {
    let [workload, scheme, metric, unit] = at;
    Record::new([study, model, workload, scheme, "p", metric, unit], bounds.into(), 6, 6)
}
