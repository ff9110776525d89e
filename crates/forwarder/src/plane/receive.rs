//! Packets in.

use super::socket::{Received, Stream, WebSocket};
use super::{Kind, Plane, PortKind, peers};
use crate::management::FaceOptions;
use hashlane_link::stream::{Filled, Framing, FramingError, StreamReader};
use hashlane_link::udp::Datagram;
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn::mgmt::face_uri::Protocol;
use hashlane_ndn::mgmt::values::{FacePersistency, FaceScope};
use hashlane_ndn::tlv;
use hashlane_ndn::wire::lp::LP_PACKET;
use hashlane_ndn::wire::{DATA, INTEREST, LpPacket};
use hashlane_ndn_fw::face::{FaceId, Scope};
use hashlane_ndn_fw::forward::{BURST, Burst, DropReason, PushError};
use hashlane_ndn_fw::pit::Pit;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

/// The receiving end of a connection.
pub(super) struct Reader {
    source: Source,
    /// Tells if an event has reported the end of the stream. No event repeats that, so it is read until its
    /// end.
    closing: bool,
}

/// Source of the packets of a connection.
pub(super) enum Source {
    Stream { stream: Rc<Stream>, reader: StreamReader },
    WebSocket(Rc<RefCell<WebSocket>>),
}

impl From<Source> for Reader {
    fn from(source: Source) -> Self {
        Self { source, closing: false }
    }
}

/// Reads of a stream, or messages of a WebSocket, or datagrams in batches, before others have their turn.
const STREAM_READS: usize = 2;
const MESSAGES: usize = 64;
const MESSAGE_OCTETS: usize = 128 << 10;
const BATCHES: usize = 2;

/// For how long a UDP peer that came by itself must have been silent to give way to another, where there are too many.
const GIVES_WAY: Duration = Duration::from_secs(10);

/// How long the packet is that the octets start with. A stream has Interests, Data and link packets, and nothing else: what speaks another protocol, as
/// a web page might that has commands in what it posts, is cut off at its first octet.
#[inline]
fn framing(octets: &[u8]) -> Framing {
    match *octets {
        [] => return Framing::More,
        [typ, ..] if ![INTEREST, DATA, LP_PACKET].contains(&typ.into()) => return Framing::Lost,
        [_, len @ ..=252, ..] => return Framing::Packet(2 + usize::from(len)),
        _ => {}
    }
    match tlv::frame(octets) {
        Ok(Some(len)) => Framing::Packet(usize::try_from(len).unwrap_or(usize::MAX)),
        Ok(None) => Framing::More,
        Err(_) => Framing::Lost,
    }
}

/// Reads the messages of a WebSocket that one turn takes; whether there may be more.
///
/// # Errors
/// The reason why the connection has ended. The messages that came before are read.
fn read_messages(socket: &mut WebSocket, closing: bool, messages: &mut Vec<Vec<u8>>) -> Result<bool, String> {
    socket.grant(MESSAGE_OCTETS, closing);
    for _ in 0..MESSAGES {
        match socket.receive() {
            Received::Packet(octets) => messages.push(octets),
            Received::Nothing => {}
            Received::Drained => return Ok(socket.is_spent()),
            Received::Closed(why) => return Err(why),
        }
    }
    Ok(true)
}

impl<P: Pit> Plane<P> {
    /// Notes that a face has been heard, and counts what came.
    #[inline]
    fn heard(&mut self, face: FaceId, octets: usize) {
        let now = self.ports.now;
        if let Some(port) = self.ports.find_mut(face) {
            port.used = now;
            port.counters.in_bytes.add(octets as u64);
        }
    }

