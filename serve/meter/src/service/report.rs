//! Reports of a meter: the documents of its control socket.

use crate::outputs::OutputStatus;
use crate::stats::MeterStats;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// State of a meter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Version of the program.
    pub version: String,
    /// Process id.
    pub pid: u32,
    /// Seconds since the start.
    pub uptime_s: u64,
    /// Interface.
    pub interface: String,
    /// Workers.
    pub workers: usize,
    /// Files and collectors.
    pub outputs: Vec<OutputStatus>,
    /// Reloads since the start, without those that were refused.
    pub reloads: u64,
    /// Reloads that were refused.
    #[serde(default)]
    pub reloads_refused: u64,
    /// Reason for which the last reload was refused; the configuration before it stays in effect.
    pub refused: Option<String>,
}

/// Counters of a meter since its start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Sums over all workers.
    pub total: MeterStats,
    /// Counters of each worker, by its observation domain.
    pub workers: BTreeMap<u32, MeterStats>,
}

impl Stats {
    /// Counters of workers; the first one has this observation domain.
    pub(super) fn new(domain: u32, workers: &[MeterStats]) -> Self {
        let mut total = MeterStats::default();
        workers.iter().for_each(|worker| total.add(worker));
        Self { total, workers: (domain..=u32::MAX).zip(workers.iter().copied()).collect() }
    }
}

/// Outcome of a reload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reloaded {
    /// Keys that have changed, and are in effect.
    pub changed: Vec<String>,
    /// Keys that have changed, and take effect after a restart.
    pub restart: Vec<String>,
    /// Outputs that were opened.
    pub opened: Vec<String>,
    /// Outputs that were completed and closed, with their counts.
    pub closed: Vec<String>,
}
