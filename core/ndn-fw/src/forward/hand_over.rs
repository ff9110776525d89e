//! Packets that leave a burst for other shards.

use super::burst::{BARE, Burst, Content, Headers, Ingress};
use super::decode::{Decode, Names};
use super::visit::Served;
use super::visits::Visits;
use crate::face::FaceId;
use crate::hashed::HashedName;
use alloc::boxed::Box;

/// Packet that another shard visits next.
#[derive(Debug)]
pub struct HandOver<'a> {
    /// Ingress face.
    pub face: FaceId,
    /// The visits that are left.
    pub visits: Visits,
    /// Outcome of the visits so far.
    pub served: Option<Box<Served>>,
    /// Hashes of the prefixes of the name, the shortest first, under the key of all shards.
    pub hashes: &'a [u64],
    /// Bytes of the link packet, in parts.
    pub parts: [&'a [u8]; 2],
}

impl<'p, M> Burst<'p, M> {
    /// Chooses the visits of decoded packets by `choose`, which gets the ingress face, too. Those that visit
    /// another shard than `own` first leave the burst.
    #[inline(always)]
    pub(crate) fn route(
        &mut self,
        own: usize,
        names: &Names,
        mut choose: impl FnMut(FaceId, &Content<'p>, &HashedName<'_>) -> Visits,
        mut hand_over: impl FnMut(HandOver<'_>),
    ) {
        for packet in &mut self.packets {
            if let Content::None = packet.content {
                continue;
            }
            let name = names.of(packet);
            let visits = choose(packet.face, &packet.content, &name);
            if visits.shard() == own {
                packet.visit.visits = visits;
            } else {
                let (face, hashes) = (packet.face, name.hashes);
                let with_parts =
                    |parts: [&[u8]; 2]| hand_over(HandOver { face, visits, served: None, hashes, parts });
                self.headers.hand_over(packet, with_parts);
                packet.content = Content::Elsewhere;
                self.elsewhere += 1;
            }
        }
    }

    /// Hands over the packets that visit another shard after this one. `decode` has decoded the burst. Valid
    /// after the last stage.
    #[inline]
    pub fn hand_over_passed(&mut self, decode: &Decode, mut hand_over: impl FnMut(HandOver<'_>)) {
        for packet in &mut self.packets {
            let served = packet.passed.take();
            if served.is_some()
                && let Some(visits) = packet.visit.visits.after()
            {
                let (face, hashes) = (packet.face, decode.names().of(packet).hashes);
                let with_parts =
                    |parts: [&[u8]; 2]| hand_over(HandOver { face, visits, served, hashes, parts });
                self.headers.hand_over(packet, with_parts);
            }
        }
    }
}

impl<'p> Headers<'p> {
    /// Passes the bytes of a packet to `hand_over`, in parts. A link header is encoded again.
    #[inline(always)]
    fn hand_over<M>(&self, packet: &Ingress<'p, M>, hand_over: impl FnOnce([&[u8]; 2])) {
        if packet.header == BARE {
            return hand_over([&[], packet.fragment]);
        }
        hand_over([self.of(packet).wrapped(packet.fragment.len()).as_bytes(), packet.fragment]);
    }
}
