//! The table `[transfer]`.

use super::{Access, ConfigError, Peer, invalid};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::path::PathBuf;

/// Transfers of zones, from and to other servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Transfer {
    /// Folder of the zones that were received, which the user of the server writes. Zones with `primaries`
    /// need it.
    pub folder: PathBuf,
    /// Addresses that transfers, their SOA queries and NOTIFY are sent from: at most one of IPv4 and one of
    /// IPv6. Without one of a family, the kernel chooses it by the route.
    pub source: Vec<IpAddr>,
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
            source: Vec::new(),
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

impl Transfer {
    /// Checks the addresses that messages are sent from.
    ///
    /// # Errors
    /// Two are of one family, or one is no address of a host.
    pub(super) fn check_source(&self) -> Result<(), ConfigError> {
        let key = "transfer.source";
        if let Some(address) = self.source.iter().find(|ip| ip.is_unspecified() || ip.is_multicast()) {
            return Err(invalid(key, format!("has {address}; name an address of this host, or none")));
        }
        match self.source.iter().filter(|address| address.is_ipv4()).count() {
            v4 if v4 > 1 || self.source.len() - v4 > 1 => {
                Err(invalid(key, "has two addresses of one family; name at most one of IPv4 and one of IPv6"))
            }
            _ => Ok(()),
        }
    }
}
