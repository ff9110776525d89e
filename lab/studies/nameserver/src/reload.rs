//! Reloads of a zone under load, and the answers lost meanwhile.

use crate::costs;
use crate::error::ServeError;
use crate::load::{self, Pace, Paced};
use crate::metric;
use crate::plan::Plan;
use crate::queries::{Kind, Queries};
use crate::servers::Server;
use crate::subjects;
use crate::workloads::{MIDDLE, MODEL, RELOAD, SERIAL, SMALL};
use crate::zone::set_serial;
use hashlane_lab::study::{Fact, RunError, Session};
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

/// Time between two reloads, in which the clock of the file system moves on; and between two looks.
const PAUSE: Duration = Duration::from_millis(10);
const LOOK: Duration = Duration::from_millis(1);

/// Steps, for the progress bar.
pub(crate) fn steps(session: &Session<'_>) -> usize {
    subjects::installed(session, RELOAD).len()
}

/// Measures all servers of the workload, one after the other.
pub(crate) fn run(session: &mut Session<'_>, plan: &Plan<'_>) -> Result<(), RunError> {
    let zone = if plan.full { MIDDLE } else { SMALL };
    let queries = Queries::of(zone, Kind::Mix, 1 << 16);
    for (id, program) in subjects::slow(session, plan, RELOAD) {
        session.step(RELOAD, &id);
        let (path, _) = plan.write("reload", zone)?;
        let folder = plan.folder.join("reload");
        let command = &session.settings.command;
        let core = Some(plan.cores.0);
        let patience = subjects::PATIENCE;
        let server = Server::start(program, command, core, &path, &folder, patience, session.stop);
        match server.and_then(|server| reloads(plan, &server, &queries, &path, session.stop)) {
            Ok((paced, times)) => {
                // A wrong answer, such as SERVFAIL, is as good as none.
                let lost = paced.counts.lost + paced.counts.wrong;
                if let Some(wrong) = paced.counts.first_wrong {
                    session.notes.push(format!("{id} gave wrong answers during reloads, the first: {wrong}"));
                }
                let exact = |count: f64| Fact::exact(count, times.len());
                let mut add =
                    |metric, unit, fact| session.add(MODEL, RELOAD, &id, "count", metric, unit, fact);
                add(metric::LOST, "queries", exact(lost as f64));
                add(metric::QUERIES, "queries", exact(paced.sent as f64));
                add(metric::RELOADS, "reloads", exact(times.len() as f64));
                add(metric::RELOAD_MS, "ms", Fact::median(&times));
            }
            Err(error) => subjects::failure(session, RELOAD, &id, error)?,
        }
        costs::remove(&path)?;
        if session.stopped() {
            break;
        }
    }
    Ok(())
}

/// Reloads under load. Returns the load's outcome, and the milliseconds of each reload.
fn reloads(
    plan: &Plan<'_>,
    server: &Server,
    queries: &Queries,
    path: &Path,
    stop: &AtomicBool,
) -> Result<(Paced, Vec<f64>), ServeError> {
    let end = AtomicBool::new(false);
    let pace = Pace { rate: RATE, from: 0, time: LONGEST, end: &end };
    thread::scope(|scope| {
        let load = scope.spawn(|| load::on_core(plan.cores.1, || load::paced(server.target, queries, pace)));
        let reloads = if plan.full { RELOADS } else { QUICK_RELOADS };
        let times = all(server, path, reloads, stop);
        end.store(true, Ordering::Relaxed);
        let paced = load.join();
        let paced =
            paced.unwrap_or_else(|_| Err(ServeError::Program("the thread of the load panicked".to_owned())));
        let (paced, times) = (paced?, times?);
        if paced.counts.answers == 0 {
            return Err(ServeError::Program("it answered nothing".to_owned()));
        }
        Ok((paced, times))
    })
}

/// Reloads one after the other, each with the next serial number.
fn all(server: &Server, path: &Path, reloads: u32, stop: &AtomicBool) -> Result<Vec<f64>, ServeError> {
    let failed = "cannot write a zone";
    let mut text = fs::read(path).map_err(ServeError::io(failed))?;
    let next = path.with_extension("next");
    let mut times = Vec::new();
    for serial in SERIAL + 1..=SERIAL + reloads {
        thread::sleep(PAUSE);
        if !set_serial(&mut text, serial - 1, serial) {
            return Err(ServeError::Program(format!("the zone has no serial number {}", serial - 1)));
        }
        fs::write(&next, &text).and_then(|()| fs::rename(&next, path)).map_err(ServeError::io(failed))?;
        let begun = Instant::now();
        server.process.reload()?;
        while server.serial()? != Some(serial) {
            if stop.load(Ordering::Relaxed) {
                return Err(ServeError::Stopped);
            }
            if begun.elapsed() > PATIENCE {
                let text = format!("it did not serve a new zone within {} s", PATIENCE.as_secs());
                return Err(server.process.failed(&text));
            }
            thread::sleep(LOOK);
        }
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times)
}
