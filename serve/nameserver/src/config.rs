//! The configuration: one TOML file, in which every value has a default.

mod network;
mod peer;
mod sections;
#[cfg(test)]
mod tests;
mod tls;

pub use hashlane_daemon::config::{ConfigError, Metrics};
pub use network::Network;
pub use peer::{Access, Peer};
pub use sections::{
    Control, Log, NameServer, RateLimit, Server, Tcp, Transfer, TsigKey, ZoneFile, ZoneFiles,
};
pub use tls::Tls;

use crate::load;
use data_encoding::HEXLOWER_PERMISSIVE;
use hashlane_daemon::config::{Keys, parse, read, to_toml};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{NameBuf, text};
use hashlane_transfer::tsig;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// Most bytes of a text in class CH, and of the identifier in EDNS.
const MAX_TEXT: usize = 255;

/// The whole configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Sockets, identity, user.
    pub server: Server,
    /// The log of queries.
    pub log: Log,
    /// Limits of TCP connections.
    pub tcp: Tcp,
    /// DNS over TLS.
    pub tls: Tls,
    /// Limits of UDP responses.
    pub rate_limit: RateLimit,
    /// Socket for `hashlane dns control`.
    pub control: Control,
    /// Counters over HTTP.
    pub metrics: Metrics,
    /// Limits of zone files.
    pub zone_files: ZoneFiles,
    /// Transfers of zones, from and to other servers.
    pub transfer: Transfer,
    /// Keys that sign messages.
    pub key: Vec<TsigKey>,
    /// Zones and their files.
    pub zone: Vec<ZoneFile>,
}

/// The end of a file without zones.
const NO_ZONE: &str = "
# [[zone]]
# name = \"example.com\"
# file = \"example.com.zone\"
";

impl Config {
    /// Reads and checks a configuration file. Paths of zone files in it are relative to its folder.
    ///
    /// # Errors
    /// The file cannot be read, is longer than 64 MiB or no UTF-8 text; the first error in its text.
    pub fn read(path: &Path) -> io::Result<Self> {
        read(path, |text| {
            let mut config = Self::parse(text)?;
            if let Some(folder) = path.parent() {
                let files = config.zone.iter_mut().map(|zone| &mut zone.file);
                let secrets = config.key.iter_mut().map(|key| &mut key.secret_file);
                let paths = files.chain(secrets).chain([&mut config.transfer.folder]);
                paths
                    .filter(|path| !path.as_os_str().is_empty())
                    .for_each(|path| *path = folder.join(&*path));
                config.tls.set_folder(folder);
            }
            config.check_paths()?;
            Ok(config)
        })
    }

