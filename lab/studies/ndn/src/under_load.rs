//! Forwarders as processes of their own, under load, in alternation.

use crate::load::{self, Counts, Forwarder, Plan, Reading, Workload};
use crate::metric;
use hashlane_lab::evidence::CARRIED;
use hashlane_lab::study::{Contender, Fact, RunError, Session, take_turns};

/// A forwarder, and the load that it gets in each turn.
pub(crate) struct Loaded {
    forwarder: Forwarder,
    pub(crate) workload: Workload,
    pub(crate) plan: Plan,
}

/// A forwarder on a workload, which has its turn in each round.
pub(crate) type Loads = Contender<Loaded, Reading>;

pub(crate) fn contender(
    label: &str,
    id: &str,
    forwarder: Forwarder,
    workload: Workload,
    plan: Plan,
) -> Loads {
    Contender::new(label, id, Loaded { forwarder, workload, plan }, forwarder.is_foreign())
}

/// Counts of the Interests of all turns.
pub(crate) fn counts(turns: &[Reading]) -> Counts {
    turns.iter().fold(Counts::default(), |sum, reading| sum.plus(reading.counts))
}

/// Answered share of the offered Interests, 0 to 1; `None` of a load without a pace.
pub(crate) fn carried(loads: &Loads) -> Option<f64> {
    let offered = |reading: &Reading| loads.subject.plan.offered(reading.time);
    let offered: f64 = loads.turns.iter().filter_map(offered).sum();
    (offered > 0.0).then(|| (counts(&loads.turns).answered as f64 / offered).min(1.0))
}

/// Gives all forwarders their turns.
pub(crate) fn turns(
    session: &mut Session<'_>,
    contenders: &mut [Loads],
    record: fn(&mut Session<'_>, &[Loads]),
) -> Result<(), RunError> {
    let rounds = session.settings.size.repetitions as usize;
    let turn = |session: &mut Session<'_>, loads: &mut Loads, _| {
        let Loaded { forwarder, workload, plan } = &loads.subject;
        load::turn(&session.settings.command, *forwarder, workload, plan, session.stop)
    };
    take_turns(session, contenders, rounds, turn, record)
}

/// Records the share of each paced load that was carried, and adds notes: Interests without Data, loads that
/// were not carried, and a shared core.
pub(crate) fn note(session: &mut Session<'_>, model: &str, contenders: &[Loads]) {
    for loads in contenders.iter().filter(|loads| !loads.has_failed) {
        let Contender { workload, id, turns, .. } = loads;
        let Counts { answered, lost, unexpected } = counts(turns);
        if lost + unexpected > 0 {
            session.notes.push(format!(
                "{workload}: {id} left {lost} Interests of {} without Data, and brought {unexpected} unrequested \
                 or late packets",
                answered + lost
            ));
        }
        if let Some(share) = carried(loads) {
            let fact = Fact::exact(share, turns.len());
            session.add(model, workload, id, "count", metric::CARRIED, "share", fact);
            if share < CARRIED {
                session.notes.push(format!(
                    "{workload}: {id} answered {:.0} % of the offered Interests: overloaded; ignore its figures",
                    100.0 * share
                ));
            }
        }
    }
    if contenders.iter().flat_map(|loads| &loads.turns).any(|reading| !reading.cores_apart) {
        session.notes.push(
            "the load and the forwarder shared one core: bursts, and so the figures, differ from those with \
             a core for each"
                .to_owned(),
        );
    }
}
