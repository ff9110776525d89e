//! CPU time of answers, and answers per second, under full load: all servers of a zone take turns.

use crate::load::{self, Loaded};
use crate::metric;
use crate::plan::Plan;
use crate::queries::{Queries, QueryKind};
use crate::servers::{self, Running, Server, Source};
use crate::sign;
use crate::workloads::{COSTS, Group, MODEL};
use hashlane_lab::study::Summary::{Median, Ratio, Sum};
use hashlane_lab::study::{Contender, Figures, RunError, Session, TurnError, on_core, take_turns};
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

/// Outcome of a turn.
pub(crate) struct Turn {
    pub(crate) cpu_us: f64,
    /// The time that the load was busy for an answer, in microseconds.
    pub(crate) client_us: f64,
    pub(crate) rate: f64,
    pub(crate) lost: u64,
    pub(crate) queries: u64,
}

const FIGURES: Figures<Turn> = Figures {
    model: MODEL,
    are_launches: false,
    list: &[
        (Ratio, "cpu-clock", metric::CPU_US, "us", |turn| turn.cpu_us),
        (Median, "wall-clock", metric::RATE, "1/s", |turn| turn.rate),
        (Sum, "count", metric::QUERIES, "queries", |turn| turn.queries as f64),
        (Sum, "count", metric::LOST, "queries", |turn| turn.lost as f64),
    ],
};

/// Workloads of a group that the study has.
fn wanted(session: &Session<'_>, group: Group) -> impl Iterator<Item = (&'static str, QueryKind)> {
    let of_group = COSTS.iter().filter(move |(id, of, _)| *of == group && session.has_workload(id));
    of_group.map(|(id, _, kind)| (*id, *kind))
}

/// Turns of all servers on the workloads of a group.
fn turns(session: &Session<'_>, plan: &Plan<'_>, group: Group) -> usize {
    let servers = |(id, _): (&str, _)| servers::installed::<_, ()>(session, id, |_| ()).len();
    plan.rounds * wanted(session, group).map(servers).sum::<usize>()
}

/// Steps of a group, for the progress bar.
pub(crate) fn steps(session: &Session<'_>, plan: &Plan<'_>, group: Group) -> usize {
    usize::from(wanted(session, group).next().is_some()) + turns(session, plan, group)
}

/// Measures the workloads of a group.
pub(crate) fn run(session: &mut Session<'_>, plan: &Plan<'_>, group: Group) -> Result<(), RunError> {
    let Some((first, _)) = wanted(session, group).next() else { return Ok(()) };
    session.step(first, "writing the zone");
    let (mut path, _) = plan.write("cost", group.zone(plan.full))?;
    if group == Group::Signed {
        let why = match sign::sign(&path, plan.folder) {
            Ok(Some(signed)) => {
                path = signed;
                None
            }
            Ok(None) => Some(sign::MISSING.to_owned()),
            // Ctrl-C in a terminal ends the program, too.
            Err(_) if session.stopped() => return Ok(()),
            Err(error) => Some(format!("the signed zone was not measured: {error}")),
        };
        if let Some(why) = why {
            session.notes.push(why);
            session.skip(turns(session, plan, group));
            return Ok(());
        }
    }
    measure(session, plan, group, &path, servers::PATIENCE)?;
    remove(&path)
}

/// Removes a zone file, so that no two large ones are there at once.
pub(crate) fn remove(path: &Path) -> Result<(), RunError> {
    fs::remove_file(path).map_err(RunError::other)
}

/// Measures the workloads of a group with a zone file.
pub(crate) fn measure(
    session: &mut Session<'_>,
    plan: &Plan<'_>,
    group: Group,
    path: &Path,
    patience: Duration,
) -> Result<(), RunError> {
    let (mut all, mut programs, mut contenders) = (Vec::new(), Vec::new(), Vec::new());
    for (label, kind) in wanted(session, group) {
        let count = if kind == QueryKind::Random { RANDOM[usize::from(plan.full)] } else { DISTINCT };
        all.push(Queries::of(group.zone(plan.full), kind, count));
        // The queries, and the place of the next.
        for Contender { workload, id, subject, is_foreign, .. } in
            servers::installed::<_, ()>(session, label, |p| p)
        {
            contenders.push(Contender::new(&workload, &id, (all.len() - 1, 0), is_foreign));
            if programs.iter().all(|(known, _)| *known != id) {
                programs.push((id, subject));
            }
        }
    }
    let (mut running, mut started) = (Running::default(), None);
    let turn = |session: &mut Session<'_>, contender: &mut Contender<(usize, usize), Turn>, round: usize| {
        let start = if group == Group::Large { 0 } else { round / RESTART };
        if started.replace(start) != Some(start) {
            running.restart(session, plan, &programs, Source::File(path), patience)?;
        }
        let (queries, next) = &mut contender.subject;
        let Some(queries) = all.get(*queries) else { return Err(TurnError::Stopped) };
        running.turn(&contender.id, |server| load(plan, server, queries, next))
    };
    take_turns(session, &mut contenders, plan.rounds, turn, |session, all| FIGURES.record(session, all))
}

/// Puts queries from the place `next` on a server.
pub(crate) fn load(
    plan: &Plan<'_>,
    server: &mut Server,
    queries: &Queries,
    next: &mut usize,
) -> Result<Turn, TurnError> {
    let (target, from) = (server.target, *next);
    let (loaded, cpu) = on_core(plan.cores.load, || {
        server.place.enter()?;
        let warm = load::full(target, queries, from, plan.time / WARM_UP)?;
        warm.counts.check()?;
        let before = server.cpu()?;
        let loaded = load::full(target, queries, warm.next, plan.time)?;
        let cpu = server.cpu()?.saturating_sub(before);
        loaded.counts.check()?;
        Ok((loaded, cpu))
    })?;
    let Loaded { counts, time, idle, next: place } = loaded;
    *next = place;
    server.child.check()?;
    if counts.answers == 0 || cpu.is_zero() {
        return Err(TurnError::Failed("it answered nothing".to_owned()));
    }
    let answers = counts.answers as f64;
    Ok(Turn {
        cpu_us: cpu.as_secs_f64() * 1e6 / answers,
        client_us: time.saturating_sub(idle).as_secs_f64() * 1e6 / answers,
        rate: answers / time.as_secs_f64(),
        lost: counts.lost,
        queries: counts.answers + counts.lost,
    })
}
