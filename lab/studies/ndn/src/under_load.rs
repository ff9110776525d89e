//! Forwarders as processes of their own, under load, in alternation.

use crate::load::{self, Counts, Forwarder, LoadError, Plan, Reading, Workload};
use crate::metric;
use hashlane_lab::evidence::CARRIED;
use hashlane_lab::study::{Fact, RunError, Session, order};

/// A forwarder on a workload, which has its turn in each round.
pub(crate) struct Subject {
    /// The workload's id.
    pub(crate) label: String,
    /// The scheme's id.
    pub(crate) id: String,
    pub(crate) forwarder: Forwarder,
    pub(crate) workload: Workload,
    pub(crate) plan: Plan,
    /// One of each round.
    pub(crate) readings: Vec<Reading>,
    /// `true` if it could not be measured; a note reports the reason.
    pub(crate) failed: bool,
}

impl Subject {
    pub(crate) fn new(label: &str, id: &str, forwarder: Forwarder, workload: Workload, plan: Plan) -> Self {
        Self {
            label: label.to_owned(),
            id: id.to_owned(),
            forwarder,
            workload,
            plan,
            readings: Vec::new(),
            failed: false,
        }
    }

    /// Counts of the Interests of all its turns.
    pub(crate) fn counts(&self) -> Counts {
        self.readings.iter().fold(Counts::default(), |sum, reading| sum.plus(reading.counts))
    }

    /// Answered share of the offered Interests, 0 to 1; `None` of a load without a pace.
    pub(crate) fn carried(&self) -> Option<f64> {
        let offered: f64 = self.readings.iter().filter_map(|reading| self.plan.offered(reading.time)).sum();
        (offered > 0.0).then(|| (self.counts().answered as f64 / offered).min(1.0))
    }
}

/// Gives every subject its turn in each round; the order is turned by one from round to round. Only whole
/// rounds count.
///
/// `record` adds the records of the rounds so far: they are reported after each round, and kept at the end,
/// even an early one.
pub(crate) fn turns(
    session: &mut Session<'_>,
    subjects: &mut [Subject],
    rounds: usize,
    record: fn(&mut Session<'_>, &[Subject]),
) -> Result<(), RunError> {
    let (ended, whole) = rounds_of(session, subjects, rounds, record);
    for subject in subjects.iter_mut() {
        subject.readings.truncate(whole);
    }
    record(session, subjects);
    ended
}

/// The turns, and how many rounds are whole.
fn rounds_of(
    session: &mut Session<'_>,
    subjects: &mut [Subject],
    rounds: usize,
    record: fn(&mut Session<'_>, &[Subject]),
) -> (Result<(), RunError>, usize) {
    let count = subjects.len();
    for round in 0..rounds {
        for at in order(count, round) {
            let Some(subject) = subjects.get_mut(at) else { continue };
            if session.stopped() {
                return (Ok(()), round);
            }
            session.step(&subject.label, &format!("{}, round {} of {rounds}", subject.id, round + 1));
            if subject.failed {
                continue;
            }
            let Subject { forwarder, workload, plan, .. } = subject;
            let why = match load::turn(&session.settings.command, *forwarder, workload, plan, session.stop) {
                Ok(reading) => {
                    subject.readings.push(reading);
                    continue;
                }
                Err(LoadError::Stopped) => return (Ok(()), round),
                Err(error) => error.to_string(),
            };
            if !subject.forwarder.is_foreign() {
                let (workload, scheme) = (subject.label.clone(), subject.id.clone());
                return (Err(RunError::Subject { workload, scheme, why }), round);
            }
            // Another project's program may have its reasons.
            subject.failed = true;
            session.notes.push(format!("{}: {} was not measured: {why}", subject.label, subject.id));
        }
        if round + 1 < rounds {
            session.report_rounds(|session| record(session, subjects));
        }
    }
    (Ok(()), rounds)
}

/// Records the share of each paced load that was carried, and adds notes: Interests without Data, loads that
/// were not carried, and a shared core.
pub(crate) fn note(session: &mut Session<'_>, model: &str, subjects: &[&Subject]) {
    for subject in subjects {
        let counts = subject.counts();
        if counts.lost + counts.unexpected > 0 {
            session.notes.push(format!(
                "{}: {} left {} Interests of {} without Data, and brought {} unrequested or late packets",
                subject.label,
                subject.id,
                counts.lost,
                counts.answered + counts.lost,
                counts.unexpected
            ));
        }
        if let Some(share) = subject.carried() {
            let fact = Fact::exact(share, subject.readings.len());
            session.add(model, &subject.label, &subject.id, "count", metric::CARRIED, "share", fact);
            if share < CARRIED {
                session.notes.push(format!(
                    "{}: {} answered {:.0} % of the offered Interests: overloaded; ignore its figures",
                    subject.label,
                    subject.id,
                    100.0 * share
                ));
            }
        }
    }
    if subjects.iter().any(|subject| subject.readings.iter().any(|reading| !reading.cores_apart)) {
        session.notes.push(
            "the load and the forwarder shared one core: bursts, and so the figures, differ from those with \
             a core for each"
                .to_owned(),
        );
    }
}
