//! A whole zone from a primary: the CPU time and the memory of a secondary, and its next start.

use super::usage::Usage;
use super::{MODEL, metric};
use crate::metric::{CPU_US, MEMORY, PEAK};
use crate::plan::Plan;
use crate::servers::{self, Launch, Program, Server, Source};
use crate::workloads::SMALL;
use crate::zone::Zone;
use hashlane_lab::study::Summary::{Median, Ratio};
use hashlane_lab::study::{
    Contender, Figures, RunError, Session, TurnError, empty_folder, take_turns, views,
};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Time after the first answer in which a server ends its work: NSD and Knot write the zone to the disk.
const SETTLE: Duration = Duration::from_millis(1_500);

/// Longest time in which a server ends.
const ENDING: Duration = Duration::from_secs(30);

/// Outcome of a transfer, and of the start that follows.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    cpu_us: f64,
    seconds: f64,
    peak: f64,
    peak_ratio: f64,
    memory: f64,
    /// Seconds from the start to the first answer, less those with a zone of few records, over the records.
    restart_us: f64,
}

const FIGURES: Figures<Turn> = Figures {
    model: MODEL,
    are_launches: true,
    list: &[
        (Ratio, "cpu-clock", CPU_US, "us", |turn| turn.cpu_us),
        (Median, "wall-clock", metric::ARRIVAL, "s", |turn| turn.seconds),
        (Median, "proc", MEMORY, "bytes", |turn| turn.memory),
        (Median, "proc", PEAK, "bytes", |turn| turn.peak),
        (Median, "proc", metric::PEAK_RATIO, "memory", |turn| turn.peak_ratio),
    ],
};

const RESTART_FIGURES: Figures<Turn> = Figures {
    model: MODEL,
    are_launches: true,
    list: &[
        (Median, "wall-clock", metric::RESTART_US, "us", |turn| turn.restart_us),
        (Median, "wall-clock", metric::RATE, "1/s", |turn| 1e6 / turn.restart_us),
    ],
};

/// Steps, for the progress bar.
pub(super) fn steps(session: &Session<'_>, plan: &Plan<'_>, workload: &str) -> usize {
    1 + plan.rounds * servers::installed::<_, ()>(session, workload, |_| ()).len()
}

/// Measures all servers in turns. Each has the zone from the same server, ours, on the core of the load.
pub(super) fn run(
    session: &mut Session<'_>,
    plan: &Plan<'_>,
    [workload, restarts]: [&str; 2],
    zone: Zone,
) -> Result<(), RunError> {
    session.step(workload, "writing the zone");
    let (path, records) = plan.write("in", zone)?;
    let (small, _) = plan.write("few", SMALL)?;
    let mut contenders: Vec<Contender<Program, Turn>> =
        servers::installed(session, workload, |program| program);
    let primary = |path| {
        let (core, source) = (plan.cores.load, Source::Shared(path));
        let (program, folder) = (Program::Ours, &plan.folder.join("primary"));
        Server::start(
            session,
            Launch { entrant: program.into(), core, source, folder, limit: servers::PATIENCE },
        )
    };
    // A secondary with few records, whose start is taken off that with many.
    let empty = match primary(&small).and_then(|server| restart(session, plan, &server)) {
        Ok((_, started)) => started,
        Err(error) => return error.end(workload, "ours"),
    };
    let primary = match primary(&path) {
        Ok(server) => server,
        Err(error) => return error.end(workload, "ours"),
    };
    let turn = |session: &mut Session<'_>, contender: &mut Contender<Program, Turn>, _| {
        let records = records as f64;
        let mut turn = if contender.subject == Program::Ours {
            let (turn, started) = restart(session, plan, &primary)?;
            let restart_us = started.saturating_sub(empty).as_secs_f64() * 1e6 / records;
            Turn { restart_us, ..turn }
        } else {
            let folder = plan.folder.join("secondary");
            arrive(session, secondary(plan, contender.subject, &primary, &folder))?.1
        };
        turn.cpu_us /= records;
        Ok(turn)
    };
    take_turns(session, &mut contenders, plan.rounds, turn, |session, all| {
        if session.has_workload(workload) {
            FIGURES.record(session, all);
        }
        if session.has_workload(restarts) {
            let ours = all.iter().filter(|each| each.id == "ours").cloned().collect::<Vec<_>>();
            RESTART_FIGURES.record(session, &views(&ours, restarts, |turn| *turn));
        }
    })?;
    drop(primary);
    crate::costs::remove(&small)?;
    crate::costs::remove(&path)
}

/// A server that has its zone from `primary`.
fn secondary<'a>(plan: &Plan<'_>, program: Program, primary: &Server, folder: &'a Path) -> Launch<'a> {
    let source = Source::Primary(primary.target.address);
    Launch { entrant: program.into(), core: plan.cores.measured, source, folder, limit: servers::PATIENCE }
}

/// Starts a secondary without a zone, and waits until it has it. CPU time is in microseconds for all.
fn arrive(session: &Session<'_>, launch: Launch<'_>) -> Result<(Server, Turn), TurnError> {
    empty_folder(launch.folder)?;
    let mut usage = Usage::default();
    let server = Server::start_again(session, launch, &mut |group| usage.watch(group))?;
    let group = server.child.program.id();
    let begun = Instant::now();
    while begun.elapsed() < SETTLE {
        usage.watch(group);
        thread::sleep(Duration::from_millis(5));
    }
    usage.look(group);
    let (peak, resident) = usage.peak();
    let turn = Turn {
        cpu_us: usage.cpu().as_secs_f64() * 1e6,
        seconds: server.started.as_secs_f64(),
        peak: peak as f64,
        peak_ratio: peak as f64 / resident as f64,
        memory: server.memory()?.resident as f64,
        restart_us: f64::NAN,
    };
    Ok((server, turn))
}

/// A transfer to our server, and the start after it; returns the time from that start to the first answer.
fn restart(session: &Session<'_>, plan: &Plan<'_>, primary: &Server) -> Result<(Turn, Duration), TurnError> {
    let folder = plan.folder.join("secondary");
    let launch = secondary(plan, Program::Ours, primary, &folder);
    let (server, turn) = arrive(session, launch)?;
    server.end(ENDING)?;
    let again = Server::start_again(session, launch, &mut |_| ())?;
    Ok((turn, again.started))
}
