//! Records for tests.

use hashlane_lab::record::Record;

/// A record of six samples; `at` is its workload, scheme, metric and unit, `bounds` its value, low and high.
pub(crate) fn record(study: &str, model: &str, at: [&str; 4], bounds: (f64, f64, f64)) -> Record {
    let [workload, scheme, metric, unit] = at.map(str::to_owned);
    let [study, model, probe] = [study, model, "p"].map(str::to_owned);
    let ((value, low, high), samples) = (bounds, 6);
    Record { study, model, workload, scheme, probe, metric, unit, value, low, high, samples, launches: 6 }
}
