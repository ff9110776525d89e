//! Pauses after turns.

use std::time::Duration;

/// Time over which rates are measured.
const WINDOW: Duration = Duration::from_millis(20);

/// Packets that a pause is meant to gather. More would only make it longer.
const WANTED: f64 = 2.0;

/// Share of a packet that must be expected in the longest pause for pauses to be tried.
const WORTH_A_TRIAL: f64 = 0.5;

/// Shortest pause: the kernel's timers take about as long.
const SHORTEST: Duration = Duration::from_micros(10);

/// Packets that pauses must gather on average. With one, each takes the place of a wake-up and gains nothing.
const WORTH: f64 = 1.1;

/// Pauses after which a trial may end early.
const TRIAL: u32 = 64;

/// Part of the rate before pauses that must remain. Less shows that the senders wait for replies.
const REMAINING: f64 = 0.75;

/// Time without pauses after a trial that failed, at first and at most.
const BACK_OFF: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(10)];

#[derive(Debug)]
pub(super) struct Pauses {
    longest: Duration,
    state: State,
    /// Time without pauses after the next trial that fails.
    back_off: Duration,
    /// Begin of the window, and packets in it.
    start: Duration,
    packets: usize,
    /// Pauses in the window, and packets that the looks after them found.
    pauses: u32,
    gathered: usize,
    /// True if the last step was a pause.
    is_after_pause: bool,
}

#[derive(Debug)]
enum State {
    /// No pauses; none are tried before `until`.
    Free { until: Duration },
    /// Pauses of `length`. `rate` is the number of packets in a second before them.
    Pausing { length: Duration, rate: f64 },
}

impl Pauses {
    pub(super) fn new(longest: Duration) -> Self {
        Self {
            longest,
            state: State::Free { until: Duration::ZERO },
            back_off: BACK_OFF[0],
            start: Duration::ZERO,
            packets: 0,
            pauses: 0,
            gathered: 0,
            is_after_pause: false,
        }
    }

    /// The pause after a turn, if there is to be one.
    #[inline]
    pub(super) fn next(&mut self, now: Duration, packets: usize) -> Option<Duration> {
        if self.longest.is_zero() {
            return None;
        }
        self.packets += packets;
        if std::mem::take(&mut self.is_after_pause) {
            self.pauses += 1;
            self.gathered += packets;
        }
        if now.saturating_sub(self.start) >= WINDOW {
            self.close_window(now);
        } else if self.pauses == TRIAL && !self.gathers() {
            self.fail(now);
        }
        match self.state {
            // After a look that found nothing, the next packet is not close.
            State::Pausing { length, .. } if packets > 0 => Some(length),
            _ => None,
        }
    }

    /// Notes that the step after this turn is a pause.
    pub(super) fn begin(&mut self) {
        self.is_after_pause = true;
    }

    /// True if the pauses of the window have gathered enough.
    fn gathers(&self) -> bool {
        self.gathered as f64 >= WORTH * f64::from(self.pauses)
    }

    #[cold]
    fn close_window(&mut self, now: Duration) {
        let rate = self.packets as f64 / now.saturating_sub(self.start).as_secs_f64();
        match self.state {
            State::Free { until } => {
                if now >= until
                    && let Some(length) = self.length(rate)
                {
                    self.state = State::Pausing { length, rate };
                }
            }
            State::Pausing { rate: before, .. } => match self.length(rate) {
                Some(length) if self.gathers() && rate >= REMAINING * before => {
                    // Follows a rate that changes slowly.
                    self.state = State::Pausing { length, rate: (7.0 * before + rate) / 8.0 };
                    self.back_off = (self.back_off / 2).max(BACK_OFF[0]);
                }
                Some(_) => return self.fail(now),
                None => self.state = State::Free { until: now },
            },
        }
        self.restart(now);
    }

    /// The pause that gathers as many packets as wanted at a rate; `None` if the rate is too low or too high.
    fn length(&self, rate: f64) -> Option<Duration> {
        let longest = self.longest.as_secs_f64();
        if rate * longest < WORTH_A_TRIAL {
            return None;
        }
        let length = Duration::from_secs_f64(longest.min(WANTED / rate));
        (length >= SHORTEST.min(self.longest)).then_some(length)
    }

    /// Ends pauses for a while.
    #[cold]
    fn fail(&mut self, now: Duration) {
        self.state = State::Free { until: now + self.back_off };
        self.back_off = (2 * self.back_off).min(BACK_OFF[1]);
        self.restart(now);
    }

    fn restart(&mut self, now: Duration) {
        (self.start, self.packets, self.pauses, self.gathered) = (now, 0, 0, 0);
    }
}
