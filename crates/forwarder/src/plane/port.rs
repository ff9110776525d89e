//! Ports: the sending ends of faces.

use super::Kind;
use super::message::Reports;
use super::reconnect::Connection;
use super::socket::{Call, Stream, WebSocket, counted};
use crate::management::nack;
use hashlane_link::stream::StreamWriter;
use hashlane_link::udp::{RecvBatch, SendBatch, UdpSocket};
use hashlane_ndn::fragment::{Fragmenter, Reassembler};
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{LpHeader, NackReason};
use hashlane_ndn_fw::congestion::CongestionMarking;
use hashlane_ndn_fw::face::{FaceCounters, FaceId};
use hashlane_ndn_fw::forward::Output;
use mio::unix::SourceFd;
use mio::{Interest, Registry};
use std::cell::RefCell;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;
use std::rc::Rc;
use std::sync::Arc;

/// Octets that wait for a stream at the most; what does not fit is dropped.
pub(super) const STREAM_QUEUE: usize = 1 << 20;

/// Bytes that the kernel counts for a datagram at most, beside twice its length.
const DATAGRAM_OVERHEAD: usize = 1024;

/// The sending end of a face, and what its link keeps.
pub(super) struct Port {
    pub(super) face: FaceId,
    pub(super) kind: PortKind,
    pub(super) counters: Arc<FaceCounters>,
    pub(super) marking: CongestionMarking,
    pub(super) marks: bool,
    pub(super) fragmenter: Fragmenter,
    pub(super) reassembler: Reassembler,
    /// True for a peer on this host.
    pub(super) local: bool,
    /// Octets of a link packet at the most.
    pub(super) mtu: usize,
    /// For how long it may be silent, in milliseconds; for ever where there is nothing.
    pub(super) idle: Option<u64>,
    /// Address of its peer; none of a Unix socket.
    pub(super) address: Option<IpAddr>,
    /// When it was last sent to or heard.
    pub(super) used: Time,
    /// With whom it is connected over TCP, and what becomes of it when that fails.
    pub(super) connection: Option<Connection>,
    /// Whether it waits to be flushed.
    dirty: bool,
    /// Tells if a queue waits for its connection to be writable, so that events report that.
    blocked: bool,
}

pub(super) enum PortKind {
    /// A Unix or TCP connection.
    Stream { stream: Rc<Stream>, writer: StreamWriter },
    /// A peer of one of the UDP sockets.
    Udp { socket: usize, peer: SocketAddr },
    /// A WebSocket connection.
    WebSocket(Rc<RefCell<WebSocket>>),
    /// Nothing, until it is connected again. What is sent there is dropped.
    Down,
}

impl Port {
    pub(super) fn new(
        face: FaceId,
        kind: PortKind,
        counters: Arc<FaceCounters>,
        first: u64,
        now: Time,
    ) -> Self {
        Self {
            face,
            kind,
            counters,
            marking: CongestionMarking::default(),
            marks: true,
            fragmenter: Fragmenter::new(first),
            reassembler: Reassembler::default(),
            local: false,
            mtu: usize::MAX,
            idle: None,
            address: None,
            used: now,
            connection: None,
            dirty: false,
            blocked: false,
        }
    }

    /// Gives it another connection, whose events are registered as readable only.
    pub(super) fn connect(&mut self, kind: PortKind) {
        self.kind = kind;
        self.blocked = false;
    }

    /// Octets that wait to leave, as far as they are known.
    fn queue(&self, sockets: &[Udp]) -> usize {
        match &self.kind {
            PortKind::Stream { writer, .. } => writer.len(),
            PortKind::Udp { socket, .. } => sockets.get(*socket).map_or(0, |udp| udp.unsent),
            PortKind::WebSocket(_) | PortKind::Down => 0,
        }
    }
}

/// A UDP socket, and what waits to be sent over it.
pub(super) struct Udp {
    pub(super) socket: UdpSocket,
    pub(super) local: SocketAddr,
    pub(super) queue: SendBatch,
    /// Bytes that the kernel had not sent yet, with its own overhead, when it was last asked.
    unsent: usize,
    /// Bytes that it can hold at most of what was sent since then.
    sent_since: usize,
    /// Tells if it is asked with the next flush.
    asks: bool,
    /// Datagrams that could not be sent since that was last told, and why the socket could send none, where it could not.
    lost: (usize, Option<String>),
}

impl Udp {
    pub(super) fn new(socket: UdpSocket, local: SocketAddr) -> Self {
        Self {
            socket,
            local,
            queue: SendBatch::new(64),
            unsent: 0,
            sent_since: 0,
            asks: false,
            lost: (0, None),
        }
    }

    /// Receives what waits.
    pub(super) fn recv(&self, batch: &mut RecvBatch) -> io::Result<usize> {
        counted(Call::Receive, self.socket.recv(batch))
    }

