//! The zones of the configuration: their files, their data, and the time and size by which a change shows.

mod configured;
mod extra;
mod loading;

use crate::clock::unix_seconds;
use crate::config::{Config, ZoneFile};
use crate::counters::ZoneCounters;
use crate::status::{Reloaded, TransferStatus, ZoneStatus};
use crate::transfers::event::{Event, Secondary};
use crate::transfers::fetch::Limits;
use crate::transfers::kept::Kept;
use crate::transfers::notifier::News;
use crate::transfers::peers::KeyRing;
use crate::view::View;
use configured::{Configured, Source, source};
use extra::{Extra, Wanted};
use hashlane_dns::respond::{Cookies, DuplicateZone, Entry, Settings, Zones};
use hashlane_dns::zone::Zone;
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Name, NameBuf, text};
use hashlane_transfer::delta::Delta;
use hashlane_transfer::disk;
use loading::{faults, load_all};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Counters that zones are given at one time, so that a reload that adds some needs no new array.
const SPARE_COUNTERS: usize = 64;

/// The zones, their settings, and their counters.
pub(crate) struct Catalog {
    key: Key,
    /// Secret of cookies, if the configuration has none.
    cookie: Key,
    threads: usize,
    zones: Vec<Configured>,
    counters: Vec<Arc<ZoneCounters>>,
    /// Numbers in the counters that no zone has had.
    free: Vec<usize>,
    keys: KeyRing,
    extra: Extra,
}