    /// Parses and checks a configuration.
    ///
    /// # Errors
    /// The first error in the text.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        // One zone and one key, for the names of their keys.
        let (zone, key) = (vec![ZoneFile::default()], vec![TsigKey::default()]);
        let known = Self { zone, key, ..Self::default() };
        let config = parse(text, &known, &Keys::default()).map_err(in_words)?;
        config.check()?;
        Ok(config)
    }

    /// The configuration as a file that sets every value. Without zones, it ends with one in comments.
    pub fn to_toml(&self) -> String {
        let text = to_toml(self);
        // An empty array could not be followed by [[zone]] or [[key]].
        let text = text.replacen("key = []\n", "", usize::from(self.key.is_empty()));
        match self.zone.is_empty() {
            true => text.replacen("zone = []\n", "", 1).trim_start().to_owned() + NO_ZONE,
            false => text.trim_start().to_owned(),
        }
    }

    /// Checks the values that are not valid for every value of their type.
    ///
    /// # Errors
    /// The first invalid value.
    pub fn check(&self) -> Result<(), ConfigError> {
        let Self { server, tcp, tls, rate_limit, zone_files, transfer, zone, .. } = self;
        let within = |key: &str, value: u64, least: u64, most: u64| {
            let why = || format!("is {value}, but must be between {least} and {most}");
            if (least..=most).contains(&value) { Ok(()) } else { Err(invalid(key, why())) }
        };
        if server.listen.is_empty() {
            return Err(invalid("server.listen", "is empty; name an address, such as \"127.0.0.1:53\""));
        }
        within("server.workers", server.workers as u64, 0, 1024)?;
        within("server.max_udp", server.max_udp.into(), 512, 4096)?;
        for (key, text) in [("server.version", &server.version), ("server.identity", &server.identity)] {
            if text.len() > MAX_TEXT {
                return Err(invalid(key, format!("is longer than {MAX_TEXT} bytes")));
            }
        }
        server.nsid()?;
        server.secrets()?;
        self.check_paths()?;
        within("tcp.connections", tcp.connections as u64, 1, 1 << 20)?;
        within("tcp.connections_per_address", tcp.connections_per_address as u64, 1, 1 << 20)?;
        within("tcp.memory", tcp.memory, 1 << 20, 1 << 40)?;
        for (key, value) in [
            ("tcp.idle_timeout_ms", tcp.idle_timeout_ms),
            ("tcp.message_timeout_ms", tcp.message_timeout_ms),
            ("tcp.write_timeout_ms", tcp.write_timeout_ms),
        ] {
            within(key, value, 100, 3_600_000)?;
        }
        within("rate_limit.responses_per_second", rate_limit.responses_per_second.into(), 0, 1_000_000)?;
        within("rate_limit.slip", rate_limit.slip.into(), 0, 10)?;
        within("rate_limit.ipv4_prefix", rate_limit.ipv4_prefix.into(), 8, 32)?;
        within("rate_limit.ipv6_prefix", rate_limit.ipv6_prefix.into(), 16, 64)?;
        within("rate_limit.entries", rate_limit.entries as u64, 1024, 1 << 28)?;
        within("zone_files.max_bytes", zone_files.max_bytes, 1 << 10, 1 << 40)?;
        within("zone_files.max_generated", zone_files.max_generated, 0, 1 << 24)?;
        within("transfer.max_bytes", transfer.max_bytes, 1 << 10, 1 << 40)?;
        within("transfer.timeout_s", transfer.timeout_s, 1, 7 * 86_400)?;
        within("transfer.parallel", transfer.parallel as u64, 1, 256)?;
        within("transfer.max_members", transfer.max_members as u64, 1, 10_000_000)?;
        within("transfer.history", transfer.history, 0, 1 << 40)?;
        // The kernel chooses different ports in place of 0.
        let mut metrics = self.metrics.listen.iter().filter(|address| address.port() != 0);
        if let Some(address) = metrics.find(|address| server.listen.contains(address)) {
            return Err(invalid("metrics.listen", format!("has {address}, as `server.listen` has")));
        }
        tls.check(&[&server.listen[..], &self.metrics.listen].concat())?;
        self.check_peers()?;
        for zone in zone {
            if !zone.name.is_ascii() {
                let why = format!("has {:?}; write it in ASCII, as xn--…", zone.name);
                return Err(invalid("zone.name", why));
            }
            zone.apex()?;
            self.check_source(zone)?;
        }
        self.check_keys()?;
        check_duplicates(zone)
    }
}

impl Config {
    /// Checks that a zone has a file or primaries, and what it needs for them.
    fn check_source(&self, zone: &ZoneFile) -> Result<(), ConfigError> {
        let name = &zone.name;
        match &zone.catalog[..] {
            "" => {}
            "follow" if zone.primaries.is_empty() => {
                let why = format!("is \"follow\" for {name:?}, which has no `primaries` for its members");
                return Err(invalid("zone.catalog", why));
            }
            "follow" => {}
            "produce" if zone.file.as_os_str().is_empty() && zone.primaries.is_empty() => return Ok(()),
            "produce" => {
                let why =
                    format!("is \"produce\" for {name:?}, which has a file or `primaries`; remove them");
                return Err(invalid("zone.catalog", why));
            }
            other => {
                let why = format!("has {other:?}, but must be \"follow\" or \"produce\", or empty");
                return Err(invalid("zone.catalog", why));
            }
        }
        match (zone.file.as_os_str().is_empty(), zone.primaries.is_empty()) {
            (true, true) => {
                let why = format!("is missing for {name:?}; name its zone file, or its `primaries`");
                Err(invalid("zone.file", why))
            }
            (false, false) => {
                let why = format!("and `primaries` are both given for {name:?}; remove one of them");
                Err(invalid("zone.file", why))
            }
            (true, false) if self.transfer.folder.as_os_str().is_empty() => {
                let why = format!(
                    "is missing, but {name:?} has `primaries`; name a folder for received zones, such as \
                     \"/var/lib/hashlane-dns\""
                );
                Err(invalid("transfer.folder", why))
            }
            (false, true) if !zone.allow_notify.is_empty() => {
                let why = format!("is given for {name:?}, which has a file: only `primaries` send news");
                Err(invalid("zone.allow_notify", why))
            }
            _ => Ok(()),
        }
    }

