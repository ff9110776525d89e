//! State of a run over an interface, for other threads: counters, progress, and settings that change.

use crate::meter::MeterOptions;
use crate::stats::MeterStats;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// State of a run over an interface.
#[derive(Debug)]
pub struct RunState {
    /// Settings of all workers together, and the number of their changes.
    meter: Mutex<MeterOptions>,
    changes: AtomicU64,
    /// Counters of each worker at its last tick.
    workers: Mutex<Vec<MeterStats>>,
    /// Turns of each worker, and of the thread that hands records to the output.
    turns: Vec<AtomicU64>,
    /// A worker has ended: open flows are exported.
    ended: AtomicBool,
}

impl RunState {
    /// The state of a run with these settings.
    #[must_use]
    pub fn new(meter: MeterOptions, workers: usize) -> Self {
        let workers = workers.max(1);
        Self {
            meter: Mutex::new(meter),
            changes: AtomicU64::new(0),
            workers: Mutex::new(vec![MeterStats::default(); workers]),
            turns: (0..=workers).map(|_| AtomicU64::new(0)).collect(),
            ended: AtomicBool::new(false),
        }
    }

    /// Changes the timeouts, the limit of the flows, and the metering of tunnels, within a quarter of a
    /// second. Other options stay as they are.
    pub fn change(&self, meter: MeterOptions) {
        *self.meter.lock().unwrap_or_else(PoisonError::into_inner) = meter;
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// Counters of each worker.
    #[must_use]
    pub fn workers(&self) -> Vec<MeterStats> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Turns of each thread so far: all of them rise several times a second, until the run ends.
    #[must_use]
    pub fn count_turns(&self) -> Vec<u64> {
        self.turns.iter().map(|turns| turns.load(Ordering::Relaxed)).collect()
    }

    /// Tests if a worker has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Notes that a worker has ended.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Counts a turn of a thread: a worker by its number, or the one that hands records over, the last.
    pub(super) fn count_turn(&self, thread: usize) {
        if let Some(turns) = self.turns.get(thread) {
            turns.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Takes the counters of a worker.
    pub(super) fn publish(&self, worker: usize, stats: MeterStats) {
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = workers.get_mut(worker) {
            *place = stats;
        }
    }

    /// The settings for each worker, if they were changed since `seen` changes, which is brought up to date.
    pub(super) fn changed(&self, seen: &mut u64) -> Option<MeterOptions> {
        let changes = self.changes.load(Ordering::Acquire);
        if std::mem::replace(seen, changes) == changes {
            return None;
        }
        let all = *self.meter.lock().unwrap_or_else(PoisonError::into_inner);
        let workers = self.turns.len() - 1;
        Some(MeterOptions { flows: all.flows.div_ceil(workers), ..all })
    }
}
