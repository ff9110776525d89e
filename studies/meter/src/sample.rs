//! Records for tests.

use crate::run::MODEL;
use hashlane_lab::definition::Definition;
use hashlane_lab::record::{Record, RecordSet};

/// The study that comes with the command.
pub(crate) fn definition() -> Definition {
    Definition::parse(include_str!("../flow-meter/study.toml"), "study.toml").unwrap()
}

/// Records of six samples each, of workload, scheme, metric, unit and value, with bounds 2 % away.
pub(crate) fn records(figures: &[(&str, &str, &str, &str, f64)]) -> RecordSet {
    let mut all = RecordSet::new();
    for &(workload, scheme, metric, unit, value) in figures {
        let (low, high) =
            if unit == "flows" || unit == "packets" { (value, value) } else { (value * 0.98, value * 1.02) };
        let [study, model, probe] = ["flow-meter", MODEL, "p"].map(str::to_owned);
        let [workload, scheme, metric, unit] = [workload, scheme, metric, unit].map(str::to_owned);
        let samples = 6;
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
