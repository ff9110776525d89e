//! Packets in captured frames, by the type of the link.

use crate::packet::{PacketError, Segment, ether_type};

// LINKTYPE numbers of the pcap registry (draft-ietf-opsawg-pcaplinktype).
pub(crate) const NULL: u32 = 0;
/// Ethernet.
pub const ETHERNET: u32 = 1;
/// IP without a link header.
pub const RAW: u32 = 101;
pub(crate) const LOOP: u32 = 108;
pub(crate) const LINUX_SLL: u32 = 113;
pub(crate) const IPV4: u32 = 228;
pub(crate) const IPV6: u32 = 229;
pub(crate) const LINUX_SLL2: u32 = 276;

/// Payload of a captured frame.
#[derive(Clone, Copy, Debug)]
pub enum Carried<'a> {
    /// A packet of IP with ports.
    Segment(Segment<'a>),
    /// A packet of another protocol.
    Other {
        /// EtherType.
        ether_type: u16,
        /// Bytes after the link's header.
        bytes: &'a [u8],
    },
}

impl<'a> Carried<'a> {
    /// Parses a frame that was captured on a link of that type (a LINKTYPE number), if the capture states
    /// one.
    ///
    /// # Errors
    /// The reason in words that follow a count: `fragments`, `of unknown links`.
    pub fn of(link: Option<u32>, bytes: &'a [u8]) -> Result<Self, &'static str> {
        let read = match link {
            Some(ETHERNET) => ether_type(bytes).and_then(|(ether_type, at)| after(ether_type, bytes, at)),
            Some(RAW | IPV4 | IPV6) => Segment::ip(bytes).map(Carried::Segment),
            // A family of four bytes, in whichever byte order, before the packet.
            Some(NULL | LOOP) => Segment::ip(bytes.get(4..).unwrap_or_default()).map(Carried::Segment),
            Some(LINUX_SLL) => cooked(bytes, 14, 16),
            Some(LINUX_SLL2) => cooked(bytes, 0, 20),
            Some(_) => return Err("of unknown links"),
            None => return Err("of unknown interfaces"),
        };
        read.map_err(|error| match error {
            PacketError::NotIp { .. } | PacketError::Version { .. } => NOT_IP,
            PacketError::Fragment { .. } => "fragments",
            PacketError::NoPorts { .. } => "without ports",
            PacketError::TooShort { .. } => "cut off before their ports",
            _ => "malformed",
        })
    }
}

/// Reason for frames of other protocols.
pub const NOT_IP: &str = "not IP";

fn after(ether_type: u16, bytes: &[u8], at: usize) -> Result<Carried<'_>, PacketError> {
    match Segment::after_ether_type(ether_type, bytes, at) {
        Ok(segment) => Ok(Carried::Segment(segment)),
        Err(PacketError::NotIp { ether_type }) => {
            Ok(Carried::Other { ether_type, bytes: bytes.get(at..).unwrap_or_default() })
        }
        Err(error) => Err(error),
    }
}

/// A packet behind a header of Linux's cooked capture, whose EtherType stands at `kind`.
fn cooked(bytes: &[u8], kind: usize, header: usize) -> Result<Carried<'_>, PacketError> {
    match bytes.get(kind..kind + 2) {
        Some(&[a, b]) => after(u16::from_be_bytes([a, b]), bytes, header),
        _ => Err(PacketError::TooShort { at: kind, needs: 2 }),
    }
}
