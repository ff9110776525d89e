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
    pub(super) key: Option<String>,
    pub(super) at: usize,
}

impl Peer {
    pub(super) fn new(address: String, key: Option<&str>, at: usize) -> Self {
        Self { address, key: key.map(str::to_owned), at }
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
        let peers = lists
            .into_iter()
            .flatten()
            .map(|peer| 8 + peer.address.len() + peer.key.as_ref().map_or(0, |key| 4 + key.len()));
        self.size += 40 + zone.name.len() + zone.file.as_ref().map_or(0, |(file, _)| file.len());
        self.size += peers.sum::<usize>();
        if self.size > MAX_OUTPUT {
            report.set(zone.at, Fate::lost(format!("the configuration has more than {MAX_OUTPUT} bytes")));
        } else {
            self.zones.push(zone);
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
        for table in ["server", "tcp", "rate_limit", "transfer"] {
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
        for zone in &self.zones {
            write_zone(zone, &keys, &mut names, report, &mut out);
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

fn write_zone(
    zone: &Zone,
    keys: &HashSet<String>,
    names: &mut HashSet<String>,
    report: &mut Report,
    out: &mut String,
) {
    let Zone { name, at, file, primaries, is_secondary, notify, allow_transfer, allow_notify } = zone;
    let is_usable = |peer: &Peer| peer.key.as_ref().is_none_or(|key| keys.contains(&folded(key)));
    let is_name = name.is_ascii() && text::parse(name.as_bytes()).is_ok();
    let lost = match (is_name, file, is_secondary) {
        (false, ..) => Some(format!("{name:?} is no domain name in ASCII")),
        (true, _, true) if !primaries.iter().any(is_usable) => {
            Some("none of the zone's primaries can be kept".to_owned())
        }
        (true, None, false) => Some("the zone has neither a file nor a primary".to_owned()),
        _ if !names.insert(folded(name)) => Some("a second zone of this name".to_owned()),
        _ => None,
    };
    if let Some(why) = lost {
        report.set(*at, Fate::lost(why));
        return;
    }
    let _ = writeln!(out, "[[zone]]\nname = {}", quoted(name));
    match file {
        Some((file, _)) if !is_secondary => {
            let _ = writeln!(out, "file = {}", quoted(file));
        }
        _ => {}
    }
    let lists = [
        ("primaries", primaries),
        ("notify", notify),
        ("allow_transfer", allow_transfer),
        ("allow_notify", allow_notify),
    ];
    for (list, peers) in lists {
        let mut items = Vec::new();
        for Peer { address, key, at } in peers {
            match key {
                Some(key) if !keys.contains(&folded(key)) => {
                    report.set(*at, Fate::lost(format!("the key {key:?} is missing, or is lost itself")));
                }
                Some(key) => {
                    let space = if address.is_empty() { "" } else { " " };
                    items.push(quoted(&format!("{address}{space}key {key}")));
                }
                None if address.is_empty() => {
                    items.extend(address::EVERYONE.iter().map(|network| quoted(network)));
                }
                None => items.push(quoted(address)),
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
