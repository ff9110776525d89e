//! The longest 32 operations in a row among millions: insertions, removals, lookups and expiries, in a table
//! with room for its flows, or in one that grows.
//!
//! The clock is read before and after each burst of 32, so that reading it costs little beside them; no
//! single operation takes longer than the burst that it is in.

use super::entry::{Entry, empty, record_new_tables};
use crate::flows::{Flows, Size, TICK};
use hashlane_flow::tuple::Tuple;
use hashlane_lab::probe::cpu_time::cpu_ns;
use hashlane_lab::study::{RunError, Session};
use std::hint::black_box;

/// Rounds at most: each adds millions of flows to every table.
const ROUNDS: u32 = 9;

/// Operations for each flow of the table: 10⁷ for 4 Mi flows.
const PER_FLOW: f64 = 10e6 / (4u32 << 20) as f64;

/// One kind of operation; 32 operations are timed together.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Adds the next flows.
    Insert,
    /// Removes the flows that were added first.
    Remove,
    /// Looks up flows that were added long before the last ones.
    Find,
    /// Removes flows that are too old, within a budget.
    Expire,
}

/// Steps in a table with room, which stays as full as it is; half-way, all flows of the beginning are due.
const WITH_ROOM: [Step; 4] = [Step::Remove, Step::Insert, Step::Find, Step::Expire];

/// Steps of a table that grows from nothing.
const GROWING: [Step; 5] = [Step::Insert, Step::Find, Step::Insert, Step::Remove, Step::Insert];

/// Measures the longest step of each scheme, in tables made anew for each round. The first half of `ring` is
/// in the tables with room at first.
pub(super) fn run(
    session: &mut Session<'_>,
    workload: &str,
    ring: &[Tuple],
    with_room: bool,
) -> Result<(), RunError> {
    let flows = ring.len() / 2;
    let operations = (flows as f64 * PER_FLOW) as usize;
    let (room, live, steps): (_, _, &[Step]) = if with_room {
        // One step of four is an insertion, and all steps make twice the life of a flow.
        (flows, operations / WITH_ROOM.len() / 2, &WITH_ROOM)
    } else {
        (0, 2 * ring.len(), &GROWING)
    };
    let rounds = session.settings.size.repetitions.min(ROUNDS);
    record_new_tables(session, workload, rounds, |session, id| {
        let Entry { flows: mut table, .. } = empty(id, Size { room, flows, live }, session)?;
        table.insert(ring.get(..room).unwrap_or_default(), 0);
        let turn = Turn { ring, oldest: 0, newest: room, expired: 0, removed: 0 };
        let (ns, turn) = turn.run(table.as_mut(), steps, operations / TICK);
        let expected = turn.newest as u64 - turn.removed - turn.expired;
        if table.len() as u64 != expected {
            let what = format!("{id} has {} flows, expected {expected}", table.len());
            return Err(RunError::Expectation { workload: workload.into(), what });
        }
        Ok(ns)
    })
}

/// State of a run.
struct Turn<'a> {
    ring: &'a [Tuple],
    /// Place of the flow that was added first and not removed.
    oldest: usize,
    /// Flows added.
    newest: usize,
    expired: u64,
    removed: u64,
}

impl Turn<'_> {
    /// Takes `count` steps; returns the time of the longest in nanoseconds, and the state at the end.
    fn run(mut self, flows: &mut dyn Flows, steps: &[Step], count: usize) -> (f64, Self) {
        let mut longest = 0.0_f64;
        for step in steps.iter().cycle().take(count) {
            let burst = |at: usize| self.ring.get(at..at + TICK).unwrap_or_default();
            let start = match step {
                Step::Insert => {
                    let burst = burst(self.newest);
                    flows.tick();
                    let start = cpu_ns();
                    flows.insert(burst, 0);
                    self.newest += burst.len();
                    start
                }
                Step::Remove => {
                    let burst = burst(self.oldest);
                    let start = cpu_ns();
                    self.removed += flows.remove(burst);
                    self.oldest += burst.len();
                    start
                }
                Step::Find => {
                    let burst = burst((self.oldest + self.newest) / 2);
                    let start = cpu_ns();
                    black_box(flows.find(burst));
                    start
                }
                Step::Expire => {
                    let start = cpu_ns();
                    self.expired += flows.expire();
                    start
                }
            };
            longest = longest.max(cpu_ns() - start);
        }
        (longest, self)
    }
}
