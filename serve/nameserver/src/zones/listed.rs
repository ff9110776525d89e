//! Zones as reports list them.

use super::Catalog;
use super::configured::Configured;
use super::owners::Membership;
use super::source::Source;
use crate::config::Peer;
use crate::status::{Loading, TransferStatus, ZoneStatus};
use crate::transfers::receipt::Recipient;
use std::sync::Arc;

/// A zone as the thread that owns the zones knows it.
#[derive(Clone)]
pub(crate) struct Listed {
    /// Number in the counters.
    pub(crate) number: usize,
    /// The state, without what other threads know of it.
    pub(crate) status: ZoneStatus,
    pub(crate) servers: Arc<Servers>,
}

/// Other servers of a zone, and its catalog.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    pub(crate) primaries: Vec<Peer>,
    /// Those that are told of changes.
    pub(crate) secondaries: Vec<Recipient>,
    pub(crate) member: Option<Membership>,
}

impl Catalog {
    /// The zones, without the counts of queries.
    pub(crate) fn list(&self) -> Vec<Listed> {
        self.zones.iter().map(Configured::listed).collect()
    }

    /// Progress of the first load.
    pub(crate) fn loading(&self) -> Loading {
        let from_elsewhere = self.zones.iter().filter(|zone| zone.source() != Source::Produced);
        let loaded = from_elsewhere.clone().filter(|zone| zone.is_loaded()).count();
        Loading { loaded, zones: from_elsewhere.count() }
    }
}

impl Configured {
    /// True once the file of the zone was read, whatever it has.
    fn is_loaded(&self) -> bool {
        self.data.is_some() || self.error.is_some() || self.received.is_some()
    }

    fn listed(&self) -> Listed {
        let status = ZoneStatus {
            name: self.file.name.clone(),
            file: self.file.file.clone(),
            serial: self.data.as_ref().map(|data| data.serial()),
            records: self.data.as_ref().map_or(0, |data| data.records() as u64),
            memory: self.data.as_ref().map_or(0, |data| data.memory() as u64),
            loaded: self.loaded,
            took_ms: self.took_ms,
            warnings: self.warnings.clone(),
            error: self.error.clone(),
            transfer: self.is_secondary().then(TransferStatus::default),
            ..ZoneStatus::default()
        };
        Listed { number: self.number, status, servers: Arc::clone(&self.servers) }
    }
}
