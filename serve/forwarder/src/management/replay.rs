//! Protection of signed commands against replays, by the time at which they were signed.
//!
//! A command passes once: its time is within 60 s of now, after the start of the forwarder, and later than
//! the time of its key's last command. Of two commands of one key in the same millisecond, one is refused:
//! signers increment a time that they have used.
//!
//! The clock may be set while the forwarder runs. The monotonic clock tells how long ago it started, so that
//! commands of a clock that was set back are accepted, also before the time of the start. After that, the
//! key's commands may have earlier times than its last one, but not the times of its last commands, nor times
//! before these.

use super::clock::Now;
use std::collections::{HashMap, VecDeque};

/// Longest difference between the time of a signature and now, in milliseconds: the same as in ndn-cxx.
const GRACE: u64 = 60_000;
/// Times kept of each key.
const TIMES: usize = 256;
/// Step by which the clock is set back at least, in milliseconds. Smaller ones are corrections.
const STEP: u64 = 1000;

/// The commands of each trusted key. There are at most as many keys as certificates of the configuration.
pub(super) struct Replay {
    keys: HashMap<Box<[u8]>, Key>,
    /// Monotonic time of the start.
    started: u64,
    /// Both clocks at the last command.
    last: Now,
    /// Number of times that the clock was set back.
    epoch: u32,
}

#[derive(Default)]
struct Key {
    /// Epoch of the last command.
    epoch: u32,
    /// Times of the last commands, in the order in which they came.
    times: VecDeque<u64>,
    /// Latest time of a command that is no longer in `times`.
    forgotten: Option<u64>,
}

impl Replay {
    pub(super) fn new(started: Now) -> Self {
        Self { keys: HashMap::new(), started: started.monotonic, last: started, epoch: 0 }
    }

    /// Checks the time of a command against the clock, and returns it.
    pub(super) fn check_time(&mut self, time: Option<u64>, now: Now) -> Result<u64, String> {
        let passed = now.monotonic.saturating_sub(self.last.monotonic);
        if now.unix.saturating_add(STEP) < self.last.unix.saturating_add(passed) {
            self.epoch += 1;
        }
        self.last = now;
        let Some(time) = time else { return Err("the signature has no time".into()) };
        if time.abs_diff(now.unix) > GRACE {
            let late = if time < now.unix { "before" } else { "after" };
            let (seconds, most) = (time.abs_diff(now.unix) / 1000, GRACE / 1000);
            return Err(format!("the command was signed {seconds} s {late} now, more than {most} s"));
        }
        if time < now.unix.saturating_sub(now.monotonic.saturating_sub(self.started)) {
            return Err("the command was signed before the forwarder started".into());
        }
        Ok(time)
    }

    /// Records a command with a checked time, or refuses it because the key has signed another one.
    pub(super) fn admit(&mut self, key: &[u8], time: u64) -> Result<(), String> {
        let epoch = self.epoch;
        let known = self.keys.entry(key.into()).or_default();
        let in_order = known.epoch != epoch || known.times.back().is_none_or(|last| time > *last);
        if !in_order || known.times.contains(&time) || known.forgotten.is_some_and(|last| time <= last) {
            return Err("the key has signed another command at the same time or later".into());
        }
        if known.times.len() >= TIMES {
            known.forgotten = known.forgotten.max(known.times.pop_front());
        }
        known.times.push_back(time);
        known.epoch = epoch;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Now = Now { monotonic: 5000, unix: 100_000_000 };

    struct Clock(Replay);

    impl Clock {
        fn new() -> Self {
            Self(Replay::new(START))
        }

        /// A command after so many seconds, when the clock is `set` seconds off, signed at `time` seconds
        /// from the start.
        fn command(&mut self, after: u64, set: i64, key: &[u8], time: i64) -> Result<(), String> {
            let shifted = |seconds: i64| START.unix.saturating_add_signed(seconds * 1000);
            let now = Now { monotonic: START.monotonic + after * 1000, unix: shifted(after as i64 + set) };
            let time = self.0.check_time(Some(shifted(time)), now)?;
            self.0.admit(key, time)
        }
    }

    #[test]
    fn a_command_passes_once_and_in_time() {
        let mut clock = Clock::new();
        assert!(clock.0.check_time(None, START).is_err());
        assert!(clock.command(100, 0, b"k", 39).is_err(), "too early");
        assert!(clock.command(100, 0, b"k", 161).is_err(), "too late");
        assert!(clock.command(30, 0, b"k", -1).is_err(), "before the start");
        assert_eq!(clock.command(30, 0, b"k", 30), Ok(()));
        assert!(clock.command(30, 0, b"k", 30).is_err());
        assert!(clock.command(30, 0, b"k", 29).is_err());
        assert_eq!(clock.command(30, 0, b"k", 31), Ok(()));
        assert_eq!(clock.command(30, 0, b"other", 30), Ok(()));
    }

    #[test]
    fn commands_pass_after_the_clock_was_set() {
        let mut clock = Clock::new();
        assert_eq!(clock.command(600, 0, b"k", 600), Ok(()));
        // An hour back, to a time before the start.
        assert_eq!(clock.command(610, -3600, b"k", -2990), Ok(()));
        assert!(clock.command(610, -3600, b"k", -2990).is_err());
        assert!(clock.command(611, -3600, b"k", -2991).is_err(), "in order again");
        assert_eq!(clock.command(612, -3600, b"new", -2988), Ok(()));
        // And forward, past where it was.
        assert_eq!(clock.command(620, 7200, b"k", 7820), Ok(()));
    }

    #[test]
    fn a_clock_that_was_set_back_opens_no_way_for_replays() {
        let mut clock = Clock::new();
        for time in 1000..1100 {
            assert_eq!(clock.command(time, 0, b"k", time as i64), Ok(()));
        }
        // 500 s back: the clock passes the same times once more.
        assert_eq!(clock.command(1100, -500, b"k", 600), Ok(()));
        for time in 1000..1100 {
            assert!(clock.command(time + 500, -500, b"k", time as i64).is_err(), "{time}");
        }
        assert_eq!(clock.command(1600, -500, b"k", 1100), Ok(()));
    }

    #[test]
    fn the_memory_of_a_key_is_bounded_and_what_it_forgets_stays_refused() {
        let mut clock = Clock::new();
        for time in 0..1000 {
            assert_eq!(clock.command(time, 0, b"k", time as i64), Ok(()));
        }
        assert_eq!(clock.0.keys[&b"k"[..]].times.len(), TIMES);
        for time in [100, 700, 743, 744, 999] {
            assert!(clock.command(1000, time - 1000, b"k", time).is_err(), "{time}");
        }
    }
}
