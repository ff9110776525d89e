//! Memory and load time of a zone: servers start with it on all cores, one at a time.

use crate::costs;
use crate::error::ServeError;
use crate::metric;
use crate::plan::Plan;
use crate::process::Memory;
use crate::servers::{Program, Server};
use crate::subjects;
use crate::workloads::{Group, LARGE, LOAD, LOAD_LARGE, MEMORY, MEMORY_LARGE, MILLION, MODEL, SMALL};
use hashlane_lab::study::{Fact, Rounds, RunError, Session, order};
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

/// Figures of a server, one of each round.
#[derive(Clone, Debug, Default)]
struct Figures {
    empty: Vec<(Duration, Memory)>,
    loaded: Vec<(Duration, Memory)>,
}

impl Figures {
    /// Seconds for the zone alone.
    fn seconds(&self) -> Vec<f64> {
        let pairs = self.loaded.iter().zip(&self.empty);
        // A server with a zone that loads faster than one of few records has a load time of noise only.
        pairs.map(|(loaded, empty)| loaded.0.saturating_sub(empty.0).as_secs_f64().max(1e-3)).collect()
    }
}

/// Rounds of starts: figures differ little.
fn rounds(plan: &Plan<'_>) -> usize {
    if plan.full { plan.rounds } else { 1 }
}

/// Steps, for the progress bar.
pub(crate) fn steps(session: &Session<'_>, plan: &Plan<'_>) -> usize {
    1 + rounds(plan) * subjects::slow(session, plan, MEMORY).len()
}

/// Steps with 10,000,000 delegations.
pub(crate) fn large_steps(session: &Session<'_>, plan: &Plan<'_>) -> usize {
    1 + subjects::slow(session, plan, MEMORY_LARGE).len() + costs::steps(session, plan, Group::Large)
}

/// Measures a zone of 1,000,000 records.
pub(crate) fn run(session: &mut Session<'_>, plan: &Plan<'_>) -> Result<(), RunError> {
    let servers = subjects::slow(session, plan, MEMORY);
    session.step(MEMORY, "writing the zone");
    let (path, records) = plan.write("million", MILLION)?;
    starts(session, plan, [MEMORY, LOAD], servers, (&path, records), rounds(plan), subjects::PATIENCE)?;
    costs::remove(&path)
}

/// Measures a zone of 10,000,000 delegations.
pub(crate) fn run_large(session: &mut Session<'_>, plan: &Plan<'_>) -> Result<(), RunError> {
    if proc::available().is_none_or(|available| available < NEEDED_LARGE) {
        session.notes.push("10,000,000 delegations were left out: less than 7.5 GB of memory is free".into());
        return Ok(());
    }
    let servers = subjects::slow(session, plan, MEMORY_LARGE);
    session.step(MEMORY_LARGE, "writing the zone");
    let (path, records) = plan.write("large", LARGE)?;
    let labels = [MEMORY_LARGE, LOAD_LARGE];
    starts(session, plan, labels, servers, (&path, records), 1, PATIENCE_LARGE)?;
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
    mut servers: Vec<(String, Program)>,
    (zone, records): (&Path, u64),
    rounds: usize,
    patience: Duration,
) -> Result<(), RunError> {
    let (small, _) = plan.write("empty", SMALL)?;
    let mut figures = vec![Figures::default(); servers.len()];
    for round in 0..rounds {
        for at in order(servers.len(), round) {
            let (Some((id, program)), Some(figures)) = (servers.get(at).cloned(), figures.get_mut(at)) else {
                continue;
            };
            session.step(labels[0], &format!("{id}, round {} of {rounds}", round + 1));
            if session.stopped() {
                break;
            }
            // A server of before failed.
            if figures.loaded.len() < round {
                continue;
            }
            let one = |path| start(session, plan, program, path, patience);
            match one(&small).and_then(|empty| Ok((empty, one(zone)?))) {
                Ok((empty, loaded)) => {
                    figures.empty.push(empty);
                    figures.loaded.push(loaded);
                }
                Err(error) => subjects::failure(session, labels[0], &id, error)?,
            }
        }
    }
    let mut whole: Vec<bool> = figures.iter().map(|figures| !figures.loaded.is_empty()).collect();
    let fewest = figures.iter().map(|figures| figures.loaded.len()).filter(|rounds| *rounds > 0).min();
    figures.retain(|figures| !figures.loaded.is_empty());
    figures.iter_mut().for_each(|figures| figures.loaded.truncate(fewest.unwrap_or(0)));
    let mut stays = whole.drain(..);
    servers.retain(|_| stays.next().unwrap_or(false));
    record(session, labels, &servers, &figures, records);
    costs::remove(&small)
}

