//! The configuration: one TOML file, in which every value has a default.

mod check;
mod keys;
mod network;
mod peer;
mod secrets;
mod sections;
#[cfg(test)]
mod tests;
mod text_form;
mod tls;
mod transfer;
mod zone;

pub use hashlane_daemon::config::{ConfigError, Metrics};
pub use keys::TsigKey;
pub use network::Network;
pub use peer::{Access, Peer};
pub use sections::{Control, Io, Log, NameServer, RateLimit, Server, Tcp, ZoneFiles};
pub use tls::Tls;
pub use transfer::Transfer;
pub use zone::ZoneFile;

use hashlane_daemon::config::{Keys, parse, read, to_toml};
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
    /// Servers of the members of catalog zones that are in a group (RFC 9432 §4.3.2): the text of the
    /// property `group` is the `name` here. A list that is empty is the catalog's.
    pub group: Vec<ZoneFile>,
    /// Zones and their files.
    pub zone: Vec<ZoneFile>,
    /// File that the configuration was read from; empty: none.
    #[serde(skip)]
    pub path: PathBuf,
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
            config.path = path.to_owned();
            Ok(config)
        })
    }

    /// Parses and checks a configuration.
    ///
    /// # Errors
    /// The first error in the text.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        // One zone and one key, for the names of their keys.
        let zone = ZoneFile { names: vec![String::new()], ..ZoneFile::default() };
        let (group, key) = (vec![ZoneFile::default()], vec![TsigKey::default()]);
        let known = Self { group, zone: vec![zone], key, ..Self::default() };
        let mut config: Self = parse(text, &known, &Keys::default()).map_err(in_words)?;
        let zones = config.zone.into_iter().map(ZoneFile::each).collect::<Result<Vec<_>, _>>()?;
        config.zone = zones.into_iter().flatten().collect();
        config.check()?;
        Ok(config)
    }

    /// The configuration as a file that sets every value. Without zones, it ends with one in comments.
    pub fn to_toml(&self) -> String {
        let text = to_toml(self);
        // An empty array could not be followed by [[zone]] or [[key]].
        let text = text.replacen("key = []\n", "", usize::from(self.key.is_empty()));
        let text = text.replacen("group = []\n", "", usize::from(self.group.is_empty()));
        match self.zone.is_empty() {
            true => text.replacen("zone = []\n", "", 1).trim_start().to_owned() + NO_ZONE,
            false => text.trim_start().to_owned(),
        }
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
