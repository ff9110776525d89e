//! Round-trip time of a link, and the retransmission timeout.

use crate::time::Time;

/// A millisecond, in nanoseconds.
const MS: u64 = 1_000_000;

/// Retransmission timeout before the first sample (RFC 6298 §2.1).
const INITIAL: u64 = 1000 * MS;

/// Least timeout, as in ndn-cxx. RFC 6298 §2.4 has 1 s, a quarter of an Interest's default lifetime.
const MIN: u64 = 200 * MS;

/// Largest timeout, as in ndn-cxx.
const MAX: u64 = 20_000 * MS;

/// Granularity of the clock: timers fire to the millisecond (G in RFC 6298 §2).
const GRANULARITY: u64 = MS;

/// Largest sample: such a round-trip time has the largest timeout.
const LONGEST: u64 = 2 * MAX;

/// Most doublings of the timeout.
const MAX_BACKOFF: u32 = 3;

/// Estimator of the round-trip time of a link. Times are nanoseconds.
///
/// Each transmission has another number, which its Ack repeats. So the Ack of a link packet that was sent
/// again is no ambiguous sample (Karn's problem, RFC 6298 §3).
#[derive(Clone, Debug, Default)]
pub(super) struct RttEstimator {
    /// Smoothed round-trip time and its variation: SRTT and RTTVAR.
    smoothed: Option<(u64, u64)>,
    backoff: u32,
    /// Time of the last doubling.
    backed_off: Time,
}

impl RttEstimator {
    /// Adds a sample, and ends the backoff (RFC 6298 §2.2, §2.3).
    pub(super) fn add_sample(&mut self, rtt: u64) {
        let rtt = rtt.min(LONGEST);
        self.backoff = 0;
        self.smoothed = Some(match self.smoothed {
            None => (rtt, rtt / 2),
            Some((srtt, rttvar)) => (srtt - srtt / 8 + rtt / 8, rttvar - rttvar / 4 + srtt.abs_diff(rtt) / 4),
        });
    }

    /// Timeout for a transmission, without backoff: 200 ms to 20 s.
    pub(super) fn base_timeout(&self) -> u64 {
        let Some((srtt, rttvar)) = self.smoothed else { return INITIAL };
        (srtt + (rttvar * 4).max(GRANULARITY)).clamp(MIN, MAX)
    }

    /// Timeout for a transmission: doubled up to three times while nothing is acknowledged, at most 20 s.
    pub(super) fn timeout(&self) -> u64 {
        (self.base_timeout() << self.backoff).min(MAX)
    }

    /// Doubles the timeout because a transmission of the time `sent` has timed out (RFC 6298 §5.5).
    /// Transmissions from before the last doubling change nothing: one burst is one event.
    pub(super) fn back_off(&mut self, sent: Time, now: Time) {
        if sent >= self.backed_off {
            self.backoff = (self.backoff + 1).min(MAX_BACKOFF);
            self.backed_off = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> u64 {
        millis * MS
    }

    #[test]
    fn timeouts_follow_rfc_6298_within_200_ms_and_20_s() {
        let mut rtt = RttEstimator::default();
        assert_eq!(rtt.timeout(), ms(1000));
        rtt.add_sample(ms(400));
        assert_eq!(rtt.timeout(), ms(400 + 4 * 200));
        rtt.add_sample(ms(480));
        // SRTT = 7/8 · 400 + 1/8 · 480, RTTVAR = 3/4 · 200 + 1/4 · 80.
        assert_eq!(rtt.timeout(), ms(410 + 4 * 170));
        (0..100).for_each(|_| rtt.add_sample(ms(1)));
        assert_eq!(rtt.timeout(), MIN);
        (0..100).for_each(|_| rtt.add_sample(u64::MAX));
        assert_eq!(rtt.timeout(), MAX);
    }

    #[test]
    fn a_burst_that_times_out_doubles_the_timeout_once_and_a_sample_ends_that() {
        let mut rtt = RttEstimator::default();
        rtt.add_sample(ms(1));
        let at = Time::from_millis;
        (0..10).for_each(|sent| rtt.back_off(at(sent), at(300)));
        assert_eq!(rtt.timeout(), 2 * MIN);
        (0..10).for_each(|round| rtt.back_off(at(300 + round), at(300 + round)));
        assert_eq!((rtt.timeout(), rtt.base_timeout()), (8 * MIN, MIN));
        rtt.add_sample(ms(1));
        assert_eq!(rtt.timeout(), MIN);
    }
}
