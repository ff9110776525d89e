//! The largest flows of a run while it goes on: each worker lists its table's largest about once a second.
//!
//! A worker scans its table in parts between bursts of packets, at most 2^20 slots a second, and keeps few
//! candidates by each [`Ranking`]. So a list of a table of 10 million flows is made each 10 seconds. Without
//! [`LargestFlows`] nothing is scanned.

mod ranking;

pub use ranking::Ranking;

use crate::meter::Meter;
use crate::record::FlowRecord;
use hashlane_flow::key::MeterKey;
use ranking::Candidates;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time from the start of one scan to the next.
const PERIOD: Duration = Duration::from_secs(1);

/// Slots of the table scanned per second at most.
const SLOTS_PER_SECOND: f64 = (1 << 20) as f64;

/// Slots scanned at once at most: a millisecond of work.
const SLOTS_AT_ONCE: f64 = (1 << 16) as f64;

/// Lists of the largest flows of a run, which its workers write and a view reads.
#[derive(Debug)]
pub struct LargestFlows {
    /// Flows of a list by each ranking.
    rows: usize,
    lists: Mutex<Vec<FlowList>>,
}

/// The largest flows of one worker.
#[derive(Clone, Debug, Default)]
pub struct FlowList {
    /// Number of this list: the worker's first list is 1.
    pub number: u64,
    /// Time of the worker's last packet, or later; nanoseconds since 1970. 0 before the first list.
    pub time: u64,
    /// Flows that are among the first by one [`Ranking`] at least, in no order. They are open:
    /// [`FlowRecord::end`] means nothing.
    pub flows: Vec<FlowRecord>,
}

impl LargestFlows {
    /// Lists that have the first `rows` flows by each [`Ranking`], once a worker has made them.
    #[must_use]
    pub const fn new(rows: usize) -> Self {
        Self { rows, lists: Mutex::new(Vec::new()) }
    }

    /// The latest list of each worker.
    #[must_use]
    pub fn lists(&self) -> Vec<FlowList> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn publish(&self, worker: usize, list: FlowList) {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if lists.len() <= worker {
            lists.resize_with(worker + 1, FlowList::default);
        }
        if let Some(place) = lists.get_mut(worker) {
            *place = FlowList { number: place.number + 1, ..list };
        }
    }
}

/// Scan of a worker's table in parts; does nothing where nobody reads its lists.
pub(crate) struct Scan<'a>(Option<Scanning<'a>>);

struct Scanning<'a> {
    to: &'a LargestFlows,
    worker: usize,
    /// Start of this scan, and the slot to go on from; at the first slot between two scans.
    begun: Instant,
    slot: u32,
    /// Time of the last part.
    last: Instant,
    rankings: [Candidates<MeterKey>; Ranking::ALL.len()],
}

impl<'a> Scan<'a> {
    pub(crate) fn new(to: Option<&'a LargestFlows>, worker: usize) -> Self {
        let now = Instant::now();
        Self(to.map(|to| Scanning {
            to,
            worker,
            // The first scan begins at once.
            begun: now.checked_sub(PERIOD).unwrap_or(now),
            slot: 0,
            last: now,
            rankings: std::array::from_fn(|_| Candidates::new(to.rows)),
        }))
    }

    /// Scans the next part of the table if it is time. Call it between bursts of packets.
    #[inline]
    pub(crate) fn step(&mut self, meter: &Meter) {
        if let Some(scanning) = &mut self.0 {
            scanning.step(meter, Instant::now());
        }
    }

    /// Lists the flows that are open at the end of the packets.
    pub(crate) fn finish(self, meter: &Meter) {
        if let Some(mut scanning) = self.0 {
            scanning.slot = 0;
            scanning.rankings.iter_mut().for_each(Candidates::clear);
            scanning.scan(meter, u32::MAX);
        }
    }
}

impl Scanning<'_> {
    fn step(&mut self, meter: &Meter, now: Instant) {
        let since = now.saturating_duration_since(self.last);
        if self.slot == 0 {
            if now.saturating_duration_since(self.begun) < PERIOD {
                return;
            }
            self.begun = now;
        }
        self.last = now;
        let slots = (since.as_secs_f64() * SLOTS_PER_SECOND).clamp(1.0, SLOTS_AT_ONCE);
        self.scan(meter, slots as u32);
    }

    /// Scans so many slots, and publishes the list after the last one of the table.
    fn scan(&mut self, meter: &Meter, slots: u32) {
        let (rankings, time) = (&mut self.rankings, meter.time());
        let next = meter.scan(self.slot, slots, |key, flow| {
            for (ranking, candidates) in Ranking::ALL.into_iter().zip(rankings.iter_mut()) {
                let rank = ranking.rank(flow.packets(), flow.bytes(), flow.first(), time);
                candidates.offer(rank, *key);
            }
        });
        self.slot = next.unwrap_or(0);
        if next.is_none() {
            // Flows have ended since they were seen, and counted on.
            let keys = rankings.iter_mut().flat_map(Candidates::take);
            let flows: HashSet<FlowRecord> = keys.filter_map(|key| meter.open_flow(&key)).collect();
            self.to.publish(
                self.worker,
                FlowList { time, flows: flows.into_iter().collect(), ..FlowList::default() },
            );
        }
    }
}

#[cfg(test)]
mod tests;