impl Catalog {
    /// No zones. Their names are hashed under `key`; `threads` threads count their queries.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(crate) fn new(key: &Key, threads: usize) -> io::Result<Self> {
        let cookie = random_key()?;
        Ok(Self {
            key: *key,
            cookie,
            threads,
            zones: Vec::new(),
            counters: Vec::new(),
            free: Vec::new(),
            keys: KeyRing::default(),
            extra: Extra::default(),
        })
    }

    /// Takes over the zones of a configuration, and loads those that are new or whose files have changed;
    /// only `only`, if it is given, but that in any case. The others keep their data.
    ///
    /// # Errors
    /// The configuration is not valid, or `only` is not among its zones. Nothing has changed then.
    pub(crate) fn update(&mut self, config: &Config, only: Option<Name<'_>>) -> io::Result<Reloaded> {
        self.update_in_steps(config, only, &mut |_| {})
    }

    /// Acts as [`update`](Self::update). `step` is called before any zone is loaded, and while they are.
    ///
    /// # Errors
    /// Those of `update`.
    pub(crate) fn update_in_steps(
        &mut self,
        config: &Config,
        only: Option<Name<'_>>,
        step: &mut dyn FnMut(&Self),
    ) -> io::Result<Reloaded> {
        let invalid = |error: crate::ConfigError| io::Error::new(io::ErrorKind::InvalidInput, error);
        config.check().map_err(invalid)?;
        let wanted = self.extra.all(config)?;
        if let Some(only) = only {
            check_only(&wanted, only)?;
        }
        self.keys = KeyRing::of(config)?;
        let mut reloaded = Reloaded { removed: self.configure(wanted, config), ..Reloaded::default() };
        step(self);
        self.read_received(config, step);
        let is_only = |apex: &NameBuf| only.is_none_or(|only| only.eq_ignore_case(apex.view()));
        let due: Vec<usize> = self
            .zones
            .iter()
            .enumerate()
            .filter(|(_, zone)| is_only(&zone.apex) && (only.is_some() || zone.has_changed()))
            .map(|(at, _)| at)
            .collect();
        let examined = self.zones.iter().filter(|zone| is_only(&zone.apex)).count();
        reloaded.unchanged = (examined - due.len()) as u64;
        let files: Vec<(PathBuf, NameBuf)> = due
            .iter()
            .filter_map(|at| self.zones.get(*at))
            .map(|zone| (zone.file.file.clone(), zone.apex))
            .collect();
        let key = self.key;
        load_all(&files, &config.zone_files, &key, |loaded| {
            if let Some((number, outcome)) = loaded
                && let Some(zone) = due.get(number).and_then(|at| self.zones.get_mut(*at))
            {
                zone.take(outcome, &key, &mut reloaded);
            }
            step(self);
        });
        self.follow(config)?;
        self.produce();
        Ok(reloaded)
    }

    /// Takes over zones, and loads none. Returns the names of those that are gone.
    fn configure(&mut self, wanted: Vec<Wanted>, config: &Config) -> Vec<String> {
        let old = std::mem::take(&mut self.zones);
        let mut old: HashMap<Vec<u8>, Configured> =
            old.into_iter().map(|zone| (zone.apex.as_bytes().to_ascii_lowercase(), zone)).collect();
        let count = wanted.len();
        for new in wanted {
            let zone = match old.remove(&new.apex.as_bytes().to_ascii_lowercase()) {
                // Data from a file are no version of a primary, and the other way round; and a member with
                // another label is another zone (RFC 9432 §5.4).
                Some(zone) if zone.source() != source(&new.file) || zone.id != new.id => {
                    if zone.id != new.id {
                        zone.forget_on_disk();
                    }
                    Configured::new(new, zone.number)
                }
                Some(zone) if zone.file.file == new.file.file => Configured { file: new.file, ..zone },
                Some(zone) => Configured { file: new.file, stamps: Vec::new(), ..zone },
                None => {
                    let number = self.number(count);
                    Configured::new(new, number)
                }
            };
            self.zones.push(zone);
        }
        self.give_rights(config);
        let mut removed: Vec<String> = old
            .into_values()
            .map(|zone| {
                // Its number is not given again: it has a count of queries.
                zone.forget_on_disk();
                zone.file.name
            })
            .collect();
        removed.sort();
        removed
    }

    /// Serves the members of the catalogs that are followed. Returns true if they have changed.
    ///
    /// # Errors
    /// The file of added zones cannot be read.
    fn follow(&mut self, config: &Config) -> io::Result<bool> {
        let mut has_changed = false;
        for zone in self.zones.iter_mut().filter(|zone| zone.file.follows()) {
            let Some(data) = zone.data.clone() else { continue };
            match self.extra.follow(&zone.file, &data, config.transfer.max_members) {
                Ok(changed) => has_changed |= changed,
                Err(error) => {
                    tracing::error!(zone = zone.file.name, error, "catalog not followed; its members stay");
                    zone.error = Some(error);
                }
            }
        }
        if has_changed {
            let wanted = self.extra.all(config)?;
            let (before, members) = (self.zones.len(), wanted.len());
            let removed = self.configure(wanted, config).len();
            self.read_received(config, &mut |_| {});
            tracing::info!(zones = members, before, removed, "catalogs followed");
        }
        Ok(has_changed)
    }

    /// Makes the catalogs that list the other zones, if those have changed.
    fn produce(&mut self) {
        let is_listed = |zone: &&Configured| zone.file.catalog.is_empty();
        let mut members: Vec<NameBuf> = self.zones.iter().filter(is_listed).map(|zone| zone.apex).collect();
        members.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
        let key = self.key;
        for zone in self.zones.iter_mut().filter(|zone| zone.file.is_produced()) {
            zone.produce(&members, &key);
        }
    }

    /// Adds a zone beside those of the configuration, and keeps it.
    ///
    /// # Errors
    /// There is such a zone, it is not valid, or it cannot be kept.
    pub(crate) fn add(&mut self, config: &Config, zone: ZoneFile) -> io::Result<()> {
        self.extra.add(config, zone)
    }

    /// The error of the last load of a zone.
    pub(crate) fn error_of(&self, apex: Name<'_>) -> Option<String> {
        let zone = self.zones.iter().find(|zone| zone.apex.view().eq_ignore_case(apex))?;
        zone.error.clone()
    }

    /// Removes a zone that was added.
    ///
    /// # Errors
    /// It was not added, or the change cannot be kept.
    pub(crate) fn delete(&mut self, config: &Config, apex: Name<'_>) -> io::Result<()> {
        self.extra.delete(config, apex)
    }

    /// Gives others their rights to the zones.
    fn give_rights(&mut self, config: &Config) {
        let keys = &self.keys;
        for zone in &mut self.zones {
            zone.history = config.transfer.history;
            let is_secondary = zone.is_secondary();
            let rights = Arc::make_mut(&mut zone.transfers);
            rights.query = keys.query(config, &zone.file);
            rights.allow = keys.transfer(config, &zone.file);
            rights.notify_from = keys.notify_from(&zone.file);
            rights.news = is_secondary.then(|| rights.news.take().unwrap_or_default());
        }
    }

    /// Reads the zones with primaries that are on the disk, and were not read yet. `step` is called after
    /// each.
    fn read_received(&mut self, config: &Config, step: &mut dyn FnMut(&Self)) {
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
        let changed = zone.file.follows() && self.follow(config)?;
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

    /// Versions that secondaries were not told of yet.
    pub(crate) fn news(&mut self, config: &Config) -> Vec<News> {
        let keys = &self.keys;
        self.zones.iter_mut().filter_map(|zone| zone.news(config, keys, false)).collect()
    }

    /// The news of one zone, told or not.
    ///
    /// # Errors
    /// The zone is unknown, has no data, or nobody is to be told.
    pub(crate) fn news_of(&mut self, name: &str, config: &Config) -> io::Result<News> {
        let keys = &self.keys;
        let apex = text::parse(name.as_bytes()).ok();
        let is =
            |zone: &&mut Configured| apex.is_some_and(|apex| zone.apex.view().eq_ignore_case(apex.view()));
        let fail = |why: String| io::Error::new(io::ErrorKind::NotFound, why);
        let zone = self.zones.iter_mut().find(is).ok_or_else(|| {
            fail(format!(
                "no zone {name} in the configuration; `hashlane dns control status` lists the zones"
            ))
        })?;
        zone.news(config, keys, true).ok_or_else(|| {
            fail(format!(
                "nobody to tell about {name}: it has no data, or neither it nor `transfer` has `notify`"
            ))
        })
    }

    /// A number for a new zone; `zones` is the number of all.
    fn number(&mut self, zones: usize) -> usize {
        if let Some(number) = self.free.pop() {
            return number;
        }
        let first = self.counters.last().map_or(0, |counters| counters.end());
        let counters = ZoneCounters::new(self.threads, first, zones + SPARE_COUNTERS);
        self.free.extend((first..counters.end()).rev());
        self.counters.push(Arc::new(counters));
        self.free.pop().unwrap_or(first)
    }

    /// Zones and settings for the threads.
    ///
    /// # Errors
    /// A zone is given twice, or a setting is not valid.
    pub(crate) fn view(&self, config: &Config) -> io::Result<View> {
        let entries = self.zones.iter().map(|zone| Entry { apex: zone.apex, zone: zone.data.clone() });
        let invalid = |error: crate::ConfigError| io::Error::new(io::ErrorKind::InvalidInput, error);
        let mut zones = Zones::new(entries.collect(), &self.key)
            .map_err(|error: DuplicateZone| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        for (number, _) in self.zones.iter().enumerate().filter(|(_, zone)| !zone.transfers.query.is_empty())
        {
            zones.restrict(number);
        }
        let server = &config.server;
        let secrets = server.secrets().map_err(invalid)?;
        let cookies = Cookies::new(secrets.first().unwrap_or(&self.cookie), secrets.get(1));
        let settings = Settings {
            nsid: server.nsid().map_err(invalid)?,
            version: server.version.as_bytes().to_vec(),
            identity: server.identity.as_bytes().to_vec(),
            max_udp: server.max_udp,
            cookies: server.cookies.then_some(cookies),
            // At most an hour.
            keepalive: u16::try_from(config.tcp.idle_timeout_ms / 100).unwrap_or(u16::MAX),
        };
        Ok(View {
            zones,
            settings,
            rate_limit: config.rate_limit.clone(),
            numbers: self.zones.iter().map(|zone| zone.number).collect(),
            counters: self.counters.clone(),
            transfers: self.zones.iter().map(|zone| Arc::clone(&zone.transfers)).collect(),
            query_log: config.log.queries,
            keys: self.keys.keys(),
        })
    }

    /// True if a zone has data.
    pub(crate) fn serves(&self) -> bool {
        self.zones.iter().any(|zone| zone.data.is_some())
    }

    /// The zones with their numbers, without the counts of queries.
    pub(crate) fn status(&self) -> Vec<(usize, ZoneStatus)> {
        let of = |zone: &Configured| ZoneStatus {
            name: zone.file.name.clone(),
            file: zone.file.file.clone(),
            serial: zone.data.as_ref().map(|data| data.serial()),
            records: zone.data.as_ref().map_or(0, |data| data.records() as u64),
            memory: zone.data.as_ref().map_or(0, |data| data.memory() as u64),
            loaded: zone.loaded,
            took_ms: zone.took_ms,
            queries: 0,
            warnings: zone.warnings.clone(),
            error: zone.error.clone(),
            transfer: zone.is_secondary().then(TransferStatus::default),
        };
        self.zones.iter().map(|zone| (zone.number, of(zone))).collect()
    }
}

/// Refuses the reload of one zone that is unknown, or that comes from no file.
fn check_only(wanted: &[Wanted], only: Name<'_>) -> io::Result<()> {
    let found =
        wanted.iter().find(|zone| zone.apex.view().eq_ignore_case(only)).map(|zone| source(&zone.file));
    let (kind, why) = match found {
        Some(Source::File) => return Ok(()),
        Some(Source::Produced) => {
            (io::ErrorKind::InvalidInput, format!("zone {only} is made of the other zones; reload those"))
        }
        Some(Source::Primaries) => (
            io::ErrorKind::InvalidInput,
            format!("zone {only} comes from its primaries; `hashlane dns control refresh` asks them"),
        ),
        None => (
            io::ErrorKind::NotFound,
            format!("no zone {only} in the configuration; `hashlane dns control status` lists the zones"),
        ),
    };
    Err(io::Error::new(kind, why))
}

/// Loads the zones of a configuration, one after the other for each core, and keeps none. Returns their
/// states, in order.
pub(crate) fn check(config: &Config) -> io::Result<Vec<ZoneStatus>> {
    let mut catalog = Catalog::new(&random_key()?, 0)?;
    catalog.update(config, None)?;
    catalog.view(config)?;
    Ok(catalog.status().into_iter().map(|(_, status)| status).collect())
}

/// A random key.
///
/// # Errors
/// The system has no random numbers.
pub(crate) fn random_key() -> io::Result<Key> {
    Key::random().map_err(|error| io::Error::other(format!("no random numbers for a key: {error}")))
}
