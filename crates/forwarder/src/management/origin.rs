//! Origin of an Interest: the face, and the party at its other end.

use hashlane_ndn::mgmt::values::FaceScope;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

/// Ingress of an Interest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The face.
    pub face: u64,
    /// Local if the peer is on this host.
    pub scope: FaceScope,
    /// The party at its other end.
    pub peer: Peer,
}

/// The party at the other end of a face.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The forwarder itself.
    Internal,
    /// A process of this host that connected to the forwarder.
    User {
        /// Its effective user when it connected, as the kernel knows it.
        uid: u32,
        /// Kind of the connection.
        over: Over,
    },
    /// A process of this host whose user the kernel did not report.
    Unidentified {
        /// Its address, a loopback one.
        address: IpAddr,
        /// Reason why its user is not known.
        why: Box<str>,
    },
    /// An unknown process at an address, of this host or another.
    Ip(IpAddr),
    /// A page in a browser at this address. Its author commands, not the user of the browser.
    Page {
        /// The address of the browser.
        address: IpAddr,
        /// Origin of the page, as the browser reports it; bytes may be escaped, and the end missing.
        origin: Box<str>,
    },
}

/// Kind of a connection within this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Unix socket: its permissions have let the user in.
    Unix,
    /// TCP or WebSocket from a loopback address, which lets every user in.
    Loopback,
}

/// User or address that has a share of the queues of management.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Holder {
    /// The forwarder itself.
    Forwarder,
    /// User of this host, over the Unix socket.
    Unix(u32),
    /// User of this host, over the loopback.
    Loopback(u32),
    /// IPv4 address.
    V4(u32),
    /// Network of an IPv6 address: its upper 64 bits.
    V6(u64),
}

/// Class of holders. A class leaves places to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The forwarder, and users over the Unix socket.
    Unix,
    /// Users and others of this host, over the loopback.
    Loopback,
    /// Other hosts.
    Remote,
}

impl Holder {
    pub(crate) fn class(self) -> Class {
        match self {
            Self::Forwarder | Self::Unix(_) => Class::Unix,
            Self::Loopback(_) => Class::Loopback,
            Self::V4(bits) if Ipv4Addr::from_bits(bits).is_loopback() => Class::Loopback,
            Self::V4(_) | Self::V6(_) => Class::Remote,
        }
    }

    fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.to_bits()),
            // The other addresses of the /64 of ::1 are no hosts.
            IpAddr::V6(address) if address.is_loopback() => Self::V4(Ipv4Addr::LOCALHOST.to_bits()),
            IpAddr::V6(address) => Self::V6((address.to_bits() >> 64) as u64),
        }
    }
}

impl Peer {
    pub(crate) fn holder(&self) -> Holder {
        match self {
            Self::Internal => Holder::Forwarder,
            Self::User { uid, over: Over::Unix } => Holder::Unix(*uid),
            Self::User { uid, over: Over::Loopback } => Holder::Loopback(*uid),
            Self::Unidentified { address, .. } | Self::Ip(address) | Self::Page { address, .. } => {
                Holder::of(*address)
            }
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Internal => f.write_str("the forwarder"),
            Self::User { uid, .. } => write!(f, "user {uid}"),
            Self::Unidentified { address, .. } => {
                write!(f, "an unidentified user at {}", address.to_canonical())
            }
            Self::Ip(address) => write!(f, "{}", address.to_canonical()),
            Self::Page { address, origin } => {
                write!(f, "pages of the origin {origin} at {}", address.to_canonical())
            }
        }
    }
}
