//! Zones as reports list them.

use super::Catalog;
use super::owners::Membership;
use super::source::Source;
use crate::config::Peer;
use crate::status::{Loading, TransferStatus, ZoneStatus};
use crate::transfers::receipt::Recipient;
use hashlane_dns::zone::Zone;
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
        let zones = self.zones.iter().map(|zone| {
            let data = zone.data.as_deref();
            let status = ZoneStatus {
                name: zone.file.name.clone(),
                file: zone.file.file.clone(),
                serial: data.map(Zone::serial),
                records: data.map_or(0, |data| data.records() as u64),
                memory: data.map_or(0, |data| data.memory() as u64),
                loaded: zone.loaded,
                took_ms: zone.took_ms,
                warnings: zone.warnings.clone(),
                error: zone.error.clone(),
                transfer: zone.is_secondary().then(TransferStatus::default),
                ..ZoneStatus::default()
            };
            Listed { number: zone.number, status, servers: Arc::clone(&zone.servers) }
        });
        zones.collect()
    }

    /// Progress of the first load.
    pub(crate) fn loading(&self) -> Loading {
        let zones = self.zones.iter().filter(|zone| zone.source() != Source::Produced);
        // Their files were read, whatever they have.
        let is_loaded = zones
            .clone()
            .filter(|zone| zone.data.is_some() || zone.error.is_some() || zone.received.is_some());
        Loading { loaded: is_loaded.count(), zones: zones.count() }
    }
}
