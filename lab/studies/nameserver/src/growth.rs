//! Memory and load time of a zone: servers start with it on all cores, one at a time.

use crate::costs;
use crate::metric;
use crate::plan::Plan;
use crate::servers::{self, Launch, Memory, Program, Server, Source};
use crate::workloads::{Group, LARGE, LOAD, LOAD_LARGE, MEMORY, MEMORY_LARGE, MILLION, MODEL, SMALL};
use hashlane_lab::study::Summary::{Median, Most, Ratio};
use hashlane_lab::study::{Contender, Figures, RunError, Session, TurnError, take_turns, views};
use hashlane_rig::proc;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Longest time until the first answer with 10,000,000 delegations.
const PATIENCE_LARGE: Duration = Duration::from_secs(300);

/// Memory that a server must find for 10,000,000 delegations: 300 bytes for each of their records.
const NEEDED_LARGE: u64 = 7_500_000_000;

/// Time after the first answer in which a server gives back what it needed for loading.
const SETTLE: Duration = Duration::from_millis(200);

/// Time and memory until the first answer, with a zone and with one of few records.
#[derive(Clone, Copy, Debug, Default)]
struct Growth {
    /// Records of the zone.
    records: f64,
    empty: (Duration, Memory),
    loaded: (Duration, Memory),
}

impl Growth {
    /// Seconds for the zone alone.
    fn seconds(&self) -> f64 {
        // A server with a zone that loads faster than one of few records has a load time of noise only.
        self.loaded.0.saturating_sub(self.empty.0).as_secs_f64().max(1e-3)
    }
}

const MEMORY_FIGURES: Figures<Growth> = Figures {
    model: MODEL,
    are_launches: true,
    list: &[
        (Ratio, "proc", metric::BYTES_PER_RECORD, "bytes", |growth| {
            growth.loaded.1.resident as f64 / growth.records
        }),
        (Median, "proc", metric::MEMORY, "bytes", |growth| growth.loaded.1.resident as f64),
        (Median, "proc", metric::PEAK, "bytes", |growth| growth.loaded.1.peak as f64),
        (Median, "proc", metric::EMPTY_MEMORY, "bytes", |growth| growth.empty.1.resident as f64),
        (Most, "count", metric::RECORDS, "records", |growth| growth.records),
    ],
};

const LOAD_FIGURES: Figures<Growth> = Figures {
    model: MODEL,
    are_launches: true,
    list: &[
        (Ratio, "wall-clock", metric::LOAD_SECONDS, "s", Growth::seconds),
        (Median, "wall-clock", metric::EMPTY_SECONDS, "s", |growth| growth.empty.0.as_secs_f64()),
        (Median, "wall-clock", metric::LOAD_RATE, "1/s", |growth| growth.records / growth.seconds()),
    ],
};

/// Rounds of starts: figures differ little.
fn rounds(plan: &Plan<'_>) -> usize {
    if plan.full { plan.rounds } else { 1 }
}

/// Steps, for the progress bar.
pub(crate) fn steps(session: &Session<'_>, plan: &Plan<'_>) -> usize {
    1 + rounds(plan) * servers::slow::<()>(session, plan, MEMORY).len()
}

/// Steps with 10,000,000 delegations.
pub(crate) fn large_steps(session: &Session<'_>, plan: &Plan<'_>) -> usize {
    1 + servers::slow::<()>(session, plan, MEMORY_LARGE).len() + costs::steps(session, plan, Group::Large)
}

/// Measures a zone of 1,000,000 records.
pub(crate) fn run(session: &mut Session<'_>, plan: &Plan<'_>) -> Result<(), RunError> {
    session.step(MEMORY, "writing the zone");
    let (path, records) = plan.write("million", MILLION)?;
    starts(session, plan, [MEMORY, LOAD], (&path, records), rounds(plan), servers::PATIENCE)?;
    costs::remove(&path)
}

/// Measures a zone of 10,000,000 delegations.
pub(crate) fn run_large(session: &mut Session<'_>, plan: &Plan<'_>) -> Result<(), RunError> {
    if proc::available().is_none_or(|available| available < NEEDED_LARGE) {
        session.notes.push("10,000,000 delegations were left out: less than 7.5 GB of memory is free".into());
        return Ok(());
    }
    session.step(MEMORY_LARGE, "writing the zone");
    let (path, records) = plan.write("large", LARGE)?;
    let labels = [MEMORY_LARGE, LOAD_LARGE];
    starts(session, plan, labels, (&path, records), 1, PATIENCE_LARGE)?;
    if !session.stopped() {
        costs::measure(session, plan, Group::Large, &path, PATIENCE_LARGE)?;
    }
    costs::remove(&path)
}

/// Starts servers with a zone and with one of few records, in turns.
fn starts(
    session: &mut Session<'_>,
    plan: &Plan<'_>,
    labels: [&str; 2],
    (zone, records): (&Path, u64),
    rounds: usize,
    patience: Duration,
) -> Result<(), RunError> {
    let (small, _) = plan.write("empty", SMALL)?;
    let mut servers = servers::slow(session, plan, labels[0]);
    let turn = |session: &mut Session<'_>, server: &mut Contender<Program, Growth>, _| {
        let one = |path| start(session, plan, server.subject, path, patience);
        Ok(Growth { records: records as f64, empty: one(&small)?, loaded: one(zone)? })
    };
    take_turns(session, &mut servers, rounds, turn, |session, servers| {
        for (label, figures) in labels.into_iter().zip([MEMORY_FIGURES, LOAD_FIGURES]) {
            if session.has_workload(label) {
                figures.record(session, &views(servers, label, |growth| *growth));
            }
        }
    })?;
    costs::remove(&small)
}

/// Starts a server on all cores, and ends it. Returns the time to its first answer, and its memory.
fn start(
    session: &Session<'_>,
    plan: &Plan<'_>,
    program: Program,
    zone: &Path,
    patience: Duration,
) -> Result<(Duration, Memory), TurnError> {
    let (source, folder) = (Source::File(zone), &plan.folder.join("growth"));
    let server = Server::start(
        session,
        Launch { entrant: program.into(), core: None, source, folder, limit: patience },
    )?;
    thread::sleep(SETTLE);
    Ok((server.started, server.memory()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_time_is_that_of_the_zone_alone() {
        let seconds = |empty, loaded| {
            let [empty, loaded] = [empty, loaded].map(|ms| (Duration::from_millis(ms), Memory::default()));
            Growth { empty, loaded, ..Growth::default() }.seconds()
        };
        assert_eq!([seconds(20, 1_020), seconds(30, 25)], [1.0, 1e-3]);
    }
}
