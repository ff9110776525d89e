//! A scheme with its table, and records of its times.

use crate::flows::{Flows, Size};
use crate::hashes;
use crate::metric;
use hashlane_hash::scheme::Key;
use hashlane_lab::definition::{Definition, subject};
use hashlane_lab::study::{Rounds, RunError, Session, order};

/// A scheme and its table.
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) flows: Box<dyn Flows>,
}

/// The schemes of a workload without C++ tables that are not installed.
pub(super) fn schemes_on(definition: &Definition, workload: &str) -> Vec<String> {
    let schemes = definition.schemes_on(workload).iter();
    schemes.filter(|id| hashes::missing(subject(id)).is_none()).cloned().collect()
}

/// An empty table.
pub(super) fn empty(id: &str, size: Size, session: &Session<'_>) -> Result<Entry, RunError> {
    match hashes::table(subject(id), &Key::new(session.settings.key), size) {
        Some(flows) => Ok(Entry { id: id.into(), flows }),
        None if hashes::cpp(subject(id)).is_some() => {
            let what = format!("{id}: the library has no memory for {} flows", size.room);
            Err(RunError::Expectation { workload: String::new(), what })
        }
        None => Err(RunError::UnknownScheme { id: id.into(), help: hashes::flows_help() }),
    }
}

/// Adds the times of lookups or writes, and their ratios.
pub(super) fn record(session: &mut Session<'_>, workload: &str, ids: &[String], rounds: &Rounds) {
    if rounds.len() < 2 {
        return;
    }
    for (at, id) in ids.iter().enumerate() {
        session.add("table", workload, id, "rounds", metric::NS, "ns", rounds.time(at));
    }
    session.add_ratios("table", workload, "rounds", ids, |of, to| rounds.ratio(of, to));
}

/// Records the times of writes to tables that `time` makes anew for each scheme and round.
pub(super) fn record_new_tables(
    session: &mut Session<'_>,
    workload: &str,
    rounds: u32,
    time: impl Fn(&Session<'_>, &str) -> Result<f64, RunError>,
) -> Result<(), RunError> {
    let schemes = schemes_on(session.definition, workload);
    let mut times = vec![Vec::new(); schemes.len()];
    for round in 0..rounds as usize {
        for at in order(schemes.len(), round) {
            if session.stopped() {
                return Ok(());
            }
            if let (Some(id), Some(times)) = (schemes.get(at), times.get_mut(at)) {
                times.push(time(session, id)?);
            }
        }
    }
    record(session, workload, &schemes, &Rounds::of(times));
    Ok(())
}
