//! The tuple of a packet, from its bytes.
//!
//! Packets are untrusted: missing bytes are an error with an offset, and the number of headers is bounded. A
//! packet may have been captured in part; its ports must be there.

use crate::tuple::Tuple;
use core::net::{IpAddr, Ipv6Addr};

pub(crate) mod ip;

use ip::IpHeader;

/// Source and destination of a packet of a protocol that has ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The source address and port; IPv4 as an IPv4-mapped address.
    pub source: (Ipv6Addr, u16),
    /// The destination.
    pub destination: (Ipv6Addr, u16),
    /// The protocol's number (IANA, "Assigned Internet Protocol Numbers").
    pub protocol: u8,
}

impl Packet {
    /// Source and destination address: IPv4 if both are IPv4-mapped. An IPv4-mapped address beside another
    /// one belongs to an IPv6 packet.
    pub const fn addresses(&self) -> [IpAddr; 2] {
        let (source, destination) = (self.source.0, self.destination.0);
        match (source.to_ipv4_mapped(), destination.to_ipv4_mapped()) {
            (Some(source), Some(destination)) => [IpAddr::V4(source), IpAddr::V4(destination)],
            _ => [IpAddr::V6(source), IpAddr::V6(destination)],
        }
    }

    /// The tuple for the host that receives the packet: its destination is local.
    pub fn received(&self) -> Tuple {
        let (local, foreign) = (self.destination, self.source);
        Tuple::new(local.0, local.1, foreign.0, foreign.1)
    }

    /// The tuple for the host that sent the packet: its source is local.
    pub fn sent(&self) -> Tuple {
        self.received().reversed()
    }

    /// Reads an Ethernet II frame; see [`Segment::ethernet`].
    ///
    /// # Errors
    /// The first rule broken.
    pub fn ethernet(frame: &[u8]) -> Result<Self, PacketError> {
        Segment::ethernet(frame).map(|segment| segment.packet)
    }

    /// Reads the packet after an EtherType; it begins at `at`.
    ///
    /// # Errors
    /// The first rule broken.
    pub fn after_ether_type(ether_type: u16, bytes: &[u8], at: usize) -> Result<Self, PacketError> {
        Segment::after_ether_type(ether_type, bytes, at).map(|segment| segment.packet)
    }

    /// Reads a packet that begins with an IP header.
    ///
    /// # Errors
    /// The first rule broken.
    pub fn ip(packet: &[u8]) -> Result<Self, PacketError> {
        Segment::ip(packet).map(|segment| segment.packet)
    }
}

/// A packet and its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Its ends.
    pub packet: Packet,
    /// The bytes from its ports on: to the end that the IP header states, or as far as they were captured.
    pub bytes: &'a [u8],
}

impl<'a> Segment<'a> {
    /// Reads an Ethernet II frame, with at most four tags of virtual LANs (IEEE 802.1Q, 802.1ad).
    ///
    /// # Errors
    /// The first rule broken.
    pub fn ethernet(frame: &'a [u8]) -> Result<Self, PacketError> {
        let (ether_type, at) = ether_type(frame)?;
        Self::after_ether_type(ether_type, frame, at)
    }

    /// Reads the packet after an EtherType; it begins at `at`.
    ///
    /// # Errors
    /// The first rule broken.
    pub fn after_ether_type(ether_type: u16, bytes: &'a [u8], at: usize) -> Result<Self, PacketError> {
        match ether_type {
            IPV4 => segment(bytes, &IpHeader::v4(bytes, at)?),
            IPV6 => segment(bytes, &IpHeader::v6(bytes, at)?),
            _ => Err(PacketError::NotIp { ether_type }),
        }
    }

    /// Reads a packet that begins with an IP header.
    ///
    /// # Errors
    /// The first rule broken.
    pub fn ip(packet: &'a [u8]) -> Result<Self, PacketError> {
        segment(packet, &IpHeader::read(packet, 0)?)
    }

    /// The payload of a UDP datagram, or `None` if it is cut off (RFC 768).
    pub fn datagram(&self) -> Option<&'a [u8]> {
        let len = self.bytes.get(4..)?.first_chunk()?;
        self.bytes.get(8..usize::from(u16::from_be_bytes(*len)))
    }

    /// The payload of a TCP segment as far as captured, or `None` if its header is cut off (RFC 9293 §3.1).
    pub fn stream(&self) -> Option<StreamPart<'a>> {
        let header: &[u8; 20] = self.bytes.first_chunk()?;
        let [.., a, b, c, d] = *header.first_chunk::<8>()?;
        Some(StreamPart {
            sequence: u32::from_be_bytes([a, b, c, d]),
            opens: header[13] & SYN != 0,
            bytes: self.bytes.get(header.len().max(4 * usize::from(header[12] >> 4))..)?,
        })
    }
}

