//! The clock of the forwarders.

use hashlane_ndn::time::Time;
use std::time::{Duration, Instant};

/// The time of the forwarders: the machine's, and the time that was let pass at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    start: Instant,
    passed: u64,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self { start: Instant::now(), passed: 1_000_000 }
    }

    /// The time.
    #[inline]
    pub(super) fn now(self) -> Time {
        Time(self.passed + self.start.elapsed().as_nanos() as u64)
    }

    /// Lets this time pass at once.
    pub(super) fn advance(&mut self, by: Duration) {
        self.passed += by.as_nanos() as u64;
    }
}
