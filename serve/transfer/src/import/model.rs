//! The configuration that is made.

use super::MAX_OUTPUT;
use super::report::{Fate, Report};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::IpAddr;

/// Another server: addresses in our form, and the number of the line that names it.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    /// Empty: any address, with the key.
    pub(super) address: String,
    /// Name in its certificate, of a server that is asked over TLS.
    pub(super) tls: Option<String>,
    pub(super) key: Option<String>,
    pub(super) at: usize,
}

impl Peer {
    pub(super) fn new(address: String, key: Option<&str>, at: usize) -> Self {
        Self { address, tls: None, key: key.map(str::to_owned), at }
    }

    /// The server, asked over TLS.
    pub(super) fn over_tls(self, domain: &str) -> Self {
        Self { tls: Some(domain.to_owned()), ..self }
    }

    /// The address, the name in the certificate, and the key.
    pub(super) fn words(&self) -> String {
        let tls = self.tls.as_ref().map(|name| format!("tls {name}"));
        let key = self.key.as_ref().map(|key| format!("key {key}"));
        let address = Some(self.address.clone()).filter(|address| !address.is_empty());
        address.into_iter().chain(tls).chain(key).collect::<Vec<_>>().join(" ")
    }
}

/// A key, with the numbers of its lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) algorithm: String,
    pub(super) secret: String,
    pub(super) lines: Vec<usize>,
}

/// A zone; `at` is the number of the line that names it.
#[derive(Clone, Debug, Default)]
pub(super) struct Zone {
    pub(super) name: String,
    pub(super) at: usize,
    /// The file, and the number of its line.
    pub(super) file: Option<(String, usize)>,
    pub(super) primaries: Vec<Peer>,
    /// Primaries were named, if only ones that are lost.
    pub(super) is_secondary: bool,
    pub(super) notify: Vec<Peer>,
    pub(super) allow_transfer: Vec<Peer>,
    pub(super) allow_notify: Vec<Peer>,
    pub(super) allow_query: Vec<Peer>,
    /// Addresses that its servers are reached from, with the numbers of their lines.
    pub(super) sources: Vec<(IpAddr, usize)>,
    /// Clients were named, if only ones that are lost: without any, the zone would be open to all.
    pub(super) limits_query: bool,
    /// The reason for which the zone cannot be kept, as access would be wider.
    pub(super) fault: Option<String>,
    /// Part in catalogs: `follow` or `produce`.
    pub(super) catalog: Option<&'static str>,
    /// Group in the catalog that is made.
    pub(super) group: Option<String>,
}

impl Zone {
    pub(super) fn lists(&self) -> [&Vec<Peer>; 5] {
        let Self { primaries, notify, allow_transfer, allow_notify, allow_query, .. } = self;
        [primaries, notify, allow_transfer, allow_notify, allow_query]
    }

    /// True for a zone that has a file, and no primaries.
    pub(super) fn is_from_file(&self) -> bool {
        self.file.is_some() && !self.is_secondary
    }

    /// True if both have the same servers in each list.
    pub(super) fn has_servers_of(&self, other: &Self) -> bool {
        let words = |zone: &Self| zone.lists().map(|list| list.iter().map(Peer::words).collect::<Vec<_>>());
        words(self) == words(other)
    }

    /// True if a list is empty that the other one has.
    pub(super) fn lacks_servers_of(&self, other: &Self) -> bool {
        self.lists().iter().zip(other.lists()).any(|(ours, theirs)| ours.is_empty() && !theirs.is_empty())
    }
}

/// The configuration.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// Addresses in our form.
    pub(super) listen: Vec<String>,
    /// Values as TOML, by table and key.
    pub(super) settings: BTreeMap<(&'static str, &'static str), String>,
    pub(super) keys: Vec<Key>,
    pub(super) zones: Vec<Zone>,
    /// Servers of members of catalogs, each under the name of a group.
    pub(super) groups: Vec<Zone>,
    /// A group is lost.
    pub(super) lacks_groups: bool,
    /// Bytes that the zones' lists take, approximately.
    size: usize,
}

impl Model {
    /// Sets a value to a text.
    pub(super) fn set_text(&mut self, table: &'static str, key: &'static str, value: &str) -> Fate {
        self.settings.insert((table, key), quoted(value));
        Fate::kept(format!("{table}.{key}"))
    }

    /// Sets a value to a number that must be within bounds.
    pub(super) fn set_number(
        &mut self,
        (table, key): (&'static str, &'static str),
        text: &str,
        (factor, least, most): (u64, u64, u64),
    ) -> Fate {
        match text.parse::<u64>().ok().and_then(|number| number.checked_mul(factor)) {
            Some(number) if (least..=most).contains(&number) => {
                self.settings.insert((table, key), number.to_string());
                Fate::kept(format!("{table}.{key}"))
            }
            _ => Fate::lost(format!(
                "{table}.{key} is between {} and {}",
                least.div_ceil(factor),
                most / factor
            )),
        }
    }

    /// Counts the text of a zone or a group. Returns false if the configuration grows too long.
    fn fits(&mut self, zone: &Zone, report: &mut Report) -> bool {
        let peers = zone.lists().into_iter().flatten().map(|peer| 8 + peer.words().len());
        self.size += 40 + zone.name.len() + zone.file.as_ref().map_or(0, |(file, _)| file.len());
        self.size += peers.sum::<usize>();
        let fits = self.size <= MAX_OUTPUT;
        if !fits {
            report.set(zone.at, Fate::lost(format!("the configuration has more than {MAX_OUTPUT} bytes")));
        }
        fits
    }

    /// Adds a zone, unless the configuration grows too long.
    pub(super) fn push(&mut self, zone: Zone, report: &mut Report) {
        if self.fits(&zone, report) {
            self.zones.push(zone);
        }
    }

    /// Adds a group of members of catalogs, unless it is there, or the configuration grows too long.
    pub(super) fn add_group(&mut self, group: Zone, report: &mut Report) {
        if self.groups.iter().any(|known| known.name == group.name) {
            return;
        }
        if self.fits(&group, report) {
            self.groups.push(group);
        } else {
            self.lacks_groups = true;
        }
    }
}

/// A text as a basic string of TOML.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => drop(write!(out, "\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
