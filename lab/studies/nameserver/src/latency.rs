//! Latency of a client beside others: none, clients of existing names, and random subdomains.

use crate::costs;
use crate::error::ServeError;
use crate::load::{self, Pace, Paced};
use crate::metric;
use crate::plan::Plan;
use crate::queries::{Kind, Queries};
use crate::servers::Server;
use crate::subjects::{self, Subject};
use crate::workloads::{ALONE, EXISTING, MIDDLE, MODEL, RANDOM};
use hashlane_lab::study::{Fact, Rounds, RunError, Session, order};
use hashlane_stats::quantile;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Queries per second of all clients; a fifth are timed.
const RATE: u32 = 50_000;

/// Queries of each kind: random ones do not repeat in a run.
const QUERIES: [u32; 2] = [100_000, 1_000_000];

/// A load, and the figures of all servers under it.
struct Load {
    label: &'static str,
    rate: u32,
    queries: Queries,
    figures: Vec<Figures>,
}

/// Figures of a server, one of each round.
#[derive(Clone, Debug, Default)]
struct Figures {
    p50_us: Vec<f64>,
    p99_us: Vec<f64>,
    lost: u64,
    sent: u64,
    next: usize,
}

/// Time of a turn.
fn time(plan: &Plan<'_>) -> Duration {
    Duration::from_millis(if plan.full { 1_000 } else { 100 })
}

/// Steps, for the progress bar.
pub(crate) fn steps(session: &Session<'_>, plan: &Plan<'_>) -> usize {
    1 + plan.rounds * subjects::slow(session, plan, RANDOM).len()
}

/// Measures all servers of the workload in turns.
pub(crate) fn run(session: &mut Session<'_>, plan: &Plan<'_>) -> Result<(), RunError> {
    session.step(RANDOM, "writing the zone");
    let (path, _) = plan.write("latency", MIDDLE)?;
    let servers = subjects::slow(session, plan, RANDOM);
    let mut subjects = subjects::start(session, plan, RANDOM, &servers, &path, subjects::PATIENCE)?;
    let count = QUERIES[usize::from(plan.full)];
    let figures = vec![Figures::default(); subjects.len()];
    let load = |label, rate, queries| Load { label, rate, queries, figures: figures.clone() };
    let mut loads = [
        load(ALONE, RATE / 5, Queries::all_timed(MIDDLE, 1 << 16)),
        load(EXISTING, RATE, Queries::timed_among(MIDDLE, Kind::Positive, count)),
        load(RANDOM, RATE, Queries::timed_among(MIDDLE, Kind::Random, count)),
    ];
    'rounds: for round in 0..plan.rounds {
        for at in order(subjects.len(), round) {
            let Some(subject) = subjects.get_mut(at) else { continue };
            session.step(RANDOM, &format!("{}, round {} of {}", subject.id, round + 1, plan.rounds));
            for load in order(loads.len(), round) {
                if session.stopped() {
                    break 'rounds;
                }
                let Some(load) = loads.get_mut(load) else { continue };
                turn(session, plan, load, at, subject)?;
            }
        }
    }
    record(session, &subjects, &loads);
    costs::remove(&path)
}

/// A server's turn under a load.
fn turn(
    session: &mut Session<'_>,
    plan: &Plan<'_>,
    load: &mut Load,
    at: usize,
    subject: &mut Subject,
) -> Result<(), RunError> {
    let Some(figures) = load.figures.get_mut(at) else { return Ok(()) };
    let Some(server) = &mut subject.server else { return Ok(()) };
    match measure(plan, server, &load.queries, load.rate, figures.next) {
        Ok(Paced { counts, sent, times, next }) => {
            // The load's own thread may have been stopped for a time: the figure has that, too.
            let of = |p| quantile(&times, p).unwrap_or(f64::NAN);
            figures.p50_us.push(of(0.5));
            figures.p99_us.push(of(0.99));
            figures.lost += counts.lost;
            figures.sent += sent;
            figures.next = next;
            Ok(())
        }
        Err(error) => {
            subject.server = None;
            subjects::failure(session, load.label, &subject.id, error)
        }
    }
}

fn measure(
    plan: &Plan<'_>,
    server: &mut Server,
    queries: &Queries,
    rate: u32,
    from: usize,
) -> Result<Paced, ServeError> {
    let target = server.target;
    let end = AtomicBool::new(false);
    let pace = Pace { rate, from, time: time(plan), end: &end };
    let paced = load::on_core(plan.cores.1, || load::paced(target, queries, pace))?;
    paced.counts.check()?;
    server.process.check()?;
    if paced.times.is_empty() {
        return Err(ServeError::Program("it answered nothing".to_owned()));
    }
    Ok(paced)
}

fn record(session: &mut Session<'_>, subjects: &[Subject], loads: &[Load; 3]) {
    for (at, Subject { id, server, .. }) in subjects.iter().enumerate() {
        if server.is_none() {
            continue;
        }
        let of: Vec<&Figures> = loads.iter().filter_map(|load| load.figures.get(at)).collect();
        // Only whole rounds count.
        let rounds = of.iter().map(|figures| figures.p99_us.len()).min().unwrap_or(0);
        if rounds == 0 {
            continue;
        }
        let first = |values: &[f64]| values.iter().copied().take(rounds).collect::<Vec<f64>>();
        for (load, figures) in loads.iter().zip(&of) {
            if !session.definition.workloads.iter().any(|workload| workload == load.label) {
                continue;
            }
            let mut add = |metric, unit, fact| {
                session.add(MODEL, load.label, id, "wall-clock", metric, unit, fact);
            };
            add(metric::P99_US, "us", Fact::median(&first(&figures.p99_us)));
            add(metric::P50_US, "us", Fact::median(&first(&figures.p50_us)));
            add(metric::LOST, "queries", Fact::exact(figures.lost as f64, rounds));
            add(metric::QUERIES, "queries", Fact::exact(figures.sent as f64, rounds));
        }
        if let [_, existing, random] = of.as_slice() {
            let growth = Rounds::of(vec![first(&random.p99_us), first(&existing.p99_us)]).ratio(0, 1);
            if let Some(growth) = growth {
                session.add(MODEL, RANDOM, id, "wall-clock", metric::P99_GROWTH, EXISTING, growth);
            }
        }
    }
}
