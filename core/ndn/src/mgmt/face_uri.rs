//! Face URIs: addresses of faces as text.
//!
//! ```text
//! udp4://192.0.2.1:6363   udp6://[2001:db8::1]:6363   tcp4://…   tcp6://…       canonical
//! udp://router.example    tcp://192.0.2.1             udp4://192.0.2.1         not canonical
//! ws://0.0.0.0:9696       wsclient://192.0.2.1:50000                           WebSocket listener, client
//! unix:///run/nfd.sock    fd://7                      internal://              null://
//! dev://eth0              ether://[02:00:00:00:00:01] udp4+dev://eth0:56363
//! ```
//! A canonical URI needs no lookup; the management protocol accepts no other.
//!
//! Source: NFD wiki, FaceMgmt, FaceUri.

use alloc::string::{String, ToString};
use core::fmt;
use core::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6};
use core::str::FromStr;

/// Default port of UDP and TCP faces.
pub const DEFAULT_PORT: u16 = 6363;
/// Default port of WebSocket listeners.
pub const DEFAULT_WEBSOCKET_PORT: u16 = 9696;
/// Default port of multicast groups.
pub const DEFAULT_MULTICAST_PORT: u16 = 56363;

/// Longest URI that is parsed, in bytes.
pub const MAX_LEN: usize = 1024;

/// Endpoint of a face.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FaceUri {
    /// Internet address.
    Ip {
        /// Protocol: the scheme without `4` or `6`.
        protocol: Protocol,
        /// IP version in the scheme; WebSocket schemes have none.
        version: Option<Version>,
        /// Host.
        host: Host,
        /// Port.
        port: Option<u16>,
    },
    /// Unix stream socket, by path.
    Unix(String),
    /// Connection known only by its file descriptor.
    Fd(u32),
    /// Network interface: local endpoint of an Ethernet face.
    Dev(String),
    /// Network interface and UDP port: local endpoint of a multicast face.
    UdpDev {
        /// IP version.
        version: Version,
        /// Interface.
        dev: String,
        /// Port.
        port: u16,
    },
    /// Ethernet address.
    Ether([u8; 6]),
    /// Internal face of the forwarder.
    Internal,
    /// Null face, which drops packets.
    Null,
}

/// Protocol of an Internet address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// `udp`, `udp4`, `udp6`.
    Udp,
    /// `tcp`, `tcp4`, `tcp6`.
    Tcp,
    /// `ws`: WebSocket listener.
    WebSocket,
    /// `wss`: WebSocket listener with TLS, which NFD does not have.
    WebSocketTls,
    /// `wsclient`: client of a WebSocket listener.
    WebSocketClient,
}

/// IP version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// Host of an Internet address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// Address.
    Address(IpAddr),
    /// Link-local address, or multicast group of a link, and its interface.
    LinkLocal(Ipv6Addr, String),
    /// Name to resolve.
    Name(String),
}

impl Host {
    /// Address; `None` for a name.
    pub fn address(&self) -> Option<IpAddr> {
        match self {
            Self::Address(address) => Some(*address),
            Self::LinkLocal(address, _) => Some(IpAddr::V6(*address)),
            Self::Name(_) => None,
        }
    }
}

impl FaceUri {
    /// Canonical URI of an address. The scope of an IPv6 address becomes its interface.
    pub fn from_address(protocol: Protocol, address: SocketAddr) -> Self {
        let host = match address {
            SocketAddr::V6(v6) if v6.scope_id() != 0 => Host::LinkLocal(*v6.ip(), v6.scope_id().to_string()),
            _ => Host::Address(address.ip()),
        };
        let version = protocol.has_version().then_some(Version::of(address.ip()));
        Self::Ip { protocol, version, host, port: Some(address.port()) }
    }

    /// Socket address of a URI with an address and a port. `None` for a link-local address whose interface is
    /// not a number.
    pub fn socket_address(&self) -> Option<SocketAddr> {
        let Self::Ip { host, port: Some(port), .. } = self else { return None };
        match host {
            Host::LinkLocal(address, interface) => {
                let scope = interface.parse().ok()?;
                Some(SocketAddr::V6(SocketAddrV6::new(*address, *port, 0, scope)))
            }
            host => Some(SocketAddr::new(host.address()?, *port)),
        }
    }

