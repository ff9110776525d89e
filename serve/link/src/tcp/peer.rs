//! Users of loopback TCP connections, from the kernel (`NETLINK_SOCK_DIAG`).
//!
//! Both ends of a loopback connection are sockets of this network namespace. The lookup asks the kernel for
//! the peer's socket by its addresses and ports, and takes its owner only if
//! - that socket is established and belongs to a process: the kernel reports user 0 for sockets that a
//!   process has closed, or that no process has accepted yet;
//! - our own end is still established afterwards: else its ports may have passed to another pair of sockets.
//!
//! Source: Linux, `include/uapi/linux/inet_diag.h`; sock_diag(7).

use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};

/// Length of the header of a netlink message, in bytes.
const HEADER: usize = 16;
/// Length of an `inet_diag_req_v2`, in bytes.
const REQUEST: usize = 56;
/// Length of an `inet_diag_msg` without attributes, in bytes.
const REPLY: usize = 72;
/// Length of the buffer for a reply, in bytes: it has few attributes, since none is asked for.
const ROOM: usize = 4096;

/// Message types: an error, and `SOCK_DIAG_BY_FAMILY`, both of a request and of its reply.
const ERROR: u16 = 2;
const BY_FAMILY: u16 = 20;
/// Message flag of a request.
const IS_REQUEST: u16 = 1;
/// The state `TCP_ESTABLISHED`.
const ESTABLISHED: u8 = 1;
/// Index of the loopback interface in every network namespace. Sockets that are bound to it are found, and
/// unbound ones.
const LOOPBACK: u32 = 1;
/// Cookie of a socket that is not known by one.
const NO_COOKIE: u32 = u32::MAX;

/// Effective user of the process at the other end of a loopback TCP connection, at the time it made its
/// socket.
///
/// `local` and `peer` are the addresses of `stream`. Call it while the connection is open, and right after
/// `accept`.
///
/// # Errors
/// The peer's address is not a loopback address; the peer has closed its end, or has not accepted the
/// connection yet; the kernel has no sock_diag for TCP.
pub fn loopback_user(stream: &impl AsFd, local: SocketAddr, peer: SocketAddr) -> io::Result<u32> {
    if !peer.ip().to_canonical().is_loopback() {
        return Err(io::Error::other(format!("{peer} is not a loopback address")));
    }
    let netlink = socket(
        AddressFamily::Netlink,
        SockType::Datagram,
        SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK,
        SockProtocol::NetlinkSockDiag,
    )?;
    let theirs = find(&netlink, peer, local)?;
    let ours = find(&netlink, local, peer)?;
    let inode = nix::sys::stat::fstat(stream.as_fd())?.st_ino;
    // The kernel reports the lower half of the number.
    if ours.inode != inode as u32 {
        return Err(io::Error::other("the connection has been closed"));
    }
    Ok(theirs.uid)
}

/// Owner of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner {
    uid: u32,
    inode: u32,
}

/// Owner of the established socket with these addresses.
fn find(netlink: &impl AsFd, local: SocketAddr, remote: SocketAddr) -> io::Result<Owner> {
    let descriptor = netlink.as_fd().as_raw_fd();
    send(descriptor, &request(local, remote), MsgFlags::empty())?;
    let mut buffer = [0; ROOM];
    // The kernel has answered when `send` returns.
    let length = recv(descriptor, &mut buffer, MsgFlags::empty())?;
    parse(buffer.get(..length).unwrap_or_default(), local, remote)
}

/// Netlink message that asks for the socket with these addresses.
fn request(local: SocketAddr, remote: SocketAddr) -> [u8; HEADER + REQUEST] {
    let (local, remote) = (canonical(local), canonical(remote));
    let family = if local.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    let mut message = [0; HEADER + REQUEST];
    let mut at = 0;
    let mut put = |bytes: &[u8]| {
        for (place, byte) in message.iter_mut().skip(at).zip(bytes) {
            *place = *byte;
        }
        at += bytes.len();
    };
    put(&((HEADER + REQUEST) as u32).to_ne_bytes());
    put(&BY_FAMILY.to_ne_bytes());
    put(&IS_REQUEST.to_ne_bytes());
    // Sequence and port numbers: one request waits for one reply.
    put(&[0; 8]);
    // Family, protocol, no extensions, padding, any state.
    put(&[family as u8, libc::IPPROTO_TCP as u8, 0, 0]);
    put(&u32::MAX.to_ne_bytes());
    put(&local.port().to_be_bytes());
    put(&remote.port().to_be_bytes());
    put(&address(local.ip()));
    put(&address(remote.ip()));
    put(&LOOPBACK.to_ne_bytes());
    put(&NO_COOKIE.to_ne_bytes());
    put(&NO_COOKIE.to_ne_bytes());
    message
}

