//! The kinds of studies that this command has.

use hashlane_lab::study::Studies;
use hashlane_study_dns::Renderers;
use hashlane_study_flows::{Cost, Floods, Tables};
use hashlane_study_kernel::KernelStudies;
use hashlane_study_meter::{METERS, XDP as METER_XDP};
use hashlane_study_names::{Lookups, Names};
use hashlane_study_nameserver::{SERVERS, TRANSFERS, XDP as SERVER_XDP};
use hashlane_study_ndn::{FORWARDERS, PIT, SHARDS};
use hashlane_study_python::{CALLS, CLUSTER, COLUMNS};

/// All kinds, in the order of `study list`.
pub(crate) const STUDIES: Studies = Studies(&[
    &Names,
    &Lookups,
    &Cost,
    &Floods,
    &Tables,
    &METERS,
    &METER_XDP,
    &KernelStudies,
    &Renderers,
    &SERVERS,
    &SERVER_XDP,
    &TRANSFERS,
    &FORWARDERS,
    &PIT,
    &SHARDS,
    &CALLS,
    &COLUMNS,
    &CLUSTER,
]);

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_lab::study::{Settings, run};
    use hashlane_stats::ENOUGH_SAMPLES;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn every_study_has_rounds_enough_for_bounds_at_95_percent() {
        for file in STUDIES.files() {
            let size = STUDIES.parse(file.text, file.slug).unwrap().size;
            for (name, size) in [("quick", size.quick), ("full", size.full)] {
                let rounds = u64::from(size.repetitions);
                assert!(rounds >= ENOUGH_SAMPLES, "{}: {rounds} rounds in size.{name}", file.slug);
            }
        }
    }

    /// A run that is stopped before it begins looks up every name in the study file, and measures nothing.
    #[test]
    fn every_study_can_be_run() {
        for file in STUDIES.files() {
            let definition = STUDIES.parse(file.text, file.slug).unwrap();
            assert_eq!(definition.slug, file.slug);
            let settings = Settings::new(&definition, false, "hashlane".into());
            let kind = STUDIES.kind(&definition.model).unwrap();
            let outcome = run(kind, &definition, &settings, &AtomicBool::new(true), &mut |_| ());
            assert!(outcome.failed.is_none(), "{}: {:?}", file.slug, outcome.failed);
            assert!(outcome.stopped && outcome.records.is_empty(), "{}", file.slug);
        }
    }
}
