//! The table `[transfer]`.

use super::{Access, Peer};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

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
