//! The configuration that is made, and its text.

use super::report::{Fate, Report};
use super::{MAX_OUTPUT, address};
use crate::tsig;
use hashlane_name::dns::text;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

/// Folder of received zones in a configuration that has any.
const FOLDER: &str = "/var/lib/hashlane-dns";

/// Another server: addresses in our form, and the number of the line that names it.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    /// Empty: any address, with the key.
    pub(super) address: String,
    /// Name in its certificate, of a server that is asked over TLS.
    tls: Option<String>,
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
}

impl Peer {
    /// The address, the name in the certificate, and the key.
    fn words(&self) -> String {
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
    /// Part in catalogs: `follow` or `produce`.
    pub(super) catalog: Option<&'static str>,
}

impl Zone {
    fn lists(&self) -> [&Vec<Peer>; 4] {
        [&self.primaries, &self.notify, &self.allow_transfer, &self.allow_notify]
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
    groups: Vec<Zone>,
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

    /// Adds a zone, unless the configuration grows too long.
    pub(super) fn push(&mut self, zone: Zone, report: &mut Report) {
        let lists = [&zone.primaries, &zone.notify, &zone.allow_transfer, &zone.allow_notify];
        let peers = lists.into_iter().flatten().map(|peer| 8 + peer.words().len());
        self.size += 40 + zone.name.len() + zone.file.as_ref().map_or(0, |(file, _)| file.len());
        self.size += peers.sum::<usize>();
        if self.size > MAX_OUTPUT {
            report.set(zone.at, Fate::lost(format!("the configuration has more than {MAX_OUTPUT} bytes")));
        } else {
            self.zones.push(zone);
        }
    }

    /// Adds a group of members of catalogs, unless it is there.
    pub(super) fn add_group(&mut self, group: Zone) {
        if !self.groups.iter().any(|known| known.name == group.name) {
            self.groups.push(group);
        }
    }

    /// The text. Keys and zones that are not valid become lost lines.
    pub(super) fn into_toml(mut self, report: &mut Report) -> String {
        let mut out = String::new();
        if !self.listen.is_empty() {
            let listen: Vec<String> = self.listen.iter().map(|text| quoted(text)).collect();
            self.settings.insert(("server", "listen"), format!("[{}]", listen.join(", ")));
        }
        if self.zones.iter().any(|zone| zone.is_secondary) {
            self.settings.insert(("transfer", "folder"), quoted(FOLDER));
        }
        for table in ["server", "tcp", "tls", "rate_limit", "transfer"] {
            let mut values = self.settings.iter().filter(|((of, _), _)| *of == table).peekable();
            if values.peek().is_some() {
                let _ = writeln!(out, "[{table}]");
                for ((_, key), value) in values {
                    let _ = writeln!(out, "{key} = {value}");
                }
                out.push('\n');
            }
        }
        let keys = write_keys(&self.keys, report, &mut out);
        let mut names = HashSet::new();
        let has_roots = self.settings.contains_key(&("tls", "roots"));
        let mut known = Known { keys, has_roots, has_whole_groups: true };
        let mut servers = self.groups.iter().flat_map(Zone::lists).flatten();
        known.has_whole_groups = servers.all(|peer| known.fault(peer).is_none());
        for group in &self.groups {
            let _ = writeln!(out, "[[group]]\nname = {}", quoted(&group.name));
            write_servers(group, &known, report, &mut out);
        }
        for zone in &self.zones {
            write_zone(zone, &known, &mut names, report, &mut out);
        }
        report_files(&self.zones, report);
        out.truncate(out.trim_end().len());
        if !out.is_empty() {
            out.push('\n');
        }
        out
    }
}

/// Writes the keys; returns their names in small letters.
fn write_keys(keys: &[Key], report: &mut Report, out: &mut String) -> HashSet<String> {
    let mut known = HashSet::new();
    for key in keys {
        let Key { name, algorithm, secret, lines } = key;
        let algorithm = algorithm.trim_end_matches('.').to_ascii_lowercase();
        let parsed = text::parse(name.as_bytes());
        let why = match parsed.map(|name| tsig::Key::new(name.view(), &algorithm, secret)) {
            Err(_) => Some(tsig::KeyError::Name.to_string()),
            Ok(Err(error)) => Some(error.to_string()),
            Ok(Ok(_)) if !known.insert(folded(name)) => Some("a second key of this name".to_owned()),
            Ok(Ok(_)) => None,
        };
        if let Some(why) = why {
            lines.iter().for_each(|at| report.set(*at, Fate::lost(why.clone())));
            continue;
        }
        let _ = writeln!(out, "[[key]]\nname = {}\nalgorithm = {}", quoted(name), quoted(&algorithm));
        let _ = writeln!(out, "secret = {}\n", quoted(secret));
    }
    known
}

/// Names that peers refer to.
struct Known {
    /// Names of keys in small letters.
    keys: HashSet<String>,
    /// The certificates that issue those of primaries are named.
    has_roots: bool,
    /// No server of a group is lost.
    has_whole_groups: bool,
}

impl Known {
    /// The reason for which a server cannot be kept.
    fn fault(&self, peer: &Peer) -> Option<String> {
        match &peer.key {
            Some(key) if !self.keys.contains(&folded(key)) => {
                Some(format!("the key {key:?} is missing, or is lost itself"))
            }
            _ if peer.tls.is_some() && !self.has_roots => {
                let why = "no file of the issuers of certificates is named; this server has no default for tls.roots";
                Some(why.to_owned())
            }
            _ => None,
        }
    }
}

fn write_zone(
    zone: &Zone,
    known: &Known,
    names: &mut HashSet<String>,
    report: &mut Report,
    out: &mut String,
) {
    let Zone { name, at, file, primaries, is_secondary, catalog, .. } = zone;
    let is_usable = |peer: &Peer| known.fault(peer).is_none();
    let is_name = name.is_ascii() && text::parse(name.as_bytes()).is_ok();
    let lost = match (is_name, file, is_secondary) {
        (false, ..) => Some(format!("{name:?} is no domain name in ASCII")),
        (true, _, true) if !primaries.iter().any(is_usable) => {
            Some("none of the zone's primaries can be kept".to_owned())
        }
        (true, None, false) if *catalog != Some("produce") => {
            Some("the zone has neither a file nor a primary".to_owned())
        }
        _ if !names.insert(folded(name)) => Some("a second zone of this name".to_owned()),
        _ => None,
    };
    if let Some(why) = lost {
        report.set(*at, Fate::lost(why));
        for peer in primaries {
            if let Some(why) = known.fault(peer) {
                report.set(peer.at, Fate::lost(why));
            }
        }
        return;
    }
    let _ = writeln!(out, "[[zone]]\nname = {}", quoted(name));
    match file {
        Some((file, _)) if !is_secondary => {
            let _ = writeln!(out, "file = {}", quoted(file));
        }
        _ => {}
    }
    if *catalog == Some("follow") && !known.has_whole_groups {
        // Members would have the servers of the catalog in place of those that are lost.
        report.set(
            *at,
            Fate::lost("its members are not followed: a template of theirs has servers that are lost"),
        );
    } else if let Some(catalog) = catalog {
        let _ = writeln!(out, "catalog = {}", quoted(catalog));
    }
    write_servers(zone, known, report, out);
}

/// Writes the servers of a zone, or of a group. Those that cannot be kept become lost lines.
fn write_servers(zone: &Zone, known: &Known, report: &mut Report, out: &mut String) {
    let names = ["primaries", "notify", "allow_transfer", "allow_notify"];
    for (list, peers) in names.into_iter().zip(zone.lists()) {
        let mut items = Vec::new();
        for peer in peers {
            if let Some(why) = known.fault(peer) {
                report.set(peer.at, Fate::lost(why));
                continue;
            }
            match peer.words() {
                words if words.is_empty() => {
                    items.extend(address::EVERYONE.iter().map(|network| quoted(network)));
                }
                words => items.push(quoted(&words)),
            }
        }
        if !items.is_empty() {
            let _ = writeln!(out, "{list} = [{}]", items.join(", "));
        }
    }
    out.push('\n');
}

/// Reports the files that no zone has, as all of their zones have primaries.
fn report_files(zones: &[Zone], report: &mut Report) {
    let files = |zone: &'_ Zone| zone.file.as_ref().map(|(_, at)| *at);
    let kept: HashSet<usize> = zones.iter().filter(|zone| !zone.is_secondary).filter_map(files).collect();
    for at in zones.iter().filter_map(files).filter(|at| !kept.contains(at)) {
        report.set(at, Fate::ignored("transfer.folder has the zones of primaries"));
    }
}

/// A name as it is compared.
fn folded(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
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
