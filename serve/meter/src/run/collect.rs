//! Records on their way from a meter to an output.

use super::{Output, wall};
use crate::export::ExportError;
use crate::record::FlowRecord;
use crate::stats::MeterStats;
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Records that are handed over at once.
pub(super) const BATCH: usize = 512;

/// Time between two ticks of an output.
pub(super) const TICK: Duration = Duration::from_millis(250);

/// Batches of records from several workers, whose memory comes back: freed by another thread than the one
/// that allocates it, it would go to the system and be cleared each time.
#[derive(Clone)]
pub(super) struct Batches {
    to: SyncSender<Vec<FlowRecord>>,
    empty: Arc<Mutex<Receiver<Vec<FlowRecord>>>>,
}

impl Batches {
    /// Batches for the receiver of `to`, which sends them back for `empty` to receive.
    pub(super) fn new(to: SyncSender<Vec<FlowRecord>>, empty: Receiver<Vec<FlowRecord>>) -> Self {
        Self { to, empty: Arc::new(Mutex::new(empty)) }
    }

    /// Sends a batch, and returns an empty one.
    pub(super) fn hand_over(&self, batch: Vec<FlowRecord>) -> Vec<FlowRecord> {
        // The receiver is dropped after the workers.
        let _ = self.to.send(batch);
        let empty = self.empty.lock().unwrap_or_else(PoisonError::into_inner).try_recv();
        let mut batch = empty.unwrap_or_else(|_| Vec::with_capacity(BATCH));
        batch.clear();
        batch
    }
}

/// Hands records to an output, in batches, and lets it tick.
pub(super) struct Collector<'a> {
    output: &'a mut dyn Output,
    records: Vec<FlowRecord>,
    next_tick: Instant,
    failed: Option<ExportError>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(output: &'a mut dyn Output) -> Self {
        let next_tick = Instant::now() + TICK;
        Self { output, records: Vec::with_capacity(BATCH), next_tick, failed: None }
    }

    /// Takes a record; an error shows at [`tick`](Self::tick).
    #[inline]
    pub(super) fn take(&mut self, record: &FlowRecord) {
        self.records.push(*record);
        if self.records.len() == BATCH {
            self.flush();
        }
    }

    /// Takes records that come as a batch.
    pub(super) fn take_all(&mut self, records: &[FlowRecord]) {
        if self.failed.is_none() {
            self.failed = self.output.flows(records, wall()).err();
        }
    }

    /// Hands over what has been taken.
    fn flush(&mut self) {
        let records = std::mem::take(&mut self.records);
        self.take_all(&records);
        self.records = records;
        self.records.clear();
    }

    /// Lets the output tick if it is time. Call it often.
    pub(super) fn tick(&mut self, workers: impl FnOnce() -> Vec<MeterStats>) -> Result<(), ExportError> {
        if self.failed.is_none() && Instant::now() >= self.next_tick {
            self.flush();
            self.next_tick = Instant::now() + TICK;
            if self.failed.is_none() {
                self.output.tick(&workers(), wall())?;
            }
        }
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Hands over what is left, and lets the output tick once more.
    pub(super) fn finish(mut self, workers: &[MeterStats]) -> Result<(), ExportError> {
        self.flush();
        self.failed.take().map_or(Ok(()), Err)?;
        self.output.tick(workers, wall())
    }
}