/// Starts a server on all cores, and ends it. Returns the time to its first answer, and its memory.
fn start(
    session: &Session<'_>,
    plan: &Plan<'_>,
    program: Program,
    zone: &Path,
    patience: Duration,
) -> Result<(Duration, Memory), ServeError> {
    let folder = plan.folder.join("growth");
    let command = &session.settings.command;
    let server = Server::start(program, command, None, zone, &folder, patience, session.stop)?;
    thread::sleep(SETTLE);
    Ok((server.started, server.process.memory()?))
}

fn record(
    session: &mut Session<'_>,
    [memory, load]: [&str; 2],
    servers: &[(String, Program)],
    figures: &[Figures],
    records: u64,
) {
    let wanted = |label: &str| session.definition.workloads.iter().any(|workload| workload == label);
    let (wants_memory, wants_load) = (wanted(memory), wanted(load));
    let ids: Vec<String> = servers.iter().map(|(id, _)| id.clone()).collect();
    let records = records as f64;
    let of = |figures: &Figures, figure: fn(&Memory) -> u64| -> Vec<f64> {
        figures.loaded.iter().map(|(_, memory)| figure(memory) as f64).collect()
    };
    let each =
        |figures: &Figures| of(figures, |memory| memory.resident).iter().map(|b| b / records).collect();
    let bytes = Rounds::of_launches(figures.iter().map(each).collect());
    let seconds = Rounds::of_launches(figures.iter().map(Figures::seconds).collect());
    for (at, (id, figures)) in ids.iter().zip(figures).enumerate() {
        let rounds = figures.loaded.len();
        if wants_memory {
            let mut add = |metric, fact| session.add(MODEL, memory, id, "proc", metric, "bytes", fact);
            add(metric::BYTES_PER_RECORD, bytes.time(at));
            add(metric::MEMORY, Fact::over_launches(&of(figures, |memory| memory.resident)));
            add(metric::PEAK, Fact::over_launches(&of(figures, |memory| memory.peak)));
            let empty: Vec<f64> = figures.empty.iter().map(|(_, memory)| memory.resident as f64).collect();
            add(metric::EMPTY_MEMORY, Fact::over_launches(&empty));
            let fact = Fact::exact(records, rounds);
            session.add(MODEL, memory, id, "count", metric::RECORDS, "records", fact);
        }
        if wants_load {
            let mut add = |metric, unit, fact| session.add(MODEL, load, id, "wall-clock", metric, unit, fact);
            add(metric::LOAD_SECONDS, "s", seconds.time(at));
            let empty: Vec<f64> = figures.empty.iter().map(|(time, _)| time.as_secs_f64()).collect();
            add(metric::EMPTY_SECONDS, "s", Fact::over_launches(&empty));
            let rates: Vec<f64> = figures.seconds().iter().map(|seconds| records / seconds).collect();
            add(metric::LOAD_RATE, "1/s", Fact::over_launches(&rates));
        }
    }
    if wants_memory {
        session.add_ratios(MODEL, memory, "proc", &ids, |of, to| bytes.ratio(of, to));
    }
    if wants_load {
        session.add_ratios(MODEL, load, "wall-clock", &ids, |of, to| seconds.ratio(of, to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_time_is_that_of_the_zone_alone() {
        let at = |millis| (Duration::from_millis(millis), Memory::default());
        let figures = Figures { empty: vec![at(20), at(30)], loaded: vec![at(1_020), at(25)] };
        assert_eq!(figures.seconds(), [1.0, 1e-3]);
    }
}