    /// Checks that there are issuers for the peers that are asked over TLS, and that none is told over it.
    fn check_peers(&self) -> Result<(), ConfigError> {
        let mut primaries = self.zone.iter().flat_map(|zone| &zone.primaries);
        if self.tls.roots.as_os_str().is_empty()
            && let Some(peer) = primaries.find(|peer| peer.tls.is_some())
        {
            let why = format!(
                "is missing, but `zone.primaries` has \"{peer}\"; name a file of the certificates that issue \
                 those of primaries"
            );
            return Err(invalid("tls.roots", why));
        }
        let of_zones = self.zone.iter().flat_map(|zone| &zone.notify).map(|peer| ("zone.notify", peer));
        let of_all = self.transfer.notify.iter().map(|peer| ("transfer.notify", peer));
        match of_zones.chain(of_all).find(|(_, peer)| peer.tls.is_some()) {
            Some((key, peer)) => Err(invalid(
                key,
                format!("has \"{peer}\", but NOTIFY goes over UDP; remove `tls` and its name"),
            )),
            None => Ok(()),
        }
    }

    /// Checks the keys, and that those which peers name are there.
    fn check_keys(&self) -> Result<(), ConfigError> {
        let mut names = Vec::new();
        for key in &self.key {
            let name = text::parse(key.name.as_bytes())
                .map_err(|error| invalid("key.name", format!("has {:?}: {error}", key.name)))?;
            if key.secret_file.as_os_str().is_empty() {
                key.with(&key.secret)?;
            } else if !key.secret.is_empty() {
                let why = format!("and `secret_file` are both given for {:?}; remove one of them", key.name);
                return Err(invalid("key.secret", why));
            }
            if names.contains(&name.as_bytes().to_ascii_lowercase()) {
                return Err(invalid("key.name", format!("has {:?} twice; remove one of the keys", key.name)));
            }
            names.push(name.as_bytes().to_ascii_lowercase());
        }
        let check = |path: &str, key: Option<&String>| match key {
            Some(key) if !self.has_key(key) => {
                Err(invalid(path, format!("names the key {key:?}, which is not among `[[key]]`")))
            }
            _ => Ok(()),
        };
        let Transfer { allow, notify, .. } = &self.transfer;
        allow.iter().try_for_each(|access| check("transfer.allow", access.key.as_ref()))?;
        notify.iter().try_for_each(|peer| check("transfer.notify", peer.key.as_ref()))?;
        for zone in &self.zone {
            zone.primaries.iter().try_for_each(|peer| check("zone.primaries", peer.key.as_ref()))?;
            zone.notify.iter().try_for_each(|peer| check("zone.notify", peer.key.as_ref()))?;
            zone.allow_notify.iter().try_for_each(|rule| check("zone.allow_notify", rule.key.as_ref()))?;
            zone.allow_transfer
                .iter()
                .try_for_each(|rule| check("zone.allow_transfer", rule.key.as_ref()))?;
        }
        Ok(())
    }

    fn has_key(&self, name: &str) -> bool {
        let Ok(name) = text::parse(name.as_bytes()) else { return false };
        self.key.iter().any(|key| {
            text::parse(key.name.as_bytes()).is_ok_and(|key| key.view().eq_ignore_case(name.view()))
        })
    }

    /// The keys, with the secrets of their files.
    ///
    /// # Errors
    /// A file cannot be read, or holds no secret.
    pub fn keys(&self) -> io::Result<Vec<tsig::Key>> {
        let one = |key: &TsigKey| {
            let secret = match key.secret_file.as_os_str().is_empty() {
                true => key.secret.clone(),
                false => std::fs::read_to_string(&key.secret_file).map_err(|error| {
                    io::Error::new(error.kind(), format!("{}: {error}", key.secret_file.display()))
                })?,
            };
            key.with(&secret).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
        };
        self.key.iter().map(one).collect()
    }

    /// Checks that paths are UTF-8, so that reports and configurations can have them.
    fn check_paths(&self) -> Result<(), ConfigError> {
        let files = self.zone.iter().map(|zone| ("zone.file", &zone.file));
        let own = [
            ("control.path", &self.control.path),
            ("transfer.folder", &self.transfer.folder),
            ("log.dnstap", &self.log.dnstap),
        ];
        let mut paths = files.chain(own).chain(self.tls.paths());
        match paths.find(|(_, path)| path.to_str().is_none()) {
            Some((key, path)) => {
                Err(invalid(key, format!("has {path:?}, which is not UTF-8; rename the file or its folder")))
            }
            None => Ok(()),
        }
    }
}

