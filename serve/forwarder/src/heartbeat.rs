//! Proof of progress: an echo that goes from the management to the forwarding thread and back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Number of echoes that have come back, which stands still if the management or the forwarding thread does.
#[derive(Clone, Debug, Default)]
pub struct Heartbeats(Arc<AtomicU64>);

impl Heartbeats {
    /// The number.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The schedule of echoes.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    every: Duration,
    /// Time of the last request.
    asked: Option<Instant>,
    /// True until the answer to the last request.
    waits: bool,
    beats: Heartbeats,
}

impl Heartbeat {
    pub(crate) fn new(every: Duration, beats: Heartbeats) -> Self {
        Self { every, asked: None, waits: false, beats }
    }

    /// Longest time until the next request.
    pub(crate) fn every(&self) -> Duration {
        self.every
    }

    /// True if the next echo is due: the caller asks for it now.
    pub(crate) fn begin(&mut self, now: Instant) -> bool {
        let is_due = self.asked.is_none_or(|asked| now.saturating_duration_since(asked) >= self.every);
        if self.waits || !is_due {
            return false;
        }
        (self.asked, self.waits) = (Some(now), true);
        true
    }

    /// Counts an echo.
    pub(crate) fn end(&mut self) {
        self.waits = false;
        self.beats.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_stands_still_ends_the_beats() {
        let (beats, every) = (Heartbeats::default(), Duration::from_secs(1));
        let mut heart = Heartbeat::new(every, beats.clone());
        let start = Instant::now();
        assert!(heart.begin(start) && !heart.begin(start));
        // No answer: no further request, and no beat.
        assert!(!heart.begin(start + 10 * every));
        assert_eq!(beats.count(), 0);
        heart.end();
        assert_eq!(beats.count(), 1);
        assert!(heart.begin(start + 10 * every));
        heart.end();
        assert!(!heart.begin(start + 10 * every) && heart.begin(start + 11 * every));
        assert_eq!(beats.count(), 2);
    }
}
