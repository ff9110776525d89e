//! All ports, and the output of the forwarder to them.

mod reliability;

use super::ether::Ether;
use super::port::{Port, PortKind};
use super::reports::Reports;
use super::slots::Slots;
use super::token::SocketKind;
use super::udp::Udp;
use crate::config::Memory;
use crate::management::{Report, nack};
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{Data, LpHeader, NackReason};
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::forward::Output;
use hashlane_table::share::{Holder, ItemId, Ledger, Limits, Owner};
use mio::unix::SourceFd;
use mio::{Interest, Registry};
use reliability::Reliable;
use std::os::fd::AsRawFd;

/// Longest payload of a UDP datagram, in bytes.
pub(super) const MAX_UDP: usize = 65_507;

/// Least memory of queues and fragments that is worth giving back, in bytes.
const MIN_BYTES: u64 = 8 << 20;
/// Part of their largest memory that they have at most when it is given back: one in so many.
const PART: u64 = 16;

/// Ports by the slot of their face.
type PortsOfFaces = Vec<Option<Port>>;

/// All ports, by the slot of their face, and the UDP sockets that they share.
pub(super) struct Ports {
    ports: PortsOfFaces,
    pub(super) sockets: Slots<Udp>,
    /// Ethernets, by the number in their tokens.
    pub(super) ethers: Slots<Ether>,
    /// Slots of the ports to flush at the end of the round.
    dirty: Vec<u32>,
    reports: Reports,
    /// Nacks for the Interests that the queue of the management had no room for.
    pub(super) refused: Vec<Vec<u8>>,
    registry: Registry,
    /// Memory of the queues that wait for connections to be writable. The values are face ids.
    queues: Ledger,
    /// Bytes of fragments that wait for others. The values are face ids.
    fragments: Ledger,
    /// Faces whose queues are too much for all together.
    exhausted: Vec<FaceId>,
    /// Most bytes of both since memory was last given back.
    largest: u64,
    /// Timers and numbers of the faces with link reliability.
    pub(super) reliable: Reliable,
    /// Packets that a send queue had no room for.
    pub(super) queue_drops: u64,
    /// Time of the round.
    pub(super) now: Time,
}

impl Ports {
    /// An empty set. Events of connections are registered with `registry`.
    pub(super) fn new(sockets: Slots<Udp>, memory: &Memory, reports: Reports, registry: Registry) -> Self {
        Self {
            ports: Vec::new(),
            sockets,
            ethers: Slots::new(),
            dirty: Vec::new(),
            reports,
            registry,
            refused: Vec::new(),
            queues: Ledger::new(Limits::new(memory.send_queues)),
            fragments: Ledger::new(Limits::new(memory.reassembly)),
            exhausted: Vec::new(),
            largest: 0,
            reliable: Reliable::default(),
            queue_drops: 0,
            now: Time::default(),
        }
    }

    /// Adds the port of a new face.
    pub(super) fn add(&mut self, port: Port) {
        let Some(slot) = port.face.slot() else {
            debug_assert!(false, "the forwarder gives out faces that have a slot");
            return;
        };
        if slot >= self.ports.len() {
            self.ports.resize_with(slot + 1, || None);
        }
        if let Some(place) = self.ports.get_mut(slot) {
            debug_assert!(place.is_none(), "the port of the face before is removed with it");
            *place = Some(port);
        }
    }

    /// Removes the port of a face; `None` if the face is closed already.
    pub(super) fn remove(&mut self, face: FaceId) -> Option<Port> {
        self.release(face);
        self.stop_timer(face);
        self.ports.get_mut(face.slot()?)?.take_if(|port| port.face == face)
    }

    /// Takes the queue and the fragments of a face out of the sums.
    pub(super) fn release(&mut self, face: FaceId) {
        let Self { ports, queues, fragments, .. } = self;
        let port = face.slot().and_then(|slot| ports.get_mut(slot)?.as_mut());
        if let Some(port) = port.filter(|port| port.face == face) {
            set_weight(queues, &mut port.waiting, port.holder, face, 0);
            set_weight(fragments, &mut port.fragments, port.holder, face, 0);
        }
    }

