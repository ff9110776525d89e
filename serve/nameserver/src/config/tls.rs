//! The table `[tls]`: DNS over TLS, and transfers from primaries over it.

use super::invalid;
use hashlane_daemon::config::ConfigError;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// DNS over TLS (RFC 7858), and transfers over it (RFC 9103). Files are PEM, their paths relative to the
/// folder of the configuration. The user of the server reads them at the start and at each reload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// Addresses and ports for TLS; empty: none. The port of DNS over TLS is 853.
    pub listen: Vec<SocketAddr>,
    /// File of the server's certificate, and of those that lead to its issuer.
    pub certificate: PathBuf,
    /// File of the private key of that certificate.
    pub key: PathBuf,
    /// File of the certificates that issue the primaries'.
    pub roots: PathBuf,
}

impl Tls {
    /// The paths, each with its key.
    pub(super) fn paths(&self) -> [(&'static str, &PathBuf); 3] {
        [("tls.certificate", &self.certificate), ("tls.key", &self.key), ("tls.roots", &self.roots)]
    }

    /// Makes the paths relative to a folder.
    pub(super) fn set_folder(&mut self, folder: &Path) {
        let paths = [&mut self.certificate, &mut self.key, &mut self.roots];
        for path in paths.into_iter().filter(|path| !path.as_os_str().is_empty()) {
            *path = folder.join(&*path);
        }
    }

    /// Checks the values, beside the addresses that the server listens on without TLS.
    ///
    /// # Errors
    /// A file is missing, or an address has another use.
    pub(super) fn check(&self, others: &[SocketAddr]) -> Result<(), ConfigError> {
        // The kernel chooses different ports in place of 0.
        let mut listen = self.listen.iter().filter(|address| address.port() != 0);
        if let Some(address) = listen.find(|address| others.contains(address)) {
            let why = format!("has {address}, where the server listens without TLS; use port 853 here");
            return Err(invalid("tls.listen", why));
        }
        let files = self.paths().into_iter().take(2);
        match files.filter(|_| !self.listen.is_empty()).find(|(_, path)| path.as_os_str().is_empty()) {
            Some((key, _)) => Err(invalid(key, "is missing, but `tls.listen` names an address")),
            None => Ok(()),
        }
    }
}
