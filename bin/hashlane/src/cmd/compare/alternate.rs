//! Two builds, launched alternately.

use super::Compare;
use crate::output::{self, folder::definition, progress::Progress};
use anyhow::{Context, Result};
use hashlane_daemon::signals::on_stop;
use hashlane_lab::compare::alternate::{self, Event, Plan};
use hashlane_lab::definition::Selection;
use hashlane_records::compare::Comparison;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Studies that are compared if none is named.
const DEFAULT: [&str; 4] = ["name-encodings", "flow-hash", "flow-table", "dns-render"];

/// Set by Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

/// Runs the studies, and compares A with B. `true` if Ctrl-C ended it early.
///
/// # Errors
/// A study or one of its files is unknown; and the errors of [`alternate::run`].
pub(super) fn run(command: &Compare) -> Result<(Comparison, bool)> {
    let studies = match command.studies.as_slice() {
        [] => DEFAULT.into_iter().map(definition).collect::<Result<Vec<_>>>()?,
        named => named.iter().map(|name| definition(name)).collect::<Result<Vec<_>>>()?,
    };
    command.inputs.check(&studies)?;
    stop_on_ctrl_c()?;
    let progress: RefCell<Option<Progress>> = RefCell::new(None);
    let events = |event: Event<'_>| {
        let mut progress = progress.borrow_mut();
        match event {
            Event::Remark(text) => output::tell(text),
            Event::Launch(study, step) => {
                if progress.is_none() {
                    *progress = Some(Progress::new(study).context("cannot show progress")?);
                }
                if let Some(shown) = &*progress {
                    shown.show(step);
                }
            }
            Event::End => *progress = None,
        }
        Ok(())
    };
    let comparison = alternate::run(&Plan {
        commands: [&command.a, &command.b],
        studies: &studies,
        first_workload: command.studies.is_empty(),
        selection: Selection {
            schemes: command.scheme.clone(),
            workloads: command.workload.clone(),
            repetitions: None,
        },
        all_rows: command.all_rows,
        metrics: &command.metric,
        seconds: command.time,
        repetitions: command.repetitions,
        options: &|study| command.inputs.options_of(study),
        stop: &STOP,
        events: &events,
    })?;
    Ok((comparison, STOP.load(Ordering::Relaxed)))
}

/// The first Ctrl-C ends the launch and keeps the rounds before it; the second one ends the process.
fn stop_on_ctrl_c() -> Result<()> {
    on_stop(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(hashlane_command::STOPPED));
        }
    })
    .map_err(Into::into)
}
