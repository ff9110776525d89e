//! nsd.conf: statements of a key and words, in sections.

use super::address::{self, peer};
use super::model::{Key, Model, Peer, Zone};
use super::report::{Fate, Place, Report};
use super::words::{Word, words};
use super::{ImportError, Reader};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Statements that the patterns of one zone have at most, so that patterns that include each other end.
const MAX_STATEMENTS: usize = 10_000;

/// Statements that all zones have at most.
const MAX_EXPANDED: usize = 16 << 20;

/// Sections whose statements do not concern what is served.
const OTHERS: [&str; 3] = ["remote-control", "dnstap", "cookie"];

/// The section that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Start,
    Server,
    Key,
    Zone,
    Pattern,
    Other(&'static str),
    Lost,
}

/// A zone or a pattern.
#[derive(Default)]
struct Block {
    name: String,
    /// Number of the line that names it, or that begins it.
    at: usize,
    statements: Vec<(Statement, usize)>,
}

#[derive(Clone)]
enum Statement {
    File(String),
    Include(String),
    Primary(Peer),
    /// A primary that is lost.
    NoPrimary,
    Notify(Peer),
    AllowTransfer(Peer),
    AllowNotify(Peer),
}

struct Nsd<'m> {
    model: &'m mut Model,
    section: Section,
    zones: Vec<Block>,
    patterns: Vec<Block>,
    /// Addresses to listen at; those without a port get the one of the server.
    listen: Vec<(std::net::IpAddr, Option<u16>)>,
    port: Option<u16>,
    folder: String,
}

/// Reads a configuration.
pub(super) fn read(reader: &mut Reader<'_>, text: &str, model: &mut Model) -> Result<(), ImportError> {
    let mut nsd = Nsd {
        model,
        section: Section::Start,
        zones: Vec::new(),
        patterns: Vec::new(),
        listen: Vec::new(),
        port: None,
        folder: String::new(),
    };
    nsd.file(reader, None, text, 0)?;
    nsd.finish(&mut reader.report);
    Ok(())
}

