//! Datagrams in: batches of each UDP socket, and faces for new peers.

use super::faces::Faces;
use super::flood::{Flood, Floods};
use super::peers;
use super::pipeline::Pipeline;
use super::port::PortKind;
use super::ports::Ports;
use super::ready::{Class, Ready};
use super::token::SocketKind;
use crate::management::FaceOptions;
use hashlane_link::udp::{Datagram, RecvBatch};
use hashlane_ndn::endpoints::Endpoint;
use hashlane_ndn::mgmt::values::FacePersistency;
use hashlane_ndn::wire::LpPacket;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::forward::{BURST, Burst, DropReason};
use hashlane_ndn_fw::pit::Pit;
use hashlane_ndn_fw::strategy::Rng;
use hashlane_table::share::Owner;
use smallvec::SmallVec;
use std::net::SocketAddr;

/// Batches of one socket in one turn, and the datagrams after which there is no second one: the kernel may
/// have joined dozens.
const BATCHES: usize = 2;
const DATAGRAMS: usize = 256;

/// Datagrams of one batch, before they are split.
const BATCH: usize = 64;

/// Receives from the UDP sockets.
pub(super) struct UdpReceiver {
    batch: Box<RecvBatch>,
    /// Measurements of each socket.
    floods: Floods,
    /// True if a socket could not be read, though datagrams may wait.
    failed: bool,
    /// True once the failure is logged.
    logged: bool,
    /// False when the thread is about to end: no faces are opened for new peers.
    takes_new: bool,
}

impl UdpReceiver {
    /// A receiver for a number of sockets. `rng` draws the secrets of their filters.
    pub(super) fn new(sockets: usize, rng: &mut Rng) -> Self {
        let mut floods = Floods::default();
        (0..sockets).for_each(|number| floods.begin(number, rng));
        Self { batch: Box::new(RecvBatch::new(BATCH)), floods, failed: false, logged: false, takes_new: true }
    }

    /// Begins the measurements of a socket: another one, or one in place of the last of this number.
    pub(super) fn begin_measuring(&mut self, number: usize, rng: &mut Rng) {
        self.floods.begin(number, rng);
    }

    /// True if new peers are served.
    pub(super) fn takes_new(&self) -> bool {
        self.takes_new
    }

    /// Frees the memory of the buffers, after large datagrams have used more of it than small ones need.
    pub(super) fn free_memory(&mut self) {
        self.batch.release();
    }

    /// Opens no more faces for new peers.
    pub(super) fn refuse_new(&mut self) {
        self.takes_new = false;
    }

    /// Schedules all sockets again if one could not be read: no event reports its datagrams a second time.
    pub(super) fn retry(&mut self, sockets: impl Iterator<Item = usize>, ready: &mut Ready) {
        let failed = std::mem::take(&mut self.failed);
        if failed {
            sockets.for_each(|number| ready.push(SocketKind::Udp.token(number), Class::First));
        }
        self.logged &= failed;
    }

    /// True while peers of a socket are limited.
    pub(super) fn is_limiting(&self) -> bool {
        self.floods.is_limiting()
    }

    /// Counts the datagrams that each socket has lost, and updates the limits of its peers.
    pub(super) fn measure<P: Pit>(&mut self, faces: &mut Faces<P>) {
        self.floods.numbers().for_each(|number| self.measure_socket(number, faces));
    }

    fn measure_socket<P: Pit>(&mut self, number: usize, faces: &mut Faces<P>) {
        let Pipeline { forwarder, ports, .. } = &mut faces.pipeline;
        let now = ports.now;
        if let Some(flood) = self.floods.due(number, now)
            && let Some((ports, udp)) = ports.socket_mut(number)
        {
            let is_of = |kind: &PortKind| matches!(kind, PortKind::Udp { socket, .. } if *socket == number);
            flood.measure(udp, now, forwarder.counters(), |each| Ports::take_heard(ports, is_of, each));
        }
    }

    /// Receives the datagrams of one socket for one turn. Returns true if there may be more.
    pub(super) fn receive<P: Pit>(&mut self, number: usize, faces: &mut Faces<P>) -> bool {
        let more = self.receive_batches(number, faces);
        if more {
            self.measure_socket(number, faces);
        }
        more
    }

    fn receive_batches<P: Pit>(&mut self, number: usize, faces: &mut Faces<P>) -> bool {
        let takes_new = self.takes_new;
        let mut received = 0;
        for _ in 0..BATCHES {
            let (Some(udp), Some(flood)) =
                (faces.pipeline.ports.sockets.get(number), self.floods.get_mut(number))
            else {
                // The interface of the socket has gone since the event.
                return false;
            };
            if let Err(error) = udp.recv(&mut self.batch) {
                if !std::mem::replace(&mut self.logged, true) {
                    tracing::error!(local = %udp.local, %error, "cannot read a UDP socket; retrying every second");
                }
                self.failed = true;
                return false;
            }
            let mut datagrams = self.batch.iter();
            while receive_burst(number, datagrams.by_ref().take(BURST), takes_new, flood, faces) {}
            if !self.batch.is_full() {
                return false;
            }
            received += self.batch.len();
            if received >= DATAGRAMS {
                break;
            }
        }
        true
    }
}