    /// Notes the fragments that wait at a face. Returns the faces that lost some, because there are too many
    /// of all faces together.
    pub(super) fn note_fragments(&mut self, face: FaceId) -> Vec<FaceId> {
        let mut losers = Vec::new();
        let Self { ports, fragments, .. } = self;
        let find = |ports: &mut PortsOfFaces, face: FaceId, fragments: &mut Ledger, drops: bool| {
            let port = ports.get_mut(face.slot()?)?.as_mut().filter(|port| port.face == face)?;
            if drops {
                port.reassemblers.drop_oldest();
            }
            let memory = port.reassemblers.memory();
            set_weight(fragments, &mut port.fragments, port.holder, face, memory);
            Some(())
        };
        find(ports, face, fragments, false);
        while let Some(victim) = fragments.excess() {
            let loser = FaceId(victim.value);
            if find(ports, loser, fragments, true).is_none() {
                debug_assert!(false, "fragments go with their face");
                fragments.remove(victim.id);
            }
            losers.push(loser);
        }
        losers
    }

    /// Faces to close: of the party with the longest queues, while all queues together are too long.
    pub(super) fn take_exhausted(&mut self) -> Vec<FaceId> {
        std::mem::take(&mut self.exhausted)
    }

    /// The port of a face; `None` if the face is closed.
    pub(super) fn find(&self, face: FaceId) -> Option<&Port> {
        self.ports.get(face.slot()?)?.as_ref().filter(|port| port.face == face)
    }

    /// The port of a face, to change it; `None` if the face is closed.
    #[inline(always)]
    pub(super) fn find_mut(&mut self, face: FaceId) -> Option<&mut Port> {
        self.ports.get_mut(face.slot()?)?.as_mut().filter(|port| port.face == face)
    }

    /// Longest datagram or frame that a face can send, in bytes; `None` if it is closed or a stream.
    pub(super) fn transport_mtu(&self, face: FaceId) -> Option<usize> {
        match self.find(face)?.kind {
            PortKind::Udp { .. } => Some(MAX_UDP),
            PortKind::Ether { number, .. } => self.ethers.get(number).map(|ether| ether.mtu),
            PortKind::Stream { .. } | PortKind::WebSocket(_) | PortKind::Down => None,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter().flatten()
    }

    /// Calls `each` with the parties of the peers' faces that `is_of` selects, and the datagrams or frames
    /// received from each since the last call.
    pub(super) fn take_heard(
        ports: &mut PortsOfFaces,
        is_of: impl Fn(&PortKind) -> bool,
        each: &mut dyn FnMut(Owner, u32),
    ) {
        for port in ports.iter_mut().flatten() {
            // The senders to a group are counted by their addresses.
            if port.heard > 0 && !port.is_group && is_of(&port.kind) {
                each(port.owner, std::mem::take(&mut port.heard));
            }
        }
    }

    /// The ports, and the socket of this number.
    pub(super) fn socket_mut(&mut self, socket: usize) -> Option<(&mut PortsOfFaces, &mut Udp)> {
        let Self { ports, sockets, .. } = self;
        sockets.get_mut(socket).map(|socket| (ports, socket))
    }

    /// The ports, and the Ethernet of this number.
    pub(super) fn ether_mut(&mut self, number: usize) -> Option<(&mut PortsOfFaces, &mut Ether)> {
        let Self { ports, ethers, .. } = self;
        ethers.get_mut(number).map(|ether| (ports, ether))
    }

    /// True if the face in a slot is of this host.
    pub(super) fn is_local(&self, slot: usize) -> bool {
        self.ports.get(slot).and_then(Option::as_ref).is_some_and(|port| port.local)
    }

    /// True if far fewer bytes wait than did, so that their memory may be returned to the system.
    pub(super) fn has_shrunk(&mut self) -> bool {
        let held = self.queues.weight() + self.fragments.weight();
        let has_shrunk = self.largest >= MIN_BYTES && held <= self.largest / PART;
        self.largest = if has_shrunk { held } else { self.largest.max(held) };
        has_shrunk
    }

    /// Changes the limits of the send queues and of reassembly.
    pub(super) fn configure(&mut self, memory: &Memory) {
        self.queues.set_limits(Limits::new(memory.send_queues));
        self.fragments.set_limits(Limits::new(memory.reassembly));
    }

    /// All ports.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Port> {
        self.ports.iter_mut().flatten()
    }

