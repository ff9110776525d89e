//! Tables of the flows of a capture: lookups in the order of its packets, and packets received as they came.

use super::entry::{Entry, empty, record};
use super::find::{Found, find, placements};
use super::memory::too_large;
use crate::capture::Capture;
use crate::flows::{Size, TICK};
use crate::hashes;
use crate::own;
use hashlane_lab::definition::subject;
use hashlane_lab::probe::cpu_time::cpu_ns;
use hashlane_lab::study::{Rounds, RunError, Session};
use std::cell::{Cell, RefCell};

/// Steps of the run's progress.
pub(super) const STEPS: usize = 2;

/// Packets after which an idle flow expires, unless the capture ends before.
const LIVE: usize = 1 << 16;

/// Measures both workloads.
pub(super) fn run(session: &mut Session<'_>, label: &str, capture: &Capture) -> Result<(), RunError> {
    own::add_counts(session, label, capture);
    // C++ tables do not mark flows as seen, so a replay would find other flows in them.
    let schemes = session.definition.measured_schemes().iter();
    let schemes: Vec<String> = schemes.filter(|id| hashes::cpp(subject(id)).is_none()).cloned().collect();
    if let Some(note) = too_large(capture.tuples.len(), schemes.len(), session.settings.full) {
        session.notes.push(note);
        session.skip(STEPS);
        return Ok(());
    }
    hits(session, &format!("{label}/hit"), &schemes, capture)?;
    if session.stopped() {
        return Ok(());
    }
    replay(session, &format!("{label}/replay"), &schemes, capture)
}

/// Looks the packets up, in their order, in tables that hold all flows.
fn hits(
    session: &mut Session<'_>,
    workload: &str,
    schemes: &[String],
    capture: &Capture,
) -> Result<(), RunError> {
    session.step(workload, "timing");
    let flows = capture.tuples.len();
    let mut packets = capture.packets.iter().cycle();
    let mut found = Found::default();
    for rounds in placements(session.settings.size.repetitions) {
        let mut tables = Vec::new();
        for id in schemes {
            let mut table = empty(id, Size::steady(flows), session)?;
            table.flows.add(&capture.tuples, 0);
            tables.push(table);
        }
        let mut tables: Vec<&mut Entry> = tables.iter_mut().collect();
        found.append(find(session, workload, &mut tables, rounds, |asked, queries| {
            let mut sum = 0;
            for place in packets.by_ref().take(queries) {
                asked.extend(capture.tuples.get(*place as usize));
                sum += u64::from(*place);
            }
            (queries as u64, sum)
        })?);
    }
    found.record(session, workload);
    Ok(())
}

/// Receives the packets in their order, in tables that are empty at first: each packet marks its flow as seen
/// or adds it, and idle flows expire. After its end the capture begins anew, and all flows have expired.
fn replay(
    session: &mut Session<'_>,
    workload: &str,
    schemes: &[String],
    capture: &Capture,
) -> Result<(), RunError> {
    session.step(workload, "timing");
    let live = capture.packets.len().clamp(1, LIVE).next_multiple_of(TICK);
    let flows = capture.tuples.len();
    let tables = schemes.iter().map(|id| empty(id, Size { room: flows, flows, live }, session));
    let mut tables = tables.collect::<Result<Vec<_>, _>>()?;
    let received = session.settings.size.items as usize;
    let batch = RefCell::new(Batch::default());
    let known = Cell::new(None);
    let mut wrong = None;
    let rounds = Rounds::run(
        &mut tables,
        session.settings.size.repetitions as usize,
        |_| {
            batch.borrow_mut().refill(capture, received);
            known.set(None);
            !session.stopped()
        },
        |Entry { id, flows }| {
            let Batch { tuples, ends, .. } = &*batch.borrow();
            let start = cpu_ns();
            let (mut from, mut found) = (0, 0);
            for end in ends {
                found += flows.receive(tuples.get(from..*end).unwrap_or_default());
                flows.pause();
                from = *end;
            }
            found += flows.receive(tuples.get(from..).unwrap_or_default());
            let ns = (cpu_ns() - start) / received as f64;
            if known.replace(Some(found)).is_some_and(|other| other != found) {
                wrong = Some(id.clone());
            }
            ns
        },
    );
    if let Some(id) = wrong {
        let what = format!("{id}: another number of packets belongs to known flows");
        return Err(RunError::Expectation { workload: workload.into(), what });
    }
    let ids: Vec<String> = tables.iter().map(|table| table.id.clone()).collect();
    record(session, workload, &ids, &rounds);
    Ok(())
}

/// Packets of a round.
#[derive(Debug, Default)]
struct Batch {
    /// The tuples.
    tuples: Vec<hashlane_flow::tuple::Tuple>,
    /// Places in `tuples` at which the capture has ended.
    ends: Vec<usize>,
    /// Next packet of the capture.
    next: usize,
}

impl Batch {
    /// The next `count` packets of a capture, which has one or more.
    fn refill(&mut self, capture: &Capture, count: usize) {
        let Self { tuples, ends, next } = self;
        tuples.clear();
        ends.clear();
        while tuples.len() < count {
            let rest = capture.packets.get(*next..).unwrap_or_default();
            let taken = rest.len().min(count - tuples.len());
            tuples.extend(rest.iter().take(taken).filter_map(|place| capture.tuples.get(*place as usize)));
            *next += taken;
            if *next >= capture.packets.len() {
                ends.push(tuples.len());
                *next = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuples::TupleSet;

    #[test]
    fn a_batch_marks_the_ends_of_the_capture() {
        let tuples = TupleSet::Random.generate(3, 1, u64::MAX).unwrap();
        let capture = Capture { packets: vec![0, 1, 0, 2, 1], tuples, ..Capture::default() };
        let mut batch = Batch::default();
        let mut places = |count| {
            batch.refill(&capture, count);
            let place = |tuple| capture.tuples.iter().position(|other| other == tuple).unwrap();
            (batch.tuples.iter().map(place).collect::<Vec<_>>(), batch.ends.clone())
        };
        assert_eq!(places(3), (vec![0, 1, 0], vec![]));
        assert_eq!(places(8), (vec![2, 1, 0, 1, 0, 2, 1, 0], vec![2, 7]));
        assert_eq!(places(4), (vec![1, 0, 2, 1], vec![4]));
    }

    #[test]
    fn all_tables_know_the_same_packets_of_a_capture() {
        use crate::hashes;
        use hashlane_hash::scheme::Key;
        let tuples = TupleSet::Nat.generate(300, 1, u64::MAX).unwrap();
        // Each flow has packets in pairs, 300 packets apart.
        let packets: Vec<_> = (0..300).chain(0..300).flat_map(|i| [tuples[i], tuples[i]]).collect();
        for live in [32, 320, 1024] {
            let known = |id: &str| {
                let mut table =
                    hashes::flows(id, &Key::VECTOR, Size { room: 300, flows: 300, live }).unwrap();
                let first = table.receive(&packets);
                table.pause();
                (first, table.receive(&packets), table.len())
            };
            let expected = known("hashbrown/siphash-1-3/single");
            for id in [
                "chained/base/single",
                "swiss/siphash-1-3/burst",
                "batched/siphash-1-3/single",
                "batched/siphash-1-3/burst",
            ] {
                assert_eq!(known(id), expected, "{id}, {live}");
            }
            assert!((300..=900).contains(&expected.0) && expected.0 == expected.1, "{live}: {expected:?}");
        }
    }
}
