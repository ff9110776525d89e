//! The tables of the configuration.

use super::{Access, Network, Peer};
use crate::load::Options;
use hashlane_daemon::config::{self, Service};
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

/// Sockets, identity, user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// Addresses and ports for UDP and TCP. `0.0.0.0` and `[::]` stand for the addresses that the interfaces
    /// have at the start, so that each response leaves from the address of its query.
    pub listen: Vec<SocketAddr>,
    /// Threads for UDP at each address. 0: one for each core.
    pub workers: usize,
    /// User to run as once the sockets are bound, by name or number; empty: the user who started the server.
    /// If that is root, only loopback addresses are served, unless this says `root`.
    pub user: String,
    /// Group to run as; empty: the group of `user`.
    pub group: String,
    /// Answer to `version.bind` in class CH; empty: REFUSED.
    pub version: String,
    /// Answer to `id.server` in class CH; empty: REFUSED.
    pub identity: String,
    /// Identifier of this server in EDNS (RFC 5001): hexadecimal digits, or text after `ascii_`; empty: none.
    pub nsid: String,
    /// Bytes of a UDP response at most, if the query allows as many. Valid: 512..=4096.
    pub max_udp: u16,
    /// Server cookies (RFC 7873) in the form of RFC 9018.
    pub cookies: bool,
    /// Secrets of cookies, of 32 hexadecimal digits: the one in use, then the one before it. Servers of one
    /// anycast address share them. Empty: one is drawn at each start.
    pub cookie_secrets: Vec<String>,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: vec![(Ipv4Addr::UNSPECIFIED, 53).into(), (Ipv6Addr::UNSPECIFIED, 53).into()],
            workers: 0,
            user: String::new(),
            group: String::new(),
            version: String::new(),
            identity: String::new(),
            nsid: String::new(),
            // DNS flag day 2020: fits the MTU of every usual path.
            max_udp: 1232,
            cookies: true,
            cookie_secrets: Vec::new(),
        }
    }
}

/// The log of queries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// One of this number of queries is logged, by each thread; 0: none; 1: all.
    pub queries: u32,
    /// Unix socket of a collector of dnstap messages: all queries and responses; empty: none.
    pub dnstap: PathBuf,
}

/// Limits of TCP connections (RFC 7766).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tcp {
    /// Connections at most. A newcomer beyond it takes the place of the connection that has been idle for the
    /// longest time, of the address with most connections.
    pub connections: usize,
    /// Connections of an IPv4 address or an IPv6 /64 network at most.
    pub connections_per_address: usize,
    /// Bytes of queries and responses that all connections hold.
    pub memory: u64,
    /// Time without a query, in milliseconds, after which a connection is closed.
    pub idle_timeout_ms: u64,
    /// Time from the first byte of a query to its last, in milliseconds.
    pub message_timeout_ms: u64,
    /// Time, in milliseconds, in which a client must take what was to be sent at its begin.
    pub write_timeout_ms: u64,
}

impl Default for Tcp {
    fn default() -> Self {
        Self {
            connections: 4096,
            connections_per_address: 256,
            memory: 128 << 20,
            idle_timeout_ms: 10_000,
            message_timeout_ms: 5_000,
            write_timeout_ms: 10_000,
        }
    }
}

/// Limits of UDP responses, against amplification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimit {
    /// Responses of one kind to one network in a second, all workers together; 0: no limit. The kinds are:
    /// the records of a name and type; the names below one delegation or alias of a tree; the missing types
    /// of a name; the names made of one wildcard; the missing names of a zone; all errors.
    pub responses_per_second: u32,
    /// Of responses beyond the limit, one of this number is sent truncated, so that a client behind a forged
    /// address can ask over TCP; the others are dropped. 0: none is sent; 1: all are.
    pub slip: u32,
    /// Bits of an IPv4 address that name a network.
    pub ipv4_prefix: u8,
    /// Bits of an IPv6 address that name a network.
    pub ipv6_prefix: u8,
    /// Kinds and networks that are counted at one time, all workers together.
    pub entries: usize,
    /// Networks without limit. The loopback networks cannot be forged from outside.
    pub allow: Vec<Network>,
}

