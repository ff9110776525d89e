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
//!
//! Whoever has a certificate may issue others, and use a new key for each command. So keys are bounded, in
//! all and of one user or address; beyond that, keys are forgotten whose commands are too old to pass, and
//! else new keys are refused. If the clock is set back later, keys that are not known pass from the times on
//! that were forgotten.

use super::clock::Now;
use hashlane_table::share::Owner;
use std::collections::{HashMap, VecDeque};

/// Longest difference between the time of a signature and now, in milliseconds: the same as in ndn-cxx.
pub(super) const GRACE: u64 = 60_000;
/// Times kept of each key.
const TIMES: usize = 256;
/// Most keys.
const MAX_KEYS: usize = 4096;
/// Most of them whose first command another host has given. The rest is a reserve for users of this host.
const MAX_REMOTE: usize = 3072;
/// Most of them whose first command one user or address has given.
const MAX_OF_ONE: usize = 512;
/// Step by which the clock is set back at least, in milliseconds. Smaller ones are corrections.
const STEP: u64 = 1000;

/// The commands of each trusted key.
pub(super) struct Replay {
    keys: HashMap<Box<[u8]>, Key>,
    /// Latest time of a command of a key that was forgotten.
    forgotten: Option<u64>,
    /// Monotonic time of the start.
    started: u64,
    /// Both clocks at the last command.
    last: Now,
    /// Number of times that the clock was set back.
    epoch: u32,
}

#[derive(Default)]
struct Key {
    /// Party that has given the first command.
    owner: Option<Owner>,
    /// Epoch of the last command.
    epoch: u32,
    /// Times of the last commands, in the order in which they came.
    times: VecDeque<u64>,
    /// Latest time of a command that is no longer in `times`.
    forgotten: Option<u64>,
    /// Latest time of all.
    latest: u64,
}

impl Replay {
    pub(super) fn new(started: Now) -> Self {
        Self { keys: HashMap::new(), forgotten: None, started: started.monotonic, last: started, epoch: 0 }
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

    /// Records a command of a party with a checked time, or refuses it because the key has signed another
    /// one, or because there are too many keys.
    pub(super) fn admit(
        &mut self,
        key: &[u8],
        time: u64,
        owner: Option<Owner>,
        now: Now,
    ) -> Result<(), String> {
        if !self.keys.contains_key(key) {
            self.add(key, time, owner, now)?;
        }
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
        known.latest = known.latest.max(time);
        known.epoch = epoch;
        Ok(())
    }

    /// Adds a key, whose first command has a checked time.
    fn add(&mut self, key: &[u8], time: u64, owner: Option<Owner>, now: Now) -> Result<(), String> {
        if !self.has_room(owner) {
            self.forget(now);
        }
        if !self.has_room(owner) {
            return Err("too many keys have signed commands a moment ago: try again in a minute".into());
        }
        if self.forgotten.is_some_and(|last| time <= last) {
            return Err("the command was signed no later than one of a key that was forgotten".into());
        }
        self.keys.insert(key.into(), Key { owner, ..Key::default() });
        Ok(())
    }

    fn has_room(&self, owner: Option<Owner>) -> bool {
        let is_remote = |owner: Option<Owner>| owner.is_some_and(Owner::is_remote);
        let (mut own, mut remote) = (0, 0);
        for key in self.keys.values() {
            own += usize::from(key.owner == owner);
            remote += usize::from(is_remote(key.owner));
        }
        self.keys.len() < MAX_KEYS && own < MAX_OF_ONE && (!is_remote(owner) || remote < MAX_REMOTE)
    }

    /// Forgets the keys whose commands are refused by their times.
    fn forget(&mut self, now: Now) {
        let oldest = now.unix.saturating_sub(GRACE);
        let Self { keys, forgotten, .. } = self;
        keys.retain(|_, key| {
            let stays = key.latest >= oldest;
            if !stays {
                *forgotten = (*forgotten).max(Some(key.latest));
            }
            stays
        });
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
            self.command_of(None, now, key, shifted(time))
        }

        fn command_of(
            &mut self,
            owner: Option<Owner>,
            now: Now,
            key: &[u8],
            time: u64,
        ) -> Result<(), String> {
            let time = self.0.check_time(Some(time), now)?;
            self.0.admit(key, time, owner, now)
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

    #[test]
    fn new_keys_of_one_address_take_bounded_memory_and_leave_room_for_others() {
        let mut clock = Clock::new();
        let (mut now, mut done) = (START, 0);
        for number in 0..20_000_u32 {
            now = Now { monotonic: now.monotonic + 50, unix: now.unix + 50 };
            let owner = Some(Owner::Ipv4(1));
            done += usize::from(clock.command_of(owner, now, &number.to_be_bytes(), now.unix).is_ok());
            assert!(clock.0.keys.len() <= MAX_OF_ONE);
        }
        // In 1000 s, a share of keys for each minute.
        assert!((15 * MAX_OF_ONE..18 * MAX_OF_ONE).contains(&done), "{done}");
        assert_eq!(clock.command_of(Some(Owner::Ipv4(2)), now, b"other", now.unix), Ok(()));
        assert!(clock.command_of(Some(Owner::Ipv4(3)), now, b"other", now.unix).is_err(), "a replay");
        for owner in 10..60_u32 {
            for number in 0..100_u32 {
                let key = [owner, number].map(u32::to_be_bytes).concat();
                let _ = clock.command_of(Some(Owner::Ipv4(owner)), now, &key, now.unix);
            }
        }
        assert_eq!(clock.0.keys.len(), MAX_REMOTE);
        assert_eq!(clock.command_of(Some(Owner::User(1)), now, b"user", now.unix), Ok(()));
    }

    #[test]
    fn commands_of_forgotten_keys_stay_refused_after_the_clock_was_set_back() {
        let mut clock = Clock::new();
        let owner = Some(Owner::Ipv4(1));
        let at = |after: u64, set: u64| Now {
            monotonic: START.monotonic + after * 1000,
            unix: START.unix + (after - set) * 1000,
        };
        for number in 0..2 * MAX_OF_ONE as u64 {
            let after = number / 8;
            let key = number.to_be_bytes();
            let time = at(after, 0).unix + number % 8;
            assert_eq!(clock.command_of(owner, at(after, 0), &key, time), Ok(()), "{number}");
        }
        assert!(clock.0.keys.len() < 2 * MAX_OF_ONE, "old keys are forgotten");
        // 128 s later by the monotonic clock, at the time of the first key.
        let (owner, key) = (Some(Owner::Ipv4(2)), 0_u64.to_be_bytes());
        let refusal = clock.command_of(owner, at(128, 128), &key, START.unix).unwrap_err();
        assert!(refusal.ends_with("a key that was forgotten"), "{refusal}");
    }
}
