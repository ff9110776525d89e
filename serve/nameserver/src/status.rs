//! Reports of a server: what `hashlane dns control` gets as JSON.

use crate::counters::Sums;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Response code of a secondary that has taken a NOTIFY.
const TAKEN: &str = "NOERROR";

/// State of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Version of the program.
    pub version: String,
    /// Process id.
    pub pid: u32,
    /// Seconds since the start.
    pub uptime_s: u64,
    /// Addresses that the server listens on, by UDP and TCP.
    pub listen: Vec<SocketAddr>,
    /// Addresses that it listens on by TLS.
    #[serde(default)]
    pub listen_tls: Vec<SocketAddr>,
    /// End of the validity of the certificate, in seconds since 1970.
    #[serde(default)]
    pub certificate_expires: Option<u64>,
    /// UDP threads at each address.
    pub workers: usize,
    /// Interfaces whose UDP queries come by XDP.
    #[serde(default)]
    pub interfaces: Vec<InterfaceStatus>,
    /// Open TCP connections.
    pub connections: u64,
    /// Reloads since the start.
    pub reloads: Reloads,
    /// Reason for which the last reload has refused the configuration; the one before it stays in effect.
    #[serde(default)]
    pub refused: Option<String>,
    /// Progress of the start; none once all zones are loaded.
    #[serde(default)]
    pub loading: Option<Loading>,
    /// The zones.
    pub zones: Vec<ZoneStatus>,
}

/// State of an interface that was opened for XDP.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfaceStatus {
    /// Name of the interface.
    pub name: String,
    /// Place of the program: `native, zero-copy`, `native, copying` or `generic, copying`.
    pub mode: String,
    /// Receive queues, with a thread each.
    pub queues: usize,
    /// Its state.
    pub state: InterfaceState,
    /// Times that it went down or was removed.
    pub outages: u64,
}

/// State of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum InterfaceState {
    /// Queries come by XDP.
    #[default]
    Up,
    /// No packets come until it is up again.
    Down,
    /// It was removed. One with its name gets its queries by sockets, until the server is started again.
    Removed,
}

/// Progress of a server that loads its zones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loading {
    /// Zones that were loaded from their files, or from the disk, or could not be.
    pub loaded: usize,
    /// Zones that are known so far: members of a catalog are once that is loaded.
    pub zones: usize,
}

/// State of a zone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneStatus {
    /// Name of the zone.
    pub name: String,
    /// Its zone file.
    pub file: PathBuf,
    /// Servers from which it is transferred, in the order in which they are asked.
    #[serde(default)]
    pub primaries: Vec<String>,
    /// The followed catalog that lists it; empty: the zone is one of the configuration, or was added.
    #[serde(default)]
    pub catalog: String,
    /// The `[[group]]` whose servers a member of a catalog has; empty: the catalog's.
    #[serde(default)]
    pub group: String,
    /// Serial number in service; none: the zone was never loaded, and queries get SERVFAIL.
    pub serial: Option<u32>,
    /// Records.
    pub records: u64,
    /// Bytes of memory.
    pub memory: u64,
    /// Time of the last load that succeeded, in seconds since 1970.
    pub loaded: u64,
    /// Duration of that load in milliseconds.
    pub took_ms: u64,
    /// Queries for names in the zone since the start.
    pub queries: u64,
    /// Warnings of that load.
    pub warnings: Vec<String>,
    /// Error of the last load, if it failed; the data of the one before it stay in service.
    pub error: Option<String>,
    /// Transfers of a zone with primaries.
    #[serde(default)]
    pub transfer: Option<TransferStatus>,
    /// Outcomes of the last NOTIFY to each secondary that is told of changes, once there is one.
    #[serde(default)]
    pub notify: Vec<NotifyStatus>,
}

impl ZoneStatus {
    /// True if the zone needs attention: it has an error, its primaries have not answered, or a secondary has
    /// not taken a NOTIFY.
    pub fn is_failing(&self) -> bool {
        let has_failures = self.transfer.as_ref().is_some_and(|transfer| transfer.failures > 0);
        self.error.is_some() || has_failures || self.notify.iter().any(|told| !told.is_taken())
    }
}

