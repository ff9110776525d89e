//! The network of the kernel: loopback, and a link without a peer.
//!
//! Hostile SYNs have addresses of any network, and their answers need a route: a dummy link swallows them.
//! The server has a whole prefix, like today's hosts.

use super::report::{Result, cannot};
use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::link::{LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use nix::net::if_::if_nametoindex;
use std::fs;
use std::net::Ipv6Addr;

/// The addresses that are the server's: 2001:db8::/64.
const SERVER: (Ipv6Addr, u8) = (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 64);

/// The table of the addresses that are the host's own (`RT_TABLE_LOCAL`, linux/rtnetlink.h).
const LOCAL_TABLE: u8 = 255;

/// Settings of the kernel under which it never drops a SYN for lack of room.
const SETTINGS: [(&str, &str); 3] = [
    ("net/ipv4/tcp_max_syn_backlog", "1048576"),
    ("net/core/somaxconn", "1048576"),
    // Addresses are there at once.
    ("net/ipv6/conf/default/accept_dad", "0"),
];

/// `true` if the address is the server's.
pub(super) fn is_server(address: Ipv6Addr) -> bool {
    address.segments()[..4] == SERVER.0.segments()[..4]
}

/// Brings both links up, and sets the routes.
pub(super) fn set_up() -> Result<()> {
    for (name, value) in SETTINGS {
        fs::write(format!("/proc/sys/{name}"), value).map_err(cannot(&format!("set {name}")))?;
    }
    let [loopback, dummy] = [index("lo")?, index("dummy0")?];
    let socket = Socket::new(NETLINK_ROUTE).map_err(cannot("open a netlink socket"))?;
    socket.connect(&SocketAddr::new(0, 0)).map_err(cannot("speak netlink"))?;
    for link in [loopback, dummy] {
        let mut message = LinkMessage::default();
        message.header.index = link;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        request(&socket, RouteNetlinkMessage::SetLink(message), "bring a link up")?;
    }
    request(&socket, route(SERVER, RouteType::Local, loopback), "set the route of the server's prefix")?;
    request(&socket, route((Ipv6Addr::UNSPECIFIED, 0), RouteType::Unicast, dummy), "set the default route")
}

fn index(link: &str) -> Result<u32> {
    if_nametoindex(link).map_err(cannot(&format!("find the link {link}")))
}

fn route((address, length): (Ipv6Addr, u8), kind: RouteType, link: u32) -> RouteNetlinkMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = AddressFamily::Inet6;
    message.header.destination_prefix_length = length;
    message.header.table = if kind == RouteType::Local { LOCAL_TABLE } else { RouteHeader::RT_TABLE_MAIN };
    message.header.protocol = RouteProtocol::Boot;
    message.header.scope = RouteScope::Universe;
    message.header.kind = kind;
    if length > 0 {
        message.attributes.push(RouteAttribute::Destination(RouteAddress::Inet6(address)));
    }
    message.attributes.push(RouteAttribute::Oif(link));
    RouteNetlinkMessage::NewRoute(message)
}

/// Sends a request, and reads the kernel's answer.
fn request(socket: &Socket, message: RouteNetlinkMessage, what: &str) -> Result<()> {
    let mut packet = NetlinkMessage::from(message);
    packet.header.flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE;
    packet.finalize();
    let mut bytes = vec![0; packet.buffer_len()];
    packet.serialize(&mut bytes);
    socket.send(&bytes, 0).map_err(cannot(what))?;
    let mut answer = Vec::with_capacity(4096);
    socket.recv(&mut answer, 0).map_err(cannot(what))?;
    let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer).map_err(cannot(what))?;
    match answer.payload {
        NetlinkPayload::Error(error) if error.code.is_some() => Err(format!("cannot {what}: {error}")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_flow::tuple::Tuple;

    #[test]
    fn the_server_of_the_sets_is_the_server_here() {
        assert!(is_server(Tuple::CHECK.local()) && !is_server(Tuple::CHECK.foreign()));
    }
}
