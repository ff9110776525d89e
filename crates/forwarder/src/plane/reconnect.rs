//! TCP faces whose connection fails: permanent ones stay, and are connected again.

use super::accept::ends;
use super::control::Purpose;
use super::message::Report;
use super::socket::Stream;
use super::{Plane, PortKind};
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn::mgmt::face_uri::Protocol;
use hashlane_ndn::mgmt::values::FacePersistency;
use hashlane_ndn::time::Time;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::pit::Pit;
use mio::net::TcpStream;
use std::net::SocketAddr;

/// The first pause before a face is connected again, and the longest, in milliseconds. A connection that has lasted for the longest pause
/// starts with the first one again.
const PAUSE: [u64; 2] = [1000, 60_000];

/// With whom a TCP face is connected, and when it is connected again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connection {
    remote: SocketAddr,
    is_permanent: bool,
    /// When it came about.
    since: Time,
    /// Milliseconds to wait before the next attempt.
    pause: u64,
    /// When that is; nothing while there is a connection, or one is on its way.
    due: Option<Time>,
}

impl Connection {
    /// One that is there.
    pub(super) fn new(remote: SocketAddr, persistency: FacePersistency, now: Time) -> Self {
        let is_permanent = persistency == FacePersistency::Permanent;
        Self { remote, is_permanent, since: now, pause: PAUSE[0], due: None }
    }

    /// Whether it is with this peer.
    pub(super) fn is_with(&self, peer: SocketAddr) -> bool {
        self.remote == peer
    }

    /// It is lost, and to be made again.
    fn lost(&mut self, now: Time) {
        if now.since(self.since).as_millis() >= u128::from(PAUSE[1]) {
            self.pause = PAUSE[0];
        }
        self.wait(now);
    }

    /// Sets when it is tried next, and doubles the pause after that.
    fn wait(&mut self, now: Time) {
        self.due = Some(now.after_millis(self.pause));
        self.pause = (2 * self.pause).min(PAUSE[1]);
    }

    /// Whether the time has come to try.
    fn is_due(&self, now: Time) -> bool {
        self.due.is_some_and(|due| due <= now)
    }
}

impl<P: Pit> Plane<P> {
    /// The connection of a face has failed: the face is closed, or where it is permanent connected again.
    pub(super) fn fail(&mut self, face: FaceId, why: &str) {
        let now = self.ports.now;
        let port = self.ports.find_mut(face);
        let Some(port) = port.filter(|port| port.connection.is_some_and(|tcp| tcp.is_permanent)) else {
            return self.close(face, why);
        };
        if matches!(port.kind, PortKind::Down) {
            return;
        }
        port.kind = PortKind::Down;
        if let Some(connection) = &mut port.connection {
            connection.lost(now);
            tracing::info!(face = face.0, remote = %connection.remote, why, "connection lost; it is made again");
        }
        self.stop_reading(face);
        self.reports.add(Report::FaceLink { face: face.0.into(), local: None });
    }

    /// Connects the faces whose time has come.
    pub(super) fn connect_again(&mut self, now: Time) {
        let due = |connection: &Connection| connection.is_due(now);
        let due = self.ports.iter().filter_map(|port| Some((port.face, port.connection.filter(due)?.remote)));
        for (face, remote) in due.collect::<Vec<_>>() {
            if let Some(connection) = self.connection_of(face) {
                connection.due = None;
            }
            self.dial(remote, Purpose::Again(face));
        }
    }

    /// An attempt to connect a face again has failed.
    pub(super) fn not_again(&mut self, face: FaceId, why: &str) {
        let now = self.ports.now;
        if let Some(connection) = self.connection_of(face) {
            tracing::debug!(face = face.0, why, again_ms = connection.pause, "no connection yet");
            connection.wait(now);
        }
    }

    /// A face is connected again.
    pub(super) fn resume(&mut self, face: FaceId, stream: TcpStream) {
        let now = self.ports.now;
        // It may have been destroyed meanwhile.
        let Some(port) = self.ports.find_mut(face) else { return };
        let Some(connection) = &mut port.connection else { return };
        connection.since = now;
        let _ = stream.set_nodelay(true);
        let local = stream.local_addr().unwrap_or(connection.remote);
        tracing::info!(face = face.0, remote = %connection.remote, "connected again");
        let (kind, reader, descriptor) = ends(Stream::Tcp(stream));
        port.connect(kind);
        let local = Some(FaceUri::from_address(Protocol::Tcp, local));
        self.reports.add(Report::FaceLink { face: face.0.into(), local });
        self.wait_for(face, descriptor, reader);
    }

    /// A face gets another persistency. Without a connection it stays only where it is permanent.
    pub(super) fn persist(&mut self, face: FaceId, persistency: FacePersistency) {
        let Some(port) = self.ports.find_mut(face) else { return };
        let is_down = matches!(port.kind, PortKind::Down);
        let Some(connection) = &mut port.connection else { return };
        connection.is_permanent = persistency == FacePersistency::Permanent;
        if is_down && !connection.is_permanent {
            self.close(face, "not connected, and not permanent any more");
        }
    }

    fn connection_of(&mut self, face: FaceId) -> Option<&mut Connection> {
        self.ports.find_mut(face)?.connection.as_mut()
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
            connection.wait(now);
        }
        assert_eq!(pauses, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
        connection.since = now;
        now = now.after_millis(PAUSE[1]);
        connection.lost(now);
        assert!(connection.is_due(now.after_millis(PAUSE[0])));
    }
}
