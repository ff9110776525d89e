//! UDP datagrams in Ethernet frames, and replies to them.
//!
//! The kernel's checks of a received packet are made here, as nobody else makes them: lengths, checksums, and
//! sources that no packet may have.

mod reply;

use super::checksum::Sum;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Bytes of an Ethernet header without a tag.
const ETHERNET: usize = 14;
/// Bytes of the tag of a virtual LAN.
const TAG: usize = 4;
/// Bytes of the longest Ethernet header.
pub(super) const MAX_ETHERNET: usize = ETHERNET + TAG;
/// Bytes of an IPv4 header without options.
const IPV4: usize = 20;
/// Bytes of an IPv6 header.
const IPV6: usize = 40;
/// Bytes of a UDP header.
const UDP: usize = 8;
/// Number of UDP in IP headers.
const PROTOCOL: u8 = 17;

/// Reason for which a frame holds no datagram that may be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The frame ends before its headers do.
    #[error("frame of {0} bytes ends within its headers")]
    Short(usize),
    /// The frame is not one of those that the program redirects.
    #[error("no UDP in IPv4 without options and fragments, or in IPv6 without extension headers")]
    Kind,
    /// A length in a header is less than the headers, or more than the frame has.
    #[error("length {0} in a header does not fit the frame")]
    Length(u16),
    /// The checksum of the IPv4 header or of the datagram is wrong, or a datagram in IPv6 has none.
    #[error("wrong checksum")]
    Checksum,
    /// No host has this source address or port, or it is also the destination.
    #[error("no host sends from {0}")]
    Source(SocketAddr),
}

/// A datagram in a frame: its sender, and its places in the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Sender of the datagram.
    pub from: SocketAddr,
    /// Place of the IP header.
    ip: usize,
    /// Bytes of the payload.
    length: usize,
}

impl Received {
    /// Reads a frame. Bytes after the IP packet are padding, and bytes after the datagram are ignored.
    ///
    /// # Errors
    /// The first rule that the frame breaks.
    #[inline]
    pub fn parse(frame: &[u8]) -> Result<Self, FrameError> {
        let short = FrameError::Short(frame.len());
        let kind = |at| frame.get(at..).and_then(|rest| rest.first_chunk()).copied().ok_or(short);
        let (ip, kind) = match kind(ETHERNET - 2)? {
            [0x81, 0x00] => (ETHERNET + TAG, kind(ETHERNET + TAG - 2)?),
            kind => (ETHERNET, kind),
        };
        let packet = frame.get(ip..).unwrap_or_default();
        let (addresses, datagram) = match kind {
            [0x08, 0x00] => ipv4(packet, short)?,
            [0x86, 0xdd] => ipv6(packet, short)?,
            _ => return Err(FrameError::Kind),
        };
        let Some([a, b, _, _, c, d, e, f]) = datagram.first_chunk::<UDP>().copied() else {
            return Err(short);
        };
        let (length, checksum) = (u16::from_be_bytes([c, d]), [e, f]);
        let whole = datagram.get(..length.into()).filter(|whole| whole.len() >= UDP);
        let whole = whole.ok_or(FrameError::Length(length))?;
        let (source, destination) = addresses.split_at(addresses.len() / 2);
        let from = SocketAddr::new(address(source), u16::from_be_bytes([a, b]));
        let pseudo = pseudo(addresses, length);
        let is_valid = match checksum {
            [0, 0] => from.is_ipv4(),
            // A sender on this host leaves the rest of the sum to the interface (Linux's CHECKSUM_PARTIAL),
            // and a virtual interface leaves it out.
            checksum => pseudo.add(whole).folded() == [0xff; 2] || pseudo.folded() == checksum,
        };
        if !is_valid {
            return Err(FrameError::Checksum);
        }
        if from.port() == 0 || source == destination || !is_host(from.ip()) {
            return Err(FrameError::Source(from));
        }
        Ok(Self { from, ip, length: whole.len() - UDP })
    }

    /// Payload of the datagram, in the frame that it was parsed from.
    #[inline]
    pub fn payload<'a>(&self, frame: &'a [u8]) -> &'a [u8] {
        let start = self.ip + self.packet_headers();
        frame.get(start..start + self.length).unwrap_or_default()
    }

    /// Bytes of the headers of IP and UDP. A reply has the same.
    #[inline]
    pub fn packet_headers(&self) -> usize {
        self.ip_header() + UDP
    }

    /// Bytes of the IP header.
    #[inline]
    fn ip_header(&self) -> usize {
        if self.from.is_ipv4() { IPV4 } else { IPV6 }
    }
}

/// Both addresses of an IPv4 packet, and the bytes behind its header.
#[inline]
fn ipv4(packet: &[u8], short: FrameError) -> Result<(&[u8], &[u8]), FrameError> {
    let header = packet.first_chunk::<IPV4>().ok_or(short)?;
    let [version, _, a, b, _, _, fragment, offset, _, protocol, ..] = *header;
    if (version, protocol, fragment & 0xbf, offset) != (0x45, PROTOCOL, 0, 0) {
        return Err(FrameError::Kind);
    }
    let length = u16::from_be_bytes([a, b]);
    let datagram = packet.get(IPV4..length.into()).ok_or(FrameError::Length(length))?;
    if Sum::default().add(header).folded() != [0xff; 2] {
        return Err(FrameError::Checksum);
    }
    Ok((header.get(12..).unwrap_or_default(), datagram))
}

/// Both addresses of an IPv6 packet, and the bytes behind its header.
#[inline]
fn ipv6(packet: &[u8], short: FrameError) -> Result<(&[u8], &[u8]), FrameError> {
    let header = packet.first_chunk::<IPV6>().ok_or(short)?;
    let [version, _, _, _, a, b, protocol, ..] = *header;
    if (version & 0xf0, protocol) != (0x60, PROTOCOL) {
        return Err(FrameError::Kind);
    }
    let length = u16::from_be_bytes([a, b]);
    let datagram = packet.get(IPV6..IPV6 + usize::from(length)).ok_or(FrameError::Length(length))?;
    Ok((header.get(8..).unwrap_or_default(), datagram))
}

/// The sum over the pseudo-header of a datagram of this length (RFC 768, RFC 8200 §8.1).
#[inline]
fn pseudo(addresses: &[u8], length: u16) -> Sum {
    Sum::default().add(addresses).add_number(PROTOCOL.into()).add_number(length)
}

/// The address of 4 or 16 bytes.
#[inline]
fn address(bytes: &[u8]) -> IpAddr {
    match (bytes.first_chunk::<16>(), bytes.first_chunk::<4>()) {
        (Some(bytes), _) => Ipv6Addr::from(*bytes).into(),
        (None, bytes) => bytes.map_or(Ipv4Addr::UNSPECIFIED, |bytes| Ipv4Addr::from(*bytes)).into(),
    }
}

/// Returns `false` for addresses that no host on a wire has as its own (RFC 1122 §3.2.1.3, RFC 4291 §2).
#[inline]
fn is_host(address: IpAddr) -> bool {
    match address {
        // 240.0.0.0/4 is reserved, with the address of all hosts.
        IpAddr::V4(ip) => !matches!(ip.octets()[0], 0 | 127 | 224..),
        IpAddr::V6(ip) => {
            !(ip.is_multicast() || ip.is_unspecified() || ip.is_loopback() || ip.to_ipv4_mapped().is_some())
        }
    }
}

#[cfg(test)]
mod tests;
