//! The counters of a run over HTTP, for Prometheus.

use crate::export::ExportError;
use crate::record::FlowRecord;
use crate::run::Output;
use crate::stats::{MeterStats, prometheus};
use hashlane_daemon::metrics::Http;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Counters that are served until the process ends.
pub struct Metrics {
    /// Observation domain of the first worker.
    domain: u32,
    text: Arc<Mutex<String>>,
}

impl Metrics {
    /// Counters of a run, all 0. `domain` is the observation domain of the first worker.
    #[must_use]
    pub fn new(domain: u32) -> Self {
        let metrics = Self { domain, text: Arc::default() };
        metrics.update(&[MeterStats::default()]);
        metrics
    }

    /// Serves the counters by a listener, on a new thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn serve(&self, http: Http) -> io::Result<()> {
        let text = Arc::clone(&self.text);
        http.serve(move || text.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    fn update(&self, workers: &[MeterStats]) {
        let named: Vec<_> = (self.domain..=u32::MAX).zip(workers.iter().copied()).collect();
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = prometheus(&named);
    }
}

impl Output for Metrics {
    fn flows(&mut self, _: &[FlowRecord], _: u64) -> Result<(), ExportError> {
        Ok(())
    }

    fn tick(&mut self, workers: &[MeterStats], _: u64) -> Result<(), ExportError> {
        self.update(workers);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_those_of_the_last_tick() {
        let mut metrics = Metrics::new(7);
        metrics.tick(&[MeterStats { packets: 5, ..MeterStats::default() }], 0).unwrap();
        let text = metrics.text.lock().unwrap().clone();
        assert!(text.contains("hashlane_flow_packets_total{worker=\"7\"} 5\n"), "{text}");
    }
}
