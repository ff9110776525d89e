//! Tables of flows, of every shape and under every hash: ours, the kernel's and `hashbrown`'s behind the same
//! front.

use hashlane_flow::burst::{BURST, Visitor};
use hashlane_flow::ehash::TupleHash;
use hashlane_flow::table::{Flow, FlowTable, Full, Limits};
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::Key;
use hashlane_table::Table;

/// A table of numbered flows, behind a pointer. Its operations change it, so the run
/// brings it to a known state first and times the call from outside.
pub(crate) trait Flows {
    /// Adds flows that are not in the table, numbered on from `first`, at [`TICK`] a tick.
    fn add(&mut self, tuples: &[Tuple], first: u32);

    /// Adds flows, numbered on from `first`, or changes their numbers if they are present, all in one tick.
    fn insert(&mut self, tuples: &[Tuple], first: u32);

    /// Advances the clock by a tick.
    fn tick(&mut self);

    /// Removes flows; returns how many were there.
    fn remove(&mut self, tuples: &[Tuple]) -> u64;

    /// Removes flows that are too old, about [`BUDGET`] of them at most; returns how many.
    fn expire(&mut self) -> u64;

    /// Looks all of `tuples` up, and returns how many are there and the sum of their numbers.
    fn find(&self, tuples: &[Tuple]) -> (u64, u64);

    /// Adds `tuples`, numbered from `first` on, at [`TICK`] a tick, and expires flows that are too old.
    #[inline(never)]
    fn churn(&mut self, tuples: &[Tuple], first: u32) {
        for (tuples, first) in tuples.chunks(TICK).zip((first..).step_by(TICK)) {
            self.tick();
            self.insert(tuples, first);
            self.expire();
        }
    }

    /// Receives the packets with these tuples, at [`TICK`] a tick: flows that are too old expire, and
    /// each packet marks its flow as seen or adds it. Returns the number of packets whose flow was there.
    fn receive(&mut self, packets: &[Tuple]) -> u64;

    /// Lets as much time go by as a flow lives.
    fn pause(&mut self);

    /// Number of tuples that a lookup of this one compares.
    fn comparisons(&self, tuple: &Tuple) -> usize;

    /// Number of flows.
    fn len(&self) -> usize;

    /// Bytes of memory; 0 of a table that does not tell.
    fn memory(&self) -> usize;
}

/// Flows added, or packets received, in one tick: a burst.
pub(crate) const TICK: usize = BURST;

/// Budget of an expiry in each tick: twice the flows that are added in it.
pub(crate) const BUDGET: usize = 2 * TICK;

/// Size of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Flows that the table has room for when it is made.
    pub(crate) room: usize,
    /// Limit of the flows.
    pub(crate) flows: usize,
    /// Flows that are added, at [`TICK`] a tick, while one lives.
    pub(crate) live: usize,
}

impl Size {
    /// Room for `flows`; the oldest expires when another is added.
    pub(crate) fn steady(flows: usize) -> Self {
        Self { room: flows, flows, live: flows }
    }

    /// Ticks that a flow lives: at least 1, as the table itself takes it.
    pub(crate) fn idle(self) -> u32 {
        u32::try_from(self.live / TICK).unwrap_or(u32::MAX).max(1)
    }
}

/// A [`FlowTable`], asked for one tuple at a time, or for a burst.
pub(crate) struct Front<H, T> {
    bursts: bool,
    flows: FlowTable<Tuple, u32, H, T>,
    now: u32,
    idle: u32,
}

/// The decisions of [`Flows::receive`]: every unknown flow is added.
struct Known(u64);

impl Visitor<u32> for Known {
    #[inline(always)]
    fn on_known_flow(&mut self, _: usize, _: &mut u32) {
        self.0 += 1;
    }

    #[inline(always)]
    fn on_new_flow(&mut self, _: usize, _: &Tuple) -> Option<u32> {
        Some(0)
    }

    /// There is room for all flows of the capture.
    #[inline(always)]
    fn on_table_full(&mut self, _: usize, _: Full<u32>) {}
}