/// Outcome of the last NOTIFY to a secondary.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotifyStatus {
    /// Address of the secondary.
    pub secondary: String,
    /// Serial number of the version that it was told of.
    pub serial: u32,
    /// Response code; `None`: it has not answered, however often it was told.
    pub answer: Option<String>,
}

impl NotifyStatus {
    /// True if the secondary has taken the NOTIFY.
    pub fn is_taken(&self) -> bool {
        self.answer.as_deref() == Some(TAKEN)
    }
}

/// State of the transfers of a zone from its primaries. Times are in seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransferStatus {
    /// Address of the primary that has answered last.
    pub primary: Option<String>,
    /// Time of that answer.
    pub checked: Option<u64>,
    /// Time of the next question.
    pub next: u64,
    /// Time at which the zone expires, unless a primary answers; none without data in service.
    pub expires: Option<u64>,
    /// Questions in a row without an answer of use.
    pub failures: u64,
    /// Reason for which the last question had no answer of use.
    pub error: Option<String>,
    /// Reason for which the version in service is not on the disk.
    #[serde(default)]
    pub not_kept: Option<String>,
}

/// Outcome of a refresh that was waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refreshed {
    /// Serial number in service.
    pub serial: Option<u32>,
    /// Address of the primary that has answered.
    pub primary: Option<String>,
    /// `AXFR` or `IXFR`, if another version was transferred; none if the one in service is the newest.
    pub how: Option<String>,
    /// Reason for which no primary has given an answer of use.
    pub error: Option<String>,
    /// Reason for which the version in service is not on the disk: a restart would serve an older one.
    #[serde(default)]
    pub not_kept: Option<String>,
}

/// Answers to a NOTIFY that was waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Response codes by address: `NOERROR` from a secondary that has taken it; or the reason for none.
    pub secondaries: BTreeMap<String, String>,
}

/// Transfers from primaries and to secondaries since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Transfers {
    /// Versions of zones that were received and put in service.
    pub received: u64,
    /// Refreshes to which no primary has given an answer of use.
    pub failed: u64,
    /// Differences that were received and applied to a copy of the zone.
    pub patched: u64,
    /// Differences that were received, and had the zone built anew.
    pub rebuilt: u64,
    /// Transfers to secondaries that were written to their last message.
    pub sent: u64,
    /// Transfers to secondaries that ended before it.
    pub broken: u64,
    /// Queries for transfers that were refused.
    pub refused: u64,
    /// NOTIFY that secondaries have taken.
    pub notify_taken: u64,
    /// NOTIFY that secondaries have refused.
    pub notify_refused: u64,
    /// NOTIFY that secondaries have not answered, however often it was repeated.
    pub notify_unanswered: u64,
}

/// Counts of reloads since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reloads {
    /// Reloads, by SIGHUP and by command.
    pub reloads: u64,
    /// Zones loaded by them.
    pub loaded: u64,
    /// Zones that could not be loaded.
    pub failed: u64,
    /// Reloads whose configuration was refused.
    pub refused: u64,
}

/// Outcome of a reload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reloaded {
    /// Zones that were loaded, with their serial numbers.
    pub loaded: BTreeMap<String, u32>,
    /// Zones whose files have not changed.
    pub unchanged: u64,
    /// Zones that are no longer configured.
    pub removed: Vec<String>,
    /// Zones that could not be loaded, with the reason; the old data stay in service.
    pub failed: BTreeMap<String, String>,
    /// Faults with which zones that were loaded are served.
    #[serde(default)]
    pub warnings: BTreeMap<String, Vec<String>>,
    /// Keys of the configuration that have changed, and take effect after a restart.
    pub restart: Vec<String>,
}

/// Counters of a server since its start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Queries and responses over UDP.
    pub udp: Sums,
    /// Queries and responses over TCP.
    pub tcp: Sums,
    /// Transfers.
    #[serde(default)]
    pub transfers: Transfers,
    /// Open TCP connections.
    pub connections: u64,
    /// Queries that the dnstap collector did not get: it was too slow, or away.
    #[serde(default)]
    pub dnstap_lost: u64,
    /// Queries by zone.
    pub zones: BTreeMap<String, u64>,
    /// Reloads.
    pub reloads: Reloads,
}
