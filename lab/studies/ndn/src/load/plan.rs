//! Plan of a load, and its timeouts.

use std::time::Duration;

/// Amount and duration of the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Pairs of a consumer and a producer.
    pub pairs: usize,
    /// Most unanswered Interests of a consumer.
    pub window: usize,
    /// Time under load before anything is measured.
    pub warm_up: Duration,
    /// Measured time; extended if no exchange was done in it.
    pub measured: Duration,
    /// Interests that each consumer sends in a second, whatever the answers; without it, its window is the
    /// limit.
    pub pace: Option<u32>,
}

impl Plan {
    /// 16 pairs with 16 Interests each, measured for this time.
    pub fn lasting(measured: Duration) -> Self {
        let warm_up = (measured * 3 / 10).clamp(Duration::from_millis(10), Duration::from_millis(800));
        Self { pairs: 16, window: 16, warm_up, measured, pace: None }
    }

    /// As [`lasting`](Self::lasting), at `pace` Interests a second for each consumer.
    pub fn paced(measured: Duration, pace: u32) -> Self {
        // As many as it sends until one is lost.
        let window = (pace as usize * LOST.as_secs() as usize).max(16);
        Self { window, pace: Some(pace.max(1)), ..Self::lasting(measured) }
    }

    /// Interests that all consumers should send in `time`; `None` without a pace.
    pub fn offered(&self, time: Duration) -> Option<f64> {
        self.pace.map(|pace| f64::from(pace) * self.pairs as f64 * time.as_secs_f64())
    }
}

/// Age at which an Interest is given up; before that it is merely late.
pub(super) const LOST: Duration = Duration::from_secs(1);
/// Timeout until a forwarder listens, until all pairs exchange packets, and until it has taken the pending
/// Interests.
pub(super) const TIMEOUT: Duration = Duration::from_secs(20);
