//! Link reliability of UDP faces: packets in and out, and timers.
//!
//! The first thread does all of it, also for packets that other shards forward.

use super::Ports;
use crate::plane::link_service::LinkService;
use crate::plane::port::PortKind;
use crate::plane::udp::Udp;
use hashlane_ndn::reliability::Counts;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{LpHeader, LpPacket};
use hashlane_ndn_fw::face::{FaceCounters, FaceId};
use hashlane_ndn_fw::forward::Counters;
use std::collections::BTreeSet;
use std::net::SocketAddr;

/// Timers of the faces with reliability, and the numbers of all faces.
#[derive(Debug, Default)]
pub(in crate::plane) struct Reliable {
    /// Time of the next timeout of each face, and its slot.
    timers: BTreeSet<(Time, usize)>,
    /// Numbers that the counters do not have yet.
    counts: Counts,
}

impl Reliable {
    /// Time of the next timeout.
    pub(in crate::plane) fn poll_timeout(&self) -> Option<Time> {
        self.timers.first().map(|(due, _)| *due)
    }

    /// Adds the numbers since the last call to counters.
    pub(in crate::plane) fn count(&mut self, counters: &Counters) {
        counters.reliability.add(&std::mem::take(&mut self.counts));
    }

    fn stop(&mut self, timer: &mut Option<Time>, slot: usize) {
        if let Some(due) = timer.take() {
            self.timers.remove(&(due, slot));
        }
    }

    fn add(&mut self, counts: &Counts) {
        let all = &mut self.counts;
        all.acknowledged += counts.acknowledged;
        all.retransmitted += counts.retransmitted;
        all.lost += counts.lost;
        all.unprotected += counts.unprotected;
        all.duplicates += counts.duplicates;
    }
}

impl Ports {
    /// True if lost link packets of a face are sent again.
    pub(in crate::plane) fn is_reliable(&self, face: FaceId) -> bool {
        self.find(face).is_some_and(|port| port.link.is_reliable())
    }

    /// Sends a packet to the face in a slot, which has reliability.
    #[inline(never)]
    pub(super) fn send_reliably(&mut self, slot: usize, header: &LpHeader<'_>, packet: &[u8]) {
        let (now, queue) = (self.now, self.queue_of(slot));
        self.with_link(slot, |link, socket, peer| {
            link.send_reliably(header, packet, queue, now, push(socket, peer))
        });
    }

    fn queue_of(&self, slot: usize) -> usize {
        let port = self.ports.get(slot).and_then(Option::as_ref);
        port.map_or(0, |port| port.queue(&self.sockets))
    }

    /// Handles the fields of reliability of a link packet from a face. Returns false if the same link packet
    /// has arrived before.
    pub(in crate::plane) fn receive_reliably(&mut self, face: FaceId, packet: &LpPacket<'_>) -> bool {
        let now = self.now;
        let mut is_new = true;
        if let Some(slot) = face.slot() {
            self.with_link(slot, |link, socket, peer| {
                let (new, counts) = link.receive_reliably(packet, now, push(socket, peer));
                is_new = new;
                counts
            });
        }
        is_new
    }

    /// Sends what is due at this time.
    pub(in crate::plane) fn handle_timeouts(&mut self) {
        let now = self.now;
        let mut slots = Vec::new();
        while let Some((due, slot)) = self.reliable.timers.pop_first() {
            if due > now {
                self.reliable.timers.insert((due, slot));
                break;
            }
            slots.push(slot);
        }
        // Each once: a face that has too much for one call goes on in the next round.
        for slot in slots {
            if let Some(port) = self.ports.get_mut(slot).and_then(Option::as_mut) {
                port.timer = None;
            }
            self.with_link(slot, |link, socket, peer| link.handle_timeout(now, push(socket, peer)));
        }
    }

    /// Does something with the link service of the face in a slot, and sets its timer. A timer that is
    /// earlier than needed stays: most Acks leave before theirs, and finding nothing due is cheap.
    fn with_link(&mut self, slot: usize, act: impl FnOnce(&mut LinkService, &mut Udp, SocketAddr) -> Counts) {
        let Self { ports, sockets, reliable, .. } = self;
        let Some(port) = ports.get_mut(slot).and_then(Option::as_mut) else {
            debug_assert!(false, "a face is closed with its timer");
            return;
        };
        let PortKind::Udp { socket, peer } = port.kind else {
            debug_assert!(false, "only UDP faces have reliability");
            return;
        };
        let Some(socket) = sockets.get_mut(socket) else {
            debug_assert!(false, "the faces of a socket are closed before it");
            return;
        };
        reliable.add(&act(&mut port.link, socket, peer));
        if let Some(due) = port.link.poll_timeout()
            && port.timer.is_none_or(|set| due < set)
        {
            reliable.stop(&mut port.timer, slot);
            reliable.timers.insert((due, slot));
            port.timer = Some(due);
        }
    }

    /// Stops the timer of a face that is closed, or has no reliability any more.
    pub(in crate::plane) fn stop_timer(&mut self, face: FaceId) {
        let Self { ports, reliable, .. } = self;
        if let Some(slot) = face.slot()
            && let Some(port) = ports.get_mut(slot).and_then(Option::as_mut)
            && port.face == face
        {
            reliable.stop(&mut port.timer, slot);
        }
    }
}

/// Pushes link packets to the queue of a socket, which always takes them.
fn push(socket: &mut Udp, peer: SocketAddr) -> impl FnMut([&[u8]; 2], usize, &FaceCounters) -> bool {
    move |parts, threshold, counters| {
        socket.push(peer, &parts, threshold, counters);
        true
    }
}
