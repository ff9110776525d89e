//! The frames that an interface receives and sends.

use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{
    AddressFamily, LinkAddr, SockFlag, SockProtocol, SockType, bind, recvfrom, setsockopt, socket, sockopt,
};
use nix::sys::time::{TimeVal, TimeValLike as _};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

/// Length of the buffer for a frame, in bytes: an IP packet of at most 65,535, and the header of the link.
const LONGEST: usize = 65_536 + 64;

/// First header of the frames of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// Ethernet.
    Ethernet,
    /// IPv4 or IPv6.
    Ip,
}

/// Receives a copy of all frames of one interface, in and out. It sends nothing and changes no setting of the
/// interface.
#[derive(Debug)]
pub struct Tap {
    socket: OwnedFd,
    index: usize,
    kind: LinkKind,
    room: Vec<u8>,
}

/// Error of opening an interface.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TapError {
    /// No interface has this name; the names that exist.
    #[error("no such interface; this host has {}", .0.join(", "))]
    NoInterface(Vec<String>),
    /// Frames of this kind of interface cannot be read (`ARPHRD_*` of Linux).
    #[error("unsupported link type {0}; supported: Ethernet, loopback and IP tunnels")]
    Kind(u16),
    /// The process lacks the permission.
    #[error("permission denied: this needs the capability CAP_NET_RAW")]
    Forbidden,
    /// A system call failed.
    #[error("{0}")]
    System(io::Error),
}

impl From<Errno> for TapError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::EPERM | Errno::EACCES => Self::Forbidden,
            errno => Self::System(errno.into()),
        }
    }
}

/// Interface whose frames can be read.
pub(crate) struct Interface {
    pub(crate) address: LinkAddr,
    pub(crate) kind: LinkKind,
    pub(crate) is_loopback: bool,
}

impl Interface {
    /// The interface of this name.
    pub(crate) fn find(name: &str) -> Result<Self, TapError> {
        let mut names = Vec::new();
        let mut address: Option<LinkAddr> = None;
        for entry in getifaddrs()? {
            if let Some(link) = entry.address.as_ref().and_then(|address| address.as_link_addr()) {
                if entry.interface_name == name {
                    address = Some(*link);
                }
                names.push(entry.interface_name);
            }
        }
        let address = address.ok_or(TapError::NoInterface(names))?;
        let kind = match address.hatype() {
            libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK => LinkKind::Ethernet,
            libc::ARPHRD_NONE | libc::ARPHRD_PPP | libc::ARPHRD_TUNNEL | libc::ARPHRD_TUNNEL6 => LinkKind::Ip,
            other => return Err(TapError::Kind(other)),
        };
        Ok(Self { address, kind, is_loopback: address.hatype() == libc::ARPHRD_LOOPBACK })
    }
}

impl Tap {
    /// Opens the interface of this name. [`receive`](Self::receive) waits for at most `wait`.
    ///
    /// # Errors
    /// The interface does not exist, its frames cannot be read, or the process lacks the permission.
    pub fn open(interface: &str, wait: Duration) -> Result<Self, TapError> {
        let Interface { address, kind, .. } = Interface::find(interface)?;
        let socket =
            socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::EthAll)?;
        // The address has no protocol: the socket keeps its own.
        bind(socket.as_raw_fd(), &address)?;
        // Zero would mean no limit; an hour is longer than any caller waits.
        let wait = wait.clamp(Duration::from_millis(1), Duration::from_secs(3600));
        let wait = TimeVal::milliseconds(wait.as_millis() as i64);
        setsockopt(&socket, sockopt::ReceiveTimeout, &wait)?;
        // Room for a burst while the caller prints. A smaller buffer is no error.
        let _ = setsockopt(&socket, sockopt::RcvBuf, &(8 << 20));
        Ok(Self { socket, index: address.ifindex(), kind, room: vec![0; LONGEST] })
    }

    /// First header of its frames.
    pub fn kind(&self) -> LinkKind {
        self.kind
    }

    /// The next frame, or `None` if none arrives in time. Each frame is reported once, also on a loopback
    /// interface.
    ///
    /// # Errors
    /// The interface went down, or the system call failed.
    pub fn receive(&mut self) -> io::Result<Option<&[u8]>> {
        match recvfrom::<LinkAddr>(self.socket.as_raw_fd(), &mut self.room) {
            Ok((len, from)) => {
                let wanted = from.is_none_or(|from| {
                    // Until the bind, the socket received from all interfaces. A frame that leaves a loopback
                    // interface comes back in.
                    let leaves = from.pkttype() == libc::PACKET_OUTGOING;
                    from.ifindex() == self.index && !(leaves && from.hatype() == libc::ARPHRD_LOOPBACK)
                });
                Ok(self.room.get(..len).filter(|_| wanted))
            }
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::time::Instant;

    #[test]
    fn hears_a_datagram_on_the_loopback_interface_once() {
        let mut tap = match Tap::open("lo", Duration::from_millis(50)) {
            Ok(tap) => tap,
            Err(TapError::Forbidden) => {
                println!("skipped: {}", TapError::Forbidden);
                return;
            }
            Err(error) => panic!("{error}"),
        };
        assert_eq!(tap.kind(), LinkKind::Ethernet);
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let text = format!("a datagram of {}", std::process::id());
        for _ in 0..2 {
            socket.send_to(text.as_bytes(), socket.local_addr().unwrap()).unwrap();
        }
        let (mut heard, begun) = (0, Instant::now());
        while heard < 2 {
            assert!(begun.elapsed() < Duration::from_secs(30), "heard {heard}");
            let frame = tap.receive().unwrap();
            heard += u32::from(frame.is_some_and(|frame| frame.ends_with(text.as_bytes())));
        }
        // Each call ends, with or without a frame. Others may use the interface, too.
        for _ in 0..20 {
            let frame = tap.receive().unwrap();
            assert!(frame.is_none_or(|frame| !frame.ends_with(text.as_bytes())));
        }
    }

    #[test]
    fn names_the_interfaces_that_there_are() {
        let error = Tap::open("nothing0", Duration::ZERO).unwrap_err();
        assert!(error.to_string().starts_with("no such interface; this host has "), "{error}");
    }
}
