//! One zone: its source, its data, and its history.

use super::bases::Bases;
use super::extra::Wanted;
use super::listed::Servers;
use super::loading::{Outcome, Stamp, faults};
use super::owners::Membership;
use super::source::{Source, source};
use crate::clock::unix_seconds;
use crate::config::{Config, ZoneFile};
use crate::status::Reloaded;
use crate::transfers::kept::Kept;
use crate::transfers::notifier::News;
use crate::transfers::peers::{KeyRing, Peer, ZoneTransfers};
use crate::transfers::receipt::Recipient;
use hashlane_dns::zone::{Zone, is_before};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::NameBuf;
use hashlane_transfer::delta::Delta;
use hashlane_transfer::disk;
use hashlane_transfer::records::whole_data;
use hashlane_transfer::soa::Soa;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

/// A zone of the configuration.
pub(super) struct Configured {
    pub(super) apex: NameBuf,
    pub(super) file: ZoneFile,
    /// Label in its catalog; empty for a zone of no catalog.
    pub(super) id: Vec<u8>,
    /// Its place in that catalog.
    pub(super) member: Option<Membership>,
    /// Number in the counters, which stays as long as the zone is configured.
    pub(super) number: usize,
    pub(super) data: Option<Arc<Zone>>,
    /// Files of the data, with their stamps; empty: the zone is loaded at the next reload in any case.
    pub(super) stamps: Vec<(PathBuf, Option<Stamp>)>,
    pub(super) loaded: u64,
    pub(super) took_ms: u64,
    pub(super) warnings: Vec<String>,
    pub(super) error: Option<String>,
    /// Other servers of the zone.
    pub(super) servers: Arc<Servers>,
    /// Rights of others, and the history.
    pub(super) transfers: Arc<ZoneTransfers>,
    /// Serial number that secondaries were told of last.
    pub(super) told: Option<u32>,
    /// Bytes of differences that are kept.
    pub(super) history: u64,
    /// Versions from which they may lead.
    pub(super) bases: Bases,
    /// The version on the disk when the server began, of a zone with primaries.
    pub(super) received: Option<Received>,
}

/// A zone with primaries as it was on the disk.
pub(super) struct Received {
    pub(super) kept: Kept,
    /// Time since a primary has confirmed it, in seconds.
    pub(super) age: u64,
    pub(super) zone: Option<Arc<Zone>>,
}

impl Configured {
    pub(super) fn new(Wanted { file, apex, id, member }: Wanted, number: usize) -> Self {
        Self {
            id,
            member,
            servers: Arc::default(),
            transfers: Arc::default(),
            told: None,
            history: 0,
            bases: Bases::default(),
            received: None,
            apex,
            file,
            number,
            data: None,
            stamps: Vec::new(),
            loaded: 0,
            took_ms: 0,
            warnings: Vec::new(),
            error: None,
        }
    }

    pub(super) fn is_secondary(&self) -> bool {
        source(&self.file) == Source::Primaries
    }

    pub(super) fn source(&self) -> Source {
        source(&self.file)
    }

    /// Removes the file of a received zone that is not served any more.
    pub(super) fn forget_on_disk(&self) {
        if let Some(received) = &self.received {
            received.kept.remove(&self.apex);
        }
    }

    pub(super) fn has_changed(&self) -> bool {
        if self.is_secondary() || self.file.is_produced() {
            return false;
        }
        self.error.is_some()
            || self.stamps.is_empty()
            || self.stamps.iter().any(|(path, stamp)| stamp.is_none() || Stamp::of(path) != *stamp)
    }
}

impl Configured {
    /// Reads the version on the disk.
    pub(super) fn read(&mut self, folder: &Path, key: &Key) {
        let zone = self.file.name.clone();
        let path = disk::path(folder, self.apex.view());
        let nothing = |path| Received { kept: Kept::nothing(path), age: 0, zone: None };
        let begun = Instant::now();
        let loaded = match disk::load(&path, self.apex.view(), key) {
            Ok(Some(loaded)) => loaded,
            Ok(None) => {
                self.received = Some(nothing(path));
                return;
            }
            Err(error) => {
                tracing::error!(%zone, %error, "the zone is asked for anew");
                self.received = Some(nothing(path));
                return;
            }
        };
        if loaded.cut > 0 {
            let (bytes, at) = (loaded.cut, loaded.len);
            tracing::error!(%zone, bytes, at, "changes that were cut off or damaged are ignored; an older version is served");
        }
        let kept = Kept::loaded(path, &loaded);
        let bases = kept.bases();
        self.bases = bases;
        let age = SystemTime::now().duration_since(loaded.checked).map_or(0, |age| age.as_secs());
        let data = Arc::new(loaded.zone);
        let expire = Soa::of(&data).map_or(0, |soa| soa.expire);
        self.received = Some(Received { kept, age, zone: Some(Arc::clone(&data)) });
        let (serial, records) = (data.serial(), data.records());
        if age >= expire.into() {
            tracing::warn!(%zone, serial, age, "the zone on the disk has expired: SERVFAIL until a primary answers");
            self.error = Some("expired on the disk: no primary has answered".to_owned());
            return;
        }
        self.remember(loaded.deltas.into_iter().skip_while(|delta| !bases.is_sure(delta.from())).collect());
        self.took_ms = begun.elapsed().as_millis() as u64;
        tracing::info!(%zone, serial, records, ms = self.took_ms, "zone read from the disk");
        self.warnings = faults(&data, key);
        (self.data, self.loaded) = (Some(data), unix_seconds());
    }

