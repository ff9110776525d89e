//! Forwarders with each index under load: their turns and the records of them. The load is full, at the
//! source's pace, or at the pace at which the forwarder by name takes nearly a whole core.

use super::busy;
use super::work::{Work, indexes};
use crate::load::{Forwarder, Plan, Reading};
use crate::metric;
use crate::under_load::{Loads, carried, contender, note, turns};
use hashlane_lab::evidence::CARRIED;
use hashlane_lab::study::Summary::Median;
use hashlane_lab::study::{Fact, Figures, Rounds, RunError, Session};
use hashlane_stats::median;
use std::time::Duration;

/// Model of the records.
const LOAD_MODEL: &str = "pit-load";

/// Interests of a consumer in a second, under a load with a pace: the source's.
const PACE: u32 = 1000;

/// Start of the ids of loads that take nearly a whole core.
pub(super) const BUSY: &str = "busy/";

const FIGURES: Figures<Reading> = Figures {
    model: LOAD_MODEL,
    are_launches: true,
    list: &[
        (Median, "cpu-clock", metric::CPU_US, "us", Reading::cpu_us),
        (Median, "wall-clock", metric::RATE, "1/s", Reading::rate),
        (Median, "cpu-clock", metric::CPU_PERCENT, "%", paced_percent),
        (Median, "wall-clock", metric::RTT_MS, "ms", mean_rtt),
        (Median, "wall-clock", metric::RTT_P50_MS, "ms", |reading| reading.rtt_ms(|rtt| rtt.p50)),
        (Median, "wall-clock", metric::RTT_P99_MS, "ms", |reading| reading.rtt_ms(|rtt| rtt.p99)),
    ],
};

/// Comparison of two contenders, by their places.
type Compare = fn(&Rounds, usize, usize) -> Option<Fact>;

/// A comparison: probe, metric, figure.
type Comparison = (&'static str, &'static str, fn(&Reading) -> f64, Compare);

/// Comparisons with the reference. Points of CPU are compared by their difference, as
/// in the source; times by their ratio.
const COMPARISONS: [Comparison; 3] = [
    ("cpu-clock", metric::MORE, paced_percent, Rounds::difference),
    ("cpu-clock", metric::RATIO, Reading::cpu_us, Rounds::ratio),
    ("wall-clock", metric::RATIO_RTT, mean_rtt, Rounds::ratio),
];

fn mean_rtt(reading: &Reading) -> f64 {
    reading.rtt_ms(|rtt| rtt.mean)
}

/// CPU time in per cent of a core; not finite without a pace.
fn paced_percent(reading: &Reading) -> f64 {
    reading.rtt.map_or(f64::NAN, |_| reading.cpu_percent())
}

/// Forwarders with each index, under load.
pub(super) fn forwarders(session: &mut Session<'_>, works: &[(&str, Work)]) -> Result<(), RunError> {
    let time = Duration::from_millis(session.settings.size.items.into());
    let mut all = Vec::new();
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
            all.push(contender(label, &id, Forwarder::Indexed(index), workload, plan));
        }
    }
    turns(session, &mut all, |session, all| {
        FIGURES.record(session, all);
        for group in all.chunk_by(|a, b| a.workload == b.workload) {
            compare(session, group);
        }
        note(session, LOAD_MODEL, all);
    })
}

/// Records the comparisons of a workload with the reference. A load that was to take nearly a whole core and
/// did not gets a note instead.
fn compare(session: &mut Session<'_>, group: &[Loads]) {
    let reference = &session.definition.reference;
    let place = group.iter().position(|loads| loads.id == *reference);
    let Some((place, name)) = place.and_then(|place| Some((place, group.get(place)?))) else { return };
    let (label, is_busy) = (&name.workload, name.workload.starts_with(BUSY));
    let percent = median(&name.turns.iter().map(Reading::cpu_percent).collect::<Vec<_>>());
    if let Some(percent) = percent.filter(|percent| is_busy && *percent < busy::LEAST) {
        let offered = name.subject.plan.offered(Duration::from_secs(1)).unwrap_or_default();
        session.notes.push(format!(
            "{label}: {:.0} % of a core was not reached: {reference} took {percent:.0} %, at {offered:.0} Interests \
             a second; no index was compared with it",
            busy::LEAST,
        ));
        return;
    }
    // With queues that grow, a comparison is not of the load that it names.
    let is_carried = |loads: &Loads| !is_busy || carried(loads).is_some_and(|share| share >= CARRIED);
    if !is_carried(name) {
        return;
    }
    for (probe, metric, figure, compare) in COMPARISONS {
        let rounds = group.iter().map(|loads| loads.turns.iter().map(figure).collect()).collect();
        let rounds = Rounds::of_launches(rounds);
        for (at, loads) in group.iter().enumerate().filter(|(at, loads)| *at != place && is_carried(loads)) {
            if let Some(fact) = compare(&rounds, at, place) {
                session.add(LOAD_MODEL, label, &loads.id, probe, metric, reference, fact);
            }
        }
    }
}
