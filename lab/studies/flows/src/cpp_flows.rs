//! C++ tables behind the front of all tables of flows.
//!
//! They have no clock of their own: a queue of the flows in the order of their insertion stands for one, and
//! a flow expires when it is old enough, seen meanwhile or not.

use crate::flows::{BUDGET, Flows, Size, TICK};
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::Key;
use hashlane_peers_cpp::Table;
use std::collections::VecDeque;

/// A C++ table, and the ticks at which its flows were added.
pub(crate) struct CppFlows {
    table: Table,
    ages: VecDeque<(u32, Tuple)>,
    now: u32,
    idle: u32,
}

impl CppFlows {
    /// An empty table; `None` if its library is missing or has no such table.
    pub(crate) fn new(id: &str, key: &Key, size: Size) -> Option<Self> {
        let table = Table::new(id, key.halves(), size.room)?;
        Some(Self { table, ages: VecDeque::with_capacity(size.room), now: 0, idle: size.idle() })
    }
}

impl Flows for CppFlows {
    fn add(&mut self, tuples: &[Tuple], first: u32) {
        for (tuples, first) in tuples.chunks(TICK).zip((first..).step_by(TICK)) {
            self.tick();
            self.insert(tuples, first);
        }
    }

    #[inline(never)]
    fn insert(&mut self, tuples: &[Tuple], first: u32) {
        self.table.insert(Tuple::memories(tuples), first);
        self.ages.extend(tuples.iter().map(|tuple| (self.now, *tuple)));
    }

    fn tick(&mut self) {
        self.now += 1;
    }

    #[inline(never)]
    fn remove(&mut self, tuples: &[Tuple]) -> u64 {
        self.table.remove(Tuple::memories(tuples))
    }

    #[inline(never)]
    fn expire(&mut self) -> u64 {
        let mut removed = 0;
        for _ in 0..BUDGET {
            match self.ages.front() {
                Some((added, tuple)) if self.now - added >= self.idle => {
                    removed += self.table.remove(Tuple::memories(core::slice::from_ref(tuple)));
                    self.ages.pop_front();
                }
                _ => break,
            }
        }
        removed
    }

    #[inline(never)]
    fn find(&self, tuples: &[Tuple]) -> (u64, u64) {
        self.table.find(Tuple::memories(tuples))
    }

    /// No replay of a capture times these tables: their flows are not marked as seen.
    fn receive(&mut self, _: &[Tuple]) -> u64 {
        debug_assert!(false, "a replay leaves out C++ tables");
        0
    }

    fn pause(&mut self) {
        self.now += self.idle;
    }

    /// The tables do not tell.
    fn comparisons(&self, _: &Tuple) -> usize {
        0
    }

    fn memory(&self) -> usize {
        0
    }

    fn len(&self) -> usize {
        self.table.len()
    }
}