/// IPv4 addresses stand in the first of the four words.
fn address(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V4(ip) => {
            let [a, b, c, d] = ip.octets();
            [a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        }
        IpAddr::V6(ip) => ip.octets(),
    }
}

/// The address without an IPv6 mapping, scope and flow.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Owner in a reply that describes the established socket with these addresses.
///
/// # Errors
/// The reply is an error, is cut short, or describes a socket that is another, not established, or without
/// owner.
fn parse(message: &[u8], local: SocketAddr, remote: SocketAddr) -> io::Result<Owner> {
    let cut = || io::Error::other("sock_diag gives a reply that is cut short");
    let kind = u16::from_ne_bytes(part(message, 4).ok_or_else(cut)?);
    let body = message.get(HEADER..).ok_or_else(cut)?;
    if kind == ERROR {
        let error = i32::from_ne_bytes(part(body, 0).ok_or_else(cut)?);
        return Err(match error.checked_neg() {
            Some(libc::ENOENT) => io::Error::other("sock_diag finds no such connection"),
            Some(error) => io::Error::from_raw_os_error(error),
            None => cut(),
        });
    }
    if kind != BY_FAMILY {
        return Err(io::Error::other(format!("sock_diag gives a reply of type {kind}")));
    }
    let [family, state, _, _] = part(body, 0).ok_or_else(cut)?;
    let word = |at| Some(u32::from_ne_bytes(part(body, at)?));
    let port = |at| Some(u16::from_be_bytes(part(body, at)?));
    let ip = |at| {
        let bytes: [u8; 16] = part(body, at)?;
        let [a, b, c, d, ..] = bytes;
        // A socket of family IPv6 with mapped addresses is found by IPv4 addresses.
        let ip = if i32::from(family) == libc::AF_INET {
            IpAddr::V4(Ipv4Addr::new(a, b, c, d))
        } else {
            IpAddr::V6(Ipv6Addr::from(bytes))
        };
        Some(ip.to_canonical())
    };
    let end = |ip_at, port_at| Some(SocketAddr::new(ip(ip_at)?, port(port_at)?));
    let ends = (end(8, 4).ok_or_else(cut)?, end(24, 6).ok_or_else(cut)?);
    let owner = Owner { uid: word(64).ok_or_else(cut)?, inode: word(REPLY - 4).ok_or_else(cut)? };
    if ends != (canonical(local), canonical(remote)) {
        return Err(io::Error::other("sock_diag finds no such connection"));
    }
    if state != ESTABLISHED || owner.inode == 0 {
        return Err(io::Error::other("the connection has been closed"));
    }
    Ok(owner)
}

