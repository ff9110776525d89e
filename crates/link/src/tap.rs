//! The frames of an interface, as they pass.

use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{
    AddressFamily, LinkAddr, SockFlag, SockProtocol, SockType, bind, recvfrom, setsockopt, socket, sockopt,
};
use nix::sys::time::TimeVal;
use std::fmt;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

/// Room for a frame: a packet of IP has 65,535 octets at the most, and a link puts little before it.
const LONGEST: usize = 65_536 + 64;

/// How the frames of an interface begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// With an Ethernet header.
    Ethernet,
    /// With an IP header.
    Ip,
}

/// Hears all frames of one interface, in and out. Nothing is sent, and the interface stays as it is.
#[derive(Debug)]
pub struct Tap {
    socket: OwnedFd,
    index: usize,
    kind: LinkKind,
    room: Vec<u8>,
}

/// Why an interface cannot be listened to.
#[derive(Debug)]
#[non_exhaustive]
pub enum TapError {
    /// There is no such interface: those that there are.
    NoInterface(Vec<String>),
    /// The interface is of a kind whose frames cannot be read (its number as `ARPHRD_*` of Linux).
    Kind(u16),
    /// The process may not listen.
    Forbidden,
    /// A system call failed.
    System(io::Error),
}

impl fmt::Display for TapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoInterface(all) => write!(f, "there is no such interface; there are {}", all.join(", ")),
            Self::Kind(kind) => {
                write!(f, "it has links of kind {kind}; Ethernet, loopback and IP tunnels can be listened to")
            }
            Self::Forbidden => f.write_str("this needs the capability CAP_NET_RAW"),
            Self::System(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TapError {}

impl From<Errno> for TapError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::EPERM | Errno::EACCES => Self::Forbidden,
            errno => Self::System(errno.into()),
        }
    }
}

impl Tap {
    /// Listens to the interface called so; [`receive`](Self::receive) waits for so long at the most.
    ///
    /// # Errors
    /// Where there is no such interface, its frames cannot be read, or the system does not let the process listen.
    pub fn open(interface: &str, wait: Duration) -> Result<Self, TapError> {
        let mut names = Vec::new();
        let mut address: Option<LinkAddr> = None;
        for entry in getifaddrs()? {
            if let Some(link) = entry.address.as_ref().and_then(|address| address.as_link_addr()) {
                if entry.interface_name == interface {
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
        let socket =
            socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::EthAll)?;
        // The address names no protocol: the socket keeps its own.
        bind(socket.as_raw_fd(), &address)?;
        // A zero would wait for ever.
        let wait = wait.max(Duration::from_millis(1));
        let wait = TimeVal::new(wait.as_secs() as libc::time_t, wait.subsec_micros().into());
        setsockopt(&socket, sockopt::ReceiveTimeout, &wait)?;
        // A burst may come while lines are written; less room is no error.
        let _ = setsockopt(&socket, sockopt::RcvBuf, &(8 << 20));
        Ok(Self { socket, index: address.ifindex(), kind, room: vec![0; LONGEST] })
    }

    /// How its frames begin.
    pub fn kind(&self) -> LinkKind {
        self.kind
    }

    /// The next frame, or `None` where none came in time. Each frame comes once, even over a loopback interface.
    ///
    /// # Errors
    /// Those of the system: the interface went down.
    pub fn receive(&mut self) -> io::Result<Option<&[u8]>> {
        match recvfrom::<LinkAddr>(self.socket.as_raw_fd(), &mut self.room) {
            Ok((len, from)) => {
                let wanted = from.is_none_or(|from| {
                    // Before it was bound it heard all interfaces. What leaves over a loopback interface comes back in.
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
        // The wait is over where nothing more comes; others may use the interface, too.
        for _ in 0..20 {
            let frame = tap.receive().unwrap();
            assert!(frame.is_none_or(|frame| !frame.ends_with(text.as_bytes())));
        }
    }

    #[test]
    fn names_the_interfaces_that_there_are() {
        let error = Tap::open("nothing0", Duration::ZERO).unwrap_err();
        assert!(error.to_string().starts_with("there is no such interface; there are "), "{error}");
    }
}
