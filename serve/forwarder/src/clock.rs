//! The clock of the forwarding threads.

use hashlane_ndn::time::Time;
use std::time::Instant;

/// The clock of the forwarding threads, which all have the same time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    /// A clock that starts now.
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// The time.
    pub(crate) fn now(self) -> Time {
        // The first millisecond is 1: 0 is never.
        Time(1_000_000 + self.0.elapsed().as_nanos() as u64)
    }

    /// Lets this time pass at once.
    #[cfg(test)]
    pub(crate) fn advance(&mut self, by: std::time::Duration) {
        self.0 -= by;
    }

    /// Time since the start.
    pub(crate) fn elapsed(self) -> std::time::Duration {
        self.0.elapsed()
    }
}