    /// Takes a new version into the history.
    pub(super) fn change(&mut self, new: Arc<Zone>, deltas: Option<Vec<Delta>>, key: &Key) {
        if self.bases.note(self.data.as_deref(), &new, key) {
            return self.forget();
        }
        let Some(old) = self.data.clone() else { return };
        if !is_before(old.serial(), new.serial()) {
            return;
        }
        let is_wanted = self.history > 0 && !self.transfers.allow.is_empty();
        if !is_wanted || !self.bases.is_sure(old.serial()) {
            return self.forget();
        }
        match deltas {
            Some(deltas) => self.remember(deltas),
            None => match Delta::between(&old, &new, key) {
                Ok(delta) => self.remember(vec![delta]),
                Err(_) => self.forget(),
            },
        }
    }

    pub(super) fn forget(&mut self) {
        if !self.transfers.history.is_empty() {
            Arc::make_mut(&mut self.transfers).history.clear();
        }
    }

    /// Adds differences to the history.
    pub(super) fn remember(&mut self, deltas: Vec<Delta>) {
        let most = self.history;
        Arc::make_mut(&mut self.transfers).history.extend(deltas, most);
    }

    /// A version that secondaries were not told of, or, if it is `wanted`, one in any case.
    pub(super) fn news(&mut self, config: &Config, keys: &KeyRing, wanted: bool) -> Option<News> {
        let data = self.data.as_deref()?;
        let serial = data.serial();
        if self.told.replace(serial) == Some(serial) && !wanted {
            return None;
        }
        let known = |peer: Peer| {
            let is = |recipient: &&Recipient| recipient.address == peer.address;
            let receipt = self.servers.secondaries.iter().find(is).map(|known| Arc::clone(&known.receipt));
            (peer, receipt.unwrap_or_default())
        };
        let peers: Vec<_> = keys.notify(config, &self.file).into_iter().map(known).collect();
        if peers.is_empty() {
            return None;
        }
        let (ttl, record) = data.soa()?;
        let mut soa = (ttl, Vec::new());
        whole_data(data, &record, &mut soa.1);
        Some(News { apex: self.apex, serial, soa, peers, answers: None })
    }

    /// Takes the data of a load; after a failure, the old data stay.
    pub(super) fn take(&mut self, outcome: Outcome, key: &Key, reloaded: &mut Reloaded) {
        let zone = &self.file.name;
        match outcome.result {
            Ok(data) => {
                let data = Arc::new(data);
                let (serial, records) = (data.serial(), data.records());
                let mut warnings = outcome.warnings;
                warnings.extend(self.data.as_deref().and_then(|old| of_serial(old, &data, key)));
                tracing::info!(%zone, serial, records, ms = outcome.took_ms, "zone loaded");
                for warning in &warnings {
                    tracing::warn!(%zone, warning);
                }
                reloaded.loaded.insert(zone.clone(), serial);
                if !warnings.is_empty() {
                    reloaded.warnings.insert(zone.clone(), warnings.clone());
                }
                self.change(Arc::clone(&data), None, key);
                (self.data, self.stamps, self.error) = (Some(data), outcome.stamps, None);
                self.warnings = warnings;
                self.took_ms = outcome.took_ms;
                self.loaded = unix_seconds();
            }
            Err(error) => {
                match &self.data {
                    Some(old) => {
                        let serial = old.serial();
                        tracing::error!(%zone, error, serial, "zone not loaded; the old data stay in service");
                    }
                    None => tracing::error!(%zone, error, "zone not loaded; queries for it get SERVFAIL"),
                }
                reloaded.failed.insert(zone.clone(), error.clone());
                self.error = Some(error);
            }
        }
    }
}

/// The warning of a serial number that does not follow the old data's, though the content has changed.
fn of_serial(old: &Zone, new: &Zone, key: &Key) -> Option<String> {
    let (before, after) = (old.serial(), new.serial());
    // Two passes over the zones, after reloads without a new serial number alone.
    if is_before(before, after) || old.fingerprint(key) == new.fingerprint(key) {
        return None;
    }
    let how = if before == after { "unchanged" } else { "not after the one before" };
    Some(format!(
        "SOA: the content has changed, but serial {after} is {how} ({before}, RFC 1982); \
         raise it, so that secondaries transfer the zone"
    ))
}
