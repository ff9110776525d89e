//! Snapshots: the state of the forwarder at one moment.

use super::history::Point;
use crate::management::{AdvertisedCounts, FaceInfo, FetchCounts};
use hashlane_daemon::metrics::Page;
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn::mgmt::values::FaceScope;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

/// State of a forwarder at one moment.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// Time since the start of the forwarder.
    pub(super) since: Duration,
    /// Time on the clock of the host.
    pub(super) taken: SystemTime,
    /// Open faces by scheme and scope.
    pub(super) faces: BTreeMap<(&'static str, &'static str), u64>,
    /// Non-local faces with most traffic.
    pub(super) neighbours: Vec<Neighbour>,
    /// Packets of the last hour by the first components of their names.
    pub(super) prefixes: Shares,
    /// Bytes of the last hour, in both directions, by address of the peer.
    pub(super) peers: Shares,
    /// Drops and losses of the last hour, by reason.
    pub(super) drops: Vec<(&'static str, u64)>,
    /// Points of the last hour, the oldest first.
    pub(super) points: Vec<Point>,
    /// Time since the last change of the FIB.
    pub(super) fib_age: Duration,
    /// Prefixes that others are asked to advertise, by destination.
    pub(super) advertised: Vec<(&'static str, AdvertisedCounts)>,
    /// Certificates fetched.
    pub(super) fetches: FetchCounts,
    /// The page, once somebody has asked for it.
    pub(super) page: OnceLock<Page>,
}

/// Before the first sample.
impl Default for Snapshot {
    fn default() -> Self {
        Self {
            since: Duration::ZERO,
            taken: SystemTime::UNIX_EPOCH,
            faces: BTreeMap::new(),
            neighbours: Vec::new(),
            prefixes: Shares::default(),
            peers: Shares::default(),
            drops: Vec::new(),
            points: Vec::new(),
            fib_age: Duration::ZERO,
            advertised: Vec::new(),
            fetches: FetchCounts::default(),
            page: OnceLock::new(),
        }
    }
}

/// The heaviest of many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shares {
    /// Each with the weight that it has at least, the heaviest first.
    pub(super) heaviest: Vec<(String, u64)>,
    /// Weight of all.
    pub(super) total: u64,
}

impl Shares {
    /// Weight of all others.
    pub(super) fn rest(&self) -> u64 {
        let listed: u64 = self.heaviest.iter().map(|(_, weight)| *weight).sum();
        self.total.saturating_sub(listed)
    }
}

/// A non-local face. Rates are a second, over the last interval.
#[derive(Clone, Debug)]
pub(super) struct Neighbour {
    pub(super) face: u64,
    pub(super) remote: String,
    pub(super) local: String,
    /// Bytes received and sent.
    pub(super) received: f64,
    pub(super) sent: f64,
    /// Interests and Data received.
    pub(super) interests: f64,
    pub(super) data: f64,
    /// Packets dropped since the face was opened, received or to be sent.
    pub(super) drops: u64,
}

/// Peer of a face: its address; `local` for applications of this host.
pub(super) fn peer(face: &FaceInfo) -> String {
    match (&face.remote, face.remote.socket_address()) {
        _ if face.scope == FaceScope::Local => "local".to_owned(),
        (_, Some(address)) => address.ip().to_canonical().to_string(),
        (FaceUri::Ether(_), None) => face.remote.to_string(),
        (_, None) => "unknown".to_owned(),
    }
}