/// The bytes at an offset.
fn part<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::{Shutdown, TcpListener, TcpStream};

    /// Addresses to listen at, each with its client's address. Hosts without IPv6 do without the last ones.
    fn addresses() -> Vec<(&'static str, &'static str)> {
        let mut all = vec![("127.0.0.1:0", "127.0.0.1"), ("0.0.0.0:0", "127.8.9.10")];
        if TcpListener::bind("[::1]:0").is_ok() {
            all.extend([("[::1]:0", "::1"), ("127.0.0.1:0", "::ffff:127.0.0.1"), ("[::]:0", "127.0.0.1")]);
        }
        all
    }

    /// The two ends of a connection that the client makes to `to`: its own, and the accepted one.
    fn connection(listen: &str, to: &str) -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind(listen).unwrap();
        let to = SocketAddr::new(to.parse().unwrap(), listener.local_addr().unwrap().port());
        let client = TcpStream::connect(to).unwrap();
        (client, listener.accept().unwrap().0)
    }

    fn user(accepted: &TcpStream, peer: SocketAddr) -> Result<u32, String> {
        loopback_user(accepted, accepted.local_addr().unwrap(), peer).map_err(|error| error.to_string())
    }

    #[test]
    fn the_user_is_that_of_the_process_at_the_other_end() {
        let own = nix::unistd::Uid::effective().as_raw();
        for (listen, to) in addresses() {
            let (_client, accepted) = connection(listen, to);
            let peer = accepted.peer_addr().unwrap();
            assert_eq!(user(&accepted, peer), Ok(own), "{listen} {to}");
        }
    }

    #[test]
    fn two_users_are_told_apart() {
        if !nix::unistd::geteuid().is_root() {
            assert!(std::env::var_os("CI").is_none(), "this test needs root");
            eprintln!("skipped: this test needs root");
            return;
        }
        for (listen, to) in addresses() {
            let connect = move || {
                // Of this thread alone: sockets that it makes are that user's.
                nix::unistd::setfsuid(nix::unistd::Uid::from_raw(4711));
                connection(listen, to)
            };
            let (_client, accepted) = std::thread::spawn(connect).join().unwrap();
            assert_eq!(user(&accepted, accepted.peer_addr().unwrap()), Ok(4711), "{listen} {to}");
        }
    }

    #[test]
    fn a_peer_that_closed_its_end_is_nobody() {
        for close in [(|client| drop(client)) as fn(TcpStream), |client| {
            // A reset, not an orderly end.
            let socket = socket2::Socket::from(client);
            socket.set_linger(Some(std::time::Duration::ZERO)).unwrap();
        }] {
            let (client, accepted) = connection("127.0.0.1:0", "127.0.0.1");
            let peer = client.local_addr().unwrap();
            close(client);
            assert!(user(&accepted, peer).is_err());
        }
        let (client, accepted) = connection("127.0.0.1:0", "127.0.0.1");
        client.shutdown(Shutdown::Write).unwrap();
        assert!(user(&accepted, client.local_addr().unwrap()).is_err(), "half closed");
    }

    /// Connects, resets the connection before it is accepted, and connects from the same port once more.
    /// `None` where another program has taken the port in between.
    fn reconnect(at: SocketAddr) -> Option<(SocketAddr, TcpStream)> {
        let first = TcpStream::connect(at).unwrap();
        let from = first.local_addr().unwrap();
        let socket = socket2::Socket::from(first);
        // The reset frees the port at once.
        socket.set_linger(Some(std::time::Duration::ZERO)).unwrap();
        drop(socket);
        let second = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        second.set_reuse_address(true).unwrap();
        second.bind(&from.into()).and_then(|()| second.connect(&at.into())).ok()?;
        Some((from, second.into()))
    }

    #[test]
    fn ports_that_passed_to_another_connection_name_nobody() {
        // A listener for each attempt: connections of earlier ones do not wait in its queue.
        let attempt = || {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            reconnect(listener.local_addr().unwrap()).map(|(from, second)| (listener, from, second))
        };
        let (listener, from, _second) = (0..100).find_map(|_| attempt()).expect("a port twice");
        let at = listener.local_addr().unwrap();
        let (stale, peer) = listener.accept().unwrap();
        assert_eq!(peer, from);
        let (live, peer) = listener.accept().unwrap();
        assert_eq!(peer, from);
        assert!(loopback_user(&stale, at, from).is_err(), "its ports are another's");
        assert!(loopback_user(&live, at, from).is_ok());
    }

    #[test]
    fn a_connection_that_no_process_has_accepted_is_nobodys() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (local, peer) = (client.local_addr().unwrap(), client.peer_addr().unwrap());
        assert!(loopback_user(&client, local, peer).is_err());
        let _accepted = listener.accept().unwrap();
        assert!(loopback_user(&client, local, peer).is_ok());
    }

    #[test]
    fn other_hosts_have_no_users_here() {
        let (_client, accepted) = connection("127.0.0.1:0", "127.0.0.1");
        let error = user(&accepted, "192.0.2.1:5".parse().unwrap()).unwrap_err();
        assert_eq!(error, "192.0.2.1:5 is not a loopback address");
        assert!(user(&accepted, "127.0.0.1:5".parse().unwrap()).is_err(), "no such connection");
    }

    /// A reply about an established socket, as the kernel writes it.
    fn reply(local: SocketAddr, remote: SocketAddr, uid: u32, inode: u32) -> Vec<u8> {
        let request = request(local, remote);
        let mut reply = vec![0; HEADER + REPLY];
        reply[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
        reply[HEADER] = request[HEADER];
        reply[HEADER + 1] = ESTABLISHED;
        reply[HEADER + 4..][..48].copy_from_slice(&request[HEADER + 8..]);
        reply[HEADER + 64..][..4].copy_from_slice(&uid.to_ne_bytes());
        reply[HEADER + 68..][..4].copy_from_slice(&inode.to_ne_bytes());
        reply
    }

    proptest! {
        #[test]
        fn replies_count_where_they_are_whole_and_about_that_connection(
            uid: u32,
            inode in 1..u32::MAX,
            cut in 0..HEADER + REPLY,
            at in 0..HEADER + REPLY,
            byte: u8,
        ) {
            let (local, remote) = ("127.0.0.1:6363".parse().unwrap(), "127.0.0.1:5000".parse().unwrap());
            let whole = reply(local, remote, uid, inode);
            prop_assert_eq!(parse(&whole, local, remote).unwrap(), Owner { uid, inode });
            prop_assert!(parse(&whole, remote, local).is_err());
            prop_assert!(parse(whole.get(..cut).unwrap(), local, remote).is_err());
            let mut changed = whole.clone();
            changed[at] = byte;
            if let Ok(owner) = parse(&changed, local, remote) {
                let is_owner = (HEADER + 64..HEADER + REPLY).contains(&at);
                prop_assert!(is_owner || (owner.uid, owner.inode) == (uid, inode));
            }
            let closed = reply(local, remote, uid, 0);
            prop_assert!(parse(&closed, local, remote).is_err());
        }

        #[test]
        fn no_reply_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
            let end = "[::1]:1".parse().unwrap();
            let _ = parse(&bytes, end, end);
        }
    }
}
