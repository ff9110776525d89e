//! Rounds of the schemes on each workload, and the records of them.

use super::set::Set;
use super::threads::Reading;
use super::work::{CLOCKS, Scheme, Work, parse, processors};
use crate::metric;
use hashlane_hash::scheme::Key;
use hashlane_lab::definition::subject;
use hashlane_lab::study::Summary::{Median, Ratio};
use hashlane_lab::study::{Contender, Figures, RunError, Session, TurnError, take_turns, views};

/// Model of the records.
pub(crate) const MODEL: &str = "shards";

/// Components of the names in the quick size.
const QUICK_COMPONENTS: usize = 4;

/// Figures of the clock on the wall, and of the threads' CPU time.
const FIGURES: [Figures<Reading>; 2] = [
    Figures {
        model: MODEL,
        are_launches: false,
        list: &[
            (Ratio, "wall-clock", metric::NS, "ns", |reading| reading.wall_ns / reading.exchanges),
            (Median, "wall-clock", metric::RATE, "1/s", |reading| 1e9 * reading.exchanges / reading.wall_ns),
        ],
    },
    Figures {
        model: MODEL,
        are_launches: false,
        list: &[
            (Ratio, "cpu-clock", metric::NS, "ns", |reading| reading.cpu_ns / reading.exchanges),
            (Median, "count", metric::HANDED_OVER, "packets", |reading| {
                reading.handed_over / reading.exchanges
            }),
            (Median, "count", metric::BUSIEST, "share", |reading| reading.busiest),
        ],
    },
];

/// Measures a study of shards.
pub(crate) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    let definition = session.definition;
    for id in &definition.schemes {
        Scheme::parse(subject(id))?;
    }
    let mut works: Vec<(&str, Work)> = Vec::new();
    let mut left_out = 0;
    for id in &definition.workloads {
        let (work, group) = parse(id)?;
        if works.iter().any(|(known, _)| *known == group) {
            continue;
        }
        if session.settings.full || definition.names_workloads() || work.components == QUICK_COMPONENTS {
            works.push((group, work));
        } else {
            left_out += 1;
        }
    }
    if session.stopped() {
        return Ok(());
    }
    if left_out > 0 {
        session.notes.push(format!(
            "{left_out} loads with names of other than {QUICK_COMPONENTS} components were left out; --full \
             measures them"
        ));
    }
    let schemes = schemes(session)?;
    let rounds = session.settings.size.repetitions as usize;
    session.total = works.len() * schemes.len() * (rounds + 1);
    works.into_iter().try_for_each(|(group, work)| measure(session, group, work, &schemes, rounds))
}

/// Schemes to be measured. Notes those that this machine has too few processors for.
fn schemes(session: &mut Session<'_>) -> Result<Vec<(String, Scheme)>, RunError> {
    let (mut schemes, processors) = (Vec::new(), processors());
    for id in session.definition.measured_schemes() {
        let scheme = Scheme::parse(subject(id))?;
        if id == "all" && processors <= 2 {
            session.notes.push(format!("all: with {processors} processors it equals 2, and was left out"));
            continue;
        }
        if scheme.threads() > processors {
            session.notes.push(format!("{id}: more threads than processors ({processors})"));
        }
        schemes.push((id.clone(), scheme));
    }
    Ok(schemes)
}

/// Measures the schemes on one workload in alternation. Their tables are filled once.
fn measure(
    session: &mut Session<'_>,
    group: &str,
    work: Work,
    schemes: &[(String, Scheme)],
    rounds: usize,
) -> Result<(), RunError> {
    let key = Key::new(session.settings.key);
    let exchanges = u64::from(session.settings.size.items);
    let mut contenders: Vec<Contender<Set, Reading>> = Vec::new();
    for (id, scheme) in schemes {
        if session.stopped() {
            return Ok(());
        }
        session.step(group, &format!("{id}, tables"));
        let failed =
            |what| RunError::Expectation { workload: group.to_owned(), what: format!("{id}: {what}") };
        let mut set = Set::new(work, *scheme, &key, session.settings.seed).map_err(failed)?;
        // The content stores are full afterwards, and the caches warm.
        set.turn(exchanges.max(work.tables.packets as u64)).map_err(failed)?;
        contenders.push(Contender::new(group, id, set, false));
    }
    let turn = |_: &mut Session<'_>, contender: &mut Contender<Set, Reading>, _| {
        contender.subject.turn(exchanges).map_err(|what| {
            let (workload, what) = (contender.workload.clone(), format!("{}: {what}", contender.id));
            TurnError::Run(RunError::Expectation { workload, what })
        })
    };
    take_turns(session, &mut contenders, rounds, turn, |session, contenders| {
        for (clock, figures) in CLOCKS.iter().zip(FIGURES) {
            let workload = format!("{group}/{clock}");
            if session.has_workload(&workload) {
                figures.record(session, &views(contenders, &workload, |reading| *reading));
            }
        }
    })
}