impl Nsd<'_> {
    fn file(
        &mut self,
        reader: &mut Reader<'_>,
        file: Option<Arc<str>>,
        text: &str,
        depth: usize,
    ) -> Result<(), ImportError> {
        reader.take(text)?;
        for (number, line) in (1..).zip(text.lines()) {
            let place = Place { file: file.clone(), number };
            let words = words(line, "");
            if words.is_empty() {
                reader.report.blank += 1;
            }
            let mut rest = words.as_slice();
            while let Some((first, after)) = rest.split_first() {
                let len = after.iter().position(|word| word.key().is_some()).unwrap_or(after.len());
                let (values, others) = after.split_at(len);
                rest = others;
                match first.key() {
                    Some("include") => self.include(reader, &place, values, depth)?,
                    Some(key) => self.statement(reader, &place, key, values)?,
                    None => drop(reader.add(&place, &first.text, Fate::lost("not a statement"))?),
                }
            }
        }
        Ok(())
    }

    fn include(
        &mut self,
        reader: &mut Reader<'_>,
        place: &Place,
        values: &[Word<'_>],
        depth: usize,
    ) -> Result<(), ImportError> {
        let path = values.first().map_or("", |word| &word.text);
        match reader.include(path, depth) {
            Ok((name, text)) => {
                reader.add(place, "include", Fate::kept("the lines of the file"))?;
                self.file(reader, Some(name), &text, depth + 1)
            }
            Err(fate) => reader.add(place, "include", fate).map(drop),
        }
    }

    fn statement(
        &mut self,
        reader: &mut Reader<'_>,
        place: &Place,
        key: &str,
        values: &[Word<'_>],
    ) -> Result<(), ImportError> {
        let others = OTHERS.into_iter().find(|name| *name == key);
        let section = match key {
            _ if !values.is_empty() => None,
            "server" => Some((Section::Server, Fate::kept("[server]"))),
            "key" => Some((Section::Key, Fate::kept("[[key]]"))),
            "zone" => Some((Section::Zone, Fate::kept("[[zone]]"))),
            "pattern" => Some((Section::Pattern, Fate::kept("the zones that include it"))),
            "tls-auth" | "verify" | "xdp" => Some((Section::Lost, Fate::lost("no counterpart"))),
            _ => others.map(|name| (Section::Other(name), Fate::ignored("no counterpart"))),
        };
        if let Some((section, fate)) = section {
            let at = reader.add(place, key, fate)?;
            self.section = section;
            let block = Block { at, ..Block::default() };
            match section {
                Section::Zone => self.zones.push(block),
                Section::Pattern => self.patterns.push(block),
                Section::Key => self.model.keys.push(Key { lines: vec![at], ..Key::default() }),
                _ => {}
            }
            return Ok(());
        }
        // The number that the line will have.
        let at = reader.report.lines.len();
        let value = values.first().map_or("", |word| &word.text);
        let fate = match self.section {
            Section::Server => self.server(key, value, values.len()),
            Section::Key => self.key(key, value, at),
            Section::Zone => match self.zones.last_mut() {
                Some(zone) => in_zone(zone, key, values, at, "zone.name"),
                None => Fate::lost("no zone"),
            },
            Section::Pattern => match self.patterns.last_mut() {
                Some(pattern) => in_zone(pattern, key, values, at, "the name of the pattern"),
                None => Fate::lost("no pattern"),
            },
            Section::Other(name) => Fate::ignored(format!("no counterpart to {name}")),
            Section::Lost => Fate::lost("no counterpart to its section"),
            Section::Start => Fate::lost("outside of a section"),
        };
        reader.add(place, key, fate).map(drop)
    }

    fn server(&mut self, key: &str, value: &str, values: usize) -> Fate {
        let model = &mut *self.model;
        match key {
            "ip-address" | "interface" if values > 1 => Fate::lost("an address with options"),
            "ip-address" | "interface" => match address::address(value) {
                Ok(address) => {
                    self.listen.push(address);
                    Fate::kept("server.listen")
                }
                Err(why) => Fate::lost(why),
            },
            "port" => match value.parse() {
                Ok(port) => {
                    self.port = Some(port);
                    Fate::kept("the ports of server.listen")
                }
                Err(_) => Fate::lost(format!("{value:?} is not a port")),
            },
            "identity" => model.set_text("server", "identity", value),
            "version" => model.set_text("server", "version", value),
            "nsid" => model.set_text("server", "nsid", value),
            "hide-version" | "hide-identity" => {
                let setting = ("server", if key == "hide-version" { "version" } else { "identity" });
                if value == "yes" {
                    model.set_text(setting.0, setting.1, "")
                } else if model.settings.contains_key(&setting) {
                    Fate::kept(format!("{}.{}", setting.0, setting.1))
                } else {
                    Fate::ignored("the answer is empty unless the configuration has one")
                }
            }
            "zonesdir" => {
                value.clone_into(&mut self.folder);
                Fate::kept("the folder of each zone's file")
            }
            "username" => match value.split_once([':', '.']) {
                Some((user, group)) => {
                    model.set_text("server", "group", group);
                    model.set_text("server", "user", user)
                }
                None => model.set_text("server", "user", value),
            },
            "server-count" => model.set_number(("server", "workers"), value, (1, 0, 1024)),
            "tcp-count" => model.set_number(("tcp", "connections"), value, (1, 1, 1 << 20)),
            "tcp-timeout" => model.set_number(("tcp", "idle_timeout_ms"), value, (1000, 100, 3_600_000)),
            "ipv4-edns-size" | "ipv6-edns-size" => {
                model.set_number(("server", "max_udp"), value, (1, 512, 4096))
            }
            "rrl-ratelimit" => {
                model.set_number(("rate_limit", "responses_per_second"), value, (1, 0, 1_000_000))
            }
            "rrl-slip" => model.set_number(("rate_limit", "slip"), value, (1, 0, 10)),
            "rrl-size" => model.set_number(("rate_limit", "entries"), value, (1, 1024, 1 << 28)),
            "rrl-ipv4-prefix-length" => model.set_number(("rate_limit", "ipv4_prefix"), value, (1, 8, 32)),
            "rrl-ipv6-prefix-length" => model.set_number(("rate_limit", "ipv6_prefix"), value, (1, 16, 64)),
            "answer-cookie" if matches!(value, "yes" | "no") => {
                let is_on = (value == "yes").to_string();
                model.settings.insert(("server", "cookies"), is_on);
                Fate::kept("server.cookies")
            }
            "do-ip4" | "do-ip6" if value == "yes" => Fate::ignored("it is so"),
            "do-ip4" | "do-ip6" => Fate::lost("name the addresses in server.listen"),
            "chroot" if value.is_empty() => Fate::ignored("it is so"),
            "chroot" => {
                Fate::lost("no counterpart; paths in it begin at its root; see ProtectSystem of systemd")
            }
            "tls-service-key"
            | "tls-service-pem"
            | "tls-service-ocsp"
            | "tls-port"
            | "tls-cert-bundle"
            | "tls-auth-port"
            | "tls-auth-xfr-only"
            | "proxy-protocol-port"
            | "cookie-secret"
            | "cookie-secret-file"
            | "allow-query"
            | "rrl-whitelist-ratelimit" => Fate::lost("no counterpart in this configuration"),
            "ip-transparent"
            | "ip-freebind"
            | "reuseport"
            | "send-buffer-size"
            | "receive-buffer-size"
            | "cpu-affinity"
            | "verbosity"
            | "logfile"
            | "log-only-syslog"
            | "log-time-ascii"
            | "log-time-iso"
            | "pidfile"
            | "database"
            | "zonelistfile"
            | "xfrdfile"
            | "xfrdir"
            | "xfrd-reload-timeout"
            | "xfrd-tcp-max"
            | "xfrd-tcp-pipeline"
            | "statistics"
            | "debug-mode"
            | "round-robin"
            | "minimal-responses"
            | "confine-to-zone"
            | "refuse-any"
            | "zonefiles-check"
            | "zonefiles-write"
            | "tcp-query-count"
            | "tcp-mss"
            | "outgoing-tcp-mss"
            | "reload-config"
            | "reject-overflow"
            | "bindtodevice"
            | "setfib"
            | "drop-updates" => Fate::ignored("no counterpart"),
            _ if key.ends_with("-cpu-affinity") => Fate::ignored("no counterpart"),
            _ => Fate::lost("unknown"),
        }
    }

    fn key(&mut self, key: &str, value: &str, at: usize) -> Fate {
        let Some(last) = self.model.keys.last_mut() else { return Fate::lost("no key") };
        let (place, name) = match key {
            "name" => (&mut last.name, "key.name"),
            "algorithm" => (&mut last.algorithm, "key.algorithm"),
            "secret" => (&mut last.secret, "key.secret"),
            _ => return Fate::lost("unknown"),
        };
        value.clone_into(place);
        last.lines.push(at);
        Fate::kept(name)
    }

    /// Ends the zones, with the statements of their patterns.
    fn finish(self, report: &mut Report) {
        let Self { model, zones, patterns, listen, port, folder, .. } = self;
        let all = ["0.0.0.0", "::"].iter().filter_map(|text| Some((text.parse().ok()?, None)));
        let listen = if listen.is_empty() && port.is_some() { all.collect() } else { listen };
        let port = port.unwrap_or(53);
        let with_port = |(ip, own): (_, Option<u16>)| std::net::SocketAddr::new(ip, own.unwrap_or(port));
        model.listen = listen.into_iter().map(|address| with_port(address).to_string()).collect();
        // The last of a name, as a later statement of NSD replaces an earlier one.
        let patterns: HashMap<&str, &Block> =
            patterns.iter().map(|pattern| (pattern.name.as_str(), pattern)).collect();
        let mut left = MAX_EXPANDED;
        let mut used = HashSet::new();
        for block in &zones {
            let mut zone = Zone { name: block.name.clone(), at: block.at, ..Zone::default() };
            let mut budget = left.min(MAX_STATEMENTS + block.statements.len());
            let before = budget;
            if add(&mut zone, block, (&patterns, &folder), (report, &mut used), &mut budget, 0) {
                model.push(zone, report);
            } else {
                let why =
                    format!("its patterns have more than {MAX_STATEMENTS} statements, or include each other");
                report.set(block.at, Fate::lost(why));
            }
            left -= before - budget;
        }
        for pattern in patterns.values().filter(|pattern| !used.contains(&pattern.at)) {
            for at in [pattern.at].into_iter().chain(pattern.statements.iter().map(|(_, at)| *at)) {
                report.set(at, Fate::ignored("no zone includes the pattern"));
            }
        }
    }
}

/// Adds the statements of a zone or a pattern to a zone. Returns false if there are too many.
fn add(
    zone: &mut Zone,
    block: &Block,
    (patterns, folder): (&HashMap<&str, &Block>, &str),
    (report, used): (&mut Report, &mut HashSet<usize>),
    budget: &mut usize,
    depth: usize,
) -> bool {
    used.insert(block.at);
    for (statement, at) in &block.statements {
        match budget.checked_sub(1) {
            Some(left) if depth < super::MAX_DEPTH => *budget = left,
            _ => return false,
        }
        match statement {
            Statement::File(file) => {
                let name = zone.name.strip_suffix('.').unwrap_or(&zone.name);
                let file = file.replace("%s", name);
                let is_whole = file.starts_with('/') || folder.is_empty();
                let path = if is_whole { file } else { format!("{}/{file}", folder.trim_end_matches('/')) };
                zone.file = Some((path, *at));
            }
            Statement::Include(name) => match patterns.get(name.as_str()) {
                Some(pattern) => {
                    if !add(zone, pattern, (patterns, folder), (report, used), budget, depth + 1) {
                        return false;
                    }
                }
                None => report.set(*at, Fate::lost(format!("the pattern {name:?} is missing"))),
            },
            Statement::Primary(peer) => {
                zone.is_secondary = true;
                zone.primaries.push(peer.clone());
            }
            Statement::NoPrimary => zone.is_secondary = true,
            Statement::Notify(peer) => zone.notify.push(peer.clone()),
            Statement::AllowTransfer(peer) => zone.allow_transfer.push(peer.clone()),
            Statement::AllowNotify(peer) => zone.allow_notify.push(peer.clone()),
        }
    }
    true
}

/// A statement of a zone or a pattern.
fn in_zone(block: &mut Block, key: &str, values: &[Word<'_>], at: usize, named: &'static str) -> Fate {
    let mut values: Vec<&str> = values.iter().map(|word| &*word.text).collect();
    let value = values.first().copied().unwrap_or_default();
    let parsed = match key {
        "name" => {
            value.clone_into(&mut block.name);
            block.at = at;
            return Fate::kept(named);
        }
        "zonefile" => match value.replace("%s", "").contains('%') {
            true => {
                return Fate::lost("of the patterns in names of files, %s alone is known; write the name");
            }
            false => Ok((Statement::File(value.to_owned()), "zone.file")),
        },
        "include-pattern" => Ok((Statement::Include(value.to_owned()), "the statements of the pattern")),
        "request-xfr" => {
            let kind = values.first().copied();
            let kept = match kind {
                Some("AXFR") => "zone.primaries; IXFR is tried first",
                Some("UDP") => "zone.primaries; asked over TCP",
                _ => "zone.primaries",
            };
            if matches!(kind, Some("AXFR" | "UDP")) {
                values.remove(0);
            }
            other(&values, at, address::server).map(|peer| (Statement::Primary(peer), kept))
        }
        "notify" => other(&values, at, address::server).map(|peer| (Statement::Notify(peer), "zone.notify")),
        "provide-xfr" => other(&values, at, address::network)
            .map(|peer| (Statement::AllowTransfer(peer), "zone.allow_transfer")),
        "allow-notify" => other(&values, at, address::network)
            .map(|peer| (Statement::AllowNotify(peer), "zone.allow_notify")),
        "allow-axfr-fallback" if value == "yes" => return Fate::ignored("it is so"),
        "notify-retry"
        | "zonestats"
        | "store-ixfr"
        | "create-ixfr"
        | "ixfr-size"
        | "ixfr-number"
        | "size-limit-xfr"
        | "multi-primary-check"
        | "multi-master-check" => {
            return Fate::ignored("no counterpart");
        }
        "allow-axfr-fallback"
        | "outgoing-interface"
        | "allow-query"
        | "rrl-whitelist"
        | "max-refresh-time"
        | "min-refresh-time"
        | "max-retry-time"
        | "min-retry-time"
        | "min-expire-time"
        | "verify-zone"
        | "verifier"
        | "verifier-feed-zone"
        | "verifier-timeout"
        | "catalog"
        | "catalog-member-pattern"
        | "catalog-producer-zone" => return Fate::lost("no counterpart in this configuration"),
        _ => return Fate::lost("unknown"),
    };
    match parsed {
        Ok((statement, kept)) => {
            block.statements.push((statement, at));
            Fate::kept(kept)
        }
        Err(why) => {
            if key == "request-xfr" {
                block.statements.push((Statement::NoPrimary, at));
            }
            Fate::lost(why)
        }
    }
}

/// Another server: an address, and a key, `NOKEY` or `BLOCKED`.
fn other(
    values: &[&str],
    at: usize,
    address: impl Fn(&str) -> Result<String, String>,
) -> Result<Peer, String> {
    match values {
        [_, "BLOCKED", ..] => Err("a refusal has no counterpart; narrow the entries that allow".to_owned()),
        [text, "NOKEY"] => Ok(peer(address(text)?, None, at)),
        [text, key] => Ok(peer(address(text)?, Some(key), at)),
        [_, _, _, ..] => Err("transfers over TLS have no counterpart here".to_owned()),
        _ => Err("an address and a key are needed".to_owned()),
    }
}
