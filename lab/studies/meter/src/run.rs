//! Run of a study of meters: its workloads, one after the other.

use crate::meters::{self, Meter};
use crate::sizes::Sizes;
use crate::workloads::{FLOOD, LIVE_FLOOD, LIVE_LOSS, MEMORY, MIX_CPU, MIX_WALL, WORKLOADS};
use crate::{captures, interface, streams};
use hashlane_lab::definition::subject;
use hashlane_lab::study::{RunError, Session};
use std::path::Path;

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
