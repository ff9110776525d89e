//! CPU time of answers, and answers per second, under full load: all servers of a zone take turns.

use crate::error::ServeError;
use crate::load::{self, Counts};
use crate::metric;
use crate::plan::Plan;
use crate::queries::{Kind, Queries};
use crate::servers::{Program, Server};
use crate::sign;
use crate::subjects::{self, Subject};
use crate::workloads::{COSTS, Group, MODEL};
use hashlane_lab::study::{Fact, Rounds, RunError, Session, order};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Distinct queries of a kind; random subdomains in a run with `--full`, and in a quick one.
const DISTINCT: u32 = 1 << 16;
const RANDOM: [u32; 2] = [100_000, 1_000_000];

/// Rounds after which servers are started anew, so that no figure rests on a single process.
const RESTART: usize = 3;

/// Part of the time of a turn for which the server is under load before.
const WARM_UP: u32 = 5;

/// A workload, and the figures of the servers in it.
struct Workload {
    label: &'static str,
    queries: Queries,
    figures: Vec<Figures>,
}

/// Figures of a server on a workload, one of each round.
#[derive(Clone, Debug, Default)]
struct Figures {
    cpu_us: Vec<f64>,
    rates: Vec<f64>,
    lost: u64,
    queries: u64,
    /// Place of the next query.
    next: usize,
}

/// Workloads of a group that the study has.
fn wanted(session: &Session<'_>, group: Group) -> Vec<(&'static str, Kind)> {
    let of = |id: &str| session.definition.workloads.iter().any(|workload| workload == id);
    COSTS
        .iter()
        .filter(|(id, of_group, _)| *of_group == group && of(id))
        .map(|(id, _, kind)| (*id, *kind))
        .collect()
}

/// Steps of a group, for the progress bar.
pub(crate) fn steps(session: &Session<'_>, plan: &Plan<'_>, group: Group) -> usize {
    let wanted = wanted(session, group);
    if wanted.is_empty() { 0 } else { 1 + plan.rounds * wanted.len() }
}

/// Measures the workloads of a group.
pub(crate) fn run(session: &mut Session<'_>, plan: &Plan<'_>, group: Group) -> Result<(), RunError> {
    let wanted = wanted(session, group);
    let Some(&(first, _)) = wanted.first() else { return Ok(()) };
    session.step(first, "writing the zone");
    let (mut path, _) = plan.write("cost", group.zone(plan.full))?;
    if group == Group::Signed {
        match sign::sign(&path, plan.folder) {
            Ok(Some(signed)) => path = signed,
            Ok(None) => {
                session.notes.push(sign::MISSING.to_owned());
                session.skip(plan.rounds * wanted.len());
                return Ok(());
            }
            // Ctrl-C in a terminal ends the program, too.
            Err(_) if session.stopped() => return Ok(()),
            Err(error) => {
                session.notes.push(format!("the signed zone was not measured: {error}"));
                session.skip(plan.rounds * wanted.len());
                return Ok(());
            }
        }
    }
    measure(session, plan, group, &path, subjects::PATIENCE)?;
    remove(&path)
}

/// Removes a zone file, so that no two large ones are there at once.
pub(crate) fn remove(path: &Path) -> Result<(), RunError> {
    fs::remove_file(path).map_err(|error| RunError::Other(Box::new(error)))
}

/// Measures the workloads of a group with a zone file.
pub(crate) fn measure(
    session: &mut Session<'_>,
    plan: &Plan<'_>,
    group: Group,
    path: &Path,
    patience: Duration,
) -> Result<(), RunError> {
    let wanted = wanted(session, group);
    let Some(&(first, _)) = wanted.first() else { return Ok(()) };
    let mut servers = subjects::installed(session, first);
    let mut workloads: Vec<Workload> = wanted
        .iter()
        .map(|&(label, kind)| {
            let random = RANDOM[usize::from(plan.full)];
            let count = if kind == Kind::Random { random } else { DISTINCT };
            let queries = Queries::of(group.zone(plan.full), kind, count);
            Workload { label, queries, figures: vec![Figures::default(); servers.len()] }
        })
        .collect();
    let mut subjects = Vec::new();
    for round in 0..plan.rounds {
        if round % RESTART == 0 && (round == 0 || group != Group::Large) {
            // Those of before end first.
            drop(std::mem::take(&mut subjects));
            subjects = subjects::start(session, plan, first, &servers, path, patience)?;
        }
        for workload in &mut workloads {
            session.step(workload.label, &format!("round {} of {}", round + 1, plan.rounds));
            for at in order(subjects.len(), round) {
                if session.stopped() {
                    break;
                }
                let Some(subject) = subjects.get_mut(at) else { continue };
                turn(session, plan, workload, subject, &servers)?;
            }
        }
        if session.stopped() {
            break;
        }
        // Those that failed have no further turns, and no figures.
        keep(&mut subjects, &mut servers, &mut workloads);
        if round + 1 < plan.rounds {
            session.report_rounds(|session| record(session, &servers, &workloads));
        }
    }
    record(session, &servers, &workloads);
    Ok(())
}