    /// Scheme, as in FaceQueryFilter.
    pub fn scheme(&self) -> &'static str {
        match self {
            Self::Ip { protocol, version, .. } => match (protocol, version) {
                (Protocol::Udp, None) => "udp",
                (Protocol::Udp, Some(Version::V4)) => "udp4",
                (Protocol::Udp, Some(Version::V6)) => "udp6",
                (Protocol::Tcp, None) => "tcp",
                (Protocol::Tcp, Some(Version::V4)) => "tcp4",
                (Protocol::Tcp, Some(Version::V6)) => "tcp6",
                (Protocol::WebSocket, _) => "ws",
                (Protocol::WebSocketTls, _) => "wss",
                (Protocol::WebSocketClient, _) => "wsclient",
            },
            Self::Unix(_) => "unix",
            Self::Fd(_) => "fd",
            Self::Dev(_) => "dev",
            Self::UdpDev { version: Version::V4, .. } => "udp4+dev",
            Self::UdpDev { version: Version::V6, .. } => "udp6+dev",
            Self::Ether(_) => "ether",
            Self::Internal => "internal",
            Self::Null => "null",
        }
    }

    /// Canonical form: IP version in the scheme, and a port.
    ///
    /// # Errors
    /// [`FaceUriError::HostName`] if the host has to be resolved first.
    pub fn canonical(&self) -> Result<Self, FaceUriError> {
        let Self::Ip { protocol, host, port, .. } = self else { return Ok(self.clone()) };
        let address = match host {
            Host::Name(name) => return Err(FaceUriError::HostName(name.clone())),
            Host::Address(address) => *address,
            Host::LinkLocal(address, _) => IpAddr::V6(*address),
        };
        let default = match protocol {
            Protocol::WebSocket | Protocol::WebSocketTls | Protocol::WebSocketClient => {
                DEFAULT_WEBSOCKET_PORT
            }
            Protocol::Udp if address.is_multicast() => DEFAULT_MULTICAST_PORT,
            _ => DEFAULT_PORT,
        };
        Ok(Self::Ip {
            protocol: *protocol,
            version: protocol.has_version().then_some(Version::of(address)),
            host: host.clone(),
            port: Some(port.unwrap_or(default)),
        })
    }

    /// True if the URI is in canonical form.
    pub fn is_canonical(&self) -> bool {
        self.canonical().is_ok_and(|canonical| canonical == *self)
    }

    /// Replaces the host by the address that it resolved to.
    pub fn at(&self, address: IpAddr) -> Self {
        match self {
            Self::Ip { protocol, port, .. } => Self::Ip {
                protocol: *protocol,
                version: protocol.has_version().then_some(Version::of(address)),
                host: Host::Address(address),
                port: *port,
            },
            other => other.clone(),
        }
    }
}

impl Protocol {
    const fn has_version(self) -> bool {
        matches!(self, Self::Udp | Self::Tcp)
    }
}

impl Version {
    /// Version of an address.
    pub const fn of(address: IpAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }
}

impl fmt::Display for FaceUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.scheme())?;
        match self {
            Self::Ip { host, port, .. } => {
                match host {
                    Host::Address(IpAddr::V4(address)) => write!(f, "{address}")?,
                    Host::Address(IpAddr::V6(address)) => write!(f, "[{address}]")?,
                    Host::LinkLocal(address, interface) => {
                        // An interface that begins like an escaped percent sign gets one.
                        let is_ambiguous = interface.starts_with("25") && interface.len() > 2;
                        let percent = if is_ambiguous { "%25" } else { "%" };
                        write!(f, "[{address}{percent}{interface}]")?;
                    }
                    Host::Name(name) => f.write_str(name)?,
                }
                port.map_or(Ok(()), |port| write!(f, ":{port}"))
            }
            Self::Unix(path) => f.write_str(path),
            Self::Fd(number) => write!(f, "{number}"),
            Self::Dev(dev) => f.write_str(dev),
            Self::UdpDev { dev, port, .. } => write!(f, "{dev}:{port}"),
            Self::Ether([a, b, c, d, e, g]) => {
                write!(f, "[{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}]")
            }
            Self::Internal | Self::Null => Ok(()),
        }
    }
}

