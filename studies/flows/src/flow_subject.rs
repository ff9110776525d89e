//! Tables of flows, of every shape and under every hash: ours, the kernel's and `hashbrown`'s behind the same
//! front.

use hashlane_flow::ehash::TupleHash;
use hashlane_flow::table::{Flow, FlowTable, Limits};
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::Key;
use hashlane_table::Table;

/// A table of flows, each of which has a number, behind a pointer. Its operations change it, so the run
/// brings it to a known state first and times the call from outside.
pub trait Flows {
    /// Adds flows that are not in the table, numbered on from `first`.
    fn add(&mut self, tuples: &[Tuple], first: u32);

    /// Looks all of `tuples` up, and returns how many are there and the sum of their numbers.
    fn find(&self, tuples: &[Tuple]) -> (u64, u64);

    /// Adds `tuples`, numbered from `first` on, at [`TICK`] a tick, and expires flows that are too old.
    fn churn(&mut self, tuples: &[Tuple], first: u32);

    /// Number of tuples that a lookup of this one compares.
    fn comparisons(&self, tuple: &Tuple) -> usize;

    /// Number of flows.
    fn len(&self) -> usize;

    /// `true` if the table has no flows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Flows added in one tick of a churn.
pub(crate) const TICK: usize = 32;

/// A [`FlowTable`], asked for one tuple at a time, or for a burst where `BURSTS`.
pub(crate) struct Front<H, T, const BURSTS: bool> {
    flows: FlowTable<u32, H, T>,
    now: u32,
}

impl<H: TupleHash, T: Table<Tuple, Flow<u32>>, const BURSTS: bool> Front<H, T, BURSTS> {
    /// Room for `flows`, of which each lives for as long as it takes to add `live` others at [`TICK`] a tick.
    pub(crate) fn new(key: &Key, flows: usize, live: usize) -> Self {
        let idle = u32::try_from(live / TICK).unwrap_or(u32::MAX);
        let limits = Limits { flows: flows + TICK, idle };
        Self { flows: FlowTable::with_room(flows, key, limits, 0), now: 0 }
    }

    fn tick(&mut self, tuples: &[Tuple], first: u32) {
        self.now += 1;
        for (tuple, number) in tuples.iter().zip(first..) {
            // There is room: no more are added than the table was made for.
            let _ = self.flows.insert_new(*tuple, number, self.now);
        }
    }
}

impl<H: TupleHash, T: Table<Tuple, Flow<u32>>, const BURSTS: bool> Flows for Front<H, T, BURSTS> {
    fn add(&mut self, tuples: &[Tuple], first: u32) {
        for (tuples, first) in tuples.chunks(TICK).zip((first..).step_by(TICK)) {
            self.tick(tuples, first);
        }
    }

    #[inline(never)]
    fn find(&self, tuples: &[Tuple]) -> (u64, u64) {
        let (mut found, mut sum) = (0, 0);
        if BURSTS {
            self.flows.find_burst(tuples, |_, number| {
                if let Some(number) = number {
                    found += 1;
                    sum += u64::from(*number);
                }
            });
        } else {
            for tuple in tuples {
                if let Some(number) = self.flows.find(tuple) {
                    found += 1;
                    sum += u64::from(*number);
                }
            }
        }
        (found, sum)
    }

    #[inline(never)]
    fn churn(&mut self, tuples: &[Tuple], first: u32) {
        for (tuples, first) in tuples.chunks(TICK).zip((first..).step_by(TICK)) {
            self.tick(tuples, first);
            self.flows.expire(self.now, |_, _| ());
        }
    }

    fn comparisons(&self, tuple: &Tuple) -> usize {
        self.flows.comparisons(tuple)
    }

    fn len(&self) -> usize {
        self.flows.len()
    }
}