/// Keeps servers that have not failed, and their figures.
fn keep(subjects: &mut Vec<Subject>, servers: &mut Vec<(String, Program)>, workloads: &mut [Workload]) {
    subjects.retain(|subject| subject.server.is_some());
    let stays: Vec<bool> =
        servers.iter().map(|(id, _)| subjects.iter().any(|subject| subject.id == *id)).collect();
    for workload in workloads {
        let mut stays = stays.iter();
        workload.figures.retain(|_| stays.next().copied().unwrap_or(false));
    }
    let mut stays = stays.iter();
    servers.retain(|_| stays.next().copied().unwrap_or(false));
}

/// A server's turn on a workload.
fn turn(
    session: &mut Session<'_>,
    plan: &Plan<'_>,
    workload: &mut Workload,
    subject: &mut Subject,
    servers: &[(String, Program)],
) -> Result<(), RunError> {
    let place = servers.iter().position(|(id, _)| *id == subject.id);
    let Some(figures) = place.and_then(|place| workload.figures.get_mut(place)) else { return Ok(()) };
    let Some(server) = &mut subject.server else { return Ok(()) };
    match load(plan, server, &workload.queries, figures.next) {
        Ok(Turn { counts, cpu, time, next }) => {
            let answers = counts.answers as f64;
            figures.cpu_us.push(cpu.as_secs_f64() * 1e6 / answers);
            figures.rates.push(answers / time.as_secs_f64());
            figures.lost += counts.lost;
            figures.queries += counts.answers + counts.lost;
            figures.next = next;
            Ok(())
        }
        Err(error) => {
            subject.server = None;
            subjects::failure(session, workload.label, &subject.id, error)
        }
    }
}

/// Outcome of a turn.
struct Turn {
    counts: Counts,
    cpu: Duration,
    time: Duration,
    next: usize,
}

fn load(plan: &Plan<'_>, server: &mut Server, queries: &Queries, from: usize) -> Result<Turn, ServeError> {
    let (target, process) = (server.target, &server.process);
    let turn = load::on_core(plan.cores.1, || {
        let (warm, _, from) = load::full(target, queries, from, plan.time / WARM_UP)?;
        warm.check()?;
        let before = process.cpu()?;
        let (counts, time, next) = load::full(target, queries, from, plan.time)?;
        let cpu = process.cpu()?.saturating_sub(before);
        counts.check()?;
        Ok(Turn { counts, cpu, time, next })
    })?;
    server.process.check()?;
    if turn.counts.answers == 0 || turn.cpu.is_zero() {
        return Err(ServeError::Program("it answered nothing".to_owned()));
    }
    Ok(turn)
}

/// Adds the records of the rounds so far.
fn record(session: &mut Session<'_>, servers: &[(String, Program)], workloads: &[Workload]) {
    let ids: Vec<String> = servers.iter().map(|(id, _)| id.clone()).collect();
    for Workload { label, figures, .. } in workloads {
        // Only whole rounds count.
        let rounds = figures.iter().map(|figures| figures.cpu_us.len()).min().unwrap_or(0);
        if rounds == 0 {
            continue;
        }
        let first = |values: &Vec<f64>| values.iter().copied().take(rounds).collect::<Vec<f64>>();
        let cpu = Rounds::of(figures.iter().map(|figures| first(&figures.cpu_us)).collect());
        for (at, (id, figures)) in ids.iter().zip(figures).enumerate() {
            session.add(MODEL, label, id, "cpu-clock", metric::CPU_US, "us", cpu.time(at));
            let rates = Fact::median(&first(&figures.rates));
            session.add(MODEL, label, id, "wall-clock", metric::RATE, "1/s", rates);
            let exact = |count: u64| Fact::exact(count as f64, rounds);
            session.add(MODEL, label, id, "count", metric::QUERIES, "queries", exact(figures.queries));
            session.add(MODEL, label, id, "count", metric::LOST, "queries", exact(figures.lost));
        }
        session.add_ratios(MODEL, label, "cpu-clock", &ids, |of, to| cpu.ratio(of, to));
    }
}
