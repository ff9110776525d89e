//! Moderation of wake-ups: what a thread does between two looks for packets.
//!
//! A thread that sleeps until a packet arrives pays for a wake-up: it loses its core, and its caches go cold.
//! A packet that comes alone costs ten times what one of many does. [`Moderation`] saves wake-ups in two
//! ways, both bounded in time and in CPU time:
//!
//! - **Poll.** After a turn that asked for something, the reply may come sooner than a sleep and a wake-up
//!   take. The thread looks for it for a few microseconds. Polls that find nothing become rare.
//! - **Pause.** While packets arrive so fast that a pause of some tens of microseconds gathers several, the
//!   thread sleeps that long after each turn instead of until the next packet. A pause that gathers too
//!   little, or that slows the senders down because they wait for replies, ends pauses for a while.
//!
//! The state machine reads no clock and makes no system call: times and counts are arguments.
//!
//! # Examples
//!
//! ```
//! use hashlane_link::moderation::{Moderation, Settings, Step, Turn};
//! use std::time::Duration;
//!
//! let us = Duration::from_micros;
//! let mut moderation = Moderation::new(Settings { pause: us(50), poll: us(10) });
//! // An Interest was forwarded: its Data may be here soon.
//! let asked = Turn { packets: 1, asked: 1, answered: 0 };
//! assert_eq!(moderation.next(us(1_000), asked), Step::Poll);
//! assert_eq!(moderation.next(us(1_004), Turn::default()), Step::Poll);
//! // It is not.
//! assert_eq!(moderation.next(us(1_011), Turn::default()), Step::Wait);
//! ```

mod pause;
mod poll;

use nix::sys::prctl;
use pause::Pauses;
use poll::Polls;
use std::io;
use std::time::Duration;

/// Limits of a thread's moderation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Longest pause after a turn. 0: no pauses.
    pub pause: Duration,
    /// Longest time of polling for a reply. 0: no polls.
    pub poll: Duration,
}

/// A turn of a thread: one look for packets, and their handling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// Packets received. 0: the look found nothing.
    pub packets: usize,
    /// Requests sent, to which replies may come.
    pub asked: usize,
    /// Replies received.
    pub answered: usize,
}

/// Action of a thread before its next look for packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Sleeps until a packet arrives.
    Wait,
    /// Looks at once, without waiting.
    Poll,
    /// Sleeps for this time, and then looks without waiting.
    Pause(Duration),
}

/// Moderation of the wake-ups of one thread.
#[derive(Debug)]
pub struct Moderation {
    pauses: Pauses,
    polls: Polls,
}

impl Moderation {
    /// A thread that has received nothing yet.
    pub fn new(settings: Settings) -> Self {
        Self { pauses: Pauses::new(settings.pause), polls: Polls::new(settings.poll) }
    }

    /// The step after a turn that ended at `now`, a time since any fixed moment that never decreases.
    #[inline]
    pub fn next(&mut self, now: Duration, turn: Turn) -> Step {
        let pause = self.pauses.next(now, turn.packets);
        if self.polls.next(now, turn) {
            return Step::Poll;
        }
        match pause {
            Some(pause) => {
                self.pauses.begin();
                Step::Pause(pause)
            }
            None => Step::Wait,
        }
    }
}

/// Lets sleeps of the calling thread end on time. By default the kernel ends them up to 50 µs late, to join
/// them with other timers.
///
/// # Errors
///
/// Errors of `prctl`.
pub fn sleep_precisely() -> io::Result<()> {
    // 0 would restore the default.
    Ok(prctl::set_timerslack(1)?)
}

#[cfg(test)]
mod tests;