    /// Queues a datagram. `threshold` is the queue length that matters to its sender; the kernel is asked for
    /// that length only where it may be greater, so that a lone datagram costs no second system call.
    fn push(&mut self, peer: SocketAddr, parts: &[&[u8]], threshold: usize, counters: &FaceCounters) {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        self.sent_since = self.sent_since.saturating_add(2 * length + DATAGRAM_OVERHEAD);
        self.asks |= self.unsent.saturating_add(self.sent_since) > threshold;
        if !self.queue.push(peer, parts) {
            self.flush();
            if !self.queue.push(peer, parts) {
                counters.out_drops.add(1);
            }
        }
    }

    /// Sends what waits.
    pub(super) fn flush(&mut self) {
        if self.queue.is_empty() {
            return;
        }
        let waiting = self.queue.len();
        match self.socket.send(&mut self.queue) {
            Ok(sent) => self.lost.0 += sent.dropped,
            Err(error) => {
                self.lost.0 += waiting;
                self.lost.1 = Some(error.to_string());
            }
        }
        if std::mem::take(&mut self.asks) {
            self.unsent = counted(Call::Unsent, self.socket.unsent()).unwrap_or(0);
            self.sent_since = 0;
        }
    }

    /// Says what could not be sent: not with each datagram, for then there is too much to do already.
    pub(super) fn tell_lost(&mut self) {
        let (lost, why) = std::mem::take(&mut self.lost);
        if lost > 0 {
            let why = why.as_deref().unwrap_or("the queue is full, or there is no way to the peer");
            tracing::info!(local = %self.local, lost, why, "datagrams could not be sent");
        }
    }
}

/// All ports, by the slot of their face.
pub(super) struct Ports {
    ports: Vec<Option<Port>>,
    pub(super) sockets: Vec<Udp>,
    dirty: Vec<u32>,
    reports: Reports,
    /// Nacks for Interests that the management has no room for.
    pub(super) refused: Vec<Vec<u8>>,
    registry: Registry,
    pub(super) now: Time,
}

impl Ports {
    /// No ports yet, of connections whose events go to `registry`.
    pub(super) fn new(sockets: Vec<Udp>, reports: Reports, registry: Registry) -> Self {
        Self {
            ports: Vec::new(),
            sockets,
            dirty: Vec::new(),
            reports,
            registry,
            refused: Vec::new(),
            now: Time::default(),
        }
    }

    pub(super) fn add(&mut self, port: Port) {
        let Some(slot) = port.face.slot() else { return };
        if slot >= self.ports.len() {
            self.ports.resize_with(slot + 1, || None);
        }
        if let Some(place) = self.ports.get_mut(slot) {
            *place = Some(port);
        }
    }

    pub(super) fn remove(&mut self, face: FaceId) -> Option<Port> {
        let place = self.ports.get_mut(face.slot()?)?;
        if place.as_ref()?.face == face { place.take() } else { None }
    }

    #[inline(always)]
    pub(super) fn find_mut(&mut self, face: FaceId) -> Option<&mut Port> {
        self.ports.get_mut(face.slot()?)?.as_mut().filter(|port| port.face == face)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter().flatten()
    }

    /// Frees the pieces of packets whose others have not come. Links on which pieces come do that themselves; this is for those that have fallen
    /// silent.
    pub(super) fn forget_pieces(&mut self, now: Time) {
        self.ports.iter_mut().flatten().for_each(|port| port.reassembler.turn(now));
    }

    /// The face in a slot.
    pub(super) fn face_in(&self, slot: usize) -> Option<FaceId> {
        self.ports.get(slot)?.as_ref().map(|port| port.face)
    }

    /// Sends what waits; tells of connections that failed, and why.
    pub(super) fn flush(&mut self, mut failed: impl FnMut(FaceId, String)) {
        for socket in &mut self.sockets {
            socket.flush();
        }
        for at in 0..self.dirty.len() {
            let Some(slot) = self.dirty.get(at).copied() else { break };
            if let Some((face, why)) = self.flush_slot(slot as usize) {
                failed(face, why);
            }
        }
        self.dirty.clear();
    }

