//! Origin of an Interest: the face, and the party at its other end.

use hashlane_ndn::mgmt::values::FaceScope;
use hashlane_table::share::Owner;
use std::fmt;
use std::net::IpAddr;

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
    /// Hosts of a link: the other end of an Ethernet face, or of a multicast group.
    Link {
        /// URIs of the remote and the local end.
        ends: Box<str>,
        /// Party whose shares the face uses.
        owner: Owner,
    },
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

impl Peer {
    /// Party whose shares the peer uses; `None` for the forwarder itself.
    pub(crate) fn owner(&self) -> Option<Owner> {
        match self {
            Self::Internal => None,
            Self::User { uid, over: Over::Unix } => Some(Owner::User(*uid)),
            Self::User { uid, over: Over::Loopback } => Some(Owner::Loopback(*uid)),
            Self::Unidentified { .. } => Some(Owner::Local),
            Self::Link { owner, .. } => Some(*owner),
            Self::Ip(address) | Self::Page { address, .. } => Some(Owner::of(*address)),
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
            Self::Link { ends, .. } => f.write_str(ends),
            Self::Page { address, origin } => {
                write!(f, "pages of the origin {origin} at {}", address.to_canonical())
            }
        }
    }
}
