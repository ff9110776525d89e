//! Zones as reports list them.

use super::Catalog;
use super::configured::Configured;
use super::owners::Membership;
use crate::config::Peer;
use crate::status::{TransferStatus, ZoneStatus};
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
}

impl Configured {
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
