//! Results of one turn.

use super::window::Counts;
use hashlane_stats::{mean, quantile};
use std::time::Duration;

/// Round-trip times of Interests, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rtt {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
}

impl Rtt {
    /// Of waiting times in nanoseconds; `None` of none.
    pub(super) fn of(ns: &[u32]) -> Option<Self> {
        let ms: Vec<f64> = ns.iter().map(|ns| f64::from(*ns) / 1e6).collect();
        Some(Self { mean: mean(&ms)?, p50: quantile(&ms, 0.5)?, p99: quantile(&ms, 0.99)? })
    }
}

/// Results of one turn of a forwarder.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Counts of the Interests in the measured time; `answered` are the exchanges.
    pub counts: Counts,
    /// The measured time.
    pub time: Duration,
    /// CPU time of the forwarder in it.
    pub cpu: Duration,
    /// Round-trip times of Interests, of a load with a pace.
    pub rtt: Option<Rtt>,
    /// `true` if the forwarder and the load had a core each.
    pub cores_apart: bool,
}

impl Reading {
    /// Microseconds of CPU for an exchange; there is at least one exchange.
    pub fn cpu_us(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.counts.answered as f64
    }

    /// CPU time in per cent of a core.
    pub fn cpu_percent(&self) -> f64 {
        100.0 * self.cpu.as_secs_f64() / self.time.as_secs_f64().max(1e-9)
    }

    /// A round-trip time in milliseconds; not finite without a pace.
    pub fn rtt_ms(&self, of: fn(Rtt) -> f64) -> f64 {
        self.rtt.map_or(f64::NAN, of)
    }

    /// Exchanges a second.
    pub fn rate(&self) -> f64 {
        self.counts.answered as f64 / self.time.as_secs_f64().max(1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summarizes_round_trip_times() {
        let ns: Vec<u32> = (1..=101).map(|ms| ms * 1_000_000).collect();
        assert_eq!(Rtt::of(&ns), Some(Rtt { mean: 51.0, p50: 51.0, p99: 100.0 }));
        assert_eq!(Rtt::of(&[]), None);
    }
}
