//! Receive path: the three stages over a burst.

use super::act::Act;
use super::burst::Burst;
use super::decode::Decode;
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
    /// Takes one link packet, which is not a fragment of several, that came from `face`: a burst of one.
    ///
    /// # Errors
    /// Why it was dropped, which has been counted as [`count_drop`](Self::count_drop) says.
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

    /// As [`receive`](Self::receive), of bytes that are to be one link packet.
    ///
    /// # Errors
    /// As `receive`; a fragment of several is [`DropReason::Reassembly`].
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

    /// Takes the link packets of a burst, none of them a fragment of several. Its effects are those of
    /// [`receive`](Self::receive) of packet after packet.
    ///
    /// The burst then has the [outcomes](Burst::outcomes); drops have been counted as
    /// [`count_drop`](Self::count_drop) says.
    #[inline]
    pub fn receive_burst(&mut self, burst: &mut Burst<'_, P::Mark>, now: Time, out: &mut impl Output) {
        self.decode().run(burst);
        self.prefetch().run(burst);
        self.act(now, out).run(burst);
    }

    /// The first stage of [`receive_burst`](Self::receive_burst).
    #[inline(always)]
    pub fn decode(&mut self) -> &mut Decode {
        &mut self.decode
    }

    /// The second stage, of a burst that was decoded last.
    #[inline(always)]
    pub fn prefetch(&self) -> Prefetch<'_, P> {
        Prefetch { forwarder: self }
    }

    /// The last stage, of a burst that was decoded last and has its marks.
    #[inline(always)]
    pub fn act<'f, O: Output>(&'f mut self, now: Time, out: &'f mut O) -> Act<'f, P, O> {
        Act { forwarder: self, now, out }
    }

    /// Counts a packet of `face` that was dropped. An answer of the management whose consumer has gone is no
    /// loss.
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