/// Reason for rejecting a face URI, with a hint at the right form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaceUriError {
    /// Longer than [`MAX_LEN`], or contains a control character or a space.
    #[error("a face URI has at most {MAX_LEN} characters, none of them a space or a control character")]
    NotPrintable,
    /// No `://`.
    #[error("a face URI starts with a scheme: write udp4://192.0.2.1:6363")]
    MissingScheme,
    /// Unknown scheme.
    #[error(
        "unknown scheme {0:?}: write one of udp4, udp6, tcp4, tcp6, ws, wsclient, unix, fd, dev, ether, \
         internal, null"
    )]
    UnknownScheme(String),
    /// No host.
    #[error("the host is missing: write udp4://192.0.2.1:6363")]
    MissingHost,
    /// Host is neither an address nor a name.
    #[error("{0:?} is neither an address nor a host name: write 192.0.2.1, [2001:db8::1] or router.example")]
    BadHost(String),
    /// IP version of the scheme differs from the address's.
    #[error(fmt = write_wrong_version)]
    WrongVersion {
        /// Scheme.
        scheme: &'static str,
    },
    /// Not a port.
    #[error("{0:?} is not a port: write a number from 0 to 65535")]
    BadPort(String),
    /// Wrong syntax after the scheme.
    #[error("not a URI of scheme {scheme}: write {example}")]
    BadRest {
        /// Scheme.
        scheme: &'static str,
        /// Example of the right form.
        example: &'static str,
    },
    /// Host name where an address is required.
    #[error("the host {0:?} is a name: write its address, as in udp4://192.0.2.1:6363")]
    HostName(String),
}

fn write_wrong_version(scheme: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (other, version) = if scheme.ends_with('4') { ("6", "IPv6") } else { ("4", "IPv4") };
    let base = scheme.trim_end_matches(['4', '6']);
    write!(f, "scheme {scheme} with an {version} address: write {base}{other}://")
}

impl FromStr for FaceUri {
    type Err = FaceUriError;

    fn from_str(text: &str) -> Result<Self, FaceUriError> {
        if text.len() > MAX_LEN || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(FaceUriError::NotPrintable);
        }
        let (scheme, rest) = text.split_once("://").ok_or(FaceUriError::MissingScheme)?;
        match scheme {
            "udp" => ip(Protocol::Udp, None, "udp", rest),
            "udp4" => ip(Protocol::Udp, Some(Version::V4), "udp4", rest),
            "udp6" => ip(Protocol::Udp, Some(Version::V6), "udp6", rest),
            "tcp" => ip(Protocol::Tcp, None, "tcp", rest),
            "tcp4" => ip(Protocol::Tcp, Some(Version::V4), "tcp4", rest),
            "tcp6" => ip(Protocol::Tcp, Some(Version::V6), "tcp6", rest),
            "ws" => ip(Protocol::WebSocket, None, "ws", rest),
            "wss" => ip(Protocol::WebSocketTls, None, "wss", rest),
            "wsclient" => ip(Protocol::WebSocketClient, None, "wsclient", rest),
            "unix" if rest.starts_with('/') => Ok(Self::Unix(rest.into())),
            "unix" => Err(bad_rest("unix", "unix:///run/nfd/nfd.sock")),
            "fd" => decimal(rest).map(Self::Fd).ok_or(bad_rest("fd", "fd://7")),
            "dev" => device(rest).map(Self::Dev).ok_or(bad_rest("dev", "dev://eth0")),
            "udp4+dev" => udp_device(Version::V4, "udp4+dev", "udp4+dev://eth0:56363", rest),
            "udp6+dev" => udp_device(Version::V6, "udp6+dev", "udp6+dev://eth0:56363", rest),
            "ether" => ether(rest).map(Self::Ether).ok_or(bad_rest("ether", "ether://[02:00:00:00:00:01]")),
            "internal" if rest.is_empty() => Ok(Self::Internal),
            "internal" => Err(bad_rest("internal", "internal://")),
            "null" if rest.is_empty() => Ok(Self::Null),
            "null" => Err(bad_rest("null", "null://")),
            other => Err(FaceUriError::UnknownScheme(other.chars().take(32).collect())),
        }
    }
}

fn bad_rest(scheme: &'static str, example: &'static str) -> FaceUriError {
    FaceUriError::BadRest { scheme, example }
}

