//! Changes of a zone that a secondary takes under a load: the answers meanwhile.

use super::client::notify;
use super::usage::Usage;
use super::{MODEL, metric};
use crate::load::{self, Pace, Paced};
use crate::metric::{LOST, P99_US, QUERIES};
use crate::plan::Plan;
use crate::queries::{Queries, QueryKind};
use crate::servers::{self, Launch, Program, Server, Source};
use crate::workloads::SERIAL;
use crate::zone::{Zone, push_label, set_serial};
use hashlane_lab::study::Summary::{Median, Most, Sum};
use hashlane_lab::study::{Contender, Figures, RunError, Session, TurnError, on_core, take_turns};
use hashlane_stats::quantile;
use nix::sys::signal::Signal;
use std::fs::OpenOptions;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Queries per second.
const RATE: u32 = 10_000;

/// Records removed, and records added.
const CHANGED: u32 = 500;

/// Distinct queries.
const DISTINCT: u32 = 1 << 16;

/// Time under load before the changes, and after them.
const BEFORE: Duration = Duration::from_millis(200);

/// Outcome of one change.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    before_us: f64,
    p99_us: f64,
    longest_us: f64,
    change_ms: f64,
    cpu_ms: f64,
    lost: u64,
    sent: u64,
}

const FIGURES: Figures<Turn> = Figures {
    model: MODEL,
    are_launches: false,
    list: &[
        (Median, "wall-clock", P99_US, "us", |turn| turn.p99_us),
        (Median, "wall-clock", metric::P99_BEFORE, "us", |turn| turn.before_us),
        (Median, "wall-clock", metric::P99_ADDED, "us", |turn| turn.p99_us - turn.before_us),
        (Most, "wall-clock", metric::LONGEST, "us", |turn| turn.longest_us),
        (Median, "wall-clock", metric::CHANGE_MS, "ms", |turn| turn.change_ms),
        (Median, "cpu-clock", metric::CHANGE_CPU_MS, "ms", |turn| turn.cpu_ms),
        (Sum, "count", LOST, "queries", |turn| turn.lost as f64),
        (Sum, "count", QUERIES, "queries", |turn| turn.sent as f64),
    ],
};

/// Steps, for the progress bar.
pub(super) fn steps(session: &Session<'_>, plan: &Plan<'_>, workload: &str) -> usize {
    1 + plan.rounds * servers::slow::<()>(session, plan, workload).len()
}

/// Measures all servers. A server and its primary stay for all changes.
pub(super) fn run(
    session: &mut Session<'_>,
    plan: &Plan<'_>,
    (workload, zone): (&str, Zone),
    patience: Duration,
) -> Result<(), RunError> {
    session.step(workload, "writing the zone");
    let queries = Queries::all_timed(zone, QueryKind::Referral, DISTINCT);
    let contenders: Vec<Contender<Program, Turn>> = servers::slow(session, plan, workload);
    let (path, _) = plan.write("changes", zone)?;
    let mut file = ZoneFile::new(path.clone()).map_err(RunError::other)?;
    let mut pair: Option<(String, Pair)> = None;
    let mut all = Vec::new();
    // One server after the other: the zones of all are too large to be there at once.
    for contender in contenders {
        let mut one = [contender];
        let turn = |session: &mut Session<'_>, contender: &mut Contender<Program, Turn>, _| {
            if pair.as_ref().is_none_or(|(id, _)| *id != contender.id) {
                pair = None;
                let started = Pair::start(session, plan, contender.subject, &mut file, patience)?;
                pair = Some((contender.id.clone(), started));
            }
            let Some((_, pair)) = &mut pair else { return Err(TurnError::Stopped) };
            pair.change(session, plan, &queries, &mut file, patience)
        };
        take_turns(session, &mut one, plan.rounds, turn, |_, _| ())?;
        all.extend(one);
    }
    drop(pair);
    FIGURES.record(session, &all);
    crate::costs::remove(&path)
}

/// A secondary, and its primary, ours.
struct Pair {
    primary: Server,
    secondary: Server,
}

impl Pair {
    fn start(
        session: &Session<'_>,
        plan: &Plan<'_>,
        program: Program,
        file: &mut ZoneFile,
        patience: Duration,
    ) -> Result<Self, TurnError> {
        let start = |program: Program, core, source, folder: &str| {
            let folder = &plan.folder.join(folder);
            Server::start(session, Launch { entrant: program.into(), core, source, folder, limit: patience })
        };
        let path = file.path.clone();
        let mut primary = start(Program::Ours, plan.cores.load, Source::Shared(&path), "primary")?;
        // The differences from the version at a start are not kept.
        next_version(&mut primary, file, session, patience)?;
        let source = Source::Primary(primary.target.address);
        let secondary = start(program, plan.cores.measured, source, "secondary")?;
        Ok(Self { primary, secondary })
    }

