//! Packets as they were received, and the stage that parses their tuples.

use super::BURST;
use crate::packet::{Packet, PacketError};
use crate::tuple::Tuple;
use core::net::Ipv6Addr;
use hashlane_table::stage::Stage;

/// Up to [`BURST`] packets, borrowed, and their tuples once [`Decode`] has run.
#[derive(Clone, Debug)]
pub struct Burst<'p> {
    packets: [&'p [u8]; BURST],
    len: usize,
    tuples: [Tuple; BURST],
    /// Number of the packet of each tuple.
    numbers: [u8; BURST],
    decoded: usize,
}

impl Default for Burst<'_> {
    fn default() -> Self {
        const NONE: Tuple = Tuple::new(Ipv6Addr::UNSPECIFIED, 0, Ipv6Addr::UNSPECIFIED, 0);
        Self { packets: [&[]; BURST], len: 0, tuples: [NONE; BURST], numbers: [0; BURST], decoded: 0 }
    }
}

impl<'p> Burst<'p> {
    /// Adds a packet, whose number is the count of those before it. Returns `false`, and adds nothing, if the
    /// burst is full.
    #[inline]
    #[must_use]
    pub fn push(&mut self, packet: &'p [u8]) -> bool {
        match self.packets.get_mut(self.len) {
            Some(place) => {
                *place = packet;
                self.len += 1;
                true
            }
            None => false,
        }
    }

    /// Removes all packets.
    #[inline]
    pub fn clear(&mut self) {
        (self.len, self.decoded) = (0, 0);
    }

    /// The packets, by their numbers.
    #[inline]
    pub fn packets(&self) -> &[&'p [u8]] {
        self.packets.get(..self.len).unwrap_or_default()
    }

    /// Number of the packet of each tuple, ascending.
    #[inline]
    pub fn numbers(&self) -> &[u8] {
        self.numbers.get(..self.decoded).unwrap_or_default()
    }

    /// The tuples: the input of the next stages.
    #[inline]
    pub fn tuples(&self) -> &[Tuple] {
        self.tuples.get(..self.decoded).unwrap_or_default()
    }
}

/// First header of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Link {
    /// Ethernet II, with up to four VLAN tags.
    #[default]
    Ethernet,
    /// IPv4 or IPv6.
    Ip,
}

/// Stage: parses the packets of a burst into tuples, as the host that [receives](Packet::received) them has
/// them.
///
/// A packet without a tuple is skipped and counted by reason.
#[derive(Clone, Debug, Default)]
pub struct Decode {
    /// First header of every packet.
    pub link: Link,
    /// The protocol whose packets have tuples; `None`: all protocols with ports. A tuple has no protocol, so
    /// flows of different protocols between the same ports are one flow in a table that takes all.
    pub protocol: Option<u8>,
    /// Packets skipped so far.
    pub skipped: Skipped,
}

impl Decode {
    #[inline]
    fn packet(&self, bytes: &[u8]) -> Result<Packet, PacketError> {
        match self.link {
            Link::Ethernet => Packet::ethernet(bytes),
            Link::Ip => Packet::ip(bytes),
        }
    }
}

impl Stage<Burst<'_>> for Decode {
    #[inline]
    fn run(&mut self, batch: &mut Burst<'_>) {
        let mut places = batch.tuples.iter_mut().zip(&mut batch.numbers);
        batch.decoded = 0;
        for (number, bytes) in (0..).zip(batch.packets.iter().take(batch.len)) {
            match self.packet(bytes) {
                Ok(packet) if self.protocol.is_some_and(|protocol| protocol != packet.protocol) => {
                    self.skipped.other_protocol += 1;
                }
                Ok(packet) => {
                    if let Some((tuple, place)) = places.next() {
                        (*tuple, *place) = (packet.received(), number);
                        batch.decoded += 1;
                    }
                }
                Err(error) => self.skipped.count(error),
            }
        }
    }
}

/// Packets skipped because they have no tuple, by reason: one counter for each [`PacketError`], one for
/// [`Decode::protocol`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each counter has the name of a reason that is documented there")]
pub struct Skipped {
    pub too_short: u64,
    pub not_ip: u64,
    pub too_many_tags: u64,
    pub version: u64,
    pub header_length: u64,
    pub fragment: u64,
    pub too_many_headers: u64,
    pub no_ports: u64,
    pub other_protocol: u64,
}

impl Skipped {
    /// Counts a packet.
    pub fn count(&mut self, error: PacketError) {
        let counter = match error {
            PacketError::TooShort { .. } => &mut self.too_short,
            PacketError::NotIp { .. } => &mut self.not_ip,
            PacketError::TooManyTags { .. } => &mut self.too_many_tags,
            PacketError::Version { .. } => &mut self.version,
            PacketError::HeaderLength { .. } => &mut self.header_length,
            PacketError::Fragment { .. } => &mut self.fragment,
            PacketError::TooManyHeaders { .. } => &mut self.too_many_headers,
            PacketError::NoPorts { .. } => &mut self.no_ports,
        };
        *counter += 1;
    }

    /// Packets skipped for any reason.
    pub const fn total(&self) -> u64 {
        self.too_short
            + self.not_ip
            + self.too_many_tags
            + self.version
            + self.header_length
            + self.fragment
            + self.too_many_headers
            + self.no_ports
            + self.other_protocol
    }
}
