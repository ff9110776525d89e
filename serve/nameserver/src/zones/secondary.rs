//! Zones with primaries: read from the disk, put in service, expired.

use super::Catalog;
use super::configured::Configured;
use super::loading::faults;
use crate::clock::unix_seconds;
use crate::config::Config;
use crate::transfers::event::{Event, Secondary};
use crate::transfers::fetch::Limits;
use crate::transfers::kept::Kept;
use hashlane_dns::zone::Zone;
use hashlane_name::dns::Name;
use hashlane_transfer::delta::Delta;
use hashlane_transfer::disk;
use std::io;
use std::sync::Arc;
use std::time::Duration;

impl Catalog {
    /// Reads the zones with primaries that are on the disk, and were not read yet. `step` is called after
    /// each.
    pub(super) fn read_received(&mut self, config: &Config, step: &mut dyn FnMut(&Self)) {
        let key = self.key;
        for at in 0..self.zones.len() {
            if let Some(zone) =
                self.zones.get_mut(at).filter(|zone| zone.is_secondary() && zone.received.is_none())
            {
                zone.read(&config.transfer.folder, &key);
                step(self);
            }
        }
    }

    /// The zones with primaries, for the thread that refreshes them.
    pub(crate) fn secondaries(&mut self, config: &Config) -> Event {
        let limits =
            Limits { bytes: config.transfer.max_bytes, time: Duration::from_secs(config.transfer.timeout_s) };
        let keys = &self.keys;
        let zones = self.zones.iter_mut().filter(|zone| zone.is_secondary()).map(|zone| {
            let received = zone.received.as_mut();
            let (kept, current) = match received {
                Some(received) => {
                    (received.kept.clone(), received.zone.take().map(|zone| (zone, received.age)))
                }
                None => (Kept::nothing(disk::path(&config.transfer.folder, zone.apex.view())), None),
            };
            Secondary {
                apex: zone.apex,
                id: zone.id.clone(),
                primaries: keys.peers(&zone.file.primaries),
                kept,
                news: zone.transfers.news.clone().unwrap_or_default(),
                current,
            }
        });
        Event::Configured(zones.collect(), limits, config.transfer.parallel)
    }

    /// Takes a received version of a zone. Returns true if zones have come or gone, as members of a catalog.
    ///
    /// # Errors
    /// The zone is no longer configured so.
    pub(crate) fn install(
        &mut self,
        (apex, id): (Name<'_>, &[u8]),
        data: Arc<Zone>,
        deltas: Option<Vec<Delta>>,
        config: &Config,
    ) -> io::Result<bool> {
        let key = self.key;
        let is = |zone: &&mut Configured| {
            zone.is_secondary() && zone.id == id && zone.apex.view().eq_ignore_case(apex)
        };
        let zone = self.zones.iter_mut().find(is).ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, format!("zone {apex} has no primaries any more"))
        })?;
        zone.change(Arc::clone(&data), deltas, &key);
        zone.warnings = faults(&data, &key);
        (zone.data, zone.error) = (Some(data), None);
        zone.loaded = unix_seconds();
        let changed = zone.file.follows() && self.follow(config, &mut |_| {})?;
        if changed {
            self.produce();
        }
        Ok(changed)
    }

    /// Serves a zone no more.
    pub(crate) fn expire(&mut self, apex: Name<'_>) {
        for zone in &mut self.zones {
            if zone.is_secondary() && zone.apex.view().eq_ignore_case(apex) {
                zone.data = None;
                zone.error = Some("expired: no primary has answered".to_owned());
            }
        }
    }
}
