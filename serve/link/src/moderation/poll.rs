//! Polls for replies.

use super::Turn;
use std::time::Duration;

/// Packets of a turn, and of a turn on average, above which there is no poll: packets come together anyway,
/// and a poll would only part them.
const MANY: usize = 3;

/// Turns over which packets are averaged.
const TURNS: usize = 16;

/// Polls in a row that may find nothing before turns are skipped: a reply is late now and then, and the next
/// one is not to wait for a pause.
const FORGIVEN: u32 = 3;

/// Most turns skipped between two polls, as a power of two.
const MAX_SKIPPED: u32 = 8;

#[derive(Debug)]
pub(super) struct Polls {
    longest: Duration,
    /// Replies that may come.
    expected: usize,
    /// Packets of about the last [`TURNS`] turns that had any.
    recent: usize,
    /// Begin of the poll that is under way.
    since: Option<Duration>,
    /// Polls in a row that found nothing.
    failures: u32,
    /// Turns that are still to pass without a poll.
    skipped: u32,
}

impl Polls {
    pub(super) fn new(longest: Duration) -> Self {
        Self { longest, expected: 0, recent: 0, since: None, failures: 0, skipped: 0 }
    }

    /// True if the thread should look for packets without waiting.
    #[inline]
    pub(super) fn next(&mut self, now: Duration, turn: Turn) -> bool {
        self.expected = (self.expected + turn.asked).saturating_sub(turn.answered);
        let since = self.since.take();
        if turn.packets == 0 {
            let Some(since) = since else { return self.give_up() };
            if now.saturating_sub(since) < self.longest {
                self.since = Some(since);
                return true;
            }
            self.failures = (self.failures + 1).min(FORGIVEN + MAX_SKIPPED);
            self.skipped = (1 << self.failures.saturating_sub(FORGIVEN)) - 1;
            return self.give_up();
        }
        if since.is_some() {
            self.failures = 0;
        }
        self.recent = self.recent - self.recent / TURNS + turn.packets;
        let come_together = turn.packets > MANY || self.recent > MANY * TURNS;
        if self.expected == 0 || come_together || self.longest.is_zero() {
            return self.give_up();
        }
        if self.skipped > 0 {
            self.skipped -= 1;
            return self.give_up();
        }
        self.since = Some(now);
        true
    }

    /// Expects nothing more: replies to earlier requests are late.
    fn give_up(&mut self) -> bool {
        self.expected = 0;
        false
    }
}
