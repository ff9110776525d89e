//! How much may be under way, and how long to wait for it.

use std::time::Duration;

/// The congestion window of a fetch: additive increase, multiplicative decrease, after a slow start.
///
/// It is cut once for all that was sent before the cut: a burst of losses is one sign of congestion.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    size: f64,
    /// Up to here the start is slow: each answer makes room for two.
    threshold: f64,
    most: f64,
    /// Losses of Interests with numbers below this one have been answered for.
    cut_at: u64,
}

impl Window {
    /// Begins with two; has never more than `most`.
    pub(crate) fn new(most: usize) -> Self {
        Self { size: 2.0, threshold: f64::INFINITY, most: most.max(1) as f64, cut_at: 0 }
    }

    /// Interests that may be under way.
    pub(crate) fn size(&self) -> usize {
        self.size.min(self.most) as usize
    }

    /// An answer came.
    pub(crate) fn grow(&mut self) {
        let step = if self.size < self.threshold { 1.0 } else { 1.0 / self.size };
        self.size = (self.size + step).min(self.most);
    }

    /// Interest `number` was lost, or its answer marked; `next` is the number of the next one. Whether the window was cut.
    pub(crate) fn cut(&mut self, number: u64, next: u64) -> bool {
        if number < self.cut_at {
            return false;
        }
        self.cut_at = next;
        self.threshold = (self.size / 2.0).max(2.0);
        self.size = self.threshold.min(self.most);
        true
    }
}

/// The estimated round-trip time, and the time after which an Interest is taken for lost.
///
/// Source: RFC 6298 §2 and §5.5, with a least timeout of 200 ms.
#[derive(Clone, Debug)]
pub(crate) struct RoundTrip {
    smoothed: Option<Duration>,
    variation: Duration,
    timeout: Duration,
}

const LEAST: Duration = Duration::from_millis(200);
const MOST: Duration = Duration::from_secs(8);

impl RoundTrip {
    pub(crate) fn new() -> Self {
        Self { smoothed: None, variation: Duration::ZERO, timeout: Duration::from_secs(1) }
    }

    /// The estimate, where there is one.
    pub(crate) fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// An Interest that was sent once was answered after `sample`.
    pub(crate) fn take(&mut self, sample: Duration) {
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
        self.timeout = (smoothed + self.variation * 4).clamp(LEAST, MOST);
    }

    /// The timeout was too short.
    pub(crate) fn back_off(&mut self) {
        self.timeout = (self.timeout * 2).min(MOST);
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
        round_trip.take(Duration::from_millis(100));
        assert_eq!(round_trip.timeout(), Duration::from_millis(300));
        round_trip.take(Duration::from_millis(180));
        // 110 + 4 × (3/4 × 50 + 1/4 × 80)
        assert_eq!(round_trip.timeout(), Duration::from_millis(340));
        round_trip.back_off();
        assert_eq!(round_trip.timeout(), Duration::from_millis(680));
        (0..100).for_each(|_| round_trip.take(Duration::from_millis(1)));
        assert_eq!(round_trip.timeout(), LEAST);
    }
}
