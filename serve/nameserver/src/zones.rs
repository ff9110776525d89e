//! The zones of the configuration: their files, their data, and the time and size by which a change shows.

use crate::clock::unix_seconds;
use crate::config::{Config, ZoneFile, ZoneFiles};
use crate::counters::ZoneCounters;
use crate::load::{self, Options};
use crate::status::{Reloaded, TransferStatus, ZoneStatus};
use crate::transfers::event::{Event, Secondary};
use crate::transfers::fetch::Limits;
use crate::transfers::kept::Kept;
use crate::transfers::notifier::News;
use crate::transfers::peers::{KeyRing, ZoneTransfers};
use crate::view::View;
use hashlane_dns::query::Hash;
use hashlane_dns::respond::{Cookies, DuplicateZone, Entry, Settings, Zones};
use hashlane_dns::wire::RecordType;
use hashlane_dns::zone::{Zone, is_before};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Name, NameBuf, text};
use hashlane_transfer::delta::Delta;
use hashlane_transfer::disk;
use hashlane_transfer::records::whole_data;
use hashlane_transfer::soa::Soa;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Differences of a zone that are kept at most, whatever their length.
const MAX_HISTORY: usize = 10_000;

/// Counters that zones are given at one time, so that a reload that adds some needs no new array.
const SPARE_COUNTERS: usize = 64;

/// Identity of a file's content, by which a change shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    length: u64,
    /// Time of the last change, in seconds and nanoseconds since 1970.
    changed: (i64, i64),
}

impl Stamp {
    /// The stamp of a file; `None` if it cannot be examined.
    fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        Some(Self {
            device: found.dev(),
            inode: found.ino(),
            length: found.len(),
            changed: (found.mtime(), found.mtime_nsec()),
        })
    }
}

/// A zone of the configuration.
struct Configured {
    apex: NameBuf,
    file: ZoneFile,
    /// Number in the counters, which stays as long as the zone is configured.
    number: usize,
    data: Option<Arc<Zone>>,
    /// Files of the data, with their stamps; empty: the zone is loaded at the next reload in any case.
    stamps: Vec<(PathBuf, Option<Stamp>)>,
    loaded: u64,
    took_ms: u64,
    warnings: Vec<String>,
    error: Option<String>,
    /// Rights of others, and the history.
    transfers: Arc<ZoneTransfers>,
    /// Serial number that secondaries were told of last.
    told: Option<u32>,
    /// Bytes of differences that are kept.
    history: u64,
    /// The version on the disk when the server began, of a zone with primaries.
    received: Option<Received>,
}

/// A zone with primaries as it was on the disk.
struct Received {
    kept: Kept,
    /// Time since a primary has confirmed it, in seconds.
    age: u64,
    zone: Option<Arc<Zone>>,
}

impl Configured {
    fn new(file: &ZoneFile, apex: NameBuf, number: usize) -> Self {
        Self {
            transfers: Arc::default(),
            told: None,
            history: 0,
            received: None,
            apex,
            file: file.clone(),
            number,
            data: None,
            stamps: Vec::new(),
            loaded: 0,
            took_ms: 0,
            warnings: Vec::new(),
            error: None,
        }
    }

    fn is_secondary(&self) -> bool {
        !self.file.primaries.is_empty()
    }

    fn has_changed(&self) -> bool {
        if self.is_secondary() {
            return false;
        }
        self.error.is_some()
            || self.stamps.is_empty()
            || self.stamps.iter().any(|(path, stamp)| stamp.is_none() || Stamp::of(path) != *stamp)
    }
}

