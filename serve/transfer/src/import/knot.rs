//! knot.conf: sections of items with keys and values, in a subset of YAML.

mod tree;

use super::address::{self, peer};
use super::model::{Key, Model, Peer, Zone};
use super::report::{Fate, Report};
use super::{ImportError, Reader};
use std::collections::HashMap;
use tree::{Entry, Item};

/// Folder of zone files without `storage`.
const STORAGE: &str = "/var/lib/knot";

/// Servers and networks that all zones have at most.
const MAX_PEERS: usize = 4 << 20;

/// A server under a name.
#[derive(Default)]
struct Remote {
    addresses: Vec<String>,
    key: Option<String>,
}

/// A rule of access under a name.
#[derive(Default)]
struct Rule {
    /// Networks; of remotes, each with its key.
    networks: Vec<(String, Option<String>)>,
    keys: Vec<String>,
    transfer: bool,
    notify: bool,
    /// Addresses were named, if only ones that are lost.
    has_address: bool,
}

struct Knot<'m> {
    model: &'m mut Model,
    report: &'m mut Report,
    remotes: HashMap<String, Remote>,
    /// Names of several remotes.
    groups: HashMap<String, Vec<String>>,
    rules: HashMap<String, Rule>,
    peers: usize,
}

/// Reads a configuration.
pub(super) fn read(reader: &mut Reader<'_>, text: &str, model: &mut Model) -> Result<(), ImportError> {
    let tree = tree::read(reader, text)?;
    let report = &mut reader.report;
    let (remotes, groups, rules) = (HashMap::new(), HashMap::new(), HashMap::new());
    let mut knot = Knot { model, report, remotes, groups, rules, peers: 0 };
    let of = |names: &[&str]| {
        let found = tree.iter().filter(|section| names.contains(&section.name.as_str()));
        found.flat_map(|section| &section.items).collect::<Vec<_>>()
    };
    // What others name comes first, wherever it stands.
    of(&["server"]).into_iter().for_each(|item| knot.server(item));
    of(&["key"]).into_iter().for_each(|item| knot.key(item));
    of(&["remote"]).into_iter().for_each(|item| knot.remote(item));
    of(&["remotes"]).into_iter().for_each(|item| knot.group(item));
    of(&["acl"]).into_iter().for_each(|item| knot.rule(item));
    of(&["mod-rrl"]).into_iter().for_each(|item| knot.rate_limit(item));
    let templates = of(&["template"]);
    templates.iter().for_each(|item| knot.check_zone(item, "the name of the template"));
    let templates: HashMap<&str, &Item> =
        templates.into_iter().filter_map(|item| Some((item.get("id")?.value(), item))).collect();
    for item in of(&["zone"]) {
        knot.check_zone(item, "zone.name");
        knot.zone(item, &templates);
    }
    Ok(())
}

