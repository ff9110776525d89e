//! Parties that share a resource.

use core::net::{IpAddr, Ipv6Addr};
use hashlane_hash::scheme::BytesHash;

/// A party that holds shares: the address of a peer, or a user of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// User of this host, by number, over a Unix socket.
    User(u32),
    /// User of this host, by number, over the loopback: whoever gets through to a port, not to a socket.
    Loopback(u32),
    /// Party on this host whose user is not known.
    Local,
    /// IPv4 address.
    Ipv4(u32),
    /// IPv6 network: the upper 64 bits of an address. A host has as many addresses of its network as it
    /// likes.
    Ipv6(u64),
    /// Link-local IPv6 address: its lower 64 bits. All neighbours have the same upper ones.
    LinkLocal(u64),
    /// All hosts of a link together, by the number of its interface: the senders to a group, which packets do
    /// not tell apart.
    Link(u32),
}

impl Owner {
    /// Owner of what a peer at this address holds. An IPv4-mapped address counts as the IPv4 address.
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::Ipv4(address.to_bits()),
            IpAddr::V6(address) if is_link_local(address) => Self::LinkLocal(address.to_bits() as u64),
            IpAddr::V6(address) => Self::Ipv6((address.to_bits() >> 64) as u64),
        }
    }

    /// Owner of what the host with an Ethernet address holds: the owner by its link-local IPv6 address (RFC
    /// 4291, appendix A).
    pub fn of_ethernet(address: [u8; 6]) -> Self {
        let [a, b, c, d, e, f] = address;
        Self::LinkLocal(u64::from_be_bytes([a ^ 2, b, c, 0xff, 0xfe, d, e, f]))
    }

    /// Ethernet address of the host that [`of_ethernet`](Self::of_ethernet) makes this owner of; `None` for
    /// other owners.
    pub const fn ethernet(self) -> Option<[u8; 6]> {
        let Self::LinkLocal(interface) = self else { return None };
        match interface.to_be_bytes() {
            [a, b, c, 0xff, 0xfe, d, e, f] => Some([a ^ 2, b, c, d, e, f]),
            _ => None,
        }
    }

    /// True for a peer that is not a local user: local parties have a reserve.
    pub const fn is_remote(self) -> bool {
        !matches!(self, Self::User(_) | Self::Loopback(_) | Self::Local)
    }

    /// Hash under the key of `hasher`.
    pub(super) fn hash(self, hasher: &impl BytesHash) -> u64 {
        let (kind, value) = match self {
            Self::User(uid) => (0, uid.into()),
            Self::Local => (1, 0),
            Self::Loopback(uid) => (5, uid.into()),
            Self::Ipv4(address) => (2, address.into()),
            Self::Ipv6(network) => (3, network),
            Self::LinkLocal(interface) => (4, interface),
            Self::Link(interface) => (6, interface.into()),
        };
        let [a, b, c, d, e, f, g, h] = u64::to_le_bytes(value);
        hasher.hash(&[kind, a, b, c, d, e, f, g, h])
    }
}

/// True for addresses of fe80::/10.
fn is_link_local(address: Ipv6Addr) -> bool {
    address.segments().first().is_some_and(|first| first & 0xffc0 == 0xfe80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_of_ipv6_is_one_owner_and_a_mapped_address_that_of_ipv4() {
        let owner = |text: &str| Owner::of(text.parse().expect("an address"));
        assert_eq!(owner("2001:db8::1"), owner("2001:db8::ffff:1"));
        assert_ne!(owner("2001:db8::1"), owner("2001:db8:0:1::1"));
        assert_eq!(owner("::ffff:192.0.2.1"), owner("192.0.2.1"));
        assert_eq!(Owner::of_ethernet([2, 0, 0, 0, 0, 1]), owner("fe80::ff:fe00:1"));
        assert_eq!(Owner::of_ethernet([2, 0, 0, 0, 0, 1]).ethernet(), Some([2, 0, 0, 0, 0, 1]));
        assert_eq!((owner("fe80::1").ethernet(), owner("2001:db8::ff:fe00:1").ethernet()), (None, None));
        assert_ne!(owner("192.0.2.1"), owner("192.0.2.2"));
        assert_ne!(owner("fe80::1"), owner("fe80::2"));
        assert!(owner("127.0.0.1").is_remote() && !Owner::User(0).is_remote() && !Owner::Local.is_remote());
    }
}
