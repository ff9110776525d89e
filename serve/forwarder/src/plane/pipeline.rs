//! The forwarder and the ports that it sends to: received packets in, queued packets out.

use super::ports::Ports;
use hashlane_ndn::wire::LpPacket;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::forward::{Burst, DropReason, Forwarder, PushError};
use hashlane_ndn_fw::pit::Pit;

/// A [`Forwarder`] and its [`Ports`]. Packets are gathered in bursts, and forwarded at the time of the round.
pub(super) struct Pipeline<P> {
    pub(super) forwarder: Forwarder<P>,
    pub(super) ports: Ports,
}

impl<P: Pit> Pipeline<P> {
    /// Counts packets received from a face, and their bytes, and notes that its peer is alive.
    #[inline]
    pub(super) fn count_received(&mut self, face: FaceId, packets: usize, bytes: usize) {
        let now = self.ports.now;
        // A packet of the burst may be the last one of its face.
        if packets > 0
            && let Some(port) = self.ports.find_mut(face)
        {
            port.used = now;
            port.heard = port.heard.wrapping_add(packets as u32);
            port.counters.in_bytes.add(bytes as u64);
        }
    }

    /// Counts a packet that is dropped before it reaches the forwarder.
    pub(super) fn count_drop(&mut self, face: FaceId, reason: DropReason) {
        self.forwarder.count_drop(face, reason);
    }

    /// Adds one link packet to a burst, and forwards the burst when it is full. The caller forwards the rest.
    #[inline(always)]
    pub(super) fn push<'p>(&mut self, face: FaceId, packet: &'p [u8], burst: &mut Burst<'p, P::Mark>) {
        match burst.push(face, packet) {
            Ok(()) if burst.is_full() => self.forward(burst),
            Ok(()) => {}
            Err(PushError::Malformed) => self.forwarder.count_drop(face, DropReason::Malformed),
            Err(PushError::Fragment) => {
                // Packets of a face stay in order: those before the last fragment go before the whole packet.
                self.forward(burst);
                self.reassemble(face, packet);
            }
        }
    }

    /// Forwards the packets of a burst, and empties it.
    #[inline]
    pub(super) fn forward(&mut self, burst: &mut Burst<'_, P::Mark>) {
        if !burst.is_empty() {
            self.forwarder.receive_burst(burst, self.ports.now, &mut self.ports);
            burst.clear();
        }
    }

    /// Adds a fragment to its packet, and forwards the packet when it is whole.
    #[cold]
    fn reassemble(&mut self, face: FaceId, fragment: &[u8]) {
        let now = self.ports.now;
        let Ok(piece) = LpPacket::parse(fragment) else {
            debug_assert!(false, "a burst that reports a fragment has parsed it");
            return self.forwarder.count_drop(face, DropReason::Malformed);
        };
        // The face may be closed: its packets are dropped.
        let Some(port) = self.ports.find_mut(face) else { return };
        let outcome = port.reassembler.receive(&piece, fragment, now);
        for loser in self.ports.note_fragments(face) {
            self.forwarder.count_drop(loser, DropReason::Reassembly);
        }
        match outcome {
            Ok(Some(whole)) => drop(self.forwarder.receive(face, &whole.packet(), now, &mut self.ports)),
            Ok(None) => {}
            Err(_) => self.forwarder.count_drop(face, DropReason::Reassembly),
        }
    }

    /// Forwards a link packet of the management: Data, or a Nack.
    pub(super) fn receive_management(&mut self, packet: &LpPacket<'_>) {
        let now = self.ports.now;
        // The consumer may have gone, or asked twice: then no PIT entry takes the packet.
        let _ = self.forwarder.receive(FaceId::MANAGEMENT, packet, now, &mut self.ports);
    }

    /// Sends a Nack for each Interest that the queue of the management had no room for.
    pub(super) fn send_refusals(&mut self) {
        for nack in std::mem::take(&mut self.ports.refused) {
            match LpPacket::parse(&nack) {
                Ok(packet) => self.receive_management(&packet),
                Err(_) => debug_assert!(false, "a Nack that this process has encoded is a link packet"),
            }
        }
    }
}
