//! Latency of a client beside others: none, clients of existing names, and random subdomains.

use crate::costs;
use crate::load::{self, Pace, Paced};
use crate::metric;
use crate::plan::Plan;
use crate::queries::{Queries, QueryKind};
use crate::servers::{self, Program, Running, Server, Source};
use crate::workloads::{ALONE, EXISTING, MIDDLE, MODEL, RANDOM};
use hashlane_lab::study::Summary::{Median, Sum};
use hashlane_lab::study::{
    Contender, Figures, Rounds, RunError, Session, TurnError, on_core, order, take_turns, views,
};
use hashlane_stats::quantile;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Queries per second of all clients; a fifth are timed.
const RATE: u32 = 50_000;

/// Queries of each kind: random ones do not repeat in a run.
const QUERIES: [u32; 2] = [100_000, 1_000_000];

/// Outcome of a turn under a load.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    p50_us: f64,
    p99_us: f64,
    lost: u64,
    sent: u64,
}

const FIGURES: Figures<Turn> = Figures {
    model: MODEL,
    are_launches: false,
    list: &[
        (Median, "wall-clock", metric::P99_US, "us", |turn| turn.p99_us),
        (Median, "wall-clock", metric::P50_US, "us", |turn| turn.p50_us),
        (Sum, "wall-clock", metric::LOST, "queries", |turn| turn.lost as f64),
        (Sum, "wall-clock", metric::QUERIES, "queries", |turn| turn.sent as f64),
    ],
};

/// A server in turns under each load.
type Client = Contender<Program, [Turn; 3]>;

/// Steps, for the progress bar.
pub(crate) fn steps(session: &Session<'_>, plan: &Plan<'_>) -> usize {
    1 + plan.rounds * servers::slow::<()>(session, plan, RANDOM).len()
}

/// Measures all servers of the workload in turns.
pub(crate) fn run(session: &mut Session<'_>, plan: &Plan<'_>) -> Result<(), RunError> {
    session.step(RANDOM, "writing the zone");
    let (path, _) = plan.write("latency", MIDDLE)?;
    let mut clients: Vec<Client> = servers::slow(session, plan, RANDOM);
    let programs: Vec<_> = clients.iter().map(|client| (client.id.clone(), client.subject)).collect();
    let count = QUERIES[usize::from(plan.full)];
    let loads = [
        (RATE / 5, Queries::all_timed(MIDDLE, QueryKind::Positive, 1 << 16)),
        (RATE, Queries::timed_among(MIDDLE, QueryKind::Positive, count)),
        (RATE, Queries::timed_among(MIDDLE, QueryKind::Random, count)),
    ];
    let (mut running, mut next) = (Running::default(), [0; 3]);
    let turn = |session: &mut Session<'_>, client: &mut Client, round: usize| {
        if !running.is_started() {
            running.restart(session, plan, &programs, Source::File(&path), servers::PATIENCE)?;
        }
        running.turn(&client.id, |server| {
            let mut turns = [Turn::default(); 3];
            for at in order(loads.len(), round) {
                if session.stopped() {
                    return Err(TurnError::Stopped);
                }
                let places = (loads.get(at), next.get_mut(at), turns.get_mut(at));
                let (Some((rate, queries)), Some(next), Some(turn)) = places else { continue };
                *turn = measure(plan, server, queries, *rate, next)?;
            }
            Ok(turns)
        })
    };
    take_turns(session, &mut clients, plan.rounds, turn, record)?;
    costs::remove(&path)
}

/// Puts queries from the place `next` on a server.
fn measure(
    plan: &Plan<'_>,
    server: &mut Server,
    queries: &Queries,
    rate: u32,
    next: &mut usize,
) -> Result<Turn, TurnError> {
    let (target, end) = (server.target, AtomicBool::new(false));
    let time = Duration::from_millis(if plan.full { 1_000 } else { 100 });
    let pace = Pace { rate, from: *next, time, end: &end };
    let paced = on_core(plan.cores.load, || load::paced(target, queries, pace))?;
    paced.counts.check()?;
    server.child.check()?;
    let Paced { counts, sent, times, .. } = paced;
    *next = paced.next;
    // The load's own thread may have been stopped for a time: the figure has that, too.
    let of = |p| quantile(&times, p).ok_or_else(|| TurnError::Failed("it answered nothing".to_owned()));
    Ok(Turn { p50_us: of(0.5)?, p99_us: of(0.99)?, lost: counts.lost, sent })
}

fn record(session: &mut Session<'_>, clients: &[Client]) {
    for (at, label) in [ALONE, EXISTING, RANDOM].into_iter().enumerate() {
        if session.has_workload(label) {
            let turn = |turns: &[Turn; 3]| turns.get(at).copied().unwrap_or_default();
            FIGURES.record(session, &views(clients, label, turn));
        }
    }
    for Contender { id, turns, .. } in clients.iter().filter(|client| !client.has_failed) {
        let [existing, random] = [1, 2].map(|load: usize| {
            turns.iter().filter_map(|turns| Some(turns.get(load)?.p99_us)).collect::<Vec<f64>>()
        });
        if let Some(growth) = Rounds::of(vec![random, existing]).ratio(0, 1) {
            session.add(MODEL, RANDOM, id, "wall-clock", metric::P99_GROWTH, EXISTING, growth);
        }
    }
}
