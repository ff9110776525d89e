//! The tables of the configuration.

use super::{ConfigError, MAX_TEXT, Network, invalid};
use data_encoding::HEXLOWER_PERMISSIVE;
use hashlane_daemon::config::{self, Service};
use hashlane_hash::scheme::Key;
use hashlane_zone_file::Options;
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

/// Sockets, identity, user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// Addresses and ports for UDP and TCP. `0.0.0.0` and `[::]` stand for the addresses that the interfaces
    /// have at the start, so that each response leaves from the address of its query.
    pub listen: Vec<SocketAddr>,
    /// Threads for UDP at each address. 0: one for each core.
    pub workers: usize,
    /// Source of UDP queries.
    pub io: Io,
    /// Interfaces whose UDP queries come past the kernel's network stack (XDP), in addition to the sockets.
    pub interfaces: Vec<String>,
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
    /// Longest pause of a UDP worker before it receives while many queries arrive, in microseconds. 0: no
    /// pauses. Valid: at most 1000.
    pub pause_us: u64,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: vec![(Ipv4Addr::UNSPECIFIED, 53).into(), (Ipv6Addr::UNSPECIFIED, 53).into()],
            workers: 0,
            io: Io::Auto,
            interfaces: Vec::new(),
            user: String::new(),
            group: String::new(),
            version: String::new(),
            identity: String::new(),
            nsid: String::new(),
            // DNS flag day 2020: fits the MTU of every usual path.
            max_udp: 1232,
            cookies: true,
            cookie_secrets: Vec::new(),
            pause_us: 0,
        }
    }
}

/// Source of UDP queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Io {
    /// XDP on the interfaces of the configuration, or sockets where that is not possible.
    #[default]
    Auto,
    /// Sockets alone.
    Sockets,
    /// XDP on the interfaces of the configuration; the server does not start without it.
    Xdp,
}

impl FromStr for Io {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "sockets" => Ok(Self::Sockets),
            "xdp" => Ok(Self::Xdp),
            _ => Err("expected auto, sockets or xdp".to_owned()),
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

impl Server {
    /// The identifier of the server in EDNS (RFC 5001): the text after `ascii_`, or hexadecimal digits.
    ///
    /// # Errors
    /// It is neither, or longer than 255 bytes.
    pub fn nsid(&self) -> Result<Vec<u8>, ConfigError> {
        let bytes = match self.nsid.strip_prefix("ascii_") {
            Some(text) => Some(text.as_bytes().to_vec()),
            None => HEXLOWER_PERMISSIVE.decode(self.nsid.as_bytes()).ok(),
        };
        let why = "needs hexadecimal digits, such as \"6e7331\", or text after ascii_, such as \"ascii_ns1\", \
                   of at most 255 bytes";
        bytes.filter(|bytes| bytes.len() <= MAX_TEXT).ok_or_else(|| invalid("server.nsid", why))
    }

    /// The secrets of cookies (RFC 9018 §5): none, the one in use, or that and the one before it.
    ///
    /// # Errors
    /// There are more than two, or one has not 32 hexadecimal digits.
    pub fn secrets(&self) -> Result<Vec<Key>, ConfigError> {
        let key = "server.cookie_secrets";
        if self.cookie_secrets.len() > 2 {
            return Err(invalid(
                key,
                "has more than two secrets: name the one in use, then the one before it",
            ));
        }
        let one = |text: &String| {
            let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok();
            let bytes = bytes.and_then(|bytes| <[u8; 16]>::try_from(bytes).ok());
            bytes.map(Key::new).ok_or_else(|| invalid(key, "must have 32 hexadecimal digits each"))
        };
        self.cookie_secrets.iter().map(one).collect()
    }
}