    /// Frees the fragments of packets that were not completed in time. A reassembler that receives fragments
    /// does so itself; this call is for links that have fallen silent.
    pub(super) fn expire_fragments(&mut self) {
        let Self { ports, fragments, now, .. } = self;
        for port in ports.iter_mut().flatten() {
            port.reassemblers.handle_timeout(*now);
            if port.fragments.is_some() {
                let memory = port.reassemblers.memory();
                set_weight(fragments, &mut port.fragments, port.holder, port.face, memory);
            }
        }
    }

    /// The face in a slot; `None` if the slot is free.
    pub(super) fn face_in(&self, slot: usize) -> Option<FaceId> {
        self.ports.get(slot)?.as_ref().map(|port| port.face)
    }

    /// Flushes all queues. Calls `failed` with each face whose connection has failed, and the reason.
    pub(super) fn flush(&mut self, mut failed: impl FnMut(FaceId, String)) {
        self.sockets.iter_mut().for_each(Udp::flush);
        self.ethers.iter_mut().for_each(Ether::flush);
        let mut dirty = std::mem::take(&mut self.dirty);
        for slot in dirty.drain(..) {
            if let Some((face, why)) = self.flush_slot(slot as usize) {
                failed(face, why);
            }
        }
        self.dirty = dirty;
    }

    /// Flushes the port in a slot. Returns the face and the reason if its connection has failed.
    ///
    /// Bytes that the connection does not take now follow when it is writable. Events report that only while
    /// something waits: otherwise each packet that a peer reads would be an event.
    pub(super) fn flush_slot(&mut self, slot: usize) -> Option<(FaceId, String)> {
        let failed = self.flush_port(slot);
        while let Some(victim) = self.queues.excess() {
            let face = FaceId(victim.value);
            match self.find_mut(face) {
                Some(port) => port.waiting = None,
                None => debug_assert!(false, "a queue goes with its face"),
            }
            self.queues.remove(victim.id);
            self.exhausted.push(face);
        }
        failed
    }

