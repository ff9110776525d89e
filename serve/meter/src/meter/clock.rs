//! Time of a meter: the highest time of its packets, in ticks of the table of flows.

use crate::export::SECOND;

/// Nanoseconds of a tick.
pub(super) const TICK: u64 = SECOND / 10;

/// Ticks that pass at once at most, more than any idle timeout has. The table takes 2³¹ and more for a clock
/// that ran backwards, and a clock that is set may jump ahead by years.
const MAX_PASSED: u64 = 1 << 25;

/// Nanoseconds by which packets may be ahead of the clock that stamps them; the clock was set back if they
/// are more.
const MAX_AHEAD: u64 = SECOND;

/// Time and ticks, which stand still while packets come from earlier times.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    /// The highest time seen, in nanoseconds since 1970, unless the clock was set back.
    now: u64,
    /// True once ticks are counted.
    has_begun: bool,
    /// Ticks so far. The count may wrap.
    ticks: u32,
    /// Begin of the current tick.
    since: u64,
    /// The highest time, if it was ahead of the clock at the last look.
    ahead: Option<u64>,
}

impl Clock {
    /// The highest time seen.
    pub(super) const fn now(&self) -> u64 {
        self.now
    }

    /// True after the first [`tick`](Self::tick).
    pub(super) const fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Takes the time of a packet.
    #[inline(always)]
    pub(super) fn see(&mut self, time: u64) {
        self.now = self.now.max(time);
    }

    /// The current tick. The first call begins with 0.
    #[inline]
    pub(super) fn tick(&mut self) -> u32 {
        if !self.has_begun {
            (self.has_begun, self.since) = (true, self.now);
        }
        let passed = self.now.saturating_sub(self.since) / TICK;
        self.since += passed * TICK;
        self.ticks = self.ticks.wrapping_add(passed.min(MAX_PASSED) as u32);
        self.ticks
    }

    /// Goes on from `clock` if that was set back: the highest time is ahead of it, and has not changed since
    /// the last call, so that no packet from before waits any more.
    pub(super) fn follow(&mut self, clock: u64) {
        let ahead = Some(self.now).filter(|now| *now > clock.saturating_add(MAX_AHEAD));
        if std::mem::replace(&mut self.ahead, ahead) == ahead && ahead.is_some() && self.has_begun {
            self.tick();
            (self.now, self.since, self.ahead) = (clock, clock, None);
        }
    }
}
