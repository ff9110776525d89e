//! Time, as the caller tells it.

use core::ops::Add;
use core::time::Duration;

/// A point in time: nanoseconds since a moment of the caller's choice. It never goes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub u64);

impl Time {
    /// Some milliseconds after that moment.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Whole milliseconds since that moment.
    #[inline]
    pub const fn millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// How long after `earlier` it is; nothing where it is before.
    #[inline]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// So many milliseconds later.
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
