//! Receive path: the three stages over a burst.

use super::act::Act;
use super::burst::Burst;
use super::decode::{Decode, Names};
use super::forwarder::Forwarder;
use super::output::Output;
use super::prefetch::Prefetch;
use crate::drop::DropReason;
use crate::face::FaceId;
use crate::pit::Pit;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::LpPacket;
use hashlane_table::stage::Stage as _;

impl<P: Pit> Forwarder<P> {
    /// Receives a link packet, not a fragment, from `face`: a burst of one.
    ///
    /// # Errors
    /// The reason for dropping it. The drop has been counted by [`count_drop`](Self::count_drop).
    pub fn receive(
        &mut self,
        face: FaceId,
        packet: &LpPacket<'_>,
        now: Time,
        out: &mut impl Output,
    ) -> Result<(), DropReason> {
        let mut burst = Burst::new();
        burst.push_packet(face, packet);
        self.receive_burst(&mut burst, now, out);
        burst.outcomes().next().invariant("a burst of one packet").unwrap_or(Ok(()))
    }

    /// Receives a link packet, given as bytes, from `face`.
    ///
    /// # Errors
    /// As [`receive`](Self::receive); a fragment is [`DropReason::Reassembly`].
    pub fn receive_bytes(
        &mut self,
        face: FaceId,
        bytes: &[u8],
        now: Time,
        out: &mut impl Output,
    ) -> Result<(), DropReason> {
        let dropped = match LpPacket::parse(bytes) {
            Ok(packet) if packet.header.is_fragmented() => DropReason::Reassembly,
            Ok(packet) => return self.receive(face, &packet, now, out),
            Err(_) => DropReason::Malformed,
        };
        self.count_drop(face, dropped);
        Err(dropped)
    }

    /// Receives the link packets of a burst, none of them a fragment, with the same effects as
    /// [`receive`](Self::receive) of packet after packet.
    ///
    /// The burst then has the [outcomes](Burst::outcomes); drops have been counted by
    /// [`count_drop`](Self::count_drop).
    #[inline]
    pub fn receive_burst(&mut self, burst: &mut Burst<'_, P::Mark>, now: Time, out: &mut impl Output) {
        self.decode().run(burst);
        self.forward_decoded(burst, now, out);
    }

    /// Second and third stage of [`receive_burst`](Self::receive_burst), for the burst that was decoded last.
    #[inline]
    pub fn forward_decoded(&mut self, burst: &mut Burst<'_, P::Mark>, now: Time, out: &mut impl Output) {
        if self.watch.sees(burst.remaining()) {
            return self.forward_watched(burst, now, out);
        }
        self.prefetch().run(burst);
        self.act(now, out).run(burst);
    }

    /// First stage of [`receive_burst`](Self::receive_burst).
    #[inline(always)]
    pub fn decode(&mut self) -> &mut Decode {
        &mut self.decode
    }

    /// Names of the burst that was decoded last.
    #[inline(always)]
    pub(crate) fn names(&self) -> &Names {
        self.decode.names()
    }

    /// Second stage, for the burst that was decoded last.
    #[inline(always)]
    pub fn prefetch(&self) -> Prefetch<'_, P> {
        Prefetch { forwarder: self }
    }

    /// Third stage, for the burst that was decoded last and has its marks.
    #[inline(always)]
    pub fn act<'f, O: Output>(&'f mut self, now: Time, out: &'f mut O) -> Act<'f, P, O> {
        Act { forwarder: self, now, out }
    }

    /// Counts a dropped packet of `face`, except an answer of the management that arrives after its consumer
    /// has left.
    #[cold]
    pub fn count_drop(&mut self, face: FaceId, reason: DropReason) {
        let is_late = matches!(reason, DropReason::Unsolicited | DropReason::UnexpectedNack);
        if face == FaceId::MANAGEMENT && is_late {
            return;
        }
        self.counters.drops.count(reason);
        if let Some(face) = self.faces.find(face) {
            face.counters.in_drops.add(1);
        }
    }
}