    fn flush_port(&mut self, slot: usize) -> Option<(FaceId, String)> {
        let Self { ports, registry, queues, now, .. } = self;
        let port = ports.get_mut(slot)?.as_mut()?;
        port.dirty = false;
        let before = if port.blocked { port.stream_queue() } else { 0 };
        let outcome = match &mut port.kind {
            PortKind::Stream { stream, writer } => writer
                .flush(&mut &**stream)
                .map(|done| (!done, stream.as_raw_fd()))
                .map_err(|e| e.to_string()),
            PortKind::WebSocket(socket) => {
                let mut socket = socket.borrow_mut();
                socket.flush().map(|done| (!done, socket.descriptor()))
            }
            PortKind::Udp { .. } | PortKind::Ether { .. } | PortKind::Down => return None,
        };
        if let Ok((blocked, _)) = outcome
            && (blocked || port.waiting.is_some())
        {
            if !port.blocked || port.stream_queue() < before {
                port.taken = *now;
            }
            let memory = if blocked { port.memory().max(1) } else { 0 };
            set_weight(queues, &mut port.waiting, port.holder, port.face, memory);
        }
        let failed = match outcome {
            Ok((blocked, _)) if blocked == port.blocked => return None,
            Ok((blocked, descriptor)) => {
                port.blocked = blocked;
                let interests =
                    if blocked { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
                // Registering checks the state anew: room since the write makes an event.
                let token = SocketKind::Face.token(slot);
                registry.reregister(&mut SourceFd(&descriptor), token, interests).err()?.to_string()
            }
            Err(error) => error,
        };
        Some((port.face, failed))
    }

    /// Reports the answer to an Interest of the management. There are no more than it has sent.
    #[cold]
    fn report_answer(&self, header: &LpHeader<'_>, packet: &[u8]) {
        let head = LpHeader { nack: header.nack, ..LpHeader::default() }.wrapped(packet.len());
        self.reports.add(Report::Answer([head.as_bytes(), packet].concat()));
    }

    /// Marks the port of a face for the flush at the end of the round.
    pub(super) fn mark_dirty(&mut self, face: FaceId) {
        // Reading may have closed the face.
        if let Some(slot) = face.slot()
            && let Some(port) = self.find_mut(face)
            && !std::mem::replace(&mut port.dirty, true)
        {
            self.dirty.push(slot as u32);
        }
    }

    /// True if a queue waits for the connection of the face in a slot.
    #[cfg(test)]
    pub(super) fn is_blocked(&self, slot: usize) -> bool {
        self.ports.get(slot).and_then(Option::as_ref).is_some_and(|port| port.blocked)
    }

    /// True if nothing waits to be sent.
    pub(super) fn is_idle(&self) -> bool {
        self.iter().all(|port| port.stream_queue() == 0)
    }
}

impl Output for Ports {
    #[inline]
    fn send(&mut self, face: FaceId, header: &LpHeader<'_>, packet: &[u8]) {
        if face == FaceId::MANAGEMENT {
            if header.nack.is_some() || Data::find_name(packet).is_ok() {
                return self.report_answer(header, packet);
            }
            let Some(from) = header.incoming_face else {
                debug_assert!(false, "the face of the management takes local fields");
                return;
            };
            // The face may have closed while another shard had the Interest.
            let port = u32::try_from(from).ok().and_then(|id| self.find(FaceId(id)));
            let Some(port) = port else { return };
            if let Some(displaced) = self.reports.interest(from, port.owner, packet) {
                self.refused.push(nack(&displaced, NackReason::CONGESTION));
            }
            return;
        }
        let Self { ports, sockets, ethers, dirty, queue_drops, now, .. } = self;
        let found = face.slot().and_then(|slot| Some((slot, ports.get_mut(slot)?.as_mut()?)));
        let Some((slot, port)) = found.filter(|(_, port)| port.face == face) else {
            debug_assert!(false, "the forwarder sends to open faces only");
            return;
        };
        port.used = *now;
        if port.link.is_reliable() {
            return self.send_reliably(slot, header, packet);
        }
        let queue = match port.kind {
            PortKind::Ether { number, .. } => ethers.get(number).map_or(0, Ether::unsent),
            _ => port.queue(sockets),
        };
        let Port { kind, link, .. } = port;
        *queue_drops += link.send(header, packet, queue, *now, |parts, threshold, counters| match kind {
            PortKind::Stream { writer, .. } => writer.push(&parts),
            PortKind::WebSocket(socket) => socket.borrow_mut().push(&parts),
            PortKind::Udp { socket, peer } => match sockets.get_mut(*socket) {
                Some(socket) => {
                    socket.push(*peer, &parts, threshold, counters);
                    true
                }
                None => {
                    debug_assert!(false, "the faces of a socket are closed before it");
                    false
                }
            },
            PortKind::Ether { number, peer } => match ethers.get_mut(*number) {
                Some(ether) => {
                    ether.push(*peer, &parts, threshold, counters);
                    true
                }
                None => {
                    debug_assert!(false, "the faces of an Ethernet are closed before it");
                    false
                }
            },
            PortKind::Down => false,
        });
        if !port.dirty && !port.is_datagram() {
            port.dirty = true;
            dirty.push(slot as u32);
        }
    }
}

/// Sets the weight of the item of a face, which it has as long as that is not 0.
fn set_weight(ledger: &mut Ledger, item: &mut Option<ItemId>, holder: Holder, face: FaceId, weight: usize) {
    let bytes = u32::try_from(weight).unwrap_or(u32::MAX);
    match *item {
        Some(id) if bytes > 0 => ledger.set_weight(id, bytes),
        Some(id) => {
            ledger.remove(id);
            *item = None;
        }
        None if bytes > 0 => *item = Some(ledger.add(holder, bytes, face.0)),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_ndn::endpoints::Endpoint;
    use hashlane_ndn::fragment::Fragmenter;
    use hashlane_ndn::wire::{InterestBuilder, LpPacket};
    use std::sync::Arc;

    fn registry() -> Registry {
        mio::Poll::new().and_then(|poll| poll.registry().try_clone()).expect("epoll")
    }

    #[test]
    fn interests_that_the_management_has_no_room_for_come_back() {
        let (reports, _inbox) = Reports::new();
        let mut ports = Ports::new(Slots::new(), &Memory::default(), reports, registry());
        ports.add(Port::new(FaceId(300), PortKind::Down, Arc::default(), 7, Time::from_millis(1)));
        let name = hashlane_name::uri::parse_uri(b"/localhop/nfd/rib").expect("a name");
        let interest =
            |nonce| InterestBuilder { nonce: Some(nonce), ..InterestBuilder::new(name.view()) }.build();
        let header = LpHeader { incoming_face: Some(300), ..LpHeader::default() };
        let mut nonce = 0;
        while ports.refused.is_empty() {
            ports.send(FaceId::MANAGEMENT, &header, &interest(nonce));
            nonce += 1;
        }
        let nack = LpPacket::parse(&ports.refused[0]).expect("a link packet");
        assert_eq!((nack.header.nack, nack.fragment), (Some(NackReason::CONGESTION), &interest(0)[..]));
    }

    #[test]
    fn an_interest_for_the_management_from_a_face_that_has_closed_is_left_out() {
        let (reports, inbox) = Reports::new();
        let mut ports = Ports::new(Slots::new(), &Memory::default(), reports, registry());
        let name = hashlane_name::uri::parse_uri(b"/a").expect("a name");
        let interest = InterestBuilder { nonce: Some(7), ..InterestBuilder::new(name.view()) }.build();
        let header = LpHeader { incoming_face: Some(300), ..LpHeader::default() };
        ports.send(FaceId::MANAGEMENT, &header, &interest);
        assert!(ports.refused.is_empty() && inbox.next(std::time::Duration::ZERO, true).is_none());
    }

    #[test]
    fn pieces_on_a_link_that_has_fallen_silent_are_freed() {
        let now = Time::from_millis(1000);
        let face = FaceId(FaceId::FIRST);
        let mut ports = Ports::new(Slots::new(), &Memory::default(), Reports::new().0, registry());
        ports.add(Port::new(face, PortKind::Down, Arc::default(), 7, now));
        let mut pieces = Vec::new();
        let packet = [&[6, 253, 4, 0][..], &[0; 1024]].concat();
        let header = LpHeader::default();
        assert!(
            Fragmenter::new(7).send(&header, &packet, 500, |head, piece| pieces.push([head, piece].concat()))
        );
        let first = LpPacket::parse(&pieces[0]).expect("a piece");
        let port = ports.find_mut(face).expect("a port");
        assert!(
            port.reassemblers
                .receive(Endpoint::default(), &first, &pieces[0], now)
                .is_ok_and(|whole| whole.is_none())
        );
        let bytes = |ports: &mut Ports, millis| {
            ports.now = now.after_millis(millis);
            ports.expire_fragments();
            ports.find_mut(face).expect("a port").reassemblers.memory()
        };
        assert!(bytes(&mut ports, 100) > 400, "the others may come yet");
        assert_eq!(bytes(&mut ports, 1000), 0);
    }
}
