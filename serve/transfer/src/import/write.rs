//! The text of the configuration that is made.

use super::address;
use super::model::{Key, Model, Peer, Zone, quoted};
use super::report::{Fate, Report};
use crate::tsig;
use hashlane_name::dns::text;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

/// Folder of received zones in a configuration that has any.
const FOLDER: &str = "/var/lib/hashlane-dns";

impl Model {
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
        known.has_whole_groups = !self.lacks_groups && servers.all(|peer| known.fault(peer).is_none());
        for group in &self.groups {
            let _ = writeln!(out, "[[group]]\nname = {}", quoted(&group.name));
            write_servers(group, &known, report, &mut out);
        }
        for zone in &self.zones {
            write_zone(zone, &known, &mut names, report, &mut out);
        }
        report_files(&self.zones, report);
        report_notify(self.groups.iter().chain(&self.zones), report);
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
    /// The certificates that issue the primaries' are named.
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
    let is_open = zone.limits_query && !zone.allow_query.iter().any(is_usable);
    let lost = match (is_name, file, is_secondary) {
        (false, ..) => Some(format!("{name:?} is no domain name in ASCII")),
        _ if zone.fault.is_some() => zone.fault.clone(),
        _ if is_open => {
            Some("none of the clients that may query it can be kept: it would be open to all".to_owned())
        }
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
        for peer in primaries.iter().chain(&zone.allow_query) {
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
    if let Some(group) = &zone.group {
        let _ = writeln!(out, "group = {}", quoted(group));
    }
    write_servers(zone, known, report, out);
}

/// Writes the servers of a zone, or of a group. Those that cannot be kept become lost lines.
fn write_servers(zone: &Zone, known: &Known, report: &mut Report, out: &mut String) {
    let names = ["primaries", "notify", "allow_transfer", "allow_notify", "allow_query"];
    for (list, peers) in names.into_iter().zip(zone.lists()) {
        if list == "allow_notify" && zone.is_from_file() {
            continue;
        }
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

/// Reports the lines that allow NOTIFY to zones with files alone.
fn report_notify<'z>(zones: impl Iterator<Item = &'z Zone>, report: &mut Report) {
    /// Lists that have a line.
    #[derive(Default)]
    struct Uses {
        notify: bool,
        transfer: bool,
        file: bool,
    }
    let mut lines: BTreeMap<usize, Uses> = BTreeMap::new();
    for zone in zones {
        for peer in &zone.allow_notify {
            let uses = lines.entry(peer.at).or_default();
            *(if zone.is_from_file() { &mut uses.file } else { &mut uses.notify }) = true;
        }
        zone.allow_transfer.iter().for_each(|peer| lines.entry(peer.at).or_default().transfer = true);
    }
    let why = "a zone from a file takes no NOTIFY";
    for (at, uses) in lines.into_iter().filter(|(_, uses)| uses.file && !uses.notify) {
        report.set(
            at,
            match uses.transfer {
                true => Fate::kept(format!("zone.allow_transfer; {why}")),
                false => Fate::ignored(why),
            },
        );
    }
}

/// A name as it is compared.
fn folded(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}
