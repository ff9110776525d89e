//! Lookups in several tables, in turns.

use super::entry::{Entry, record};
use crate::metric;
use hashlane_flow::tuple::Tuple;
use hashlane_lab::probe::cpu_time::cpu_ns;
use hashlane_lab::study::{Fact, Rounds, RunError, Session};
use std::cell::{Cell, RefCell};
use std::hint::black_box;

/// Lookups of a turn before the timed ones. They, and a pass over the tuples, leave the same code, predictors
/// and tuples in the caches to each turn, whichever table had the turn before.
const UNTIMED: usize = 1024;

/// Looks up the tuples that `draw` puts into the list, anew for each round; it returns how many of them are
/// there, and the sum of their numbers.
pub(super) fn find(
    session: &mut Session<'_>,
    workload: &str,
    tables: &mut [&mut Entry],
    rounds: usize,
    mut draw: impl FnMut(&mut Vec<Tuple>, usize) -> (u64, u64),
) -> Result<Found, RunError> {
    let queries = session.settings.size.items as usize;
    let asked = RefCell::new(Vec::with_capacity(UNTIMED + queries));
    let expected = Cell::new((0, 0));
    let mut wrong = None;
    let rounds = Rounds::run(
        tables,
        rounds,
        |_| {
            let mut asked = asked.borrow_mut();
            asked.clear();
            expected.set(draw(&mut asked, UNTIMED + queries));
            !session.stopped()
        },
        |Entry { id, flows }| {
            let asked = asked.borrow();
            let (untimed, timed) = asked.split_at(UNTIMED.min(asked.len()));
            black_box(timed.iter().fold(0, |bits, tuple| bits ^ tuple.words()[4]));
            let before = flows.find(untimed);
            let start = cpu_ns();
            let found = flows.find(timed);
            let ns = (cpu_ns() - start) / queries as f64;
            if (before.0 + found.0, before.1 + found.1) != expected.get() {
                wrong = Some(id.clone());
            }
            ns
        },
    );
    if let Some(id) = wrong {
        let what = format!("{id}: lookups find the wrong flows");
        return Err(RunError::Expectation { workload: workload.into(), what });
    }
    let tables = tables.iter().map(|table| (table.id.clone(), table.flows.memory())).collect();
    Ok(Found { tables, rounds })
}

/// Times of lookups, and the tables with their bytes of memory.
#[derive(Default)]
pub(super) struct Found {
    tables: Vec<(String, usize)>,
    rounds: Rounds,
}

impl Found {
    /// Adds the times of the same schemes in other tables.
    pub(super) fn append(&mut self, later: Self) {
        self.tables = later.tables;
        self.rounds.append(later.rounds);
    }

    pub(super) fn record(&self, session: &mut Session<'_>, workload: &str) {
        let ids: Vec<String> = self.tables.iter().map(|(id, _)| id.clone()).collect();
        record(session, workload, &ids, &self.rounds);
        for (id, bytes) in self.tables.iter().filter(|(_, bytes)| *bytes > 0) {
            let memory = Fact::exact(*bytes as f64, 1);
            session.add("table", workload, id, "count", metric::MEMORY, "bytes", memory);
        }
    }
}

/// Divides the rounds; the tables are made anew for each part. One and the same table is up to a tenth faster
/// or slower in other memory, and bounds from a single one do not show that. Few rounds mean one
/// launch of several, and each launch has other memory anyway: these rounds stay together.
pub(super) fn placements(rounds: u32) -> impl Iterator<Item = usize> {
    let placements = if rounds < 6 { 1 } else { 3 };
    (0..placements).map(move |at| ((rounds + at) / placements) as usize).filter(|rounds| *rounds > 0)
}

#[cfg(test)]
mod tests {
    use super::placements;

    #[test]
    fn all_rounds_are_in_a_placement() {
        for (rounds, expected) in [(0, vec![]), (2, vec![2]), (5, vec![5]), (10, vec![3, 3, 4])] {
            assert_eq!(placements(rounds).collect::<Vec<_>>(), expected);
        }
    }
}