/// Result of a load, with the warnings of the zone, the duration in milliseconds and the stamps of its files.
struct Outcome {
    result: Result<Zone, String>,
    warnings: Vec<String>,
    took_ms: u64,
    stamps: Vec<(PathBuf, Option<Stamp>)>,
}

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
        })
    }

    /// Takes over the zones of a configuration, and loads those that are new or whose files have changed;
    /// only `only`, if it is given, but that in any case. The others keep their data.
    ///
    /// # Errors
    /// The configuration is not valid, or `only` is not among its zones. Nothing has changed then.
    pub(crate) fn update(&mut self, config: &Config, only: Option<Name<'_>>) -> io::Result<Reloaded> {
        let invalid = |error: crate::ConfigError| io::Error::new(io::ErrorKind::InvalidInput, error);
        config.check().map_err(invalid)?;
        let apexes =
            config.zone.iter().map(ZoneFile::apex).collect::<Result<Vec<_>, _>>().map_err(invalid)?;
        let is_only = |apex: &NameBuf| only.is_none_or(|only| only.eq_ignore_case(apex.view()));
        if let Some(only) = only.filter(|_| !apexes.iter().any(is_only)) {
            let why =
                format!("no zone {only} in the configuration; `hashlane dns control status` lists the zones");
            return Err(io::Error::new(io::ErrorKind::NotFound, why));
        }

        let keys = KeyRing::of(config)?;
        let is_secondary = |apex: &NameBuf| {
            let mut zones = config.zone.iter().filter(|zone| !zone.primaries.is_empty());
            zones.any(|zone| zone.apex().is_ok_and(|name| name.view().eq_ignore_case(apex.view())))
        };
        if let Some(only) = only.filter(|only| is_secondary(&NameBuf::from(*only))) {
            let why =
                format!("zone {only} comes from its primaries; `hashlane dns control refresh` asks them");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        self.keys = keys;

        let old = std::mem::take(&mut self.zones);
        let mut old: HashMap<Vec<u8>, Configured> =
            old.into_iter().map(|zone| (zone.apex.as_bytes().to_ascii_lowercase(), zone)).collect();
        let mut reloaded = Reloaded::default();
        for (file, apex) in config.zone.iter().zip(apexes) {
            let zone = match old.remove(&apex.as_bytes().to_ascii_lowercase()) {
                // Data from a file are no version of a primary, and the other way round.
                Some(zone) if zone.is_secondary() == file.primaries.is_empty() => {
                    Configured { loaded: 0, ..Configured::new(file, apex, zone.number) }
                }
                Some(zone) if zone.file.file == file.file => Configured { file: file.clone(), ..zone },
                Some(zone) => Configured { file: file.clone(), stamps: Vec::new(), ..zone },
                None => {
                    let number = self.number(config.zone.len());
                    Configured::new(file, apex, number)
                }
            };
            self.zones.push(zone);
        }
        self.give_rights(config);
        self.read_received(config);
        for zone in old.into_values() {
            // Its number is not given again: it has a count of queries.
            reloaded.removed.push(zone.file.name);
        }
        reloaded.removed.sort();

        let due: Vec<usize> = self
            .zones
            .iter()
            .enumerate()
            .filter(|(_, zone)| is_only(&zone.apex) && (only.is_some() || zone.has_changed()))
            .map(|(at, _)| at)
            .collect();
        let examined = self.zones.iter().filter(|zone| is_only(&zone.apex)).count();
        reloaded.unchanged = (examined - due.len()) as u64;
        let outcomes = {
            let wanted: Vec<(&Path, Name<'_>)> = due
                .iter()
                .filter_map(|at| self.zones.get(*at))
                .map(|zone| (zone.file.file.as_path(), zone.apex.view()))
                .collect();
            load_all(&wanted, &config.zone_files, &self.key)
        };
        for (at, outcome) in due.into_iter().zip(outcomes) {
            if let Some(zone) = self.zones.get_mut(at) {
                zone.take(outcome, &self.key, &mut reloaded);
            }
        }
        Ok(reloaded)
    }

    /// Gives others their rights to the zones.
    fn give_rights(&mut self, config: &Config) {
        let keys = &self.keys;
        for zone in &mut self.zones {
            zone.history = config.transfer.history;
            let is_secondary = zone.is_secondary();
            let rights = Arc::make_mut(&mut zone.transfers);
            rights.allow = keys.transfer(config, &zone.file);
            rights.notify_from = keys.notify_from(&zone.file);
            rights.news = is_secondary.then(|| rights.news.take().unwrap_or_default());
        }
    }

    /// Reads the zones with primaries that are on the disk, and were not read yet.
    fn read_received(&mut self, config: &Config) {
        let key = self.key;
        let folder = &config.transfer.folder;
        for zone in self.zones.iter_mut().filter(|zone| zone.is_secondary() && zone.received.is_none()) {
            zone.read(folder, &key);
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
                primaries: keys.peers(&zone.file.primaries),
                kept,
                news: zone.transfers.news.clone().unwrap_or_default(),
                current,
            }
        });
        Event::Configured(zones.collect(), limits, config.transfer.parallel)
    }

    /// Takes a received version of a zone.
    ///
    /// # Errors
    /// The zone is no longer configured so.
    pub(crate) fn install(
        &mut self,
        apex: Name<'_>,
        data: Arc<Zone>,
        deltas: Option<Vec<Delta>>,
    ) -> io::Result<()> {
        let key = self.key;
        let is = |zone: &&mut Configured| zone.is_secondary() && zone.apex.view().eq_ignore_case(apex);
        let zone = self.zones.iter_mut().find(is).ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, format!("zone {apex} has no primaries any more"))
        })?;
        zone.change(Arc::clone(&data), deltas, &key);
        zone.warnings = data.inspect(unix_seconds() as u32, &mut Hash::new(&key)).lines();
        (zone.data, zone.error) = (Some(data), None);
        zone.loaded = unix_seconds();
        Ok(())
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
        let zones = Zones::new(entries.collect(), &self.key)
            .map_err(|error: DuplicateZone| io::Error::new(io::ErrorKind::InvalidInput, error))?;
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

