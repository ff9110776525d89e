//! The table `[faces]` of the configuration.

use super::interfaces::{Ether, UdpMulticast};
use super::websocket::WebSocket;
use hashlane_link::moderation::Settings;
use hashlane_ndn::mgmt::values::FacePersistency;
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// The table `[faces]`: transports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Faces {
    /// Unix sockets, for applications on this host.
    pub unix: Unix,
    /// UDP.
    pub udp: Udp,
    /// UDP to all hosts of a link.
    pub udp_multicast: UdpMulticast,
    /// Ethernet.
    pub ether: Ether,
    /// TCP.
    pub tcp: Tcp,
    /// WebSockets, for applications in browsers.
    pub websocket: WebSocket,
    /// Congestion marks.
    pub congestion: Congestion,
    /// Memory of all faces together.
    pub memory: Memory,
    /// Wake-ups of the forwarding thread.
    pub moderation: Moderation,
    /// Face URIs of neighbours, such as `udp4://192.0.2.1:6363`, that get PitTokens if the PIT is indexed by
    /// them. A neighbour that does not know PitTokens must drop packets that have one.
    pub pit_tokens: Vec<String>,
    /// Face URIs of neighbours over UDP that get link reliability (LpReliability of NDNLPv2): lost link
    /// packets are sent again. The neighbour must have it on, too; one that has not acknowledges nothing,
    /// and receives everything four times.
    pub reliability: Vec<String>,
}

/// Unix stream sockets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Unix {
    /// Paths to listen on.
    pub path: Vec<PathBuf>,
    /// File mode of the sockets: a number, or a text such as "0o666". A user who may connect may consume, and
    /// register prefixes for its own face; other commands are subject to `management`.
    #[serde(with = "octal")]
    pub mode: u32,
}

impl Default for Unix {
    /// For root `/run/nfd/nfd.sock`, like NFD; for others `nfd/nfd.sock` in the user's run-time folder, or a
    /// folder in the temporary one.
    fn default() -> Self {
        Self { path: vec![default_socket()], mode: 0o666 }
    }
}

/// File modes: written as text, because TOML writes numbers in decimal; read as either.
mod octal {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(mode: &u32, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{mode:#o}"))
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Mode {
        Number(u32),
        Text(String),
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        let wrong = || D::Error::custom("a mode is 0o000 to 0o777, for example 0o666");
        let mode = match Mode::deserialize(from).map_err(|_| wrong())? {
            Mode::Number(mode) => Some(mode),
            Mode::Text(text) => {
                text.strip_prefix("0o").and_then(|digits| u32::from_str_radix(digits, 8).ok())
            }
        };
        mode.filter(|mode| *mode <= 0o777).ok_or_else(wrong)
    }
}

/// Default path of the socket: the first one at which clients look.
fn default_socket() -> PathBuf {
    let first = hashlane_link::unix::places("nfd").into_iter().next();
    first.unwrap_or_else(|| {
        debug_assert!(false, "root's paths are always in the list");
        PathBuf::from("/run/nfd/nfd.sock")
    })
}

/// UDP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Udp {
    /// Addresses to listen on. Faces of commands send from the first one of their address family.
    pub listen: Vec<SocketAddr>,
    /// Longest datagram, in bytes; longer packets are fragmented. Valid: 256..=65507.
    pub mtu: usize,
    /// Idle timeout of an on-demand face, in seconds.
    pub idle_timeout_s: u64,
    /// Most on-demand faces: those that a datagram of their peer has opened. With 0, only peers with a face
    /// of a command or of `routes` are served. Ethernet hosts have a quarter as many beside them.
    pub max_on_demand: usize,
    /// Length of the kernel's receive queue of each socket, in bytes. Beyond `net.core.rmem_max`, it takes
    /// `CAP_NET_ADMIN`. Valid: at least 65536.
    pub receive_buffer: usize,
    /// True to use UDP segmentation and receive offload (GSO, GRO).
    pub offload: bool,
}

impl Udp {
    /// Idle timeout of a face of this persistency, in milliseconds; `None` for no limit.
    pub(crate) fn idle_after(&self, persistency: FacePersistency) -> Option<u64> {
        (persistency == FacePersistency::OnDemand).then(|| self.idle_timeout_s.saturating_mul(1000))
    }
}

/// Default port of UDP and TCP.
const PORT: u16 = 6363;

fn anywhere(port: u16) -> Vec<SocketAddr> {
    vec![(Ipv4Addr::UNSPECIFIED, port).into(), (Ipv6Addr::UNSPECIFIED, port).into()]
}

impl Default for Udp {
    fn default() -> Self {
        Self {
            listen: anywhere(PORT),
            mtu: hashlane_ndn::wire::MAX_PACKET,
            idle_timeout_s: 600,
            max_on_demand: 4096,
            receive_buffer: 4 << 20,
            offload: true,
        }
    }
}

/// TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tcp {
    /// Addresses to listen on.
    pub listen: Vec<SocketAddr>,
    /// True if connections from loopback addresses are local, and have the rights of the user who made them;
    /// false if they are as those from other hosts.
    pub loopback: bool,
}

impl Default for Tcp {
    fn default() -> Self {
        Self { listen: anywhere(PORT), loopback: true }
    }
}

/// Congestion marks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Congestion {
    /// True to mark packets that are sent over a link with a long queue.
    pub mark: bool,
    /// Queue length in bytes above which packets are marked.
    pub threshold: u64,
    /// First interval between marks, in milliseconds.
    pub interval_ms: u64,
}

impl Default for Congestion {
    fn default() -> Self {
        Self { mark: true, threshold: 65_536, interval_ms: 100 }
    }
}

/// Memory of all faces together, which their peers share by address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Memory {
    /// Most memory of the send queues of connections whose peers do not read, in bytes. Valid: at least
    /// 65536.
    pub send_queues: u64,
    /// Most bytes of fragments that wait for the rest of their packet. Valid: at least 65536.
    pub reassembly: u64,
}

impl Default for Memory {
    fn default() -> Self {
        Self { send_queues: 64 << 20, reassembly: 16 << 20 }
    }
}

/// Wake-ups of the forwarding thread while packets come one by one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Moderation {
    /// Longest pause before the next look for packets while many arrive, in microseconds. 0: no pauses.
    /// Valid: at most 1000.
    pub pause_us: u64,
    /// Longest time of looking for the Data of an Interest without sleeping, in microseconds. 0: none.
    /// Valid: at most 1000.
    pub poll_us: u64,
}

impl Default for Moderation {
    fn default() -> Self {
        Self { pause_us: 0, poll_us: 20 }
    }
}

impl Moderation {
    /// Limits of the forwarding thread.
    pub(crate) fn settings(&self) -> Settings {
        let us = Duration::from_micros;
        Settings { pause: us(self.pause_us), poll: us(self.poll_us) }
    }
}

/// True if a text is an origin as browsers send it: without a path, and in lower case.
pub(super) fn is_origin(text: &str) -> bool {
    let host = text.split_once("://").map_or("", |(_, host)| host);
    !host.is_empty()
        && !host.contains(['/', '@'])
        && !text.contains(|c: char| c.is_uppercase() || c.is_whitespace())
}
