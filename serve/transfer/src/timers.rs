//! When a secondary asks its primaries, and when it stops to answer (RFC 1035 §3.3.13, RFC 1912 §2.2).

use crate::soa::Soa;

/// Bounds of refresh and retry, whatever the SOA record says: 2 s to 28 and 14 days.
const REFRESH: (u64, u64) = (2, 28 * 86_400);
const RETRY: (u64, u64) = (2, 14 * 86_400);

/// First and longest wait of a zone without data, in seconds.
const FIRST: u64 = 5;
const LONGEST: u64 = 600;

/// The times of a zone. All are in seconds of a clock of the caller that never goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timers {
    soa: Option<Soa>,
    /// The last time at which a primary has answered, or has sent the zone.
    checked: u64,
    /// The next question.
    next: u64,
    /// Failures in a row.
    failures: u32,
    /// The zone has expired.
    is_expired: bool,
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Nothing before this time.
    Nothing(u64),
    /// A question to the primaries.
    Refresh,
    /// The data must not be served any more.
    Expire,
}

impl Timers {
    /// A zone that was checked `age` seconds ago; without data if `soa` is `None`. The primaries are asked at
    /// once.
    pub fn new(soa: Option<Soa>, age: u64, now: u64) -> Self {
        let mut timers = Self { soa, checked: now, next: now, failures: 0, is_expired: soa.is_none() };
        if let Some(soa) = soa {
            // A clock that begins with 0 has no time before it: the rest of the time counts.
            timers.is_expired = age >= u64::from(soa.expire);
            let expire = u64::from(soa.expire).saturating_sub(age) as u32;
            timers.soa = Some(Soa { expire, ..soa });
        }
        timers
    }

    /// The step that is due at `now`. An expiry is due once.
    pub fn due(&mut self, now: u64) -> Due {
        let expiry = self.expiry();
        if expiry.is_some_and(|expiry| expiry <= now) {
            self.is_expired = true;
            return Due::Expire;
        }
        if self.next <= now {
            return Due::Refresh;
        }
        Due::Nothing(expiry.map_or(self.next, |expiry| expiry.min(self.next)))
    }

    /// Time at which the data expire; `None` if there are none.
    pub fn expiry(&self) -> Option<u64> {
        self.soa.filter(|_| !self.is_expired).map(|soa| self.checked.saturating_add(soa.expire.into()))
    }

    /// True if the zone has no data, or expired ones.
    pub fn is_expired(&self) -> bool {
        self.is_expired
    }

    /// Time of the next question.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Questions without an answer since the last answer.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// A primary has answered: the zone has this SOA record now. `random` spreads the next question over the
    /// last tenth of the time.
    pub fn succeeded(&mut self, soa: Soa, now: u64, random: u32) {
        let refresh = u64::from(soa.refresh).clamp(REFRESH.0, REFRESH.1);
        *self = Self {
            soa: Some(soa),
            checked: now,
            next: now + jitter(refresh, random),
            failures: 0,
            is_expired: false,
        };
    }

    /// No primary has answered, or none has sent the zone.
    pub fn failed(&mut self, now: u64, random: u32) {
        let wait = match self.soa {
            Some(soa) => u64::from(soa.retry).clamp(RETRY.0, RETRY.1),
            None => (FIRST << self.failures.min(16)).min(LONGEST),
        };
        self.failures = self.failures.saturating_add(1);
        self.next = now + jitter(wait, random);
    }

    /// The primaries are to be asked now: one has told of a change, or the operator wants it.
    pub fn hurry(&mut self, now: u64) {
        self.next = now;
    }
}

/// From nine tenths of a time to all of it.
fn jitter(time: u64, random: u32) -> u64 {
    time - ((time / 10 * u64::from(random)) >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOA: Soa = Soa { serial: 1, refresh: 3600, retry: 600, expire: 86_400 };

    #[test]
    fn a_zone_is_asked_for_at_refresh_then_at_retry_and_expires() {
        let mut timers = Timers::new(None, 0, 100);
        assert_eq!((timers.due(100), timers.is_expired()), (Due::Refresh, true));
        timers.succeeded(SOA, 100, 0);
        assert_eq!(timers.due(3699), Due::Nothing(3700));
        assert_eq!(timers.due(3700), Due::Refresh);
        let mut now = 3700;
        while now < 86_500 {
            timers.failed(now, u32::MAX);
            // A tenth less at most.
            let next = timers.next();
            assert!((now + 540..=now + 600).contains(&next), "{now} {next}");
            now = next;
            if now < 86_500 {
                assert_eq!(timers.due(now), Due::Refresh);
            }
        }
        assert_eq!(timers.due(86_500), Due::Expire);
        assert!(timers.is_expired());
        assert_eq!(timers.due(now), Due::Refresh, "an expired zone is still asked for");
        timers.succeeded(SOA, now, 0);
        assert!(!timers.is_expired());
    }

    #[test]
    fn a_zone_without_data_is_asked_for_ever_more_rarely() {
        let mut timers = Timers::new(None, 0, 0);
        let mut now = 0;
        let waits: Vec<u64> = (0..9)
            .map(|_| {
                timers.failed(now, 0);
                let wait = timers.next() - now;
                now = timers.next();
                wait
            })
            .collect();
        assert_eq!(waits, [5, 10, 20, 40, 80, 160, 320, 600, 600]);
    }

    #[test]
    fn data_from_disk_expire_by_their_age() {
        let mut timers = Timers::new(Some(SOA), 86_000, 10);
        assert_eq!(timers.due(10), Due::Refresh);
        timers.failed(10, 0);
        assert_eq!(timers.due(409), Due::Nothing(410));
        assert_eq!(timers.due(410), Due::Expire);
        assert!(Timers::new(Some(SOA), 86_400, 10).is_expired());
    }

    #[test]
    fn a_soa_record_with_zeros_does_not_ask_without_a_pause() {
        let mut timers = Timers::new(None, 0, 0);
        timers.succeeded(Soa { serial: 1, refresh: 0, retry: 0, expire: 1000 }, 0, u32::MAX);
        assert_eq!(timers.due(1), Due::Nothing(2));
        timers.failed(2, u32::MAX);
        assert_eq!(timers.due(3), Due::Nothing(4));
    }
}
