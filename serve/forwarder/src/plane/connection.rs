//! The TCP connection of a face, and the times at which a lost one is made again.

use hashlane_ndn::mgmt::values::FacePersistency;
use hashlane_ndn::time::Time;
use std::net::SocketAddr;

/// The first pause before a face is connected again, and the longest, in milliseconds. A connection that has
/// lasted for the longest pause starts with the first one again.
const PAUSE: [u64; 2] = [1000, 60_000];

/// Remote address of a TCP face, and the schedule of its reconnection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connection {
    pub(super) remote: SocketAddr,
    /// True if the face outlives its connection.
    pub(super) is_permanent: bool,
    /// Start of the connection.
    since: Time,
    /// Milliseconds to wait before the next attempt.
    pause: u64,
    /// Time of the next attempt; `None` while connected or connecting.
    due: Option<Time>,
}

impl Connection {
    /// An open connection.
    pub(super) fn new(remote: SocketAddr, persistency: FacePersistency, now: Time) -> Self {
        let is_permanent = persistency == FacePersistency::Permanent;
        Self { remote, is_permanent, since: now, pause: PAUSE[0], due: None }
    }

    /// Schedules the first attempt after a loss.
    pub(super) fn lost(&mut self, now: Time) {
        if now.since(self.since).as_millis() >= u128::from(PAUSE[1]) {
            self.pause = PAUSE[0];
        }
        self.retry_later(now);
    }

    /// Schedules the next attempt. Returns the pause before it, in milliseconds; the one after it is twice as
    /// long.
    pub(super) fn retry_later(&mut self, now: Time) -> u64 {
        let pause = self.pause;
        self.due = Some(now.after_millis(pause));
        self.pause = (2 * pause).min(PAUSE[1]);
        pause
    }

    /// Notes that an attempt has begun.
    pub(super) fn started(&mut self) {
        self.due = None;
    }

    /// Notes that the connection is open again.
    pub(super) fn resumed(&mut self, now: Time) {
        self.since = now;
    }

    /// True if the next attempt is due.
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.due.is_some_and(|due| due <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_start_anew_after_a_long_connection() {
        let remote = "192.0.2.1:6363".parse().expect("an address");
        let mut now = Time(1_000_000);
        let mut connection = Connection::new(remote, FacePersistency::Permanent, now);
        assert!(!connection.is_due(now));
        connection.lost(now);
        let mut pauses = Vec::new();
        for _ in 0..8 {
            let due = connection.due.expect("an attempt is to come");
            assert!(connection.is_due(due) && !connection.is_due(now));
            pauses.push(due.since(now).as_millis());
            now = due;
            connection.retry_later(now);
        }
        assert_eq!(pauses, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
        connection.since = now;
        now = now.after_millis(PAUSE[1]);
        connection.lost(now);
        assert!(connection.is_due(now.after_millis(PAUSE[0])));
    }
}
