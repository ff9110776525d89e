//! Interfaces: their Ethernet address, and the addresses that datagrams for them have.

use super::error::XdpError;
use super::program::Lan;
use crate::tap::{self, LinkKind, TapError};
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::SockaddrStorage;
use std::fs;
use std::net::{IpAddr, SocketAddr};

/// An Ethernet interface.
#[derive(Debug)]
pub(super) struct Interface {
    pub(super) index: u32,
    pub(super) mac: [u8; 6],
}

impl Interface {
    /// The interface of this name.
    pub(super) fn find(name: &str) -> Result<Self, XdpError> {
        let found = tap::Interface::find(name).map_err(|error| match error {
            TapError::NoInterface(names) => XdpError::NoInterface(names),
            TapError::Kind(_) => XdpError::Kind,
            TapError::Forbidden => XdpError::Forbidden,
            TapError::System(error) => XdpError::System { operation: "list the interfaces", error },
        })?;
        let index = u32::try_from(found.address.ifindex()).map_err(|_| XdpError::Kind)?;
        match found.address.addr().filter(|_| found.kind == LinkKind::Ethernet && !found.is_loopback) {
            Some(mac) => Ok(Self { index, mac }),
            None => Err(XdpError::Kind),
        }
    }
}

/// The addresses among `local` that the interface has, and those that its virtual LANs have.
///
/// A driver may take the tag out of a frame before the program sees it. The address then belongs to a virtual
/// LAN, without its tag: no match, and the kernel gets the frame.
pub(super) fn lans(interface: &str, local: &[SocketAddr]) -> Result<Vec<Lan>, XdpError> {
    let all = addresses()?;
    let of = |name: &str| {
        let has = |ip| all.iter().any(|(of, address)| of == name && *address == ip);
        local.iter().filter(|local| has(local.ip())).copied().collect::<Vec<_>>()
    };
    let own = Lan { tag: 0, local: of(interface) };
    let others = virtual_lans(interface).into_iter().map(|(name, tag)| Lan { tag, local: of(&name) });
    let lans: Vec<_> = [own].into_iter().chain(others).filter(|lan| !lan.local.is_empty()).collect();
    if lans.is_empty() { Err(XdpError::NoAddress) } else { Ok(lans) }
}

/// Names and addresses of all interfaces.
fn addresses() -> Result<Vec<(String, IpAddr)>, XdpError> {
    let entries = getifaddrs().map_err(XdpError::system("list the addresses of interfaces"))?;
    let of_ip = |(name, address): (String, SockaddrStorage)| {
        let ipv4 = address.as_sockaddr_in().map(|address| IpAddr::from(address.ip()));
        Some((name, ipv4.or_else(|| address.as_sockaddr_in6().map(|address| address.ip().into()))?))
    };
    let with_address = entries.filter_map(|entry| Some((entry.interface_name, entry.address?)));
    Ok(with_address.filter_map(of_ip).collect())
}

/// Checks that neither the interface nor a virtual LAN of it has an address that other hosts could want.
pub(super) fn check_unused(interface: &str) -> Result<(), XdpError> {
    let lans = virtual_lans(interface);
    let is_wanted = |ip: &IpAddr| !matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local());
    let of = |name: &str| name == interface || lans.iter().any(|(lan, _)| lan == name);
    match addresses()?.into_iter().find(|(name, ip)| of(name) && is_wanted(ip)) {
        Some((_, ip)) => Err(XdpError::HasAddress(ip)),
        None => Ok(()),
    }
}

/// Names and tags of the virtual LANs of an interface, in the network namespace of this thread.
fn virtual_lans(interface: &str) -> Vec<(String, u16)> {
    // A kernel without virtual LANs has no such file.
    let text = fs::read_to_string("/proc/thread-self/net/vlan/config").unwrap_or_default();
    parse(&text, interface)
}

/// Lines such as `eth0.5 | 5 | eth0`, after two of headings.
fn parse(text: &str, interface: &str) -> Vec<(String, u16)> {
    let of = |line: &str| {
        let mut fields = line.split('|').map(str::trim);
        let (name, tag, parent) = (fields.next()?, fields.next()?, fields.next()?);
        (parent == interface).then_some((name.to_owned(), tag.parse().ok()?))
    };
    text.lines().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_lans_are_those_of_the_interface() {
        let text = "VLAN Dev name    | VLAN ID\nName-Type: VLAN_NAME_TYPE_RAW_PLUS_VID_NO_PAD\n\
                    eth0.5         | 5  | eth0\nguests         | 4094  | eth0\neth1.6  | 6  | eth1\n";
        assert_eq!(parse(text, "eth0"), [("eth0.5".to_owned(), 5), ("guests".to_owned(), 4094)]);
        assert_eq!(parse("", "eth0"), []);
    }

    #[test]
    fn a_loopback_interface_is_refused() {
        assert!(matches!(Interface::find("lo"), Err(XdpError::Kind)));
        let error = Interface::find("nothing0").unwrap_err().to_string();
        assert!(error.starts_with("no such interface; this host has lo"), "{error}");
    }
}
