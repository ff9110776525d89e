//! Congestion window, and retransmission timeout.

use std::time::Duration;

/// The congestion window of a fetch: additive increase, multiplicative decrease, after a slow start.
///
/// It is decreased once for all Interests sent before the decrease: a burst of losses is one sign of
/// congestion.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    size: f64,
    /// End of the slow start. Below it, each answer makes room for two Interests.
    threshold: f64,
    limit: f64,
    /// Losses of Interests with numbers below this one have been accounted for.
    cut_at: u64,
}

impl Window {
    /// A window of two, that grows up to `limit`, at least 1.
    pub(crate) fn new(limit: usize) -> Self {
        Self { size: 2.0, threshold: f64::INFINITY, limit: limit.max(1) as f64, cut_at: 0 }
    }

    /// Interests that may be in flight.
    pub(crate) fn size(&self) -> usize {
        self.size.min(self.limit) as usize
    }

    /// Increases the window after an answer.
    pub(crate) fn grow(&mut self) {
        let step = if self.size < self.threshold { 1.0 } else { 1.0 / self.size };
        self.size = (self.size + step).min(self.limit);
    }

    /// Decreases the window after the loss of Interest `number`, or a congestion mark in its answer. `next`
    /// is the number of the next Interest. Returns true if the window was decreased.
    pub(crate) fn cut(&mut self, number: u64, next: u64) -> bool {
        if number < self.cut_at {
            return false;
        }
        self.cut_at = next;
        self.threshold = (self.size / 2.0).max(2.0);
        self.size = self.threshold.min(self.limit);
        true
    }
}

/// Smoothed round-trip time, and retransmission timeout.
///
/// Source: RFC 6298 §2 and §5.5, with a minimum timeout of 200 ms.
#[derive(Clone, Debug)]
pub(crate) struct RoundTrip {
    smoothed: Option<Duration>,
    variation: Duration,
    timeout: Duration,
}

const MIN_TIMEOUT: Duration = Duration::from_millis(200);
const MAX_TIMEOUT: Duration = Duration::from_secs(8);

impl RoundTrip {
    pub(crate) fn new() -> Self {
        Self { smoothed: None, variation: Duration::ZERO, timeout: Duration::from_secs(1) }
    }

    /// Smoothed round-trip time; `None` before the first sample.
    pub(crate) fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Adds a sample: the round-trip time of an Interest that was not retransmitted.
    pub(crate) fn add_sample(&mut self, sample: Duration) {
        let smoothed = match self.smoothed {
            None => {
                self.variation = sample / 2;
                sample
            }
            Some(smoothed) => {
                self.variation = self.variation * 3 / 4 + smoothed.abs_diff(sample) / 4;
                smoothed * 7 / 8 + sample / 8
            }
        };
        self.smoothed = Some(smoothed);
        self.timeout = (smoothed + self.variation * 4).clamp(MIN_TIMEOUT, MAX_TIMEOUT);
    }

    /// Doubles the timeout after it has expired.
    pub(crate) fn back_off(&mut self) {
        self.timeout = (self.timeout * 2).min(MAX_TIMEOUT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_starts_slow_and_is_cut_once_for_a_burst() {
        let mut window = Window::new(100);
        (0..30).for_each(|_| window.grow());
        assert_eq!(window.size(), 32);
        assert!(window.cut(10, 32));
        assert!(!window.cut(31, 40));
        assert_eq!(window.size(), 16);
        (0..17).for_each(|_| window.grow());
        assert_eq!(window.size(), 17);
        assert!(window.cut(32, 50));
        (0..100_000).for_each(|_| window.grow());
        assert_eq!(window.size(), 100);
    }

    #[test]
    fn the_window_never_closes() {
        let mut window = Window::new(1);
        (0..100).for_each(|number| assert!(window.cut(number, number)));
        assert_eq!(window.size(), 1);
    }

    #[test]
    fn the_timeout_follows_the_samples() {
        let mut round_trip = RoundTrip::new();
        assert_eq!(round_trip.timeout(), Duration::from_secs(1));
        round_trip.add_sample(Duration::from_millis(100));
        assert_eq!(round_trip.timeout(), Duration::from_millis(300));
        round_trip.add_sample(Duration::from_millis(180));
        // 110 + 4 × (3/4 × 50 + 1/4 × 80)
        assert_eq!(round_trip.timeout(), Duration::from_millis(340));
        round_trip.back_off();
        assert_eq!(round_trip.timeout(), Duration::from_millis(680));
        (0..100).for_each(|_| round_trip.add_sample(Duration::from_millis(1)));
        assert_eq!(round_trip.timeout(), MIN_TIMEOUT);
    }
}