/// Forwards up to [`BURST`] datagrams of one socket. Returns false if there were none.
fn receive_burst<'p, P: Pit>(
    number: usize,
    datagrams: impl Iterator<Item = Datagram<'p>>,
    takes_new: bool,
    flood: &mut Flood,
    faces: &mut Faces<P>,
) -> bool {
    let (mut batch, mut tuples) = (SmallVec::<[_; BURST]>::new(), SmallVec::<[_; BURST]>::new());
    for datagram in datagrams {
        tuples.push(peers::tuple(number, datagram.from));
        batch.push((datagram, None));
    }
    let any = !batch.is_empty();
    let socket = faces.pipeline.ports.sockets.get(number).filter(|udp| udp.is_of_group());
    let group = socket.map(|udp| udp.group);
    match group {
        Some(of_all) => {
            for (datagram, face) in &mut batch {
                *face = of_all;
                flood.count_stranger(Owner::of(datagram.from.ip()));
            }
        }
        None => faces.peers.find_burst(&tuples, |at, found| {
            if let Some((_, face)) = batch.get_mut(at) {
                *face = found;
            }
        }),
    }
    let mut reliable = false;
    // Count before a new peer replaces a silent one: the peers of this batch are not silent.
    for run in batch.chunk_by(|(_, a), (_, b)| a == b) {
        if let [(_, Some(face)), ..] = run {
            let bytes = run.iter().map(|(datagram, _)| datagram.payload.len()).sum();
            reliable |= faces.pipeline.count_received(*face, run.len(), bytes);
        }
    }
    if flood.drains() {
        drop_floods(&mut batch, flood, faces);
    }
    let mut burst = Burst::new();
    for (datagram, face) in &batch {
        let from = if group.is_some() { datagram.from.into() } else { Endpoint::default() };
        let face = match face {
            Some(face) => Ok(*face),
            // The face of the group was destroyed.
            None if group.is_some() => Err(DropReason::UnknownFace),
            None => {
                flood.count_stranger(Owner::of(datagram.from.ip()));
                // The configuration may name its peer.
                reliable = true;
                face_of_peer(number, datagram.from, datagram.payload, takes_new, faces)
            }
        };
        match face {
            Ok(face) if datagram.truncated => faces.pipeline.count_drop(face, DropReason::TooLong),
            Ok(face) if reliable => faces.pipeline.push_reliable(face, datagram.payload, &mut burst),
            Ok(face) => faces.pipeline.push_from(face, from, datagram.payload, &mut burst),
            Err(reason) => faces.pipeline.count_drop(FaceId::NONE, reason),
        }
    }
    faces.pipeline.forward(&mut burst);
    any
}

/// Drops the datagrams of the parties that are limited.
#[cold]
fn drop_floods<P: Pit>(
    batch: &mut SmallVec<[(Datagram<'_>, Option<FaceId>); BURST]>,
    flood: &mut Flood,
    faces: &mut Faces<P>,
) {
    let mut last = None;
    batch.retain(|(datagram, face)| {
        let address = datagram.from.ip();
        // The kernel joins datagrams of one peer.
        let limited = match last {
            Some((known, limited)) if known == address => limited,
            _ => flood.limits(Owner::of(address)),
        };
        last = Some((address, limited));
        if limited {
            faces.pipeline.count_drop(face.unwrap_or(FaceId::NONE), DropReason::Flood);
            if face.is_none() {
                flood.count_stranger(Owner::of(address));
            }
        }
        !limited
    });
}

/// The face of a peer that had none when its batch arrived. Opens it if the datagram is a packet.
///
/// # Errors
/// The reason why the datagram is dropped.
#[cold]
fn face_of_peer<P: Pit>(
    number: usize,
    peer: SocketAddr,
    datagram: &[u8],
    takes_new: bool,
    faces: &mut Faces<P>,
) -> Result<FaceId, DropReason> {
    let face = match faces.peers.find(&peers::tuple(number, peer)) {
        Some(face) => face,
        None if takes_new => open_on_demand(number, peer, datagram, faces)?,
        None => return Err(DropReason::UnknownFace),
    };
    faces.pipeline.count_received(face, 1, datagram.len());
    Ok(face)
}

fn open_on_demand<P: Pit>(
    number: usize,
    peer: SocketAddr,
    datagram: &[u8],
    faces: &mut Faces<P>,
) -> Result<FaceId, DropReason> {
    LpPacket::parse(datagram).map_err(|_| DropReason::Malformed)?;
    let options = FaceOptions { persistency: Some(FacePersistency::OnDemand), ..FaceOptions::default() };
    faces.open_udp(number, peer, &options).ok_or(DropReason::UnknownFace)
}
