//! Studies of name servers at the end of a cable: XDP beside sockets, ours and other projects'.

use crate::costs::{self, Turn};
use crate::metric;
use crate::plan::Plan;
use crate::queries::{Queries, QueryKind};
use crate::servers::{self, Entrant, Io, PATIENCE, Program, Running, Source};
use crate::workloads::{MIDDLE, SMALL};
use crate::zone::Zone;
use hashlane_lab::definition::subject;
use hashlane_lab::probe::Cores;
use hashlane_lab::study::Summary::{Median, Ratio, Sum};
use hashlane_lab::study::{Contender, Figures, RunError, Session, by_id, take_turns};
use std::time::Duration;

/// Model of all records.
pub(crate) const MODEL: &str = "nameserver-xdp";

/// Workloads, and their zones.
const WORKLOADS: [(&str, Zone); 2] = [("small/mix", SMALL), ("165k/mix", MIDDLE)];

/// Distinct queries.
const DISTINCT: u32 = 1 << 16;

/// Rounds after which servers are started anew, so that no figure rests on a single process.
const RESTART: usize = 3;

/// Servers by the ids of schemes.
const ALL: [(&str, Entrant); 9] = {
    const fn by(program: Program, io: Io) -> Entrant {
        Entrant { program, io: Some(io) }
    }
    [
        ("ours", by(Program::Ours, Io::Native)),
        ("ours/generic", by(Program::Ours, Io::Generic)),
        ("ours/sockets", by(Program::Ours, Io::Sockets)),
        ("nsd", by(Program::Nsd, Io::Sockets)),
        ("knot", by(Program::Knot, Io::Native)),
        ("knot/sockets", by(Program::Knot, Io::Sockets)),
        ("echo", by(Program::Echo, Io::Native)),
        ("echo/generic", by(Program::Echo, Io::Generic)),
        ("echo/sockets", by(Program::Echo, Io::Sockets)),
    ]
};

const FIGURES: Figures<Turn> = Figures {
    model: MODEL,
    are_launches: false,
    list: &[
        (Ratio, "cpu-clock", metric::CPU_US, "us", |turn| turn.cpu_us),
        (Median, "wall-clock", metric::CLIENT_US, "us", |turn| turn.client_us),
        (Median, "wall-clock", metric::RATE, "1/s", |turn| turn.rate),
        (Sum, "count", metric::QUERIES, "queries", |turn| turn.queries as f64),
        (Sum, "count", metric::LOST, "queries", |turn| turn.lost as f64),
    ],
};

/// A server: what it is, and the place of the next query.
type Place = (Entrant, usize);

/// Measures a study of name servers by XDP.
pub(crate) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    session.check_workloads(&WORKLOADS.map(|(id, _)| id))?;
    let entrants = session.schemes_in(&ALL)?;
    if session.stopped() {
        return Ok(());
    }
    if let Some(why) = servers::cables_refused() {
        session.notes.push(format!(
            "nothing was measured: {why}; start as root, or with CAP_NET_ADMIN, CAP_SYS_ADMIN and CAP_BPF"
        ));
        return Ok(());
    }
    let mut missing: Vec<_> = entrants.iter().filter_map(|entrant| entrant.program.missing()).collect();
    missing.dedup();
    session.notes.extend(missing);
    let cores = Cores::detect();
    if !cores.are_apart() {
        session.notes.push("one core only: the load takes time from the servers".into());
    }
    let zones: Vec<_> = WORKLOADS.into_iter().filter(|(id, _)| session.has_workload(id)).collect();
    session.with_folder("hashlane-dns-xdp-", |session, folder| {
        let plan = Plan {
            folder,
            cores,
            full: session.settings.full,
            rounds: session.settings.size.repetitions as usize,
            time: Duration::from_millis(session.settings.size.items.into()),
        };
        let turns = |(id, _): &(&str, Zone)| plan.rounds * contenders(session, id).len();
        session.total = zones.len() + zones.iter().map(turns).sum::<usize>();
        for (id, zone) in zones {
            if !session.stopped() {
                measure(session, &plan, id, zone)?;
            }
        }
        Ok(())
    })
}

/// Servers that are installed and measured on a workload, in the order of the study.
fn contenders(session: &Session<'_>, workload: &str) -> Vec<Contender<Place, Turn>> {
    let ids = session.definition.schemes_on(workload).iter();
    let contender = |id: &String| {
        let entrant = by_id(&ALL, subject(id)).filter(|entrant| entrant.program.missing().is_none())?;
        Some(Contender::new(workload, id, (entrant, 0), entrant.program.is_foreign()))
    };
    ids.filter_map(contender).collect()
}

/// Measures a workload.
fn measure(session: &mut Session<'_>, plan: &Plan<'_>, id: &str, zone: Zone) -> Result<(), RunError> {
    session.step(id, "writing the zone");
    let (path, _) = plan.write("xdp", zone)?;
    let queries = Queries::of(zone, QueryKind::Mix, DISTINCT);
    let mut contenders = contenders(session, id);
    let entrants: Vec<_> = contenders.iter().map(|server| (server.id.clone(), server.subject.0)).collect();
    let (mut running, mut started) = (Running::default(), None);
    let turn = |session: &mut Session<'_>, contender: &mut Contender<Place, Turn>, round: usize| {
        if started.replace(round / RESTART) != Some(round / RESTART) {
            running.restart(session, plan, &entrants, Source::File(&path), PATIENCE)?;
        }
        let (_, next) = &mut contender.subject;
        running.turn(&contender.id, |server| costs::load(plan, server, &queries, next))
    };
    take_turns(session, &mut contenders, plan.rounds, turn, |session, all| FIGURES.record(session, all))?;
    costs::remove(&path)
}

#[cfg(test)]
mod tests;
