//! Network interfaces of this host, and notice of their changes.

use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, socket,
};
use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixDatagram;

/// A network interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Name, such as `eth0`.
    pub name: String,
    /// Number, from 1. An interface that is removed and made again has another one.
    pub index: u32,
    /// True if it is up and has a link.
    pub is_running: bool,
    /// True for an interface of this host's own packets.
    pub is_loopback: bool,
    /// True if it sends to multicast groups.
    pub is_multicast: bool,
    /// Ethernet address; `None` for links of another kind.
    pub ethernet: Option<[u8; 6]>,
    /// IPv4 and IPv6 addresses.
    pub addresses: Vec<IpAddr>,
}

/// All interfaces of this thread's network namespace, by name.
///
/// # Errors
/// The system does not report them, for example because no file descriptor is left.
pub fn list() -> io::Result<Vec<Interface>> {
    let mut all = BTreeMap::<String, Interface>::new();
    for entry in getifaddrs()? {
        // An IPv4 address may have a label after the name.
        let name = entry.interface_name.split(':').next().unwrap_or_default();
        let interface = all.entry(name.to_owned()).or_default();
        let has = |flag| entry.flags.contains(flag);
        interface.is_running = has(InterfaceFlags::IFF_UP | InterfaceFlags::IFF_RUNNING);
        interface.is_loopback = has(InterfaceFlags::IFF_LOOPBACK);
        interface.is_multicast = has(InterfaceFlags::IFF_MULTICAST);
        let Some(address) = entry.address else { continue };
        if let Some(link) = address.as_link_addr() {
            interface.index = u32::try_from(link.ifindex()).unwrap_or(0);
            let is_ethernet = link.hatype() == libc::ARPHRD_ETHER && link.halen() == 6;
            interface.ethernet = link.addr().filter(|_| is_ethernet);
        }
        let ipv4 = address.as_sockaddr_in().map(|address| IpAddr::from(address.ip()));
        let ip = ipv4.or_else(|| address.as_sockaddr_in6().map(|address| address.ip().into()));
        interface.addresses.extend(ip);
    }
    let named = all.into_iter().map(|(name, interface)| Interface { name, ..interface });
    Ok(named.filter(|interface| interface.index != 0).collect())
}

/// MTU of an interface, in bytes: the longest payload of its frames.
///
/// # Errors
/// There is no such interface.
pub fn mtu(name: &str) -> io::Result<usize> {
    let any = UnixDatagram::unbound()?;
    Ok(crate::xdp::mtu(any.as_fd(), name)?)
}

/// Socket that is readable when interfaces or their addresses have changed.
#[derive(Debug)]
pub struct Watch(OwnedFd);

impl Watch {
    /// Begins to watch the interfaces of this thread's network namespace.
    ///
    /// # Errors
    /// The process may not open netlink sockets, or no file descriptors are left.
    pub fn open() -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let watch = socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkRoute)?;
        let groups = libc::RTMGRP_LINK | libc::RTMGRP_IPV4_IFADDR | libc::RTMGRP_IPV6_IFADDR;
        bind(watch.as_raw_fd(), &NetlinkAddr::new(0, groups as u32))?;
        Ok(Self(watch))
    }

    /// Takes all notices. Returns true if something may have changed: [`list`] has the new state.
    pub fn take_changes(&self) -> bool {
        let mut notice = [0; 4096];
        let mut any = false;
        loop {
            match recv(self.0.as_raw_fd(), &mut notice, MsgFlags::MSG_DONTWAIT) {
                Err(Errno::EAGAIN) => return any,
                Err(Errno::EINTR) => {}
                // Notices were lost. Another error of this socket would repeat without end.
                Ok(_) | Err(Errno::ENOBUFS) => any = true,
                Err(_) => return true,
            }
        }
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for Watch {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_rig::namespace;
    use std::time::{Duration, Instant};

    #[test]
    fn interfaces_have_their_state_and_addresses_and_changes_are_noticed() {
        namespace::with(
            || namespace::create_pair("near", "far"),
            || {
                let find = |name: &str| list().unwrap().into_iter().find(|all| all.name == name);
                let deadline = Instant::now() + Duration::from_secs(15);
                // The kernel reports a link up to a second late.
                while !["near", "far"].iter().all(|name| find(name).unwrap().is_running) {
                    assert!(Instant::now() < deadline, "{:?}", list());
                    std::thread::sleep(Duration::from_millis(5));
                }
                let near = find("near").unwrap();
                assert!(near.is_multicast && !near.is_loopback, "{near:?}");
                assert!(near.ethernet.is_some() && near.addresses.is_empty(), "{near:?}");
                let loopback = find("lo").unwrap();
                assert!(loopback.is_loopback && loopback.ethernet.is_none(), "{loopback:?}");
                assert_eq!((mtu("near").unwrap(), find("nothing0")), (1500, None));
                assert!(mtu("nothing0").is_err());

                let watch = Watch::open().unwrap();
                assert!(!watch.take_changes());
                namespace::ip("addr add 10.9.0.1/24 dev near").unwrap();
                namespace::ip("link set far down").unwrap();
                // And a lost link, up to a second after the address.
                let (mut near, mut notices) = (find("near").unwrap(), 0);
                while near.is_running {
                    assert!(Instant::now() < deadline, "without a link: {near:?}");
                    if watch.take_changes() {
                        notices += 1;
                        near = find("near").unwrap();
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
                assert!(notices > 0 || watch.take_changes());
                assert_eq!(near.addresses, ["10.9.0.1".parse::<IpAddr>().unwrap()]);
            },
        );
    }
}
