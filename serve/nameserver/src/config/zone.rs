//! The table `[[zone]]`.

use super::{Access, ConfigError, Peer, invalid};
use hashlane_name::dns::{NameBuf, text};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A zone: from a file, or from the servers that have it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ZoneFile {
    /// Name of the zone.
    pub name: String,
    /// In a configuration file, names of several zones with the same settings, in place of `name`: each
    /// becomes a zone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Its zone file, relative to the folder of the configuration; empty for a zone with `primaries`.
    pub file: PathBuf,
    /// Servers from which the zone is transferred, in the order in which they are asked.
    pub primaries: Vec<Peer>,
    /// Clients that may query the zone, beside the servers that may transfer it; empty: all.
    pub allow_query: Vec<Access>,
    /// Servers that may say that the zone has changed, in addition to the addresses of its primaries.
    pub allow_notify: Vec<Access>,
    /// Servers that may transfer the zone.
    pub allow_transfer: Vec<Access>,
    /// Servers that are told when the zone changes.
    pub notify: Vec<Peer>,
    /// Part of the zone in catalogs (RFC 9432): `follow` serves its members, too, from the same primaries and
    /// with the same rights; `produce` makes it of all other zones, without a file or primaries.
    pub catalog: String,
    /// Group of the zone in the catalogs that are produced here (RFC 9432 §4.3.2); empty: none.
    pub group: String,
}

/// Stands for the name of a zone in the `file` of several.
const PLACE: &str = "{name}";

impl ZoneFile {
    /// A zone for each of the `names`, or this one.
    ///
    /// # Errors
    /// It has a name beside them, or one file for all of them.
    pub(super) fn each(self) -> Result<Vec<Self>, ConfigError> {
        let Self { name, names, file, .. } = &self;
        if names.is_empty() {
            return Ok(vec![self]);
        }
        if !name.is_empty() {
            let why = format!("and `name` are both given for {name:?}; remove one of them");
            return Err(invalid("zone.names", why));
        }
        let file = file.to_string_lossy();
        if names.len() > 1 && !file.is_empty() && !file.contains(PLACE) {
            let why = format!(
                "has {file:?} for {} zones; write {PLACE} for the name in it, as in \"zones/{PLACE}.zone\"",
                names.len()
            );
            return Err(invalid("zone.file", why));
        }
        let one = |name: &String| Self {
            name: name.clone(),
            names: Vec::new(),
            file: file.replace(PLACE, name).into(),
            ..self.clone()
        };
        Ok(names.iter().map(one).collect())
    }

    /// These servers, and `other`'s where this has none.
    pub(crate) fn or(&self, other: &Self) -> Self {
        fn either<T: Clone>(one: &[T], other: &[T]) -> Vec<T> {
            if one.is_empty() { other } else { one }.to_vec()
        }
        Self {
            primaries: either(&self.primaries, &other.primaries),
            allow_query: either(&self.allow_query, &other.allow_query),
            allow_notify: either(&self.allow_notify, &other.allow_notify),
            allow_transfer: either(&self.allow_transfer, &other.allow_transfer),
            notify: either(&self.notify, &other.notify),
            ..other.clone()
        }
    }

    /// A catalog whose members are served.
    pub(crate) fn follows(&self) -> bool {
        self.catalog == "follow"
    }

    /// A catalog that lists the other zones.
    pub(crate) fn is_produced(&self) -> bool {
        self.catalog == "produce"
    }

    /// A zone from a file.
    pub fn new(name: impl Into<String>, file: impl Into<PathBuf>) -> Self {
        Self { name: name.into(), file: file.into(), ..Self::default() }
    }

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
        let Some(name) = hashlane_zone_file::named(path) else {
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