impl Default for RateLimit {
    fn default() -> Self {
        Self {
            responses_per_second: 200,
            slip: 2,
            ipv4_prefix: 24,
            ipv6_prefix: 56,
            entries: 1 << 18,
            allow: vec![
                Network::new(Ipv4Addr::new(127, 0, 0, 0).into(), 8),
                Network::new(Ipv6Addr::LOCALHOST.into(), 128),
            ],
        }
    }
}

/// Socket for `hashlane dns control`.
pub type Control = config::Control<NameServer>;

/// The name server, for the default place of its control socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameServer;

impl Service for NameServer {
    const NAME: &'static str = "hashlane-dns";
}

/// Limits of zone files, for those that others write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ZoneFiles {
    /// Most bytes of a zone file and the files that it includes, each counted as often as it is included.
    pub max_bytes: u64,
    /// Most records that the `$GENERATE` lines of a zone make together; 0: `$GENERATE` is refused. 65,536 are
    /// the addresses of an IPv4 /16.
    pub max_generated: u64,
}

impl Default for ZoneFiles {
    fn default() -> Self {
        let Options { max_bytes, max_generated, .. } = Options::default();
        Self { max_bytes, max_generated }
    }
}

/// Transfers of zones, from and to other servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Transfer {
    /// Folder of the zones that were received, which the user of the server writes. Zones with `primaries`
    /// need it.
    pub folder: PathBuf,
    /// Bytes of the records of one transfer at most.
    pub max_bytes: u64,
    /// Time that a transfer takes at most, in seconds.
    pub timeout_s: u64,
    /// Transfers from primaries at the same time.
    pub parallel: usize,
    /// Bytes of differences that are kept of each zone for IXFR; 0: none.
    pub history: u64,
    /// Members of a catalog zone at most.
    pub max_members: usize,
    /// Servers that may transfer all zones, in addition to each zone's `allow_transfer`.
    pub allow: Vec<Access>,
    /// Servers that are told when a zone changes, in addition to each zone's `notify`.
    pub notify: Vec<Peer>,
}

impl Default for Transfer {
    fn default() -> Self {
        Self {
            folder: PathBuf::new(),
            max_bytes: 8 << 30,
            timeout_s: 3600,
            parallel: 8,
            history: 64 << 20,
            max_members: 100_000,
            allow: Vec::new(),
            notify: Vec::new(),
        }
    }
}

/// A key that signs messages (TSIG, RFC 8945).
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TsigKey {
    /// Name, the same on both servers.
    pub name: String,
    /// Algorithm: `hmac-sha256`, `hmac-sha384`, `hmac-sha512` or `hmac-sha1`.
    pub algorithm: String,
    /// Secret in Base64.
    pub secret: String,
    /// File with the secret in Base64, relative to the folder of the configuration, in place of `secret`.
    pub secret_file: PathBuf,
}

/// Without the secret.
impl std::fmt::Debug for TsigKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TsigKey({} {})", self.name, self.algorithm)
    }
}

/// A zone: from a file, or from the servers that have it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ZoneFile {
    /// Name of the zone.
    pub name: String,
    /// Its zone file, relative to the folder of the configuration; empty for a zone with `primaries`.
    pub file: PathBuf,
    /// Servers from which the zone is transferred, in the order in which they are asked.
    pub primaries: Vec<Peer>,
    /// Servers that may say that the zone has changed, in addition to the addresses of its primaries.
    pub allow_notify: Vec<Access>,
    /// Servers that may transfer the zone.
    pub allow_transfer: Vec<Access>,
    /// Servers that are told when the zone changes.
    pub notify: Vec<Peer>,
    /// Part of the zone in catalogs (RFC 9432): `follow` serves its members, too, from the same primaries and
    /// with the same rights; `produce` makes it of all other zones, without a file or primaries.
    pub catalog: String,
}

impl ZoneFile {
    /// A catalog whose members are served.
    pub(crate) fn follows(&self) -> bool {
        self.catalog == "follow"
    }

    /// A catalog that lists the other zones.
    pub(crate) fn is_produced(&self) -> bool {
        self.catalog == "produce"
    }

    /// A zone from a file.
    pub fn new(name: impl Into<String>, file: impl Into<PathBuf>) -> Self {
        Self { name: name.into(), file: file.into(), ..Self::default() }
    }
}
