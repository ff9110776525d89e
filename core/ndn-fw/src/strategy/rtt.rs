//! Round-trip time (RTT) estimation, as in RFC 6298.

use core::time::Duration;

/// Timeout before the first sample.
const INITIAL: Duration = Duration::from_secs(1);
/// Shortest and longest timeout.
const TIMEOUTS: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(60)];

/// Smoothed RTT and its variation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rtt {
    /// Both values; `None` before the first sample.
    estimate: Option<(Duration, Duration)>,
}

impl Rtt {
    /// Smoothed RTT; `None` before the first sample.
    pub(super) fn smoothed(&self) -> Option<Duration> {
        self.estimate.map(|(smoothed, _)| smoothed)
    }

    /// Retransmission timeout (RFC 6298 §2), between 200 ms and 60 s.
    pub(super) fn timeout(&self) -> Duration {
        let (smoothed, variation) = self.estimate.unwrap_or((INITIAL, Duration::ZERO));
        (smoothed + 4 * variation).clamp(TIMEOUTS[0], TIMEOUTS[1])
    }

    /// Adds a sample.
    pub(super) fn add_sample(&mut self, sample: Duration) {
        self.estimate = Some(match self.estimate {
            None => (sample, sample / 2),
            Some((smoothed, variation)) => {
                ((smoothed * 7 + sample) / 8, (variation * 3 + smoothed.abs_diff(sample)) / 4)
            }
        });
    }
}
