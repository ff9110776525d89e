//! Addresses of forwarders.

use std::env;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;

/// Default port of a forwarder, over TCP and UDP.
pub const DEFAULT_PORT: u16 = 6363;

/// Environment variable with the transport, as for NFD's clients.
pub const VARIABLE: &str = "NDN_CLIENT_TRANSPORT";

/// Name of the service in the paths of its socket.
const SERVICE: &str = "nfd";

/// Address of a forwarder.
///
/// Text form: `unix:///run/nfd/nfd.sock`, `tcp://host:6363`, `udp://host:6363`. The schemes `tcp4`, `tcp6`,
/// `udp4` and `udp6` are accepted, too, and the port is optional.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A Unix stream socket.
    Unix(PathBuf),
    /// TCP.
    Tcp {
        /// Host name or IP address.
        host: String,
        /// Port.
        port: u16,
    },
    /// UDP.
    Udp {
        /// Host name or IP address.
        host: String,
        /// Port.
        port: u16,
    },
}

impl Transport {
    /// The transport of the environment variable [`VARIABLE`]. Without it, the first existing socket of the
    /// [default paths](hashlane_link::unix::places): this user's before the host's.
    ///
    /// # Errors
    /// The variable is not a transport.
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
        let (scheme, rest) = text.split_once("://").ok_or_else(|| error("the scheme is missing"))?;
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
            "ws" | "wss" => Err(error("WebSockets are for browsers; this client does not support them")),
            _ => Err(error("the scheme is not one of unix, tcp and udp")),
        }
    }
}

/// Host and port of `text`; an IPv6 address is in brackets.
fn endpoint(text: &str) -> Result<(String, u16), &'static str> {
    let text = text.strip_suffix('/').unwrap_or(text);
    let (host, after) = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or("a bracket is not closed")?,
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    if host.is_empty() || host.contains('/') {
        return Err("the host is missing");
    }
    match after.strip_prefix(':') {
        None if after.is_empty() => Ok((host.to_owned(), DEFAULT_PORT)),
        None => Err("no port after the host"),
        Some(port) => {
            let port = port.parse().ok().filter(|&port| port != 0);
            Ok((host.to_owned(), port.ok_or("the port is not a number from 1 to 65535")?))
        }
    }
}

/// Writes the error of a module that a connection does not reach, and the next step.
pub(crate) fn write_not_local(module: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(
        f,
        "the forwarder answers for {module} on its own host only, and takes UDP for another host: connect to its Unix \
         socket (unix:///PATH), or on that host to tcp://localhost"
    )
}

/// Error of a text that is not a transport.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a transport: {rule}; write unix:///PATH, tcp://HOST:PORT or udp://HOST:PORT")]
pub struct TransportError {
    text: String,
    rule: &'static str,
}

/// Error of a connection.
#[derive(Debug)]
pub struct ConnectError {
    /// Address of the forwarder.
    pub transport: Transport,
    /// Error of the system.
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
            io::ErrorKind::ConnectionRefused => f.write_str("connection refused")?,
            io::ErrorKind::PermissionDenied => {
                return f.write_str(
                    "permission denied; run as a user with write permission, or as the one who started the forwarder",
                );
            }
            _ => write!(f, "{error}")?,
        }
        f.write_str(
            "; is a forwarder running? start one with `hashlane ndn run`, or give its address with --connect",
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
        assert!(error.to_string().contains("not one of unix, tcp and udp"), "{error}");
        let error = "ws://router.example:9696".parse::<Transport>().unwrap_err().to_string();
        assert!(error.contains("WebSockets") && error.contains("unix:///PATH, tcp://HOST:PORT"), "{error}");
    }
}