    /// Adds one link packet to a burst, which is forwarded when it is full. The caller forwards what is left
    /// in it.
    #[inline(always)]
    fn take<'p>(&mut self, face: FaceId, octets: &'p [u8], burst: &mut Burst<'p, P::Mark>) {
        match burst.push(face, octets) {
            Ok(()) if burst.is_full() => self.forward(burst),
            Ok(()) => {}
            Err(PushError::Malformed) => self.forwarder.dropped(face, DropReason::Malformed),
            Err(PushError::Fragment) => {
                // The order of packets on a face stays: what came before the last piece goes before the
                // whole.
                self.forward(burst);
                self.take_piece(face, octets);
            }
        }
    }

    /// Forwards the packets of a burst, and empties it.
    #[inline]
    fn forward(&mut self, burst: &mut Burst<'_, P::Mark>) {
        if !burst.is_empty() {
            self.forwarder.receive_burst(burst, self.ports.now, &mut self.ports);
            burst.clear();
        }
    }

    #[cold]
    fn take_piece(&mut self, face: FaceId, octets: &[u8]) {
        let now = self.ports.now;
        // It has just been parsed; the face may be gone.
        let (Ok(piece), Some(port)) = (LpPacket::parse(octets), self.ports.find_mut(face)) else { return };
        match port.reassembler.receive(&piece, octets, now) {
            Ok(Some(whole)) => drop(self.forwarder.receive(face, &whole.packet(), now, &mut self.ports)),
            Ok(None) => {}
            Err(_) => self.forwarder.dropped(face, DropReason::Reassembly),
        }
    }

    /// Reads from the connection of the face in a slot; whether there may be more.
    pub(super) fn receive(&mut self, slot: usize) -> bool {
        let (Some(face), Some(place)) = (self.ports.face_in(slot), self.readers.get_mut(slot)) else {
            return false;
        };
        // It is out of its place while its packets are forwarded.
        let Some(mut reader) = place.take() else { return false };
        let closing = reader.closing;
        let outcome = match &mut reader.source {
            Source::Stream { stream, reader } => self.receive_stream(face, stream, reader, closing),
            Source::WebSocket(socket) => {
                let outcome = self.receive_messages(face, socket, closing);
                // Answers to its pings may wait.
                self.ports.mark_dirty(slot);
                outcome
            }
        };
        match outcome {
            Ok(more) => {
                // A packet may have closed the face that it came from.
                if self.ports.find_mut(face).is_some()
                    && let Some(place) = self.readers.get_mut(slot)
                {
                    *place = Some(reader);
                }
                more
            }
            Err(why) => {
                self.fail(face, &why);
                false
            }
        }
    }

    fn receive_stream(
        &mut self,
        face: FaceId,
        stream: &Stream,
        reader: &mut StreamReader,
        closing: bool,
    ) -> Result<bool, String> {
        for _ in 0..STREAM_READS {
            let filled = reader.fill(&mut &*stream).map_err(|error| error.to_string())?;
            let (mut burst, mut bytes, mut lost) = (Burst::new(), 0, None);
            for packet in reader.frames(framing) {
                match packet {
                    Ok(octets) => {
                        bytes += octets.len();
                        self.take(face, octets, &mut burst);
                    }
                    Err(error) => {
                        lost = Some(error);
                        break;
                    }
                }
            }
            self.forward(&mut burst);
            self.heard(face, bytes);
            if let Some(error) = lost {
                let reason = match error {
                    FramingError::TooLong { .. } => DropReason::TooLong,
                    _ => DropReason::Malformed,
                };
                self.forwarder.dropped(face, reason);
                return Err(error.to_string());
            }
            match filled {
                // A short read has emptied the socket: an event reports what comes later. Out-of-band data
                // and descriptors also make reads short; a peer that sends them delays its own packets,
                // nobody else's.
                Filled::Drained(octets) if octets == 0 || !closing => return Ok(false),
                Filled::Drained(_) | Filled::Full(_) => {}
                Filled::End => return Err("closed by the peer".into()),
            }
        }
        Ok(true)
    }

    fn receive_messages(
        &mut self,
        face: FaceId,
        socket: &RefCell<WebSocket>,
        closing: bool,
    ) -> Result<bool, String> {
        let mut messages = Vec::new();
        let outcome = read_messages(&mut socket.borrow_mut(), closing, &mut messages);
        let mut burst = Burst::new();
        for octets in &messages {
            self.take(face, octets, &mut burst);
        }
        self.forward(&mut burst);
        self.heard(face, messages.iter().map(Vec::len).sum());
        outcome
    }

    /// Receives datagrams of one socket; whether there may be more.
    pub(super) fn receive_udp(&mut self, number: usize) -> bool {
        let Some(mut batch) = self.batch.take() else { return false };
        let mut more = false;
        for _ in 0..BATCHES {
            let Some(udp) = self.ports.sockets.get(number) else { break };
            match udp.recv(&mut batch) {
                Ok(_) => more = batch.is_full(),
                Err(error) => {
                    if !std::mem::replace(&mut self.told.stuck, true) {
                        tracing::error!(local = %udp.local, %error, "a UDP socket fails; it is read again every second");
                    }
                    self.stuck = true;
                    more = false;
                    break;
                }
            }
            let mut datagrams = batch.iter();
            while self.receive_datagrams(number, datagrams.by_ref().take(BURST)) {}
            if !more {
                break;
            }
        }
        self.batch = Some(batch);
        more
    }

    /// Forwards up to [`BURST`] datagrams of one socket; whether there were any.
    fn receive_datagrams<'p>(
        &mut self,
        number: usize,
        datagrams: impl Iterator<Item = Datagram<'p>>,
    ) -> bool {
        let (mut batch, mut peers) = (SmallVec::<[_; BURST]>::new(), SmallVec::<[_; BURST]>::new());
        for datagram in datagrams {
            peers.push(peers::tuple(number, datagram.from));
            batch.push((datagram, None));
        }
        self.peers.find_burst(&peers, |at, found| {
            if let Some((_, face)) = batch.get_mut(at) {
                *face = found;
            }
        });
        // Before any peer gives way to a new one: those of this batch are not silent.
        for run in batch.chunk_by(|(_, a), (_, b)| a == b) {
            if let [(_, Some(face)), ..] = run {
                self.heard(*face, run.iter().map(|(datagram, _)| datagram.octets.len()).sum());
            }
        }
        let mut burst = Burst::new();
        for (datagram, face) in &batch {
            let face = match face {
                Some(face) => Ok(*face),
                None => self.peer(number, datagram.from, datagram.octets),
            };
            match face {
                Ok(face) if datagram.truncated => self.forwarder.dropped(face, DropReason::TooLong),
                Ok(face) => self.take(face, datagram.octets, &mut burst),
                Err(reason) => self.forwarder.dropped(FaceId::NONE, reason),
            }
        }
        self.forward(&mut burst);
        !batch.is_empty()
    }

    /// The face of a peer of a UDP socket that had none when its batch came; made if it has sent a packet.
    ///
    /// # Errors
    /// The reason why the datagram is dropped.
    #[cold]
    fn peer(&mut self, number: usize, peer: SocketAddr, octets: &[u8]) -> Result<FaceId, DropReason> {
        let face = match self.peers.find(number, peer) {
            Some(face) => face,
            None => self.new_peer(number, peer, octets)?,
        };
        self.heard(face, octets.len());
        Ok(face)
    }

    fn new_peer(&mut self, number: usize, peer: SocketAddr, octets: &[u8]) -> Result<FaceId, DropReason> {
        if self.ends.is_some() {
            return Err(DropReason::UnknownFace);
        }
        LpPacket::parse(octets).map_err(|_| DropReason::Malformed)?;
        if self.on_demand.len() >= self.config.udp.max_on_demand {
            let now = self.ports.now;
            let used = |face| self.ports.find_mut(face).map(|port| port.used);
            let silent = self.on_demand.take_silent(now, GIVES_WAY, used).ok_or(DropReason::UnknownFace)?;
            self.close(silent, "idle, and another one came");
        }
        let options = FaceOptions { persistency: Some(FacePersistency::OnDemand), ..FaceOptions::default() };
        let face = self.open_udp(number, peer, &options);
        let face = face.ok_or(DropReason::UnknownFace)?;
        self.on_demand.add(face, self.ports.now);
        Ok(face)
    }

    /// Makes the face of a UDP peer.
    pub(super) fn open_udp(
        &mut self,
        number: usize,
        peer: SocketAddr,
        options: &FaceOptions,
    ) -> Option<FaceId> {
        let local = self.ports.sockets.get(number)?.local;
        let uri = |address| FaceUri::from_address(Protocol::Udp, address);
        let mut info = self.info(uri(peer), uri(local), FaceScope::NonLocal, FacePersistency::OnDemand);
        info.mtu = Some(self.config.udp.mtu as u64);
        info.idle = self.config.udp.idle_after(FacePersistency::OnDemand);
        // Before it is told of, so that what is told is what holds.
        info.apply(options, info.idle);
        let kind = PortKind::Udp { socket: number, peer };
        let face = self.open(kind, Scope::NonLocal, info, crate::management::Peer::Ip(peer.ip()))?;
        if !self.peers.insert(number, peer, face) {
            self.close(face, "there are too many peers");
            return None;
        }
        Some(face)
    }

    /// Notes that an event has reported the end of the connection of the face in a slot.
    pub(super) fn note_end(&mut self, slot: usize) {
        if let Some(Some(reader)) = self.readers.get_mut(slot) {
            reader.closing = true;
        }
    }

    /// Puts the receiving end of a face in its place. An event reports what has come already, except the
    /// messages that the handshake of a WebSocket has read.
    pub(super) fn listen_to(&mut self, face: FaceId, reader: Reader) {
        let Some(slot) = face.slot() else { return };
        if slot >= self.readers.len() {
            self.readers.resize_with(slot + 1, || None);
        }
        if matches!(reader.source, Source::WebSocket(_)) {
            self.ready.push(Kind::Face.token(slot));
        }
        if let Some(place) = self.readers.get_mut(slot) {
            *place = Some(reader);
        }
    }
}