    /// Sends what waits for the face in a slot; the face and why, where its connection has failed.
    ///
    /// Bytes that the connection does not take now follow when it is writable. Events report that only while
    /// something waits: otherwise each packet that a peer reads would be an event.
    pub(super) fn flush_slot(&mut self, slot: usize) -> Option<(FaceId, String)> {
        let Self { ports, registry, .. } = self;
        let port = ports.get_mut(slot)?.as_mut()?;
        port.dirty = false;
        let outcome = match &mut port.kind {
            PortKind::Stream { stream, writer } => writer
                .flush(&mut &**stream)
                .map(|done| (!done, stream.as_raw_fd()))
                .map_err(|e| e.to_string()),
            PortKind::WebSocket(socket) => {
                let mut socket = socket.borrow_mut();
                socket.flush().map(|done| (!done, socket.descriptor()))
            }
            PortKind::Udp { .. } | PortKind::Down => return None,
        };
        let failed = match outcome {
            Ok((blocked, _)) if blocked == port.blocked => return None,
            Ok((blocked, descriptor)) => {
                port.blocked = blocked;
                let interests =
                    if blocked { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
                // The kernel looks anew here: room that came since the write makes an event.
                let token = Kind::Face.token(slot);
                registry.reregister(&mut SourceFd(&descriptor), token, interests).err()?.to_string()
            }
            Err(error) => error,
        };
        Some((port.face, failed))
    }

    /// Puts the face in a slot among those that are flushed at the end of the turn.
    pub(super) fn mark_dirty(&mut self, slot: usize) {
        if let Some(Some(port)) = self.ports.get_mut(slot)
            && !std::mem::replace(&mut port.dirty, true)
        {
            self.dirty.push(slot as u32);
        }
    }

    /// Tells if a queue waits for the connection of the face in a slot.
    #[cfg(test)]
    pub(super) fn is_blocked(&self, slot: usize) -> bool {
        self.ports.get(slot).and_then(Option::as_ref).is_some_and(|port| port.blocked)
    }

    /// Whether anything waits to leave.
    pub(super) fn is_idle(&self) -> bool {
        self.iter().all(|port| port.queue(&[]) == 0)
    }
}

impl Output for Ports {
    #[inline]
    fn send(&mut self, face: FaceId, header: &LpHeader<'_>, packet: &[u8]) {
        if face == FaceId::MANAGEMENT {
            let from = header.incoming_face.unwrap_or_default();
            let face = u32::try_from(from).map_or(FaceId::NONE, FaceId);
            let local = self.find_mut(face).is_some_and(|port| port.local);
            if !self.reports.interest(from, local, packet) {
                self.refused.push(nack(packet, NackReason::CONGESTION));
            }
            return;
        }
        let Self { ports, sockets, dirty, now, .. } = self;
        let Some(slot) = face.slot() else { return };
        let Some(port) = ports.get_mut(slot).and_then(Option::as_mut).filter(|port| port.face == face) else {
            return;
        };
        port.used = *now;
        let mut header = *header;
        if port.marks && header.congestion_mark == 0 && port.marking.marks(port.queue(sockets), *now) {
            header.congestion_mark = 1;
        }
        let Port { kind, counters, fragmenter, mtu, marks, marking, .. } = port;
        let threshold = if *marks { marking.threshold } else { usize::MAX };
        let sent = fragmenter.send(&header, packet, *mtu, |head, piece| {
            let taken = match kind {
                PortKind::Stream { writer, .. } => writer.push(&[head, piece]),
                PortKind::WebSocket(socket) => socket.borrow_mut().push(&[head, piece]),
                PortKind::Udp { socket, peer } => {
                    if let Some(socket) = sockets.get_mut(*socket) {
                        socket.push(*peer, &[head, piece], threshold, counters);
                    }
                    true
                }
                PortKind::Down => false,
            };
            if taken {
                counters.out_bytes.add((head.len() + piece.len()) as u64);
            } else {
                counters.out_drops.add(1);
            }
        });
        if !sent {
            counters.out_drops.add(1);
        }
        if !port.dirty && !matches!(port.kind, PortKind::Udp { .. }) {
            port.dirty = true;
            dirty.push(slot as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_ndn::wire::{InterestBuilder, LpPacket};

    fn registry() -> Registry {
        mio::Poll::new().and_then(|poll| poll.registry().try_clone()).expect("epoll")
    }

    #[test]
    fn interests_that_the_management_has_no_room_for_come_back() {
        let (reports, _inbox) = Reports::new();
        let mut ports = Ports::new(Vec::new(), reports, registry());
        let name = hashlane_name::uri::parse_uri(b"/localhop/nfd/rib").expect("a name");
        let interest = InterestBuilder { nonce: Some(7), ..InterestBuilder::new(name.view()) }.build();
        let header = LpHeader { incoming_face: Some(300), ..LpHeader::default() };
        while ports.refused.is_empty() {
            ports.send(FaceId::MANAGEMENT, &header, &interest);
        }
        let nack = LpPacket::parse(&ports.refused[0]).expect("a link packet");
        assert_eq!((nack.header.nack, nack.fragment), (Some(NackReason::CONGESTION), &interest[..]));
    }

    #[test]
    fn pieces_on_a_link_that_has_fallen_silent_are_freed() {
        let now = Time::from_millis(1000);
        let face = FaceId(FaceId::FIRST);
        let mut ports = Ports::new(Vec::new(), Reports::new().0, registry());
        ports.add(Port::new(face, PortKind::Down, Arc::default(), 7, now));
        let mut pieces = Vec::new();
        let packet = [&[6, 253, 4, 0][..], &[0; 1024]].concat();
        let header = LpHeader::default();
        assert!(
            Fragmenter::new(7).send(&header, &packet, 500, |head, piece| pieces.push([head, piece].concat()))
        );
        let first = LpPacket::parse(&pieces[0]).expect("a piece");
        let port = ports.find_mut(face).expect("a port");
        assert!(port.reassembler.receive(&first, &pieces[0], now).is_ok_and(|whole| whole.is_none()));
        let octets = |ports: &mut Ports, millis| {
            ports.forget_pieces(now.after_millis(millis));
            ports.find_mut(face).expect("a port").reassembler.octets()
        };
        assert!(octets(&mut ports, 100) > 400, "the others may come yet");
        assert_eq!(octets(&mut ports, 1000), 0);
    }
}
