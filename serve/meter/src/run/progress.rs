//! Progress of a run, beside its output.

use super::Output;
use crate::export::ExportError;
use crate::record::FlowRecord;
use crate::stats::MeterStats;

/// An output whose run reports its counters.
#[derive(Debug)]
pub struct Progress<'a, O, F> {
    output: &'a mut O,
    report: F,
}

impl<'a, O: Output, F: FnMut(&MeterStats)> Progress<'a, O, F> {
    /// An output; `report` gets the counters of all workers together about four times a second.
    pub const fn new(output: &'a mut O, report: F) -> Self {
        Self { output, report }
    }
}

impl<O: Output, F: FnMut(&MeterStats)> Output for Progress<'_, O, F> {
    fn flows(&mut self, flows: &[FlowRecord], now: u64) -> Result<(), ExportError> {
        self.output.flows(flows, now)
    }

    fn tick(&mut self, workers: &[MeterStats], now: u64) -> Result<(), ExportError> {
        let mut total = MeterStats::default();
        workers.iter().for_each(|worker| total.add(worker));
        (self.report)(&total);
        self.output.tick(workers, now)
    }
}