impl Configured {
    /// Reads the version on the disk.
    fn read(&mut self, folder: &Path, key: &Key) {
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
            tracing::warn!(%zone, bytes = loaded.cut, "the rest of a change that was not written is ignored");
        }
        let kept = Kept::loaded(path, &loaded);
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
        self.remember(loaded.deltas);
        self.took_ms = begun.elapsed().as_millis() as u64;
        tracing::info!(%zone, serial, records, ms = self.took_ms, "zone read from the disk");
        self.warnings = data.inspect(unix_seconds() as u32, &mut Hash::new(key)).lines();
        (self.data, self.loaded) = (Some(data), unix_seconds());
    }

    /// Takes a new version into the history.
    fn change(&mut self, new: Arc<Zone>, deltas: Option<Vec<Delta>>, key: &Key) {
        let is_wanted = self.history > 0 && !self.transfers.allow.is_empty();
        match (deltas, &self.data) {
            _ if !is_wanted => self.forget(),
            (Some(deltas), _) => self.remember(deltas),
            (None, Some(old)) if is_before(old.serial(), new.serial()) => {
                match Delta::between(old, &new, key) {
                    Ok(delta) => self.remember(vec![delta]),
                    Err(_) => self.forget(),
                }
            }
            // The same version, or one before: there is no way from what others have.
            (None, Some(old)) if old.fingerprint(key) == new.fingerprint(key) => {}
            _ => self.forget(),
        }
    }

    fn forget(&mut self) {
        if !self.transfers.history.is_empty() {
            Arc::make_mut(&mut self.transfers).history.clear();
        }
    }

    /// Adds differences to the history, and removes the oldest ones beyond its bounds.
    fn remember(&mut self, deltas: Vec<Delta>) {
        let kept = &mut Arc::make_mut(&mut self.transfers).history;
        for delta in deltas {
            if kept.back().is_some_and(|last| last.to() != delta.from()) {
                kept.clear();
            }
            kept.push_back(Arc::new(delta));
        }
        let mut bytes: u64 = kept.iter().map(|delta| delta.bytes() as u64).sum();
        while bytes > self.history || kept.len() > MAX_HISTORY {
            let Some(first) = kept.pop_front() else { break };
            bytes -= first.bytes() as u64;
        }
    }

    /// A version that secondaries were not told of, or, if it is `wanted`, one in any case.
    fn news(&mut self, config: &Config, keys: &KeyRing, wanted: bool) -> Option<News> {
        let data = self.data.as_deref()?;
        let serial = data.serial();
        if self.told.replace(serial) == Some(serial) && !wanted {
            return None;
        }
        let peers = keys.notify(config, &self.file);
        if peers.is_empty() {
            return None;
        }
        let mut soa = (0, Vec::new());
        let (_, ttl, record) = data.records_of(data.apex()).find(|(rtype, ..)| *rtype == RecordType::SOA)?;
        soa.0 = ttl;
        whole_data(data, &record, &mut soa.1);
        Some(News { apex: self.apex, serial, soa, peers })
    }

    /// Takes the data of a load; after a failure, the old data stay.
    fn take(&mut self, outcome: Outcome, key: &Key, reloaded: &mut Reloaded) {
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

/// Loads zones on all cores; the outcomes are in the order of the zones.
fn load_all(zones: &[(&Path, Name<'_>)], limits: &ZoneFiles, key: &Key) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let outcomes: Vec<Mutex<Option<Outcome>>> = zones.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some(((file, apex), place)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            zones.get(at).zip(outcomes.get(at))
        } {
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(load(file, *apex, limits, key));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(zones.len());
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let missing = || Outcome {
        result: Err("not loaded; report this defect".into()),
        warnings: Vec::new(),
        took_ms: 0,
        stamps: Vec::new(),
    };
    let taken = outcomes.into_iter().map(|place| place.into_inner().unwrap_or_else(PoisonError::into_inner));
    taken.map(|outcome| outcome.unwrap_or_else(missing)).collect()
}

fn load(file: &Path, apex: Name<'_>, limits: &ZoneFiles, key: &Key) -> Outcome {
    let begun = (Instant::now(), SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
    // Before the file is read, so that a change during the load shows at the next reload.
    let own = Stamp::of(file);
    let (included, paths) = channel();
    let ZoneFiles { max_bytes, max_generated } = *limits;
    let options = Options { included: Some(included), max_bytes, max_generated, ..Options::default() };
    let result = load::zone(file, Some(apex), &options, key).map_err(|error| error.to_string());
    drop(options);
    // Times of signatures are numbers on a circle.
    let now = begun.1.as_secs() as u32;
    let inspect = |zone: &Zone| zone.inspect(now, &mut Hash::new(key)).lines();
    let warnings = result.as_ref().map(inspect).unwrap_or_default();
    // A file that was included is known only now. One that has changed since the load began is read again at
    // the next reload.
    let began = (begun.1.as_secs() as i64, i64::from(begun.1.subsec_nanos()));
    let stamp = |path: &Path| Stamp::of(path).filter(|stamp| stamp.changed < began);
    let mut stamps = vec![(file.to_owned(), own)];
    stamps.extend(paths.into_iter().map(|path| (path.clone(), stamp(&path))));
    Outcome { result, warnings, took_ms: begun.0.elapsed().as_millis() as u64, stamps }
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
