//! UDP faces of a worker, which sends over the sockets of the first thread.

use crate::plane::link_service::{LinkOptions, LinkService};
use crate::plane::udp::Udp;
use hashlane_link::udp::UdpSocket;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::LpHeader;
use hashlane_ndn_fw::face::{FaceCounters, FaceId};
use std::net::SocketAddr;
use std::sync::Arc;

/// Peer of a UDP face.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UdpPeer {
    /// Number of the socket.
    pub(crate) socket: usize,
    pub(crate) address: SocketAddr,
    pub(crate) options: LinkOptions,
    /// Sequence number of the first fragment: all threads' differ.
    pub(crate) first_fragment: u64,
}

/// UDP faces of a worker, by slot, and its ends of the sockets.
pub(crate) struct Datagrams {
    sockets: Vec<Udp>,
    faces: Vec<Option<UdpFace>>,
    now: Time,
}

struct UdpFace {
    face: FaceId,
    socket: usize,
    address: SocketAddr,
    link: LinkService,
}

impl Datagrams {
    /// No faces yet. The sockets are numbered as the first thread's.
    pub(super) fn new(sockets: Vec<(UdpSocket, SocketAddr)>) -> Self {
        let sockets = sockets.into_iter().map(|(socket, local)| Udp::new(socket, local)).collect();
        Self { sockets, faces: Vec::new(), now: Time::default() }
    }

    /// Sets the time of the round.
    pub(super) fn set_time(&mut self, now: Time) {
        self.now = now;
    }

    /// Adds a face.
    pub(super) fn add(&mut self, face: FaceId, peer: &UdpPeer, counters: Arc<FaceCounters>) {
        let Some(slot) = face.slot() else { return };
        if slot >= self.faces.len() {
            self.faces.resize_with(slot + 1, || None);
        }
        let mut link = LinkService::new(counters, peer.first_fragment);
        link.set_options(peer.options);
        if let Some(place) = self.faces.get_mut(slot) {
            *place = Some(UdpFace { face, socket: peer.socket, address: peer.address, link });
        }
    }

    /// Removes a face, if it is one of these.
    pub(super) fn remove(&mut self, face: FaceId) {
        if let Some(place) = face.slot().and_then(|slot| self.faces.get_mut(slot)) {
            place.take_if(|known| known.face == face);
        }
    }

    /// Changes the options of a face, if it is one of these.
    pub(super) fn update(&mut self, face: FaceId, options: LinkOptions) {
        if let Some(Some(known)) = face.slot().and_then(|slot| self.faces.get_mut(slot)) {
            known.link.set_options(options);
        }
    }

    /// Queues a packet, if its face is one of these and has no link reliability, which is the work of the
    /// first thread. Returns false otherwise.
    #[inline]
    pub(super) fn send(&mut self, face: FaceId, header: &LpHeader<'_>, packet: &[u8]) -> bool {
        let Self { sockets, faces, now } = self;
        let known = face.slot().and_then(|slot| faces.get_mut(slot)?.as_mut());
        let Some(known) = known.filter(|known| known.face == face) else { return false };
        if known.link.options().reliability {
            return false;
        }
        let Some(socket) = sockets.get_mut(known.socket) else { return false };
        let address = known.address;
        known.link.send(header, packet, socket.unsent(), *now, |parts, threshold, counters| {
            socket.push(address, &parts, threshold, counters);
            true
        });
        true
    }

    /// Sends what is queued.
    pub(super) fn flush(&mut self) {
        self.sockets.iter_mut().for_each(Udp::flush);
    }

    /// Logs the datagrams lost since the last call, and returns their number.
    pub(super) fn log_lost(&mut self) -> u64 {
        self.sockets.iter_mut().map(Udp::log_lost).sum::<usize>() as u64
    }

    /// Frees the memory of the queues, after large datagrams have used more of it than small ones need.
    pub(super) fn free_memory(&mut self) {
        self.sockets.iter_mut().for_each(Udp::free_memory);
    }
}
