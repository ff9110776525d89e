//! Addresses that no neighbour has.

use super::reply::refused;
use hashlane_ndn::mgmt::face_uri::Protocol;
use hashlane_ndn::mgmt::{ControlResponse, FaceUri};
use nix::net::if_::InterfaceFlags;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Address of an interface of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interface {
    pub(super) address: IpAddr,
    /// Address of all hosts of its network.
    pub(super) broadcast: Option<Ipv4Addr>,
}

/// The addresses of this host.
///
/// # Errors
/// The system does not tell, for example because no file descriptor is left.
pub(super) fn interfaces() -> io::Result<Vec<Interface>> {
    let addresses = nix::ifaddrs::getifaddrs()?.filter_map(|interface| {
        let address = interface.address?;
        let v4 = address.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
        let v6 = || address.as_sockaddr_in6().map(|address| IpAddr::V6(address.ip()));
        let has_broadcast = interface.flags.contains(InterfaceFlags::IFF_BROADCAST);
        let mask = interface.netmask.and_then(|mask| Some(mask.as_sockaddr_in()?.ip()));
        let address = v4.or_else(v6)?;
        Some(Interface { address, broadcast: broadcast_of(address, mask.filter(|_| has_broadcast)) })
    });
    Ok(addresses.collect())
}

/// The broadcast address of a network by the address of a host in it and the mask. `getifaddrs` has another
/// one where none was configured: the peer's, or the host's own.
fn broadcast_of(address: IpAddr, mask: Option<Ipv4Addr>) -> Option<Ipv4Addr> {
    let (IpAddr::V4(address), Some(mask)) = (address, mask) else { return None };
    // A network of one or two hosts has none (RFC 3021).
    (mask.to_bits().count_zeros() > 1).then(|| address | !mask)
}

/// Refuses an address that cannot belong to one other forwarder. `channels` are the listening sockets.
pub(super) fn check_address(
    protocol: Protocol,
    remote: SocketAddr,
    channels: &[FaceUri],
    interfaces: impl Fn() -> io::Result<Vec<Interface>>,
) -> Result<(), ControlResponse> {
    let ip = remote.ip().to_canonical();
    if remote.port() == 0 {
        return refused(
            406,
            "port 0 is the port of no forwarder: give the one on which the neighbour listens",
        );
    }
    if ip.is_unspecified() {
        return refused(406, format!("{ip} is the address of no host: give the neighbour's"));
    }
    if ip.is_multicast() {
        return refused(406, "Cannot create multicast UDP faces");
    }
    let known = interfaces().or_else(|error| {
        refused(504, format!("cannot compare {ip} with the addresses of this host: {error}; try again"))
    })?;
    let is_broadcast = ip == IpAddr::V4(Ipv4Addr::BROADCAST)
        || known.iter().any(|known| known.broadcast.is_some_and(|all| ip == IpAddr::V4(all)));
    if is_broadcast {
        return refused(406, format!("{ip} is a broadcast address: give the address of one neighbour"));
    }
    let is_here = ip.is_loopback() || known.iter().any(|known| known.address.to_canonical() == ip);
    let listens = |channel: &FaceUri| {
        let FaceUri::Ip { protocol: listening, .. } = channel else { return false };
        channel.socket_address().is_some_and(|local| {
            let all = local.ip().is_unspecified() && is_here && local.is_ipv4() == remote.is_ipv4();
            *listening == protocol && local.port() == remote.port() && (all || local.ip() == ip)
        })
    };
    if channels.iter().any(listens) {
        return refused(
            406,
            format!("the forwarder itself listens on {remote}: give the address of a neighbour"),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_one_other_host_are_accepted() {
        let interfaces = || {
            let interface = |address: &str, broadcast: Option<&str>| Interface {
                address: address.parse().expect("an address"),
                broadcast: broadcast.map(|address| address.parse().expect("an address")),
            };
            Ok(vec![interface("192.0.2.1", Some("192.0.2.255")), interface("2001:db8::1", None)])
        };
        let channels: Vec<FaceUri> =
            ["udp4://0.0.0.0:6363", "tcp4://127.0.0.1:6363", "udp6://[::]:6363", "fd://3"]
                .map(|uri| uri.parse().expect("a URI"))
                .into();
        let check = |protocol, remote: &str| {
            let remote = remote.parse().expect("an address");
            check_address(protocol, remote, &channels, interfaces).err().map(|refusal| refusal.text)
        };
        for (remote, why) in [
            ("192.0.2.7:0", "port 0"),
            ("0.0.0.0:6363", "of no host"),
            ("[::]:6363", "of no host"),
            ("224.0.23.170:56363", "multicast"),
            ("[ff02::1]:6363", "multicast"),
            ("255.255.255.255:6363", "broadcast"),
            ("192.0.2.255:6363", "broadcast"),
            ("192.0.2.1:6363", "itself listens"),
            ("127.0.0.9:6363", "itself listens"),
            ("[::1]:6363", "itself listens"),
            ("[2001:db8::1]:6363", "itself listens"),
        ] {
            assert!(check(Protocol::Udp, remote).is_some_and(|text| text.contains(why)), "{remote}");
        }
        assert!(check(Protocol::Tcp, "127.0.0.1:6363").is_some_and(|text| text.contains("itself listens")));
        for remote in ["192.0.2.7:6363", "192.0.2.1:6364", "127.0.0.1:16363", "[2001:db8::2]:6363"] {
            assert_eq!(check(Protocol::Udp, remote), None, "{remote}");
        }
        assert_eq!(check(Protocol::Tcp, "192.0.2.1:6363"), None, "TCP listens on the loopback only");
    }

    #[test]
    fn networks_of_more_than_two_hosts_have_a_broadcast_address() {
        let of = |address: &str, mask: Option<&str>| {
            let mask = mask.map(|mask| mask.parse().expect("a mask"));
            broadcast_of(address.parse().expect("an address"), mask).map(|all| all.to_string())
        };
        assert_eq!(of("10.9.0.1", Some("255.255.255.0")), Some("10.9.0.255".to_owned()));
        assert_eq!(of("10.9.0.1", Some("255.255.255.252")), Some("10.9.0.3".to_owned()));
        for mask in ["255.255.255.254", "255.255.255.255"] {
            assert_eq!(of("172.30.0.1", Some(mask)), None, "{mask}");
        }
        assert_eq!(of("10.9.0.1", None), None, "an interface without broadcasts");
        assert_eq!(of("2001:db8::1", Some("255.255.255.0")), None);
    }

    #[test]
    fn no_address_is_accepted_while_those_of_this_host_are_unknown() {
        let remote = "192.0.2.7:6363".parse().expect("an address");
        let unknown = || Err(io::Error::other("no file descriptor"));
        let refusal = check_address(Protocol::Udp, remote, &[], unknown).expect_err("a refusal");
        assert_eq!(
            (refusal.code, refusal.text.as_str()),
            (504, "cannot compare 192.0.2.7 with the addresses of this host: no file descriptor; try again")
        );
    }

    #[test]
    fn this_host_has_a_loopback_interface() {
        let known = super::interfaces().expect("interfaces");
        assert!(known.iter().any(|interface| interface.address.is_loopback()));
    }
}