    /// Has the primary serve another version; then loads the secondary, without and with the change.
    fn change(
        &mut self,
        session: &Session<'_>,
        plan: &Plan<'_>,
        queries: &Queries,
        file: &mut ZoneFile,
        patience: Duration,
    ) -> Result<Turn, TurnError> {
        let Self { primary, secondary } = self;
        let next = next_version(primary, file, session, patience)?;
        let to = secondary.target.address;
        let with = under_load(plan, queries, secondary, |secondary| {
            notify(to)?;
            secondary.wait_for(next, patience, session)
        })?;
        let without = under_load(plan, queries, secondary, |secondary| {
            // Asks for the serial number as often as before.
            let (end, begun) = (Duration::from_secs_f64(with.seconds), Instant::now());
            while begun.elapsed() < end && !session.stopped() {
                secondary.wait_for(next, patience, session)?;
                thread::sleep(Duration::from_millis(1).min(end));
            }
            Ok(())
        })?;
        if session.stopped() {
            return Err(TurnError::Stopped);
        }
        let of = |paced: &Paced, p| {
            quantile(&paced.times, p).ok_or_else(|| TurnError::Failed("it answered nothing".to_owned()))
        };
        Ok(Turn {
            before_us: of(&without.paced, 0.99)?,
            p99_us: of(&with.paced, 0.99)?,
            longest_us: of(&with.paced, 1.0)?,
            change_ms: with.seconds * 1e3,
            cpu_ms: (with.cpu - without.cpu) * 1e3,
            lost: with.paced.counts.lost + with.paced.counts.wrong,
            sent: with.paced.sent,
        })
    }
}

/// Has the primary serve the next version of its zone. Returns its serial number.
fn next_version(
    primary: &mut Server,
    file: &mut ZoneFile,
    session: &Session<'_>,
    patience: Duration,
) -> Result<u32, TurnError> {
    let next = file.change().map_err(TurnError::io("cannot write a zone"))?;
    primary.child.program.signal(Signal::SIGHUP).map_err(TurnError::io("cannot signal a server"))?;
    primary.wait_for(next, patience, session)?;
    Ok(next)
}

/// The answers of a server while something happens to it, the seconds that it took, and the seconds of CPU
/// time.
struct Loaded {
    paced: Paced,
    seconds: f64,
    cpu: f64,
}

fn under_load(
    plan: &Plan<'_>,
    queries: &Queries,
    server: &mut Server,
    happens: impl FnOnce(&mut Server) -> Result<(), TurnError>,
) -> Result<Loaded, TurnError> {
    let (target, group, end) = (server.target, server.child.program.id(), AtomicBool::new(false));
    let pace = Pace { rate: RATE, from: 0, time: super::PATIENCE_LARGE, end: &end };
    let mut usage = Usage::default();
    usage.look(group);
    let before = usage.cpu();
    let (paced, seconds) = thread::scope(|scope| {
        let load = scope.spawn(|| on_core(plan.cores.load, || load::paced(target, queries, pace)));
        thread::sleep(BEFORE);
        let begun = Instant::now();
        let happened = happens(server).map(|()| begun.elapsed().as_secs_f64());
        thread::sleep(BEFORE);
        end.store(true, Ordering::Relaxed);
        (load.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), happened)
    });
    usage.look(group);
    let cpu = usage.cpu().saturating_sub(before).as_secs_f64();
    Ok(Loaded { paced: paced?, seconds: seconds?, cpu })
}

/// The zone file of the primary.
struct ZoneFile {
    path: PathBuf,
    /// Length without changes.
    length: u64,
    serial: u32,
}

impl ZoneFile {
    fn new(path: PathBuf) -> io::Result<Self> {
        Ok(Self { length: path.metadata()?.len(), path, serial: SERIAL })
    }

    /// Writes the next version: the zone, with records that no other version has. Returns its serial number.
    fn change(&mut self) -> io::Result<u32> {
        let mut file = OpenOptions::new().read(true).write(true).open(&self.path)?;
        let mut head = [0; 256];
        let read = file.read(&mut head)?;
        let (head, next) = (head.get_mut(..read).unwrap_or_default(), self.serial + 1);
        if !set_serial(head, self.serial, next) {
            return Err(io::Error::other(format!("the zone has no serial number {}", self.serial)));
        }
        file.seek(SeekFrom::Start(0))?;
        file.write_all(head)?;
        file.set_len(self.length)?;
        file.seek(SeekFrom::End(0))?;
        let mut lines = Vec::new();
        for number in 0..CHANGED {
            lines.extend_from_slice(b"v-");
            push_label(&mut lines, next * CHANGED + number);
            writeln!(lines, "\tIN\tA\t192.0.2.{}", number % 256)?;
        }
        file.write_all(&lines)?;
        self.serial = next;
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::Shape;
    use std::collections::HashSet;
    use std::fs;

    #[test]
    fn versions_differ_in_the_serial_number_and_the_last_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zone");
        Zone { names: 10, shape: Shape::Mixed }.write(SERIAL, fs::File::create(&path).unwrap()).unwrap();
        let mut file = ZoneFile::new(path.clone()).unwrap();
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<HashSet<_>>();
        let mut before = lines(&fs::read_to_string(&path).unwrap());
        for (serial, gone) in [(2, 1), (3, 1 + CHANGED as usize)] {
            assert_eq!(file.change().unwrap(), serial);
            let after = lines(&fs::read_to_string(&path).unwrap());
            assert_eq!(before.difference(&after).count(), gone);
            assert_eq!(after.difference(&before).count(), 1 + CHANGED as usize);
            before = after;
        }
        file.serial = 9;
        assert!(file.change().is_err());
    }
}
