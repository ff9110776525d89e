//! Reloads of a zone under load, and the answers lost meanwhile.

use crate::costs;
use crate::load::{self, Pace, Paced};
use crate::metric;
use crate::plan::Plan;
use crate::queries::{Queries, QueryKind};
use crate::servers::{self, Launch, Program, Server, Source};
use crate::workloads::{MIDDLE, MODEL, RELOAD, SERIAL, SMALL};
use crate::zone::set_serial;
use hashlane_lab::study::{Contender, Fact, RunError, Session, TurnError, on_core, take_turns};
use nix::sys::signal::Signal;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Reloads of a run with `--full`, and of a quick one.
const RELOADS: u32 = 100;
const QUICK_RELOADS: u32 = 10;

/// Queries per second meanwhile.
const RATE: u32 = 50_000;

/// Longest time of a reload, and of the load for all.
const PATIENCE: Duration = Duration::from_secs(20);
const LONGEST: Duration = Duration::from_secs(RELOADS as u64 * PATIENCE.as_secs());

/// Time between two reloads, in which the clock of the file system moves on.
const PAUSE: Duration = Duration::from_millis(10);

/// A server, the load's outcome, and the milliseconds of each reload.
type Reloaded = Contender<Program, (Paced, Vec<f64>)>;

/// Steps, for the progress bar.
pub(crate) fn steps(session: &Session<'_>, plan: &Plan<'_>) -> usize {
    servers::slow::<()>(session, plan, RELOAD).len()
}

/// Measures all servers of the workload, one after the other.
pub(crate) fn run(session: &mut Session<'_>, plan: &Plan<'_>) -> Result<(), RunError> {
    let zone = if plan.full { MIDDLE } else { SMALL };
    let queries = Queries::of(zone, QueryKind::Mix, 1 << 16);
    let mut servers: Vec<Reloaded> = servers::slow(session, plan, RELOAD);
    let turn = |session: &mut Session<'_>, reloaded: &mut Reloaded, _| {
        let (path, _) = plan.write("reload", zone)?;
        let (folder, core) = (plan.folder.join("reload"), plan.cores.measured);
        let source = Source::File(&path);
        let (program, folder, limit) = (reloaded.subject, &folder, servers::PATIENCE);
        let server = Server::start(session, Launch { entrant: program.into(), core, source, folder, limit });
        let done = server.and_then(|mut server| reloads(session, plan, &mut server, &queries, &path));
        costs::remove(&path)?;
        done
    };
    take_turns(session, &mut servers, 1, turn, record)
}

fn record(session: &mut Session<'_>, servers: &[Reloaded]) {
    for Contender { id, turns, .. } in servers {
        for (Paced { counts, sent, .. }, times) in turns {
            if let Some(wrong) = counts.first_wrong {
                session.notes.push(format!("{id} gave wrong answers during reloads, the first: {wrong}"));
            }
            let exact = |count: f64| Fact::exact(count, times.len());
            let mut add = |metric, unit, fact| session.add(MODEL, RELOAD, id, "count", metric, unit, fact);
            // A wrong answer, such as SERVFAIL, is as good as none.
            add(metric::LOST, "queries", exact((counts.lost + counts.wrong) as f64));
            add(metric::QUERIES, "queries", exact(*sent as f64));
            add(metric::RELOADS, "reloads", exact(times.len() as f64));
            add(metric::RELOAD_MS, "ms", Fact::median(times));
        }
    }
}

/// Reloads under load. Returns the load's outcome, and the milliseconds of each reload.
fn reloads(
    session: &Session<'_>,
    plan: &Plan<'_>,
    server: &mut Server,
    queries: &Queries,
    path: &Path,
) -> Result<(Paced, Vec<f64>), TurnError> {
    let (target, end) = (server.target, AtomicBool::new(false));
    let pace = Pace { rate: RATE, from: 0, time: LONGEST, end: &end };
    let (paced, times) = thread::scope(|scope| {
        let load = scope.spawn(|| on_core(plan.cores.load, || load::paced(target, queries, pace)));
        let reloads = if plan.full { RELOADS } else { QUICK_RELOADS };
        let times = all(session, server, path, reloads);
        end.store(true, Ordering::Relaxed);
        (load.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), times)
    });
    let (paced, times) = (paced?, times?);
    if paced.counts.answers == 0 {
        return Err(TurnError::Failed("it answered nothing".to_owned()));
    }
    Ok((paced, times))
}

/// Reloads one after the other, each with the next serial number.
fn all(session: &Session<'_>, server: &mut Server, path: &Path, reloads: u32) -> Result<Vec<f64>, TurnError> {
    let failed = TurnError::io("cannot write a zone");
    let mut text = fs::read(path).map_err(&failed)?;
    let next = path.with_extension("next");
    let mut times = Vec::new();
    for serial in SERIAL + 1..=SERIAL + reloads {
        thread::sleep(PAUSE);
        if !set_serial(&mut text, serial - 1, serial) {
            return Err(TurnError::Failed(format!("the zone has no serial number {}", serial - 1)));
        }
        fs::write(&next, &text).and_then(|()| fs::rename(&next, path)).map_err(&failed)?;
        let begun = Instant::now();
        server.child.program.signal(Signal::SIGHUP).map_err(TurnError::io("cannot signal a server"))?;
        server.wait_for(serial, PATIENCE, session)?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times)
}