/// A part of one direction of a TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamPart<'a> {
    /// The number of its first byte, or of the SYN, which counts as one before the bytes.
    pub sequence: u32,
    /// True if it has the SYN that begins a stream.
    pub opens: bool,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// The EtherType of an Ethernet II frame, with at most four tags of virtual LANs (IEEE 802.1Q, 802.1ad), and
/// the offset of its packet.
///
/// # Errors
/// The first rule broken.
pub fn ether_type(frame: &[u8]) -> Result<(u16, usize), PacketError> {
    const TAGS: usize = 4;
    let mut at = 12;
    for _ in 0..=TAGS {
        let ether_type = be16(frame, at)?;
        match ether_type {
            VLAN | SERVICE_VLAN | OLD_SERVICE_VLAN => at += 4,
            _ => return Ok((ether_type, at + 2)),
        }
    }
    Err(PacketError::TooManyTags { at })
}

/// The rule that a packet breaks; `at` counts bytes from the start of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PacketError {
    /// It ends where `needs` more bytes should follow.
    #[error("packet cut off: {needs} bytes expected at offset {at}")]
    TooShort {
        /// Offset of the missing bytes.
        at: usize,
        /// Number of bytes needed.
        needs: usize,
    },
    /// An EtherType that is not of IP.
    #[error("not an IP packet: EtherType {ether_type:#06x}")]
    NotIp {
        /// The EtherType.
        ether_type: u16,
    },
    /// More than four tags of virtual LANs.
    #[error("more than four VLAN tags, at offset {at}")]
    TooManyTags {
        /// Offset of the fifth tag.
        at: usize,
    },
    /// The header is not of the version that it should be.
    #[error("unknown IP version {version} at offset {at}")]
    Version {
        /// Its offset.
        at: usize,
        /// The version found.
        version: u8,
    },
    /// A header that states a length which is shorter than itself.
    #[error("length at offset {at} shorter than the header")]
    HeaderLength {
        /// Offset of the length.
        at: usize,
    },
    /// A part of a packet: the ports of all parts but the first are elsewhere, and parts are not put together
    /// here.
    #[error("IP fragment, by the field at offset {at}")]
    Fragment {
        /// Offset of the fragment field.
        at: usize,
    },
    /// More than 16 IPv6 extension headers.
    #[error("more than sixteen extension headers, at offset {at}")]
    TooManyHeaders {
        /// Offset of the seventeenth header.
        at: usize,
    },
    /// A protocol without ports, or an encrypted one.
    #[error("protocol {protocol} has no ports")]
    NoPorts {
        /// The protocol's number.
        protocol: u8,
    },
}

pub(crate) const IPV4: u16 = 0x0800;
pub(crate) const IPV6: u16 = 0x86dd;
pub(crate) const VLAN: u16 = 0x8100;
pub(crate) const SERVICE_VLAN: u16 = 0x88a8;
pub(crate) const OLD_SERVICE_VLAN: u16 = 0x9100;

/// The flag of a TCP segment that begins a stream (RFC 9293 §3.1).
const SYN: u8 = 2;

/// The ports behind an IP header.
#[inline(always)]
fn segment<'a>(bytes: &'a [u8], header: &IpHeader) -> Result<Segment<'a>, PacketError> {
    if let Some(part) = header.part {
        return Err(PacketError::Fragment { at: part.at });
    }
    if !has_ports(header.protocol) {
        return Err(PacketError::NoPorts { protocol: header.protocol });
    }
    let bytes = bytes.get(..header.end).unwrap_or(bytes);
    let [a, b, c, d] = *take(bytes, header.payload)?;
    let packet = Packet {
        source: (Ipv6Addr::from_bits(header.source), u16::from_be_bytes([a, b])),
        destination: (Ipv6Addr::from_bits(header.destination), u16::from_be_bytes([c, d])),
        protocol: header.protocol,
    };
    Ok(Segment { packet, bytes: bytes.get(header.payload..).unwrap_or_default() })
}

/// Protocols whose first fields are ports: TCP (RFC 9293), UDP (RFC 768), DCCP (RFC 4340), SCTP (RFC 9260)
/// and UDP-Lite (RFC 3828).
#[inline(always)]
pub(crate) const fn has_ports(protocol: u8) -> bool {
    matches!(protocol, 6 | 17 | 33 | 132 | 136)
}

#[inline(always)]
pub(crate) fn take<const N: usize>(bytes: &[u8], at: usize) -> Result<&[u8; N], PacketError> {
    bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or(PacketError::TooShort { at, needs: N })
}

#[inline(always)]
pub(crate) fn byte(bytes: &[u8], at: usize) -> Result<u8, PacketError> {
    take::<1>(bytes, at).map(|[byte]| *byte)
}

#[inline(always)]
pub(crate) fn be16(bytes: &[u8], at: usize) -> Result<u16, PacketError> {
    take(bytes, at).map(|word| u16::from_be_bytes(*word))
}

#[cfg(test)]
mod tests;
