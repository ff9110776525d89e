//! Time for the threads that answer.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A moment, by two clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    /// Milliseconds since the start of the server; never decreases.
    pub(crate) millis: u64,
    /// Seconds since 1970, modulo 2³², for the age of cookies.
    pub(crate) seconds: u32,
}

/// The clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the start of the server; never decreases.
    #[inline]
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    #[inline]
    pub(crate) fn now(self) -> Now {
        Now { millis: self.0.elapsed().as_millis() as u64, seconds: unix_seconds() as u32 }
    }
}

/// Seconds since 1970.
#[inline]
pub(crate) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
