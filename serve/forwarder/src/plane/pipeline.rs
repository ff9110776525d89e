//! The forwarder and the ports that it sends to: received packets in, queued packets out.

use super::ports::Ports;
use crate::shards::{self, Action, Crew};
use hashlane_ndn::endpoints::Endpoint;
use hashlane_ndn::wire::LpPacket;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::forward::{Burst, DropReason, Forwarder, Output as _, PushError};
use hashlane_ndn_fw::pit::Pit;
use hashlane_ndn_fw::shard::Visit;
use hashlane_table::stage::Stage as _;

/// A [`Forwarder`] and its [`Ports`]. Packets are gathered in bursts, and forwarded at the time of the round.
pub(super) struct Pipeline<P> {
    pub(super) forwarder: Forwarder<P>,
    pub(super) ports: Ports,
    /// The threads of the other shards; `None` if there is one shard.
    pub(super) crew: Option<Box<Crew>>,
}

impl<P: Pit> Pipeline<P> {
    /// Counts packets received from a face, and their bytes, and notes that its peer is alive. Returns true
    /// if the face has link reliability.
    #[inline]
    pub(super) fn count_received(&mut self, face: FaceId, packets: usize, bytes: usize) -> bool {
        let now = self.ports.now;
        // A packet of the burst may be the last one of its face.
        if packets > 0
            && let Some(port) = self.ports.find_mut(face)
        {
            port.used = now;
            port.heard = port.heard.wrapping_add(packets as u32);
            port.link.counters.in_bytes.add(bytes as u64);
            return port.link.is_reliable();
        }
        false
    }

    /// Counts a packet that is dropped before it reaches the forwarder.
    pub(super) fn count_drop(&mut self, face: FaceId, reason: DropReason) {
        self.forwarder.count_drop(face, reason);
    }

