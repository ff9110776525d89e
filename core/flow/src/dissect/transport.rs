//! IP and the header behind it: ports, TCP flags, types of ICMP.

use super::protocol::{ICMP, ICMP_V6, TCP};
use super::tunnel::is_tunnel;
use super::{DissectError, Dissected, Fragment, Walk};
use crate::key::{MeterKey, Scope};
use crate::packet::ip::IpHeader;
use crate::packet::{has_ports, take};

impl Walk<'_> {
    /// A packet at `at` that begins with an IP header.
    #[inline]
    pub(super) fn ip(self, at: usize) -> Result<Dissected, DissectError> {
        self.flow(&IpHeader::read(self.frame, at)?)
    }

    #[inline]
    pub(super) fn v4(self, at: usize) -> Result<Dissected, DissectError> {
        self.flow(&IpHeader::v4(self.frame, at)?)
    }

    #[inline]
    pub(super) fn v6(self, at: usize) -> Result<Dissected, DissectError> {
        self.flow(&IpHeader::v6(self.frame, at)?)
    }

    /// The flow of an IP packet, or of the packet inside it.
    #[inline]
    fn flow(self, header: &IpHeader) -> Result<Dissected, DissectError> {
        if self.options.tunnels
            && is_tunnel(self.frame, header)
            && let Some(inner) = self.inner(header)
        {
            return Ok(inner);
        }
        Ok(Dissected::new(self.frame, header, self.scope))
    }
}

impl Dissected {
    /// The flow of the packet with this header.
    #[inline(always)]
    pub(super) fn new(frame: &[u8], header: &IpHeader, scope: Scope) -> Self {
        let upper = if header.part.is_some_and(|part| !part.first) {
            Upper::NONE
        } else {
            Upper::read(header.protocol, frame.get(header.payload..header.end).unwrap_or_default())
        };
        let scope = Scope { protocol: header.protocol, version: header.version, ..scope };
        let [from, to] = upper.ports;
        let (key, reversed) = MeterKey::from_bits((header.source, from), (header.destination, to), scope);
        Self {
            key,
            reversed,
            ip_bytes: header.stated,
            tcp_flags: upper.tcp_flags,
            class: header.class,
            cut: upper.cut,
            fragment: header.part.map(|part| Fragment {
                id: part.id,
                protocol: part.protocol,
                first: part.first,
            }),
        }
    }
}

/// Fields of the header behind IP.
struct Upper {
    /// Source and destination.
    ports: [u16; 2],
    tcp_flags: u8,
    /// `true` if a field is missing.
    cut: bool,
}

impl Upper {
    const NONE: Self = Self { ports: [0; 2], tcp_flags: 0, cut: false };

    #[inline(always)]
    fn read(protocol: u8, bytes: &[u8]) -> Self {
        const CUT: Upper = Upper { cut: true, ..Upper::NONE };
        if protocol == TCP
            && let Some([a, b, c, d, .., flags]) = bytes.first_chunk::<14>().copied()
        {
            let ports = [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])];
            return Self { ports, tcp_flags: flags, cut: false };
        }
        if has_ports(protocol) {
            let Ok([a, b, c, d]) = take(bytes, 0) else { return CUT };
            let ports = [u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])];
            return Self { ports, tcp_flags: 0, cut: protocol == TCP };
        }
        if protocol == ICMP || protocol == ICMP_V6 {
            let Ok([kind, code]) = take(bytes, 0) else { return CUT };
            return Self { ports: icmp(protocol, *kind, *code), ..Self::NONE };
        }
        Self::NONE
    }
}

/// The ports of an ICMP message; a reply has the query's ports, exchanged.
#[inline]
fn icmp(protocol: u8, kind: u8, code: u8) -> [u16; 2] {
    match query_of(protocol, kind) {
        Some(query) => [u16::from_be_bytes([query, code]), 0],
        None => [0, u16::from_be_bytes([kind, code])],
    }
}

/// The type of query that a type of reply answers: echo, timestamp, information and address mask (RFC 792,
/// RFC 950), extended echo (RFC 8335), echo in ICMPv6 (RFC 4443) and node information (RFC 4620).
const fn query_of(protocol: u8, reply: u8) -> Option<u8> {
    match (protocol, reply) {
        (ICMP, 0) => Some(8),
        (ICMP, 14) => Some(13),
        (ICMP, 16) => Some(15),
        (ICMP, 18) => Some(17),
        (ICMP, 43) => Some(42),
        (ICMP_V6, 129) => Some(128),
        (ICMP_V6, 140) => Some(139),
        (ICMP_V6, 161) => Some(160),
        _ => None,
    }
}