/// Parses an Internet address, after its scheme.
fn ip(
    protocol: Protocol,
    version: Option<Version>,
    scheme: &'static str,
    rest: &str,
) -> Result<FaceUri, FaceUriError> {
    // A trailing slash is common, and ignored.
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let (host, port) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, "")) => (v6_host(host)?, None),
        Some((host, port)) => {
            let after_colon = port.strip_prefix(':').ok_or_else(|| FaceUriError::BadPort(port.into()))?;
            (v6_host(host)?, Some(after_colon))
        }
        None => match rest.split_once(':') {
            Some((host, port)) => (plain_host(host)?, Some(port)),
            None => (plain_host(rest)?, None),
        },
    };
    let port = match port {
        Some(port) => Some(decimal(port).ok_or_else(|| FaceUriError::BadPort(port.into()))?),
        None => None,
    };
    if let (Some(version), Some(address)) = (version, host.address())
        && Version::of(address) != version
    {
        return Err(FaceUriError::WrongVersion { scheme });
    }
    Ok(FaceUri::Ip { protocol, version, host, port })
}

fn v6_host(host: &str) -> Result<Host, FaceUriError> {
    let bad = || FaceUriError::BadHost(host.into());
    match host.split_once('%') {
        Some((address, interface)) => {
            let address: Ipv6Addr = address.parse().map_err(|_| bad())?;
            // A percent sign is written %25 in a URI.
            let interface = interface.strip_prefix("25").filter(|rest| !rest.is_empty()).unwrap_or(interface);
            let interface = device(interface).ok_or_else(bad)?;
            if is_of_one_link(address) { Ok(Host::LinkLocal(address, interface)) } else { Err(bad()) }
        }
        None => host.parse().map(|address| Host::Address(IpAddr::V6(address))).map_err(|_| bad()),
    }
}

/// True for an address that hosts on several links may have: a link-local one, or a multicast group of a link
/// or interface (RFC 4291 §2.7).
fn is_of_one_link(address: Ipv6Addr) -> bool {
    address.is_unicast_link_local()
        || matches!(address.octets(), [0xff, flags, ..] if matches!(flags & 15, 1 | 2))
}

fn plain_host(host: &str) -> Result<Host, FaceUriError> {
    if host.is_empty() {
        return Err(FaceUriError::MissingHost);
    }
    if let Ok(address) = host.parse() {
        return Ok(Host::Address(IpAddr::V4(address)));
    }
    let is_label = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let is_number = host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if host.len() > 253 || is_number || !host.bytes().all(is_label) {
        return Err(FaceUriError::BadHost(host.into()));
    }
    Ok(Host::Name(host.into()))
}

/// Parses a decimal number without sign and leading zeros.
fn decimal<N: FromStr>(text: &str) -> Option<N> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| plain)
}

fn device(name: &str) -> Option<String> {
    let plain = |c: char| !matches!(c, '/' | ':' | '[' | ']' | '%');
    (!name.is_empty() && name.chars().all(plain)).then(|| name.into())
}

fn udp_device(
    version: Version,
    scheme: &'static str,
    example: &'static str,
    rest: &str,
) -> Result<FaceUri, FaceUriError> {
    let parsed = rest.rsplit_once(':').and_then(|(dev, port)| Some((device(dev)?, decimal(port)?)));
    let (dev, port) = parsed.ok_or(bad_rest(scheme, example))?;
    Ok(FaceUri::UdpDev { version, dev, port })
}

