//! The configuration: one TOML file, in which every value has a default.

mod network;
mod sections;
#[cfg(test)]
mod tests;

pub use hashlane_daemon::config::{ConfigError, Metrics};
pub use network::Network;
pub use sections::{Control, NameServer, RateLimit, Server, Tcp, ZoneFile, ZoneFiles};

use crate::load;
use data_encoding::HEXLOWER_PERMISSIVE;
use hashlane_daemon::config::{Keys, parse, read, to_toml};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{NameBuf, text};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// Most bytes of a text in class CH, and of the identifier in EDNS.
const MAX_TEXT: usize = 255;

/// The whole configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Sockets, identity, user.
    pub server: Server,
    /// Limits of TCP connections.
    pub tcp: Tcp,
    /// Limits of UDP responses.
    pub rate_limit: RateLimit,
    /// Socket for `hashlane dns control`.
    pub control: Control,
    /// Counters over HTTP.
    pub metrics: Metrics,
    /// Limits of zone files.
    pub zone_files: ZoneFiles,
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
                config.zone.iter_mut().for_each(|zone| zone.file = folder.join(&zone.file));
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
        // One zone, for the names of its keys.
        let known = Self { zone: vec![ZoneFile::default()], ..Self::default() };
        let config = parse(text, &known, &Keys::default()).map_err(in_words)?;
        config.check()?;
        Ok(config)
    }

    /// The configuration as a file that sets every value. Without zones, it ends with one in comments.
    pub fn to_toml(&self) -> String {
        let text = to_toml(self);
        match text.strip_prefix("zone = []\n") {
            // An empty array could not be followed by [[zone]].
            Some(text) => text.trim_start().to_owned() + NO_ZONE,
            None => text,
        }
    }

    /// Checks the values that are not valid for every value of their type.
    ///
    /// # Errors
    /// The first invalid value.
    pub fn check(&self) -> Result<(), ConfigError> {
        let Self { server, tcp, rate_limit, zone_files, zone, .. } = self;
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
        // The kernel chooses different ports in place of 0.
        let mut metrics = self.metrics.listen.iter().filter(|address| address.port() != 0);
        if let Some(address) = metrics.find(|address| server.listen.contains(address)) {
            return Err(invalid("metrics.listen", format!("has {address}, as `server.listen` has")));
        }
        for zone in zone {
            if !zone.name.is_ascii() {
                let why = format!("has {:?}; write it in ASCII, as xn--…", zone.name);
                return Err(invalid("zone.name", why));
            }
            zone.apex()?;
            if zone.file.as_os_str().is_empty() {
                return Err(invalid(
                    "zone.file",
                    format!("is missing for {:?}; name its zone file", zone.name),
                ));
            }
        }
        check_duplicates(zone)
    }
}

impl Config {
    /// Checks that paths are UTF-8, so that reports and configurations can have them.
    fn check_paths(&self) -> Result<(), ConfigError> {
        let files = self.zone.iter().map(|zone| ("zone.file", &zone.file));
        let mut paths = files.chain([("control.path", &self.control.path)]);
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
        Ok(Self { name, file: PathBuf::from(path) })
    }
}
