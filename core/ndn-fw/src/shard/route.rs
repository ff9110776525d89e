//! Routes of packets, single ones and bursts.

use super::dispatch::Dispatch;
use super::load::Load;
use crate::face::FaceId;
use crate::forward::{Burst, Content, Forwarder, HandOver, MAX_LIFETIME, Visits};
use crate::hashed::{HashedName, NameHasher};
use crate::pit::Pit;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{DATA, Data, INTEREST, Interest, LpPacket};

impl Dispatch {
    /// Routes the packets of a burst at shard `own`, whose `forwarder` has decoded them: a stage between
    /// [`Decode`](crate::forward::Decode) and [`forward_decoded`](Forwarder::forward_decoded). It notes the
    /// Interests that will be pending. `load` counts the packets.
    ///
    /// Packets that visit another shard first leave the burst, and are handed over. After the last stage,
    /// [`Burst::hand_over_passed`] hands over those that visit another shard next. Malformed packets stay.
    #[inline]
    pub fn route_burst<P: Pit>(
        &self,
        own: usize,
        forwarder: &Forwarder<P>,
        burst: &mut Burst<'_, P::Mark>,
        now: Time,
        load: &mut Load,
        hand_over: impl FnMut(HandOver<'_>),
    ) {
        let choose = |face: FaceId, content: &Content<'_>, name: &HashedName<'_>| match content {
            Content::Interest(interest) => {
                let lifetime = forwarder.lifetime(face, interest);
                self.route_interest(interest, name, Some(lifetime), now, load)
            }
            Content::Nack(interest) => self.route_interest(interest, name, None, now, load),
            Content::Data(_) => self.route_data(name, now, load),
            Content::None | Content::Elsewhere => Visits::default(),
        };
        burst.route(own, forwarder.names(), choose, hand_over);
    }

    /// The visits of a single link packet, given as bytes, as [`route_burst`](Self::route_burst) chooses
    /// them for a local face. `hasher` has the key of the forwarders. Malformed packets visit shard 0.
    pub fn route(&self, packet: &[u8], hasher: &mut NameHasher, now: Time, load: &mut Load) -> Visits {
        let packet = LpPacket::parse(packet).ok();
        packet.map_or(Visits::default(), |packet| self.route_packet(&packet, hasher, now, load))
    }

    /// The visits of a single parsed link packet, as [`route`](Self::route).
    pub fn route_packet(
        &self,
        packet: &LpPacket<'_>,
        hasher: &mut NameHasher,
        now: Time,
        load: &mut Load,
    ) -> Visits {
        let (bytes, is_nack) = (packet.fragment, packet.header.nack.is_some());
        let mut visits = || match bytes.first().map(|typ| u32::from(*typ))? {
            INTEREST => {
                let interest = Interest::parse_except_name(bytes).ok()?;
                let name = hasher.parse(interest.name_bytes()).ok()?;
                let lifetime = (!is_nack).then(|| interest.lifetime().min(MAX_LIFETIME));
                Some(self.route_interest(&interest, &name, lifetime, now, load))
            }
            DATA if !is_nack => {
                let name = Data::parse_except_name(bytes).ok()?.name_bytes();
                Some(self.route_data(&hasher.parse(name).ok()?, now, load))
            }
            _ => None,
        };
        visits().unwrap_or_default()
    }
}
