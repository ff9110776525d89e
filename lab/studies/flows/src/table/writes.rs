//! Insertions: into tables that are empty at first, and into tables of constant occupancy.

use super::entry::{Entry, empty, record, record_new_tables, schemes_on};
use crate::flows::{Size, TICK};
use hashlane_flow::tuple::Tuple;
use hashlane_lab::probe::cpu_time::cpu_ns;
use hashlane_lab::study::{Rounds, RunError, Session};
use std::cell::RefCell;

/// Adds all flows to an empty table with room for them, made anew for each round. Pages that the table
/// touches for the first time are part of the cost, as for a table that was just made.
pub(super) fn fill(session: &mut Session<'_>, workload: &str, tuples: &[Tuple]) -> Result<(), RunError> {
    record_new_tables(session, workload, session.settings.size.repetitions, |session, id| {
        let Entry { mut flows, .. } = empty(id, Size::steady(tuples.len()), session)?;
        let start = cpu_ns();
        for (tuples, first) in tuples.chunks(TICK).zip((0..).step_by(TICK)) {
            flows.tick();
            flows.insert(tuples, first);
        }
        let ns = (cpu_ns() - start) / tuples.len() as f64;
        if flows.len() != tuples.len() {
            let what = format!("{id} has {} flows, {} were added", flows.len(), tuples.len());
            return Err(RunError::Expectation { workload: workload.into(), what });
        }
        Ok(ns)
    })
}

/// Adds flows to tables that are as full as they will be, while as many expire. Of `ring`, the first half is
/// in the tables at first.
pub(super) fn churn(session: &mut Session<'_>, workload: &str, ring: &[Tuple]) -> Result<(), RunError> {
    let (inside, _) = ring.split_at(ring.len() / 2);
    let schemes = schemes_on(session.definition, workload);
    let mut tables = schemes
        .iter()
        .map(|id| empty(id, Size::steady(inside.len()), session))
        .collect::<Result<Vec<_>, _>>()?;
    tables.iter_mut().for_each(|table| table.flows.add(inside, 0));
    let added = (session.settings.size.items as usize).clamp(TICK, inside.len()) / TICK * TICK;
    let mut next = inside.len();
    let batch = RefCell::new(Vec::with_capacity(added));
    let rounds = Rounds::run(
        &mut tables,
        session.settings.size.repetitions as usize,
        |_| {
            let mut batch = batch.borrow_mut();
            batch.clear();
            let (head, tail) = ring.split_at(next);
            batch.extend(tail.iter().chain(head).take(added));
            next = (next + added) % ring.len();
            !session.stopped()
        },
        |Entry { flows, .. }| {
            let batch = batch.borrow();
            let start = cpu_ns();
            flows.churn(&batch, 0);
            (cpu_ns() - start) / added as f64
        },
    );
    for Entry { id, flows } in &tables {
        // Shapes that move their entries may be some ticks late or early; none holds a thousandth more or
        // less.
        if flows.len().abs_diff(inside.len()) > TICK.max(inside.len() / 1000) {
            let what = format!("{id} has {} flows after churn, expected {}", flows.len(), inside.len());
            return Err(RunError::Expectation { workload: workload.into(), what });
        }
    }
    let ids: Vec<String> = tables.iter().map(|table| table.id.clone()).collect();
    record(session, workload, &ids, &rounds);
    Ok(())
}