impl<H: TupleHash, T: Table<Tuple, Flow<u32>>> Front<H, T> {
    /// An empty table; asked for bursts if `bursts`.
    pub(crate) fn new(bursts: bool, key: &Key, size: Size) -> Self {
        let limits = Limits { flows: size.flows + TICK, idle: size.idle() };
        let flows = FlowTable::with_room(size.room, key, limits, 0);
        Self { bursts, flows, now: 0, idle: size.idle() }
    }

    /// Removes flows that are too old, about `budget` of them at most; returns how many. A separate call
    /// for each burst, so that the commands hold this code once.
    #[inline(never)]
    fn expire_some(&mut self, budget: usize) -> u64 {
        let mut expired = 0;
        self.flows.expire(self.now, budget, |_, _| expired += 1);
        expired
    }

    // Functions of their own, so that each is the disassembled code.
    #[inline(never)]
    fn find_bursts(&self, tuples: &[Tuple]) -> (u64, u64) {
        let (mut found, mut sum) = (0, 0);
        self.flows.find_burst(tuples, |_, number| {
            if let Some(number) = number {
                found += 1;
                sum += u64::from(*number);
            }
        });
        (found, sum)
    }

    #[inline(never)]
    fn find_singles(&self, tuples: &[Tuple]) -> (u64, u64) {
        let (mut found, mut sum) = (0, 0);
        for tuple in tuples {
            if let Some(number) = self.flows.find(tuple) {
                found += 1;
                sum += u64::from(*number);
            }
        }
        (found, sum)
    }
}

impl<H: TupleHash, T: Table<Tuple, Flow<u32>>> Flows for Front<H, T> {
    #[inline(never)]
    fn add(&mut self, tuples: &[Tuple], first: u32) {
        for (tuples, first) in tuples.chunks(TICK).zip((first..).step_by(TICK)) {
            self.now += 1;
            for (tuple, number) in tuples.iter().zip(first..) {
                // There is room: no more are added than the table was made for.
                let _ = self.flows.insert_new(*tuple, number, self.now);
            }
        }
    }

    #[inline(never)]
    fn insert(&mut self, tuples: &[Tuple], first: u32) {
        if self.bursts {
            self.flows.insert_burst(tuples, self.now, |at| first.wrapping_add(at as u32), |_, _| ());
        } else {
            for (tuple, number) in tuples.iter().zip(first..) {
                // As above.
                let _ = self.flows.insert(*tuple, number, self.now);
            }
        }
    }

    fn tick(&mut self) {
        self.now += 1;
    }

    #[inline(never)]
    fn remove(&mut self, tuples: &[Tuple]) -> u64 {
        let mut removed = 0;
        if self.bursts {
            self.flows.remove_burst(tuples, |_, number| removed += u64::from(number.is_some()));
        } else {
            for tuple in tuples {
                removed += u64::from(self.flows.remove(tuple).is_some());
            }
        }
        removed
    }

    fn expire(&mut self) -> u64 {
        self.expire_some(BUDGET)
    }

    fn find(&self, tuples: &[Tuple]) -> (u64, u64) {
        if self.bursts { self.find_bursts(tuples) } else { self.find_singles(tuples) }
    }

    #[inline(never)]
    fn receive(&mut self, packets: &[Tuple]) -> u64 {
        let mut known = Known(0);
        for packets in packets.chunks(TICK) {
            self.now += 1;
            self.expire_some(usize::MAX);
            if self.bursts {
                self.flows.seen_or_insert_burst(packets, self.now, &mut known);
            } else {
                for tuple in packets {
                    if let Ok(Some(_)) = self.flows.insert(*tuple, 0, self.now) {
                        known.0 += 1;
                    }
                }
            }
        }
        known.0
    }

    fn pause(&mut self) {
        self.now += self.idle;
    }

    fn comparisons(&self, tuple: &Tuple) -> usize {
        self.flows.comparisons(tuple)
    }

    fn memory(&self) -> usize {
        self.flows.memory()
    }

    fn len(&self) -> usize {
        self.flows.len()
    }
}