impl Knot<'_> {
    fn set(&mut self, entry: &Entry, fate: Fate) {
        for at in entry.lines() {
            self.report.set(at, fate.clone());
        }
    }

    fn server(&mut self, item: &Item) {
        for entry in &item.entries {
            let value = entry.value();
            let model = &mut *self.model;
            let fate = match entry.key.as_str() {
                "listen" => {
                    for (text, at) in &entry.values {
                        match address::address(text) {
                            Ok((ip, port)) => {
                                let listen = std::net::SocketAddr::new(ip, port.unwrap_or(53));
                                model.listen.push(listen.to_string());
                            }
                            Err(why) => self.report.set(*at, Fate::lost(why)),
                        }
                    }
                    Fate::kept("server.listen")
                }
                key @ ("identity" | "version") => {
                    model.set_text("server", if key == "version" { "version" } else { "identity" }, value)
                }
                "nsid" => match value.strip_prefix("0x") {
                    Some(hex) => model.set_text("server", "nsid", &hex.to_ascii_lowercase()),
                    None if value.is_empty() => model.set_text("server", "nsid", ""),
                    None => model.set_text("server", "nsid", &format!("ascii_{value}")),
                },
                "user" => match value.split_once(':') {
                    Some((user, group)) => {
                        model.set_text("server", "group", group);
                        model.set_text("server", "user", user)
                    }
                    None => model.set_text("server", "user", value),
                },
                "udp-workers" => model.set_number(("server", "workers"), value, (1, 0, 1024)),
                "udp-max-payload" | "udp-max-payload-ipv4" | "udp-max-payload-ipv6" => {
                    model.set_number(("server", "max_udp"), value, (1, 512, 4096))
                }
                "tcp-max-clients" => model.set_number(("tcp", "connections"), value, (1, 1, 1 << 20)),
                "tcp-idle-timeout" => {
                    model.set_number(("tcp", "idle_timeout_ms"), value, (1000, 100, 3_600_000))
                }
                "listen-xdp" | "listen-quic" | "listen-tls" | "proxy-allowlist" | "cert-file"
                | "key-file" | "automatic-acl" | "edns-client-subnet" => {
                    Fate::lost("no counterpart in this configuration")
                }
                "rundir"
                | "pidfile"
                | "tcp-workers"
                | "background-workers"
                | "async-start"
                | "tcp-io-timeout"
                | "tcp-remote-io-timeout"
                | "tcp-reuseport"
                | "tcp-fastopen"
                | "socket-affinity"
                | "answer-rotation"
                | "dbus-event"
                | "dbus-init-delay"
                | "quic-max-clients"
                | "quic-outbuf-max-size"
                | "quic-idle-close-timeout"
                | "remote-pool-limit"
                | "remote-pool-timeout"
                | "remote-retry-delay" => Fate::ignored("no counterpart"),
                _ => Fate::lost("unknown"),
            };
            self.set(entry, fate);
        }
    }

    fn key(&mut self, item: &Item) {
        let mut key = Key::default();
        for entry in &item.entries {
            let (place, name) = match entry.key.as_str() {
                "id" => (&mut key.name, "key.name"),
                "algorithm" => (&mut key.algorithm, "key.algorithm"),
                "secret" => (&mut key.secret, "key.secret"),
                _ => {
                    self.set(entry, Fate::lost("unknown"));
                    continue;
                }
            };
            entry.value().clone_into(place);
            key.lines.extend(entry.lines());
            self.set(entry, Fate::kept(name));
        }
        self.model.keys.push(key);
    }

    fn remote(&mut self, item: &Item) {
        let mut remote = Remote::default();
        let kept = "the zones that name the remote";
        for entry in &item.entries {
            let fate = match entry.key.as_str() {
                "id" => Fate::kept(kept),
                "address" => {
                    for (text, at) in &entry.values {
                        match address::server(text) {
                            Ok(address) => remote.addresses.push(address),
                            Err(why) => self.report.set(*at, Fate::lost(why)),
                        }
                    }
                    Fate::kept(kept)
                }
                "key" => {
                    remote.key = Some(entry.value().to_owned());
                    Fate::kept(kept)
                }
                "block-notify-after-transfer" | "no-edns" => Fate::ignored("no counterpart"),
                "via" | "quic" | "tls" | "cert-key" | "cert-hostname" | "automatic-acl" => {
                    Fate::lost("no counterpart in this configuration")
                }
                _ => Fate::lost("unknown"),
            };
            self.set(entry, fate);
        }
        if let Some(id) = item.get("id") {
            self.remotes.insert(id.value().to_owned(), remote);
        }
    }

    fn group(&mut self, item: &Item) {
        let mut names = Vec::new();
        for entry in &item.entries {
            let fate = match entry.key.as_str() {
                "id" => Fate::kept("the zones that name the remotes"),
                "remote" => {
                    names.extend(entry.values.iter().map(|(name, _)| name.clone()));
                    Fate::kept("the zones that name the remotes")
                }
                _ => Fate::lost("unknown"),
            };
            self.set(entry, fate);
        }
        if let Some(id) = item.get("id") {
            self.groups.insert(id.value().to_owned(), names);
        }
    }

    fn rule(&mut self, item: &Item) {
        let (mut rule, kept) = (Rule::default(), "the zones that name the rule");
        let mut denies = false;
        for entry in &item.entries {
            let fate = match entry.key.as_str() {
                "id" => Fate::kept(kept),
                "address" => {
                    rule.has_address = true;
                    for (text, at) in &entry.values {
                        match address::network(text) {
                            Ok(network) => rule.networks.push((network, None)),
                            Err(why) => self.report.set(*at, Fate::lost(why)),
                        }
                    }
                    Fate::kept(kept)
                }
                "key" => {
                    rule.keys.extend(entry.values.iter().map(|(name, _)| name.clone()));
                    Fate::kept(kept)
                }
                "remote" => {
                    rule.has_address = true;
                    for (name, at) in &entry.values {
                        let networks = self.networks_of(name, *at);
                        rule.networks.extend(networks);
                    }
                    Fate::kept(kept)
                }
                "action" => {
                    for (action, at) in &entry.values {
                        match action.as_str() {
                            "transfer" => rule.transfer = true,
                            "notify" => rule.notify = true,
                            _ => self.report.set(*at, Fate::lost(format!("no counterpart to {action:?}"))),
                        }
                    }
                    Fate::kept(kept)
                }
                "deny" if matches!(entry.value(), "on" | "true") => {
                    denies = true;
                    Fate::lost("a refusal has no counterpart; narrow the rules that allow")
                }
                "deny" => Fate::ignored("it is so"),
                _ => Fate::lost("no counterpart in this configuration"),
            };
            self.set(entry, fate);
        }
        if let Some(id) = item.get("id") {
            let rule = if denies { Rule::default() } else { rule };
            self.rules.insert(id.value().to_owned(), rule);
        }
    }

    /// The addresses of a remote or of several without their ports, each with its key.
    fn networks_of(&mut self, name: &str, at: usize) -> Vec<(String, Option<String>)> {
        let mut found = Vec::new();
        for Peer { address, key, .. } in self.servers(&[(name.to_owned(), at)]) {
            let ip = address.parse::<std::net::SocketAddr>().map(|address| address.ip().to_string());
            found.push((ip.unwrap_or(address), key));
        }
        found
    }

    /// The servers of these names.
    fn servers(&mut self, names: &[(String, usize)]) -> Vec<Peer> {
        let mut peers = Vec::new();
        for (name, at) in names {
            let members = self.groups.get(name);
            let members = members.map_or(std::slice::from_ref(name), Vec::as_slice);
            let mut missing = None;
            for member in members {
                let Some(remote) = self.remotes.get(member) else {
                    missing = Some(member.clone());
                    continue;
                };
                let key = remote.key.as_deref();
                peers.extend(remote.addresses.iter().map(|address| peer(address.clone(), key, *at)));
            }
            self.peers += 1 + peers.len();
            if self.peers > MAX_PEERS {
                self.report.set(*at, Fate::lost("the zones have too many remotes together"));
                return Vec::new();
            }
            if let Some(missing) = missing {
                self.report.set(*at, Fate::lost(format!("the remote {missing:?} is missing")));
            }
        }
        peers
    }

    /// The entries of the rules of these names, for an action.
    fn allowed(&mut self, names: &[(String, usize)], action: fn(&Rule) -> bool) -> Vec<Peer> {
        let mut peers = Vec::new();
        for (name, at) in names {
            let Some(rule) = self.rules.get(name) else {
                self.report.set(*at, Fate::lost(format!("the rule {name:?} is missing")));
                continue;
            };
            if !action(rule) {
                continue;
            }
            self.peers += 1 + rule.networks.len().max(1) * rule.keys.len().max(1);
            if self.peers > MAX_PEERS {
                self.report.set(*at, Fate::lost("the zones have too many rules together"));
                return Vec::new();
            }
            let anyone = [(String::new(), None)];
            let networks = if rule.has_address { &rule.networks } else { &anyone[..] };
            for (network, own) in networks {
                let keys: Vec<Option<&str>> = match own {
                    Some(own) => vec![Some(own)],
                    None if rule.keys.is_empty() => vec![None],
                    None => rule.keys.iter().map(|key| Some(key.as_str())).collect(),
                };
                peers.extend(keys.into_iter().map(|key| peer(network.clone(), key, *at)));
            }
        }
        peers
    }

    fn rate_limit(&mut self, item: &Item) {
        for entry in &item.entries {
            let (model, value) = (&mut *self.model, entry.value());
            let fate = match entry.key.as_str() {
                "id" => Fate::kept("[rate_limit], for all zones"),
                "rate-limit" => {
                    model.set_number(("rate_limit", "responses_per_second"), value, (1, 0, 1_000_000))
                }
                "slip" => model.set_number(("rate_limit", "slip"), value, (1, 0, 10)),
                _ => Fate::lost("no counterpart in this configuration"),
            };
            self.set(entry, fate);
        }
    }

    /// Reports the fate of the entries of a zone or a template, before the names in them are looked up.
    fn check_zone(&mut self, item: &Item, named: &'static str) {
        for entry in &item.entries {
            let value = entry.value();
            let is_off = matches!(value, "off" | "false" | "none");
            let fate = match entry.key.as_str() {
                "domain" | "id" => Fate::kept(named),
                "template" => Fate::kept("the entries of the template"),
                "storage" => Fate::kept("the folder of zone.file"),
                "file" if value.replace("%s", "").contains('%') => {
                    Fate::lost("of the patterns in names of files, %s alone is known; write the name")
                }
                "file" => Fate::kept("zone.file"),
                "master" => Fate::kept("zone.primaries"),
                "notify" => Fate::kept("zone.notify"),
                "acl" => Fate::kept("zone.allow_transfer, zone.allow_notify"),
                "dnssec-signing" if !is_off => {
                    Fate::lost("this server does not sign; have another program sign, and serve its file")
                }
                "dnssec-validation" | "ddns-master" | "zonemd-verify" | "reverse-generate"
                | "catalog-role" | "zonemd-generate" | "serial-modulo"
                    if is_off || value.is_empty() =>
                {
                    Fate::ignored("it is so")
                }
                "dnssec-signing" => Fate::ignored("it is so"),
                "module" | "global-module" if !entry.values.is_empty() => {
                    let is_limit =
                        |(name, _): &(String, usize)| name == "mod-rrl" || name.starts_with("mod-rrl/");
                    match entry.values.iter().all(is_limit) {
                        true => Fate::kept("[rate_limit], for all zones"),
                        false => Fate::lost("modules have no counterpart but for mod-rrl"),
                    }
                }
                "provide-ixfr" if !is_off => Fate::ignored("it is so"),
                "semantic-checks"
                | "default-ttl"
                | "zonefile-sync"
                | "zonefile-load"
                | "zonefile-skip"
                | "journal-content"
                | "journal-max-usage"
                | "journal-max-depth"
                | "ixfr-from-axfr"
                | "ixfr-benevolent"
                | "ixfr-by-one"
                | "zone-max-size"
                | "adjust-threads"
                | "dnssec-policy"
                | "ds-push"
                | "serial-policy"
                | "master-pin-tolerance"
                | "max-timers"
                | "notify-delay" => Fate::ignored("no counterpart"),
                "disabled" if is_off => Fate::ignored("it is so"),
                "refresh-min-interval"
                | "refresh-max-interval"
                | "retry-min-interval"
                | "retry-max-interval"
                | "expire-min-interval"
                | "expire-max-interval"
                | "provide-ixfr"
                | "catalog-role"
                | "catalog-template"
                | "catalog-zone"
                | "catalog-group"
                | "ddns-master"
                | "dnssec-validation"
                | "reverse-generate"
                | "zonemd-verify"
                | "zonemd-generate"
                | "module"
                | "global-module"
                | "serial-modulo"
                | "disabled"
                | "include-from" => Fate::lost("no counterpart in this configuration"),
                _ => Fate::lost("unknown"),
            };
            self.set(entry, fate);
        }
    }

    fn zone(&mut self, item: &Item, templates: &HashMap<&str, &Item>) {
        let Some(domain) = item.get("domain") else {
            item.entries.iter().for_each(|entry| self.set(entry, Fate::lost("a zone without `domain`")));
            return;
        };
        let name = domain.value();
        let mut zone = Zone { name: name.to_owned(), at: domain.at, ..Zone::default() };
        let template = item.get("template");
        let of_template = templates.get(template.map_or("default", Entry::value)).copied();
        if let (Some(template), None) = (template, of_template) {
            let why = Fate::lost(format!("the template {:?} is missing", template.value()));
            self.set(template, why);
        }
        let get = |key: &str| item.get(key).or_else(|| of_template.and_then(|item| item.get(key)));
        let list = |key: &str| get(key).map_or(&[][..], |entry| &entry.values);
        zone.is_secondary = !list("master").is_empty();
        zone.primaries = self.servers(list("master"));
        zone.notify = self.servers(list("notify"));
        zone.allow_transfer = self.allowed(list("acl"), |rule| rule.transfer);
        zone.allow_notify = self.allowed(list("acl"), |rule| rule.notify);
        let bare = name.strip_suffix('.').unwrap_or(name);
        let file = get("file").map_or("%s.zone", Entry::value).replace("%s", bare);
        if !file.contains('%') {
            let folder = get("storage").map_or(STORAGE, Entry::value).trim_end_matches('/');
            let path = if file.starts_with('/') { file } else { format!("{folder}/{file}") };
            zone.file = Some((path, get("file").map_or(usize::MAX, |entry| entry.at)));
        }
        self.model.push(zone, self.report);
    }
}
