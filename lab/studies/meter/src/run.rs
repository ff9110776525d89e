//! Run of a study of meters: its workloads, one after the other.

use crate::meters::{self, Meter};
use crate::sizes::Sizes;
use crate::workloads::{FLOOD, LIVE_FLOOD, LIVE_LOSS, MEMORY, MIX_CPU, MIX_WALL, WORKLOADS};
use crate::{captures, interface, streams};
use hashlane_lab::study::{RunError, Session};
use std::path::Path;

/// Measures a study of meters.
pub(crate) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    session.check_workloads(&WORKLOADS)?;
    let all = session.schemes_in(&meters::ALL)?;
    if session.stopped() {
        return Ok(());
    }
    session.notes.extend(all.into_iter().filter_map(Meter::missing));
    session.notes.push(meters::WITHOUT_ADAPTER.to_owned());
    let rounds = session.settings.size.repetitions as usize;
    let sizes = Sizes::of(session.settings);
    let steps = |label: &str, steps: usize| if session.has_workload(label) { steps } else { 0 };
    let of_mix = 1 + captures::contenders(session).len() * rounds;
    session.total = steps(MIX_CPU, of_mix).max(steps(MIX_WALL, of_mix))
        + steps(MEMORY, sizes.turns())
        + steps(FLOOD, 1 + sizes.turns())
        + steps(LIVE_LOSS, interface::STEPS)
        + steps(LIVE_FLOOD, 1);
    session.with_folder("hashlane-meter-", workloads)
}

/// Measures the workloads of the study.
fn workloads(session: &mut Session<'_>, folder: &Path) -> Result<(), RunError> {
    if session.has_workload(MIX_CPU) || session.has_workload(MIX_WALL) {
        captures::run(session, folder)?;
    }
    for label in [MEMORY, FLOOD, LIVE_LOSS, LIVE_FLOOD] {
        if session.has_workload(label) && !session.stopped() {
            let run = if [MEMORY, FLOOD].contains(&label) { streams::run } else { interface::run };
            run(session, folder, label)?;
        }
    }
    Ok(())
}