fn ether(rest: &str) -> Option<[u8; 6]> {
    let mut address = [0; 6];
    let mut parts = rest.strip_prefix('[')?.strip_suffix(']')?.split(':');
    for byte in &mut address {
        let part = parts.next().filter(|part| matches!(part.len(), 1 | 2))?;
        *byte = u8::from_str_radix(part, 16).ok().filter(|_| !part.starts_with('+'))?;
    }
    parts.next().is_none().then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<FaceUri, FaceUriError> {
        text.parse()
    }

    #[test]
    fn canonical_uris_come_back_as_they_were() {
        for text in [
            "udp4://192.0.2.1:6363",
            "udp6://[2001:db8::1]:6363",
            "udp6://[fe80::1%eth0]:6363",
            "udp4://224.0.23.170:56363",
            "udp6://[ff02::1234%eth0]:56363",
            "udp6://[::ffff:192.0.2.1]:6363",
            "tcp4://192.0.2.1:20",
            "tcp6://[::1]:65535",
            "ws://0.0.0.0:9696",
            "ws://[::]:9696",
            "wss://[::]:9697",
            "wsclient://127.0.0.1:50000",
            "unix:///run/nfd/nfd.sock",
            "fd://20",
            "dev://eth0",
            "udp4+dev://eth0:56363",
            "udp6+dev://eth0:56363",
            "ether://[08:00:27:01:01:01]",
            "internal://",
            "null://",
        ] {
            let uri = parse(text).unwrap();
            assert!(uri.is_canonical(), "{text}");
            assert_eq!(uri.to_string(), text);
            assert!(text.starts_with(uri.scheme()));
        }
    }

    #[test]
    fn other_uris_are_made_canonical() {
        for (text, canonical) in [
            ("udp://192.0.2.1", "udp4://192.0.2.1:6363"),
            ("udp4://192.0.2.1", "udp4://192.0.2.1:6363"),
            ("udp://224.0.23.170", "udp4://224.0.23.170:56363"),
            ("udp://[2001:DB8:0::1]:7000", "udp6://[2001:db8::1]:7000"),
            ("udp6://[fe80::1%25eth0]", "udp6://[fe80::1%eth0]:6363"),
            ("udp6://[ff02::1234%eth0]", "udp6://[ff02::1234%eth0]:56363"),
            ("tcp://192.0.2.1/", "tcp4://192.0.2.1:6363"),
            ("ws://192.0.2.1", "ws://192.0.2.1:9696"),
            ("ether://[8:0:27:1:1:1]", "ether://[08:00:27:01:01:01]"),
        ] {
            let uri = parse(text).unwrap();
            assert_eq!(uri.canonical().unwrap().to_string(), canonical);
        }
        let named = parse("udp://router.example:7000").unwrap();
        assert_eq!(named.canonical(), Err(FaceUriError::HostName("router.example".into())));
        let found = named.at("2001:db8::7".parse().unwrap());
        assert_eq!(found.to_string(), "udp6://[2001:db8::7]:7000");
        assert_eq!(found.socket_address(), "[2001:db8::7]:7000".parse().ok());
        let back = FaceUri::from_address(Protocol::Udp, found.socket_address().unwrap());
        assert_eq!(back, found);
    }

    #[test]
    fn errors_say_what_to_write() {
        for (text, say) in [
            ("192.0.2.1:6363", "starts with a scheme: write udp4://"),
            ("http://192.0.2.1", "unknown scheme \"http\""),
            ("udp4://", "the host is missing"),
            ("udp4://192.0.2.1:port", "\"port\" is not a port"),
            ("udp4://192.0.2.1:65536", "is not a port"),
            ("udp4://192.0.2.1:06363", "is not a port"),
            ("udp4://192.0.2.1:+63", "is not a port"),
            ("udp6://[2001:db8::1]6363", "is not a port"),
            ("udp4://192.0.2.256", "neither an address nor a host name"),
            ("udp4://a b", "none of them a space"),
            ("udp4://[2001:db8::1]:6363", "with an IPv6 address: write udp6://"),
            ("tcp6://192.0.2.1:6363", "with an IPv4 address: write tcp4://"),
            ("udp6://[2001:db8::1%eth0]:1", "neither an address"),
            ("udp6://[ff0e::1%eth0]:1", "neither an address"),
            ("unix://run/nfd.sock", "write unix:///run/nfd/nfd.sock"),
            ("fd://-1", "write fd://7"),
            ("ether://[1:2:3:4:5]", "write ether://"),
            ("internal://x", "write internal://"),
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(say), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_written_so_that_it_reads_the_same(
            text in "(udp|udp4|ws|dev|fd|ether|unix|udp4[+]dev)://[\\[\\]0-9a-f:.%/a-z]{0,24}|tcp6://\\[fe80::1%(25)?[0-9a]{1,4}\\]",
        ) {
            if let Ok(uri) = parse(&text) {
                prop_assert_eq!(parse(&uri.to_string()).unwrap(), uri.clone());
                if let Ok(canonical) = uri.canonical() {
                    prop_assert!(canonical.is_canonical());
                }
            }
        }
    }
}
