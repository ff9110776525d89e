//! The table `[faces.websocket]` of the configuration.

use hashlane_daemon::config::ConfigError;
use hashlane_tls::{Files, Identity};
use serde::{Deserialize, Serialize};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

/// Default port.
const PORT: u16 = 9696;

/// WebSocket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebSocket {
    /// Addresses to listen on, without TLS.
    pub listen: Vec<SocketAddr>,
    /// True if connections from loopback addresses are local, as for TCP. Only without a proxy in front: it
    /// makes the whole Internet a local user. Requests with the headers of one are never local.
    pub loopback: bool,
    /// Origins whose pages may give commands over a loopback connection, such as `https://app.example`, in
    /// addition to the origins of a loopback host.
    pub origins: Vec<String>,
    /// WebSocket with TLS (`wss`).
    pub tls: WebSocketTls,
}

impl Default for WebSocket {
    fn default() -> Self {
        let listen = vec![(Ipv4Addr::UNSPECIFIED, PORT).into(), (Ipv6Addr::UNSPECIFIED, PORT).into()];
        Self { listen, loopback: false, origins: Vec::new(), tls: WebSocketTls::default() }
    }
}

/// WebSocket with TLS: pages that were loaded over HTTPS may use no other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebSocketTls {
    /// Addresses to listen on; empty: none.
    pub listen: Vec<SocketAddr>,
    /// File of the server's certificate, and of those that lead to its issuer, in PEM. The user of the
    /// forwarder reads it at the start and at each reload.
    pub certificate: PathBuf,
    /// File of the private key of that certificate, in PEM.
    pub key: PathBuf,
}

impl WebSocketTls {
    /// Checks that both files are named if an address is.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let files = [("certificate", &self.certificate), ("key", &self.key)];
        match files.into_iter().find(|(_, path)| !self.listen.is_empty() && path.as_os_str().is_empty()) {
            Some((name, _)) => Err(ConfigError::value(
                format!("faces.websocket.tls.{name}"),
                "is missing, but `faces.websocket.tls.listen` names an address",
            )),
            None => Ok(()),
        }
    }

    /// Reads the files; `None` if no address is named. Also returns a warning, if there is one.
    ///
    /// # Errors
    /// A file cannot be read or has none, or the key is not the certificate's.
    pub(crate) fn identity(&self) -> io::Result<Option<(Identity, Option<String>)>> {
        if self.listen.is_empty() { Ok(None) } else { self.read().map(Some) }
    }

    /// A warning about files that are named without an address to listen on, and of what is wrong with them.
    pub(crate) fn unused(&self) -> Option<String> {
        if !self.listen.is_empty() || self.certificate.as_os_str().is_empty() {
            return None;
        }
        let why = "no WebSocket has TLS, as `faces.websocket.tls.listen` names no address";
        Some(match self.read() {
            Ok(_) => format!("`faces.websocket.tls.certificate` is unused: {why}"),
            Err(error) => format!("{error}; {why}"),
        })
    }

    /// Reads the files.
    fn read(&self) -> io::Result<(Identity, Option<String>)> {
        let files = Files {
            certificate: ("faces.websocket.tls.certificate", &self.certificate),
            key: ("faces.websocket.tls.key", &self.key),
        };
        // Browsers name http/1.1, in which the handshake of a WebSocket is written.
        let identity = Identity::read(&files, &[b"http/1.1"])?;
        let path = self.certificate.display();
        let warning = identity.warning();
        let warning = warning.map(|warning| format!("`faces.websocket.tls.certificate` {path}: {warning}"));
        Ok((identity, warning))
    }

    /// Reads the files again, for a process that may have given up the right to do so: if it may not, the
    /// certificate and key that it has stay, and the warning says what to do.
    ///
    /// # Errors
    /// The errors of [`identity`](Self::identity), except a lack of permissions.
    pub(crate) fn identity_again(&self) -> io::Result<(Option<Identity>, Option<String>)> {
        match self.identity() {
            Ok(found) => Ok(found.map_or((None, None), |(identity, warning)| (Some(identity), warning))),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let why = "the certificate and key of TLS stay as they are; make both files readable for a group \
                           of the forwarder's user, or restart";
                Ok((None, Some(format!("{error}: {why}"))))
            }
            Err(error) => Err(error),
        }
    }
}
