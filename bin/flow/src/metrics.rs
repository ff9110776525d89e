//! `--metrics`: the counters of a run over HTTP.

use anyhow::Result;
use hashlane_daemon::metrics::Http;
use hashlane_meter::{ExportError, FlowRecord, MeterStats, Output, prometheus};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// Counters that are served until the process ends.
pub(super) struct Metrics {
    /// Observation domain of the first worker.
    domain: u32,
    text: Arc<Mutex<String>>,
}

impl Metrics {
    /// Serves counters at an address, on a thread of its own.
    ///
    /// # Errors
    /// The address cannot be bound, or the thread not started.
    pub(super) fn serve(address: SocketAddr, domain: u32) -> Result<Self> {
        let metrics = Self { domain, text: Arc::default() };
        metrics.update(&[MeterStats::default()]);
        let text = Arc::clone(&metrics.text);
        let read = move || text.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let http = Http::bind(address, "--metrics")?;
        let url = http.url();
        http.serve(read)?;
        hashlane_command::terminal::tell(&format!("metrics: {url}"));
        Ok(metrics)
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
        let mut metrics = Metrics::serve("127.0.0.1:0".parse().unwrap(), 7).unwrap();
        metrics.tick(&[MeterStats { packets: 5, ..MeterStats::default() }], 0).unwrap();
        let text = metrics.text.lock().unwrap().clone();
        assert!(text.contains("hashlane_flow_packets_total{worker=\"7\"} 5\n"), "{text}");
    }
}
