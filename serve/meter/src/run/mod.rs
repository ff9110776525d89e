//! Runs of a meter: from captures or an interface, over one worker or several, to an [`Output`].

mod captures;
mod collect;
mod exchange;
mod frames;
mod live;
mod offline;
mod progress;
mod source;
mod state;
mod worker;

pub use live::{Capture, Live, interface_index, meter_interface};
pub use offline::meter_captures;
pub use progress::Progress;
pub use state::RunState;

use crate::export::ExportError;
use crate::largest::LargestFlows;
use crate::meter::{Meter, MeterOptions};
use crate::record::FlowRecord;
use crate::stats::MeterStats;
use hashlane_flow::dissect::Undissected;
use hashlane_hash::scheme::Key;
use hashlane_link::capture::FormatError;
use hashlane_link::tap::TapError;
use hashlane_link::xdp::XdpError;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Receiver of the flows of a run: exporters, views.
pub trait Output {
    /// Takes flows that ended; `now` is the time of the clock on the wall, in nanoseconds since 1970.
    ///
    /// # Errors
    /// The output cannot go on; the run ends.
    fn flows(&mut self, flows: &[FlowRecord], now: u64) -> Result<(), ExportError>;

    /// Called about four times a second, with the counters of each worker so far.
    ///
    /// # Errors
    /// The output cannot go on; the run ends.
    fn tick(&mut self, workers: &[MeterStats], now: u64) -> Result<(), ExportError>;
}

/// Several receivers: each gets all flows and ticks, in this order.
impl Output for Vec<&mut dyn Output> {
    fn flows(&mut self, flows: &[FlowRecord], now: u64) -> Result<(), ExportError> {
        self.iter_mut().try_for_each(|output| output.flows(flows, now))
    }

    fn tick(&mut self, workers: &[MeterStats], now: u64) -> Result<(), ExportError> {
        self.iter_mut().try_for_each(|output| output.tick(workers, now))
    }
}

/// Settings of a run.
#[derive(Debug)]
pub struct RunOptions<'a> {
    /// Settings of all workers together: each takes its share of [`MeterOptions::flows`]. The domains of
    /// workers count from that one.
    pub meter: MeterOptions,
    /// Number of workers, at least 1. With more than one, each is a thread, and the calling one writes.
    pub workers: usize,
    /// Key of all tables; must be random.
    pub key: &'a Key,
    /// Ends the run early once it is true; open flows are exported.
    pub stop: &'a AtomicBool,
    /// Lists that the workers make of their largest flows; `None`: no lists.
    pub largest: Option<&'a LargestFlows>,
}

impl RunOptions<'_> {
    /// The meter of a worker: it has a share of the flows, and a separate domain.
    fn meter_of(&self, worker: usize) -> Meter {
        let all = self.meter;
        let flows = all.flows.div_ceil(self.workers.max(1));
        let domain = all.domain.saturating_add(worker as u32);
        Meter::new(self.key, MeterOptions { flows, domain, ..all })
    }
}

/// Result of a run that came to its end.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Counters of each worker.
    pub workers: Vec<MeterStats>,
    /// Packets that have no flow: each cause in words that follow a count, and the count.
    pub undissected: Vec<(&'static str, u64)>,
    /// Captures that ended early or did not open, and why.
    pub problems: Vec<(PathBuf, String)>,
}

impl Summary {
    /// Counters of all workers.
    #[must_use]
    pub fn total(&self) -> MeterStats {
        let mut total = MeterStats::default();
        self.workers.iter().for_each(|worker| total.add(worker));
        total
    }

    /// Adds the causes of another worker.
    fn add_undissected(&mut self, worker: &Undissected) {
        let causes = worker.causes();
        self.undissected.resize(causes.len(), ("", 0));
        for (sum, (cause, count)) in self.undissected.iter_mut().zip(causes) {
            *sum = (cause, sum.1.saturating_add(count));
        }
    }
}

/// Reason why a run ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The first capture cannot be read at all.
    #[error("{}: {}", .0.display(), .1)]
    Capture(PathBuf, FormatError),
    /// The interface cannot be opened.
    #[error("{0}: {1}")]
    Interface(String, TapError),
    /// The interface cannot be opened by XDP.
    #[error("{0}: no XDP: {1}")]
    Xdp(String, XdpError),
    /// An output failed.
    #[error("{0}")]
    Output(ExportError),
    /// A worker's thread cannot be started.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}

impl From<ExportError> for RunError {
    fn from(error: ExportError) -> Self {
        Self::Output(error)
    }
}

/// The clock on the wall, in nanoseconds since 1970.
#[must_use]
pub fn wall() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
