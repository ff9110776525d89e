//! Connections to primaries that wait for the query of the next zone (RFC 7766 §6.2.1, RFC 9103 §7.3.3).

use super::peers::Peer;
use super::stream::Stream;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time that a connection waits: less than servers keep idle ones by default, 10 s or more.
const PATIENCE: Duration = Duration::from_secs(5);

/// Connections that wait at most; those that have waited for longest are closed.
const MOST: usize = 32;

/// The connections.
#[derive(Default)]
pub(crate) struct Pool(Mutex<Vec<Idle>>);

struct Idle {
    peer: Peer,
    stream: Stream,
    since: Instant,
}

impl Pool {
    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection to this peer that is open.
    pub(super) fn take(&self, peer: &Peer) -> Option<Stream> {
        let mut idle = self.idle();
        loop {
            // The last one has waited for the shortest time.
            let at = idle.iter().rposition(|idle| idle.peer.shares_connection(peer))?;
            let Idle { stream, since, .. } = idle.remove(at);
            if since.elapsed() < PATIENCE && stream.is_idle() {
                return Some(stream);
            }
        }
    }

    /// Keeps a connection for a while whose last response has come whole.
    pub(super) fn put(&self, peer: &Peer, stream: Stream) {
        if !stream.is_idle() {
            return;
        }
        let mut idle = self.idle();
        if idle.len() == MOST {
            idle.remove(0);
        }
        idle.push(Idle { peer: peer.clone(), stream, since: Instant::now() });
    }

    /// Closes connections that have waited for too long.
    pub(crate) fn close_idle(&self) {
        self.idle().retain(|idle| idle.since.elapsed() < PATIENCE);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};

    /// A peer, and both ends of a connection to it.
    fn connection(listener: &TcpListener) -> (Peer, Stream, TcpStream) {
        let peer = Peer { address: listener.local_addr().unwrap(), source: None, tls: None, key: None };
        let stream = Stream::connect(&peer, Instant::now() + Duration::from_secs(5)).unwrap();
        (peer, stream, listener.accept().unwrap().0)
    }

    /// Waits until the pool has no connection to a peer that is open, and takes what it has.
    fn has_lost(pool: &Pool, peer: &Peer) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(5) {
            match pool.take(peer) {
                None => return true,
                Some(stream) => pool.put(peer, stream),
            }
        }
        false
    }

    #[test]
    fn a_connection_is_taken_once_and_by_its_peer() {
        let listeners =
            [TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap()];
        let [(one, stream, _far), (other, ..)] = listeners.each_ref().map(connection);
        let pool = Pool::default();
        pool.put(&one, stream);
        assert!(pool.take(&other).is_none());
        assert!(pool.take(&one).is_some());
        assert!(pool.take(&one).is_none());
    }

    #[test]
    fn a_connection_that_is_closed_or_has_bytes_is_not_taken() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let pool = Pool::default();
        let (peer, stream, far) = connection(&listener);
        pool.put(&peer, stream);
        drop(far);
        assert!(has_lost(&pool, &peer));
        let (peer, stream, mut far) = connection(&listener);
        pool.put(&peer, stream);
        far.write_all(b"unasked").unwrap();
        assert!(has_lost(&pool, &peer));
    }

    #[test]
    fn few_connections_wait() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let pool = Pool::default();
        let mut far = Vec::new();
        for _ in 0..MOST + 3 {
            let (peer, stream, end) = connection(&listener);
            pool.put(&peer, stream);
            far.push(end);
        }
        assert_eq!(pool.idle().len(), MOST);
    }
}
