//! The zones of the configuration: their files, their data, and the time and size by which a change shows.

mod bases;
mod catalogs;
mod configured;
mod extra;
mod listed;
mod loading;
mod news;
mod owners;
mod secondary;
mod source;

use crate::config::{Config, ZoneFile};
use crate::counters::ZoneCounters;
use crate::status::{Reloaded, ZoneStatus};
use crate::transfers::peers::KeyRing;
use crate::transfers::receipt::recipients;
use crate::view::View;
pub(crate) use bases::Bases;
use configured::Configured;
use extra::{Extra, Wanted, check_only};
use hashlane_dns::respond::{Cookies, DuplicateZone, Entry, Settings, Zones};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Name, NameBuf};
pub(crate) use listed::Listed;
use listed::Servers;
use loading::load_all;
pub(crate) use owners::Membership;
use source::source;
pub(crate) use source::unknown_zone;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

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
    /// The errors of `update`.
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
        self.follow(config, step)?;
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
                Some(zone) if zone.file.file == new.file.file => {
                    Configured { file: new.file, member: new.member, ..zone }
                }
                Some(zone) => Configured { file: new.file, member: new.member, stamps: Vec::new(), ..zone },
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

    /// Adds a zone beside the configured ones, and keeps it.
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
    /// There is no such zone, it was not added, or the change cannot be kept.
    pub(crate) fn delete(&mut self, config: &Config, apex: Name<'_>) -> io::Result<()> {
        if !self.zones.iter().any(|zone| zone.apex.view().eq_ignore_case(apex)) {
            return Err(unknown_zone(apex));
        }
        self.extra.delete(config, apex)
    }

    /// Gives others their rights to the zones.
    fn give_rights(&mut self, config: &Config) {
        let keys = &self.keys;
        for zone in &mut self.zones {
            zone.history = config.transfer.history;
            let secondaries = recipients(&zone.servers.secondaries, &keys.notify(config, &zone.file));
            let (primaries, member) = (zone.file.primaries.clone(), zone.member.clone());
            zone.servers = Arc::new(Servers { primaries, secondaries, member });
            let is_secondary = zone.is_secondary();
            let rights = Arc::make_mut(&mut zone.transfers);
            rights.query = keys.query(config, &zone.file);
            rights.allow = keys.transfer(config, &zone.file);
            rights.notify_from = keys.notify_from(&zone.file);
            rights.news = is_secondary.then(|| rights.news.take().unwrap_or_default());
        }
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
}

/// Loads the zones of a configuration, one after the other for each core, and keeps none. Returns their
/// states, in order, and the groups that no catalog names.
pub(crate) fn check(config: &Config) -> io::Result<(Vec<ZoneStatus>, Vec<String>)> {
    let mut catalog = Catalog::new(&random_key()?, 0)?;
    catalog.update(config, None)?;
    catalog.view(config)?;
    let zones = catalog.list().into_iter().map(|zone| zone.status).collect();
    Ok((zones, catalog.unnamed_groups(config)))
}

/// A random key.
///
/// # Errors
/// The system has no random numbers.
pub(crate) fn random_key() -> io::Result<Key> {
    Key::random().map_err(|error| io::Error::other(format!("no random numbers for a key: {error}")))
}
