//! Requests to the kernel for links, addresses and routes of the current network namespace.

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use nix::net::if_::if_nametoindex;
use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Longest packet of a link, in bytes: no datagram of an attack is fragmented by the kernel.
pub(super) const MTU: u32 = 65_535;

/// Table of the host's own addresses (`RT_TABLE_LOCAL`, linux/rtnetlink.h).
const LOCAL_TABLE: u8 = 255;

/// A network and the length of its prefix.
pub(super) type Prefix = (Ipv4Addr, u8);

/// A netlink socket of the namespace in which it was opened.
pub(super) struct Kernel(Socket);

impl Kernel {
    pub(super) fn open() -> Result<Self, String> {
        let socket = Socket::new(NETLINK_ROUTE).map_err(cannot("open a netlink socket"))?;
        socket.connect(&SocketAddr::new(0, 0)).map_err(cannot("use netlink"))?;
        Ok(Self(socket))
    }

    /// Creates a pair of links: `name` here, and `peer` in another namespace.
    pub(super) fn add_pair(
        &self,
        name: &str,
        peer: &str,
        other: BorrowedFd<'_>,
        mtu: u32,
    ) -> Result<(), String> {
        let mut far = LinkMessage::default();
        far.attributes.push(LinkAttribute::IfName(peer.into()));
        far.attributes.push(LinkAttribute::Mtu(mtu));
        far.attributes.push(LinkAttribute::NetNsFd(other.as_raw_fd()));
        let mut near = LinkMessage::default();
        near.attributes.push(LinkAttribute::IfName(name.into()));
        near.attributes.push(LinkAttribute::Mtu(mtu));
        let data = LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(far)));
        near.attributes.push(LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Veth), data]));
        self.request(RouteNetlinkMessage::NewLink(near), "create a pair of links")
    }

    pub(super) fn bring_up(&self, name: &str) -> Result<(), String> {
        let mut message = LinkMessage::default();
        message.header.index = index(name)?;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        self.request(RouteNetlinkMessage::SetLink(message), &format!("bring {name} up"))
    }

    /// Gives a link an address, with its network.
    pub(super) fn add_address(&self, name: &str, (address, length): Prefix) -> Result<(), String> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = length;
        message.header.index = index(name)?;
        message.attributes.push(AddressAttribute::Local(IpAddr::V4(address)));
        message.attributes.push(AddressAttribute::Address(IpAddr::V4(address)));
        self.request(RouteNetlinkMessage::NewAddress(message), &format!("give {name} the address {address}"))
    }

    /// Makes every address of a network one of this host.
    pub(super) fn own_network(&self, network: Prefix) -> Result<(), String> {
        let mut message = route(network, RouteType::Local);
        message.header.table = LOCAL_TABLE;
        message.header.scope = RouteScope::Host;
        message.attributes.push(RouteAttribute::Oif(index("lo")?));
        self.request(RouteNetlinkMessage::NewRoute(message), &format!("own the network {}", network.0))
    }

    pub(super) fn add_route(&self, network: Prefix, gateway: Ipv4Addr) -> Result<(), String> {
        let mut message = route(network, RouteType::Unicast);
        message.attributes.push(RouteAttribute::Gateway(RouteAddress::Inet(gateway)));
        self.request(RouteNetlinkMessage::NewRoute(message), &format!("set the route to {}", network.0))
    }

    /// Sends a request, and reads the kernel's answer.
    fn request(&self, message: RouteNetlinkMessage, what: &str) -> Result<(), String> {
        let mut packet = NetlinkMessage::from(message);
        packet.header.flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
        packet.finalize();
        let mut bytes = vec![0; packet.buffer_len()];
        packet.serialize(&mut bytes);
        self.0.send(&bytes, 0).map_err(cannot(what))?;
        let mut answer = Vec::with_capacity(4096);
        self.0.recv(&mut answer, 0).map_err(cannot(what))?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer).map_err(cannot(what))?;
        match answer.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(format!("cannot {what}: {error}")),
            _ => Ok(()),
        }
    }
}

fn route((network, length): Prefix, kind: RouteType) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = AddressFamily::Inet;
    message.header.destination_prefix_length = length;
    message.header.table = RouteHeader::RT_TABLE_MAIN;
    message.header.protocol = RouteProtocol::Boot;
    message.header.scope = RouteScope::Universe;
    message.header.kind = kind;
    message.attributes.push(RouteAttribute::Destination(RouteAddress::Inet(network)));
    message
}

fn index(link: &str) -> Result<u32, String> {
    if_nametoindex(link).map_err(cannot(&format!("find the link {link}")))
}

fn cannot<E: Display>(what: &str) -> impl FnOnce(E) -> String {
    move |error| format!("cannot {what}: {error}")
}