    /// Adds one link packet to a burst, and forwards the burst when it is full. The caller forwards the rest.
    #[inline(always)]
    pub(super) fn push<'p>(&mut self, face: FaceId, packet: &'p [u8], burst: &mut Burst<'p, P::Mark>) {
        self.push_from(face, Endpoint::default(), packet, burst);
    }

    /// Adds one link packet to a burst, as [`push`](Self::push) does; `from` is its sender on a link with
    /// several.
    #[inline(always)]
    pub(super) fn push_from<'p>(
        &mut self,
        face: FaceId,
        from: Endpoint,
        packet: &'p [u8],
        burst: &mut Burst<'p, P::Mark>,
    ) {
        match burst.push(face, packet) {
            Ok(()) if burst.is_full() => self.forward(burst),
            Ok(()) => {}
            Err(PushError::Malformed) => self.forwarder.count_drop(face, DropReason::Malformed),
            Err(PushError::Fragment) => {
                // Packets of a face stay in order: those before the last fragment go before the whole packet.
                self.forward(burst);
                self.reassemble(face, from, packet);
            }
        }
    }

    /// As [`push`](Self::push), for a face that may have link reliability.
    #[inline(never)]
    pub(super) fn push_reliable<'p>(
        &mut self,
        face: FaceId,
        packet: &'p [u8],
        burst: &mut Burst<'p, P::Mark>,
    ) {
        // A bare packet has none of its fields.
        if LpPacket::is_bare(packet) || !self.ports.is_reliable(face) {
            return self.push(face, packet, burst);
        }
        let Ok(parsed) = LpPacket::parse(packet) else {
            return self.forwarder.count_drop(face, DropReason::Malformed);
        };
        if !self.ports.receive_reliably(face, &parsed) || parsed.fragment.is_empty() {
            return;
        }
        if parsed.header.is_fragmented() {
            return self.push(face, packet, burst);
        }
        burst.push_packet(face, &parsed);
        if burst.is_full() {
            self.forward(burst);
        }
    }

    /// Forwards one packet that another shard has visited, and hands it over to the shard that it visits
    /// next.
    fn visit(&mut self, face: FaceId, packet: &[u8], visit: Visit<'_>, hashes: &[u64]) {
        let mut burst = Burst::new();
        if burst.push(face, packet).is_err() {
            return self.forwarder.count_drop(face, DropReason::Malformed);
        }
        burst.set_visit(visit, hashes);
        self.forwarder.receive_burst(&mut burst, self.ports.now, &mut self.ports);
        if let Some(crew) = &mut self.crew {
            shards::pass_on(&mut self.forwarder, &mut burst, &mut crew.exchange);
        }
    }

    /// Takes the packets that the other threads have handed over, at most so many batches. Returns true if
    /// there may be more.
    pub(super) fn receive_handed_over(&mut self, batches: usize) -> bool {
        for _ in 0..batches {
            let Some(batch) = self.crew.as_mut().and_then(|crew| crew.exchange.try_next()) else {
                return false;
            };
            for (face, action, packet) in batch.iter() {
                match action {
                    Action::Send => self.send(face, packet),
                    Action::Forward { visit, hashes } => self.visit(face, packet, visit, hashes),
                }
            }
            if let Some(crew) = &mut self.crew {
                crew.exchange.give_back(batch);
            }
        }
        self.crew.is_some()
    }

    /// Prepares to wait for events. Returns false if packets were handed over.
    pub(super) fn prepare_to_wait(&mut self) -> bool {
        let Some(crew) = &mut self.crew else { return true };
        crew.waker.sleep.announce();
        !crew.exchange.has_next()
    }

    /// Notes that the wait for events is over.
    pub(super) fn end_wait(&self) {
        if let Some(crew) = &self.crew {
            crew.waker.sleep.end();
        }
    }

    /// True if the thread of another shard takes less than it is given.
    pub(super) fn is_congested(&self) -> bool {
        self.crew.as_ref().is_some_and(|crew| crew.exchange.is_congested())
    }

    /// Passes on what has gathered for the other threads.
    pub(super) fn flush_handed_over(&mut self) {
        if let Some(crew) = &mut self.crew {
            crew.exchange.flush();
            self.ports.queue_drops += crew.exchange.take_lost();
        }
    }

    /// True if no Interest is pending.
    pub(super) fn is_drained(&mut self) -> bool {
        self.forwarder.pit().is_empty() && self.crew.as_mut().is_none_or(|crew| crew.is_drained())
    }

    /// Sends a link packet that another shard has forwarded.
    #[inline]
    fn send(&mut self, face: FaceId, packet: &[u8]) {
        // The face may have been closed since. The face of the management has no port.
        if face != FaceId::MANAGEMENT && self.ports.find(face).is_none() {
            return;
        }
        match LpPacket::parse(packet) {
            Ok(packet) => self.ports.send(face, &packet.header, packet.fragment),
            Err(_) => debug_assert!(false, "a packet that this process has encoded is a link packet"),
        }
    }

    /// Forwards the packets of a burst, and empties it. Packets of other shards are handed over.
    #[inline]
    pub(super) fn forward(&mut self, burst: &mut Burst<'_, P::Mark>) {
        if burst.is_empty() {
            return;
        }
        let Self { forwarder, ports, crew } = self;
        match crew {
            None => forwarder.decode().run(burst),
            Some(crew) => crew.route(forwarder, burst, ports.now),
        }
        forwarder.forward_decoded(burst, ports.now, ports);
        if let Some(crew) = crew {
            shards::pass_on(forwarder, burst, &mut crew.exchange);
        }
        burst.clear();
    }

    /// Adds a fragment to its packet, and forwards the packet when it is whole.
    #[cold]
    fn reassemble(&mut self, face: FaceId, from: Endpoint, fragment: &[u8]) {
        let now = self.ports.now;
        let Ok(piece) = LpPacket::parse(fragment) else {
            debug_assert!(false, "a burst that reports a fragment has parsed it");
            return self.forwarder.count_drop(face, DropReason::Malformed);
        };
        // The face may be closed: its packets are dropped.
        let Some(port) = self.ports.find_mut(face) else { return };
        let outcome = port.reassemblers.receive(from, &piece, fragment, now);
        for loser in self.ports.note_fragments(face) {
            self.forwarder.count_drop(loser, DropReason::Reassembly);
        }
        match outcome {
            Ok(Some(whole)) => self.receive_whole(face, &whole.packet()),
            Ok(None) => {}
            Err(_) => self.forwarder.count_drop(face, DropReason::Reassembly),
        }
    }

    /// Forwards a single packet, not a fragment.
    fn receive_whole(&mut self, face: FaceId, packet: &LpPacket<'_>) {
        let mut burst = Burst::new();
        burst.push_packet(face, packet);
        self.forward(&mut burst);
    }

    /// Forwards a link packet of the management: Data, or a Nack. An application that chooses the management
    /// as its next hop may wait for it at any shard.
    pub(super) fn receive_management(&mut self, packet: &LpPacket<'_>) {
        // The consumer may have gone, or asked twice: then no PIT entry takes the packet.
        self.receive_whole(FaceId::MANAGEMENT, packet);
    }

    /// Forwards an Interest of the management.
    pub(super) fn express(&mut self, interest: &[u8]) {
        let mut burst = Burst::new();
        self.push(FaceId::MANAGEMENT, interest, &mut burst);
        self.forward(&mut burst);
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
