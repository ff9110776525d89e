//! Socket addresses as the kernel reads and writes them: of IPv4, IPv6 and packet sockets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// A `sockaddr_in`, `sockaddr_in6` or `sockaddr_ll`, and its length.
///
/// As long as the longer one, so that 64 of them are 28 cache lines; a `sockaddr_storage` takes two lines
/// each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(4))]
pub(crate) struct RawAddress {
    family: [u8; 2],
    port: [u8; 2],
    /// IPv4: the address. IPv6: flow information, the address, the scope. Packets: the interface, its type,
    /// the kind of the packet, the length of the address, the address.
    rest: [u8; 24],
}

const IPV4: u16 = libc::AF_INET as u16;
const IPV6: u16 = libc::AF_INET6 as u16;
const PACKET: u16 = libc::AF_PACKET as u16;

impl RawAddress {
    /// Bytes of a `sockaddr_in`.
    const IPV4_LENGTH: u32 = 16;

    /// Number of bytes that the kernel shall read.
    pub(crate) fn length(&self) -> u32 {
        if u16::from_ne_bytes(self.family) == IPV4 { Self::IPV4_LENGTH } else { size_of::<Self>() as u32 }
    }

    /// The address, unless it is of another family.
    ///
    /// The flow information is left out: it is not part of the peer's identity.
    #[inline]
    pub(crate) fn parse(&self) -> Option<SocketAddr> {
        let port = u16::from_be_bytes(self.port);
        match u16::from_ne_bytes(self.family) {
            IPV4 => {
                let [a, b, c, d, ..] = self.rest;
                Some(SocketAddrV4::new(Ipv4Addr::new(a, b, c, d), port).into())
            }
            IPV6 => {
                let (_, rest) = self.rest.split_first_chunk::<4>()?;
                let (address, scope) = rest.split_first_chunk::<16>()?;
                let scope = u32::from_ne_bytes(*scope.first_chunk()?);
                Some(SocketAddrV6::new(Ipv6Addr::from(*address), port, 0, scope).into())
            }
            _ => None,
        }
    }
}

/// Address of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkAddress {
    /// Number of the interface.
    pub(crate) interface: u32,
    /// Kind of the destination, `PACKET_…`.
    pub(crate) kind: u8,
    /// Address of the host at the other end.
    pub(crate) host: [u8; 6],
}

impl RawAddress {
    /// The destination of a frame with this Ethernet type.
    #[inline]
    pub(crate) fn of_frame(interface: u32, ethertype: u16, host: [u8; 6]) -> Self {
        let mut raw = Self { family: PACKET.to_ne_bytes(), port: ethertype.to_be_bytes(), rest: [0; 24] };
        raw.rest[..4].copy_from_slice(&interface.to_ne_bytes());
        raw.rest[7] = host.len() as u8;
        raw.rest[8..14].copy_from_slice(&host);
        raw
    }

    /// The source of a frame, unless it is not from a packet socket, or from a link with addresses of another
    /// length.
    #[inline]
    pub(crate) fn parse_frame(&self) -> Option<LinkAddress> {
        let (interface, rest) = self.rest.split_first_chunk::<4>()?;
        let (&[_, _, kind, length], rest) = rest.split_first_chunk::<4>()?;
        let host = *rest.first_chunk::<6>()?;
        let is_ethernet = u16::from_ne_bytes(self.family) == PACKET && usize::from(length) == host.len();
        is_ethernet.then_some(LinkAddress { interface: u32::from_ne_bytes(*interface), kind, host })
    }
}

impl From<SocketAddr> for RawAddress {
    #[inline]
    fn from(address: SocketAddr) -> Self {
        let mut raw = Self { port: address.port().to_be_bytes(), ..Self::default() };
        match address.ip() {
            IpAddr::V4(ip) => {
                raw.family = IPV4.to_ne_bytes();
                raw.rest[..4].copy_from_slice(&ip.octets());
            }
            IpAddr::V6(ip) => {
                raw.family = IPV6.to_ne_bytes();
                raw.rest[4..20].copy_from_slice(&ip.octets());
                if let SocketAddr::V6(address) = address {
                    raw.rest[20..].copy_from_slice(&address.scope_id().to_ne_bytes());
                }
            }
        }
        raw
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_back() {
        for text in ["192.0.2.1:6363", "[2001:db8::1]:9696", "[fe80::1%7]:1", "0.0.0.0:0"] {
            let address: SocketAddr = text.parse().unwrap();
            assert_eq!(RawAddress::from(address).parse(), Some(address));
        }
    }

    #[test]
    fn an_unknown_family_is_no_address() {
        assert_eq!(RawAddress::default().parse(), None);
        assert_eq!(RawAddress::default().parse_frame(), None);
    }

    #[test]
    fn addresses_of_frames_come_back_and_are_no_others() {
        let host = [2, 0, 0, 0, 0, 1];
        let raw = RawAddress::of_frame(7, 0x8624, host);
        assert_eq!(raw.parse_frame(), Some(LinkAddress { interface: 7, kind: 0, host }));
        assert_eq!((raw.parse(), raw.port), (None, [0x86, 0x24]));
        assert!(raw.length() as usize >= size_of::<libc::sockaddr_ll>());
        assert_eq!(RawAddress::from(SocketAddr::from(([192, 0, 2, 1], 1))).parse_frame(), None);
        // InfiniBand has longer addresses.
        let mut longer = raw;
        longer.rest[7] = 20;
        assert_eq!(longer.parse_frame(), None);
    }

    #[test]
    fn the_layout_is_that_of_the_kernel() {
        assert_eq!(size_of::<RawAddress>(), size_of::<libc::sockaddr_in6>());
        assert_eq!(RawAddress::IPV4_LENGTH as usize, size_of::<libc::sockaddr_in>());
        assert_eq!(align_of::<RawAddress>(), align_of::<libc::sockaddr_in6>());
    }
}
