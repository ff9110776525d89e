//! Where the forwarder is.

use std::env;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;

/// The port of a forwarder, over TCP and UDP.
pub const DEFAULT_PORT: u16 = 6363;

/// The variable that names the transport, as NFD's clients read it.
pub const VARIABLE: &str = "NDN_CLIENT_TRANSPORT";

/// By which forwarders name their socket.
const SERVICE: &str = "nfd";

/// A way to a forwarder.
///
/// As text: `unix:///run/nfd/nfd.sock`, `tcp://host:6363`, `udp://host:6363`; `tcp4`, `tcp6`, `udp4` and `udp6` are read too, and the port
/// may be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A Unix stream socket.
    Unix(PathBuf),
    /// TCP.
    Tcp {
        /// A name or an address.
        host: String,
        /// The port.
        port: u16,
    },
    /// UDP.
    Udp {
        /// A name or an address.
        host: String,
        /// The port.
        port: u16,
    },
}

impl Transport {
    /// The one that the environment names, or else the first socket that is there of [those](hashlane_link::unix::places) at which forwarders listen: this
    /// user's own before the host's.
    ///
    /// # Errors
    /// What is wrong with the environment's.
    pub fn from_environment() -> Result<Self, TransportError> {
        if let Ok(text) = env::var(VARIABLE)
            && !text.is_empty()
        {
            return text.parse();
        }
        Ok(Self::Unix(hashlane_link::unix::find(SERVICE)))
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, host, port) = match self {
            Self::Unix(path) => return write!(f, "unix://{}", path.display()),
            Self::Tcp { host, port } => ("tcp", host, port),
            Self::Udp { host, port } => ("udp", host, port),
        };
        if host.contains(':') {
            write!(f, "{scheme}://[{host}]:{port}")
        } else {
            write!(f, "{scheme}://{host}:{port}")
        }
    }
}

impl FromStr for Transport {
    type Err = TransportError;

    fn from_str(text: &str) -> Result<Self, TransportError> {
        let error = |rule| TransportError { text: text.to_owned(), rule };
        let (scheme, rest) = text.split_once("://").ok_or_else(|| error("it has no scheme"))?;
        match scheme {
            "unix" if rest.starts_with('/') => Ok(Self::Unix(rest.into())),
            "unix" => Err(error("the path of the socket does not start with /")),
            "tcp" | "tcp4" | "tcp6" => {
                let (host, port) = endpoint(rest).map_err(error)?;
                Ok(Self::Tcp { host, port })
            }
            "udp" | "udp4" | "udp6" => {
                let (host, port) = endpoint(rest).map_err(error)?;
                Ok(Self::Udp { host, port })
            }
            "ws" | "wss" => Err(error("WebSockets are for browsers, and this client has none")),
            _ => Err(error("its scheme is none of unix, tcp and udp")),
        }
    }
}

/// The host and the port of `text`; an IPv6 address stands in brackets.
fn endpoint(text: &str) -> Result<(String, u16), &'static str> {
    let text = text.strip_suffix('/').unwrap_or(text);
    let (host, after) = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or("a bracket is not closed")?,
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    if host.is_empty() || host.contains('/') {
        return Err("it has no host");
    }
    match after.strip_prefix(':') {
        None if after.is_empty() => Ok((host.to_owned(), DEFAULT_PORT)),
        None => Err("what follows the host is no port"),
        Some(port) => {
            let port = port.parse().ok().filter(|&port| port != 0);
            Ok((host.to_owned(), port.ok_or("the port is not a number from 1 to 65535")?))
        }
    }
}

/// A text that is no transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransportError {
    text: String,
    rule: &'static str,
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, rule } = self;
        write!(f, "{text:?} is no transport: {rule}; write unix:///PATH, tcp://HOST:PORT or udp://HOST:PORT")
    }
}

impl Error for TransportError {}

/// A forwarder that does not answer.
#[derive(Debug)]
pub struct ConnectError {
    /// Where it should be.
    pub transport: Transport,
    /// What the system says.
    pub error: io::Error,
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { transport, error } = self;
        write!(f, "cannot connect to {transport}: ")?;
        match error.kind() {
            io::ErrorKind::NotFound if matches!(transport, Transport::Unix(_)) => {
                f.write_str("no such file")?;
            }
            io::ErrorKind::ConnectionRefused => f.write_str("nobody listens there")?,
            io::ErrorKind::PermissionDenied => {
                return f.write_str(
                    "permission denied; run as a user who may write to it, or as the one who started the forwarder",
                );
            }
            _ => write!(f, "{error}")?,
        }
        f.write_str(
            "; is a forwarder running? start one with `hashlane ndn run`, or say where it is with --connect",
        )
    }
}

impl Error for ConnectError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_what_it_reads() {
        for (text, canonical) in [
            ("unix:///run/nfd/nfd.sock", "unix:///run/nfd/nfd.sock"),
            ("tcp://router.example", "tcp://router.example:6363"),
            ("udp4://10.0.0.1:7000", "udp://10.0.0.1:7000"),
            ("tcp6://[2001:db8::1]:6363/", "tcp://[2001:db8::1]:6363"),
        ] {
            assert_eq!(text.parse::<Transport>().unwrap().to_string(), canonical);
        }
    }

    #[test]
    fn refuses_what_is_no_transport() {
        for text in ["", "/run/nfd.sock", "unix://nfd.sock", "tcp://", "tcp://:1", "tcp://a:0", "tcp://a:b"] {
            assert!(text.parse::<Transport>().is_err(), "{text}");
        }
        let error = "ether://[01:00:5e:00:17:aa]".parse::<Transport>().unwrap_err();
        assert!(error.to_string().contains("none of unix, tcp and udp"), "{error}");
        let error = "ws://router.example:9696".parse::<Transport>().unwrap_err().to_string();
        assert!(error.contains("WebSockets") && error.contains("unix:///PATH, tcp://HOST:PORT"), "{error}");
    }
}
