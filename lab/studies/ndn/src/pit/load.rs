//! Forwarders with each index under load: their turns and the records of them. The load is full, at the
//! source's pace, or at the pace at which the forwarder by name takes nearly a whole core.

use super::busy;
use super::work::{Work, indexes};
use crate::load::{Forwarder, Plan, Reading};
use crate::metric;
use crate::under_load::{Subject, note, turns};
use hashlane_lab::evidence::CARRIED;
use hashlane_lab::study::{Rounds, RunError, Session};
use hashlane_stats::quantile;
use std::time::Duration;

/// Model of the records.
const LOAD_MODEL: &str = "pit-load";

/// Interests of a consumer in a second, under a load with a pace: the source's.
const PACE: u32 = 1000;

/// Forwarders with each index, under load.
pub(super) fn forwarders(
    session: &mut Session<'_>,
    works: &[(&str, Work)],
    rounds: usize,
) -> Result<(), RunError> {
    let time = Duration::from_millis(session.settings.size.items.into());
    let mut subjects = Vec::new();
    for (label, work) in works {
        let (workload, plan) = match work {
            Work::Load(workload) => (*workload, Plan::lasting(time)),
            Work::Paced(workload) => (*workload, Plan::paced(time, PACE)),
            Work::Busy(workload) => match busy::pace(session, label, workload, time)? {
                Some(pace) => (*workload, Plan::paced(time, pace)),
                None => return Ok(()),
            },
            _ => continue,
        };
        for (id, index) in indexes(session, true) {
            subjects.push(Subject::new(label, &id, Forwarder::Indexed(index), workload, plan));
        }
    }
    turns(session, &mut subjects, rounds, record_loads)
}

/// Records the results of the forwarders on all workloads, from two rounds on.
fn record_loads(session: &mut Session<'_>, subjects: &[Subject]) {
    if subjects.iter().any(|subject| subject.readings.len() < 2) {
        return;
    }
    for subjects in subjects.chunk_by(|a, b| a.label == b.label) {
        record(session, subjects);
        note_busy(session, subjects);
    }
    note(session, LOAD_MODEL, &subjects.iter().collect::<Vec<_>>());
}

/// A figure of a reading.
type Figure = fn(&Reading) -> Option<f64>;

/// Figures recorded of each turn: the metric, its unit, and the probe.
const FIGURES: [(&str, &str, &str, Figure); 6] = [
    (metric::CPU_US, "us", "cpu-clock", Reading::cpu_us),
    (metric::RATE, "1/s", "wall-clock", |reading| Some(reading.rate())),
    (metric::CPU_PERCENT, "%", "cpu-clock", |reading| reading.rtt.map(|_| reading.cpu_percent())),
    (metric::RTT_MS, "ms", "wall-clock", |reading| reading.rtt.map(|rtt| rtt.mean)),
    (metric::RTT_P50_MS, "ms", "wall-clock", |reading| reading.rtt.map(|rtt| rtt.p50)),
    (metric::RTT_P99_MS, "ms", "wall-clock", |reading| reading.rtt.map(|rtt| rtt.p99)),
];

/// Start of the ids of loads that take nearly a whole core.
pub(super) const BUSY: &str = "busy/";

/// Share of a core that the reference took on a workload with [`BUSY`] in its id, in per cent.
fn busy_percent(session: &Session<'_>, subjects: &[Subject]) -> Option<f64> {
    let mut subjects = subjects.iter().filter(|subject| subject.label.starts_with(BUSY));
    let name = subjects.find(|subject| subject.id == session.definition.reference)?;
    quantile(&name.readings.iter().map(Reading::cpu_percent).collect::<Vec<_>>(), 0.5)
}

/// Adds a note to a load that was to take nearly a whole core, and did not.
fn note_busy(session: &mut Session<'_>, subjects: &[Subject]) {
    let (Some(percent), Some(subject)) = (busy_percent(session, subjects), subjects.first()) else { return };
    if percent < busy::LEAST {
        let offered = subject.plan.offered(Duration::from_secs(1)).unwrap_or_default();
        session.notes.push(format!(
            "{}: {:.0} % of a core was not reached: {} took {percent:.0} %, at {offered:.0} Interests a second; no \
             index was compared with it",
            subject.label,
            busy::LEAST,
            session.definition.reference,
        ));
    }
}

/// Records the results of the forwarders on one workload.
fn record(session: &mut Session<'_>, subjects: &[Subject]) {
    let Some(label) = subjects.first().map(|subject| subject.label.as_str()) else { return };
    let reference = subjects.iter().position(|subject| subject.id == session.definition.reference);
    // Below that share of a core, or with queues that grow, a comparison is not of the load that it names.
    let is_reached = busy_percent(session, subjects).is_none_or(|percent| percent >= busy::LEAST);
    let is_carried = |at: usize| {
        let share = subjects.get(at).and_then(Subject::carried);
        !label.starts_with(BUSY) || share.is_some_and(|share| share >= CARRIED)
    };
    for (name, unit, probe, figure) in FIGURES {
        let of = |subject: &Subject| subject.readings.iter().filter_map(figure).collect::<Vec<f64>>();
        let rounds = Rounds::of_launches(subjects.iter().map(of).collect());
        if rounds.is_empty() {
            continue;
        }
        for (at, subject) in subjects.iter().enumerate() {
            session.add(LOAD_MODEL, label, &subject.id, probe, name, unit, rounds.time(at));
            let Some(reference) = reference.filter(|reference| *reference != at) else { continue };
            // Points of CPU are compared by their difference, as in the source; times by their ratio.
            let (compared, fact) = match name {
                metric::CPU_PERCENT => (metric::MORE, rounds.difference(at, reference)),
                metric::CPU_US => (metric::RATIO, rounds.ratio(at, reference)),
                metric::RTT_MS => (metric::RATIO_RTT, rounds.ratio(at, reference)),
                _ => continue,
            };
            if !is_reached || !is_carried(at) || !is_carried(reference) {
                continue;
            }
            if let Some(fact) = fact {
                session.add(
                    LOAD_MODEL,
                    label,
                    &subject.id,
                    probe,
                    compared,
                    &session.definition.reference,
                    fact,
                );
            }
        }
    }
}