/// Refuses a zone that is given twice.
fn check_duplicates(zones: &[ZoneFile]) -> Result<(), ConfigError> {
    let mut names = zones
        .iter()
        .map(|zone| Ok((zone.apex()?.as_bytes().to_ascii_lowercase(), &zone.name)))
        .collect::<Result<Vec<_>, ConfigError>>()?;
    names.sort();
    let twice = names.windows(2).find_map(|pair| match pair {
        [(a, name), (b, _)] if a == b => Some(name),
        _ => None,
    });
    match twice {
        Some(name) => Err(invalid("zone.name", format!("has {name:?} twice; remove one of the zones"))),
        None => Ok(()),
    }
}

/// The parser's error about zones, in the words of this configuration.
fn in_words(error: ConfigError) -> ConfigError {
    match error {
        ConfigError::Toml(why) => ConfigError::Toml(why.replace(
            "invalid type: map, expected an array, in brackets",
            "not an array; write [[zone]] for a zone",
        )),
        error => error,
    }
}

/// Error for a value.
fn invalid(key: &str, why: impl Into<String>) -> ConfigError {
    ConfigError::Value { key: key.to_owned(), why: why.into() }
}

impl Server {
    /// The identifier of the server in EDNS (RFC 5001): the text after `ascii_`, or hexadecimal digits.
    ///
    /// # Errors
    /// It is neither, or longer than 255 bytes.
    pub fn nsid(&self) -> Result<Vec<u8>, ConfigError> {
        let bytes = match self.nsid.strip_prefix("ascii_") {
            Some(text) => Some(text.as_bytes().to_vec()),
            None => HEXLOWER_PERMISSIVE.decode(self.nsid.as_bytes()).ok(),
        };
        let why = "needs hexadecimal digits, such as \"6e7331\", or text after ascii_, such as \"ascii_ns1\", \
                   of at most 255 bytes";
        bytes.filter(|bytes| bytes.len() <= MAX_TEXT).ok_or_else(|| invalid("server.nsid", why))
    }

    /// The secrets of cookies (RFC 9018 §5): none, the one in use, or that and the one before it.
    ///
    /// # Errors
    /// There are more than two, or one has not 32 hexadecimal digits.
    pub fn secrets(&self) -> Result<Vec<Key>, ConfigError> {
        let key = "server.cookie_secrets";
        if self.cookie_secrets.len() > 2 {
            return Err(invalid(
                key,
                "has more than two secrets: name the one in use, then the one before it",
            ));
        }
        let one = |text: &String| {
            let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok();
            let bytes = bytes.and_then(|bytes| <[u8; 16]>::try_from(bytes).ok());
            bytes.map(Key::new).ok_or_else(|| invalid(key, "must have 32 hexadecimal digits each"))
        };
        self.cookie_secrets.iter().map(one).collect()
    }
}

impl TsigKey {
    /// The key with this secret.
    fn with(&self, secret: &str) -> Result<tsig::Key, ConfigError> {
        let name = text::parse(self.name.as_bytes())
            .map_err(|error| invalid("key.name", format!("has {:?}: {error}", self.name)))?;
        tsig::Key::new(name.view(), &self.algorithm, secret).map_err(|error| {
            let key = match error {
                tsig::KeyError::Algorithm => "key.algorithm",
                _ => "key.secret",
            };
            invalid(key, format!("of {:?}: {error}", self.name))
        })
    }
}

impl ZoneFile {
    /// The name of the zone.
    ///
    /// # Errors
    /// It is not a domain name.
    pub fn apex(&self) -> Result<NameBuf, ConfigError> {
        text::parse(self.name.as_bytes())
            .map_err(|error| invalid("zone.name", format!("has {:?}: {error}", self.name)))
    }

    /// The zone in a file that is named like the zone, with or without `.zone` or `.db`.
    ///
    /// # Errors
    /// The file's name is not a domain name.
    pub fn of(path: &Path) -> Result<Self, ConfigError> {
        let Some(name) = load::named(path) else {
            let why = format!(
                "of {} is unknown: its file is not named after the zone, as example.com.zone is; name it by \
                 --config",
                path.display()
            );
            return Err(invalid("zone.name", why));
        };
        let name = name.to_string();
        let name = name.strip_suffix('.').filter(|name| !name.is_empty()).unwrap_or(&name).to_owned();
        Ok(Self::new(name, path))
    }
}
