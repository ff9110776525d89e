//! Records for tests.

use hashlane_lab::definition::Definition;
use hashlane_lab::record::{Record, RecordSet};

/// Records of six samples each, of workload, scheme, metric, unit and value, with bounds 1 % away.
pub(crate) fn records(study: &Definition, figures: &[(&str, &str, &str, &str, f64)]) -> RecordSet {
    let mut all = RecordSet::new();
    for &(workload, scheme, metric, unit, value) in figures {
        let [study, model, probe] = [study.slug.as_str(), &study.model, "p"].map(str::to_owned);
        let [workload, scheme, metric, unit] = [workload, scheme, metric, unit].map(str::to_owned);
        let (low, high, samples) = (value * 0.99, value * 1.01, 6);
        all.insert(Record {
            study,
            model,
            workload,
            scheme,
            probe,
            metric,
            unit,
            value,
            low,
            high,
            samples,
            launches: 6,
        })
        .unwrap();
    }
    all
}
