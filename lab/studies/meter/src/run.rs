//! Run of a study of meters: its workloads, one after the other.

use crate::error::MeterError;
use crate::meters::{self, Meter};
use crate::{captures, interface, streams};
use hashlane_lab::definition::subject;
use hashlane_lab::study::{RunError, Session, Settings};
use std::fs;
use std::path::Path;

/// Model of all records.
pub(crate) const MODEL: &str = "meter";

/// A capture of a mix: CPU time and time on the clock, both of the same turns.
pub(crate) const MIX_CPU: &str = "mix/cpu";
pub(crate) const MIX_WALL: &str = "mix/wall";

/// Flows of one packet on standard input, all of them in the table.
pub(crate) const MEMORY: &str = "memory";

/// SYNs of ten times as many ends as the table takes, on standard input.
pub(crate) const FLOOD: &str = "flood/pcap";

/// Packets on an interface at growing rates.
pub(crate) const LIVE_LOSS: &str = "live/loss";

/// SYNs on an interface.
pub(crate) const LIVE_FLOOD: &str = "live/flood";

/// All workloads.
const WORKLOADS: [&str; 6] = [MIX_CPU, MIX_WALL, MEMORY, FLOOD, LIVE_LOSS, LIVE_FLOOD];

/// Our meter with one worker, in records.
pub(crate) const OURS: &str = "ours";

/// The meter of other people that criteria name.
pub(crate) const SOFTFLOWD: &str = "softflowd";

/// Measures a study of meters.
pub(crate) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    let definition = session.definition;
    for id in &definition.workloads {
        if !WORKLOADS.contains(&id.as_str()) {
            let known = WORKLOADS.join(", ");
            return Err(RunError::UnknownWorkload(format!("unknown workload {id:?}; known: {known}")));
        }
    }
    let mut missing = Vec::new();
    for id in &definition.schemes {
        let meter = Meter::of(subject(id)).ok_or_else(|| RunError::UnknownScheme {
            id: id.clone(),
            help: format!("known: {}", Meter::known()),
        })?;
        missing.extend(meter.missing());
    }
    if session.stopped() {
        return Ok(());
    }
    session.notes.extend(missing);
    session.notes.push(meters::WITHOUT_ADAPTER.to_owned());
    let folder = tempfile::Builder::new().prefix("hashlane-meter-").tempdir();
    let folder = folder.map_err(|error| RunError::Other(Box::new(error)))?;
    let of = |id: &str| definition.workloads.iter().any(|workload| workload == id);
    let rounds = session.settings.size.repetitions as usize;
    let sizes = Sizes::of(session.settings);
    let steps = |wanted: bool, steps: usize| if wanted { steps } else { 0 };
    session.total = steps(of(MIX_CPU) || of(MIX_WALL), 1 + captures::subjects(session).len() * rounds)
        + steps(of(MEMORY), sizes.turns())
        + steps(of(FLOOD), 1 + sizes.turns())
        + steps(of(LIVE_LOSS), interface::STEPS)
        + steps(of(LIVE_FLOOD), 1);
    let measured = workloads(session, folder.path(), of);
    folder.close().map_err(|error| RunError::Other(Box::new(error))).and(measured)
}

/// Measures the workloads that are `wanted`.
fn workloads(
    session: &mut Session<'_>,
    folder: &Path,
    wanted: impl Fn(&str) -> bool,
) -> Result<(), RunError> {
    if wanted(MIX_CPU) || wanted(MIX_WALL) {
        captures::run(session, folder)?;
    }
    for label in [MEMORY, FLOOD] {
        if wanted(label) && !session.stopped() {
            streams::run(session, folder, label)?;
        }
    }
    for label in [LIVE_LOSS, LIVE_FLOOD] {
        if wanted(label) && !session.stopped() {
            interface::run(session, folder, label)?;
        }
    }
    Ok(())
}

/// Packets and flows of a workload, by the items of the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Items: packets of the mix.
    pub(crate) items: u32,
    /// `true` with `--full`.
    pub(crate) full: bool,
}

impl Sizes {
    /// Sizes of a run.
    pub(crate) fn of(settings: &Settings<'_>) -> Self {
        Self { items: settings.size.items, full: settings.full }
    }

    /// Turns of workloads whose figures are counts and memory, of which the worst counts.
    pub(crate) fn turns(self) -> usize {
        if self.full { 3 } else { 1 }
    }

    /// Flows of the mix: 350,000 of 2,000,000 packets.
    pub(crate) fn mix_flows(self) -> u32 {
        (u64::from(self.items) * 7 / 40).max(1) as u32
    }

    /// Flows of the memory: 10,000,000 in both sizes of the study.
    pub(crate) fn memory_flows(self) -> u32 {
        self.items.saturating_mul(if self.full { 5 } else { 25 })
    }

    /// SYNs of a flood: 10,000,000 with 2,000,000 items.
    pub(crate) fn flows(self) -> u32 {
        self.items.saturating_mul(5)
    }

    /// Limit of the table under a flood: 1 Mi, and at most half of the SYNs.
    pub(crate) fn limit(self) -> u32 {
        (self.flows() / 2).clamp(256, 1 << 20)
    }

    /// Limit of a smaller table, with which the buffers beside the table are the same.
    pub(crate) fn quarter(self) -> u32 {
        self.limit() / 4
    }

    /// Established flows under a flood.
    pub(crate) fn established(self) -> u32 {
        (self.limit() / 64).clamp(1, 1_000)
    }
}

/// Makes an empty folder for the outputs of a turn.
pub(crate) fn empty(folder: &Path) -> Result<(), MeterError> {
    let failed = "cannot make a folder for outputs";
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(MeterError::io(failed))?;
    }
    fs::create_dir(folder).map_err(MeterError::io(failed))
}

/// The failure of our meter on a workload; `Ok` of a run that was stopped.
pub(crate) fn failure(workload: &str, scheme: &str, error: MeterError) -> Result<(), RunError> {
    match error {
        MeterError::Stopped => Ok(()),
        error => Err(RunError::Subject {
            workload: workload.to_owned(),
            scheme: scheme.to_owned(),
            why: error.to_string(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_sizes_are_those_of_the_criteria() {
        let full = Sizes { items: 2_000_000, full: true };
        assert_eq!((full.mix_flows(), full.flows(), full.limit()), (350_000, 10_000_000, 1 << 20));
        assert_eq!((full.established(), full.memory_flows()), (1_000, 10_000_000));
        assert_eq!(Sizes { items: 400_000, full: false }.memory_flows(), 10_000_000);
        let small = Sizes { items: 100, full: false };
        assert_eq!((small.mix_flows(), small.flows(), small.limit(), small.established()), (17, 500, 256, 4));
        let none = Sizes { items: 1, full: false };
        assert!(none.mix_flows() == 1 && none.quarter() >= 64 && none.established() == 4);
    }

    #[test]
    fn a_folder_is_emptied() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("turn");
        empty(&path).unwrap();
        fs::write(path.join("rest"), "x").unwrap();
        empty(&path).unwrap();
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
    }

    #[test]
    fn a_stopped_run_is_no_failure() {
        assert!(failure("memory", OURS, MeterError::Stopped).is_ok());
        let error = failure("memory", OURS, MeterError::Program("it ended early".into())).unwrap_err();
        assert_eq!(error.to_string(), "workload memory, ours: it ended early");
    }
}
