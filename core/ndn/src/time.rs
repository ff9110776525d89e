//! Time, as a parameter of the protocol code.

use core::ops::Add;
use core::time::Duration;

/// Point in time: nanoseconds since an epoch of the caller's choice. Monotonic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub u64);

impl Time {
    /// Time at this many milliseconds since the epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Whole milliseconds since the epoch.
    #[inline]
    pub const fn millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Time elapsed since `earlier`; zero if `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// Time this many milliseconds later.
    #[inline]
    pub const fn after_millis(self, millis: u64) -> Self {
        Self(self.0.saturating_add(millis.saturating_mul(1_000_000)))
    }
}

impl Add<Duration> for Time {
    type Output = Self;

    fn add(self, by: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(by.as_nanos()).unwrap_or(u64::MAX)))
    }
}
