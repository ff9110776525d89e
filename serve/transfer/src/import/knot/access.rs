//! The sections `remote`, `remotes` and `acl` of knot.conf.

use super::super::address;
use super::super::model::Peer;
use super::super::report::Fate;
use super::tree::Item;
use super::{Knot, MAX_PEERS};

/// A server under a name.
#[derive(Default)]
pub(super) struct Remote {
    addresses: Vec<String>,
    key: Option<String>,
}

/// A rule of access under a name.
#[derive(Default)]
pub(super) struct Rule {
    /// Networks; of remotes, each with its key.
    networks: Vec<(String, Option<String>)>,
    keys: Vec<String>,
    pub(super) transfer: bool,
    pub(super) notify: bool,
    /// Addresses were named, if only ones that are lost.
    has_address: bool,
}

impl Knot<'_> {
    pub(super) fn remote(&mut self, item: &Item) {
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

    pub(super) fn group(&mut self, item: &Item) {
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

    pub(super) fn rule(&mut self, item: &Item) {
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
    pub(super) fn networks_of(&mut self, name: &str, at: usize) -> Vec<(String, Option<String>)> {
        let mut found = Vec::new();
        for Peer { address, key, .. } in self.servers(&[(name.to_owned(), at)]) {
            let ip = address.parse::<std::net::SocketAddr>().map(|address| address.ip().to_string());
            found.push((ip.unwrap_or(address), key));
        }
        found
    }

    /// The servers of these names.
    pub(super) fn servers(&mut self, names: &[(String, usize)]) -> Vec<Peer> {
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
                peers.extend(remote.addresses.iter().map(|address| Peer::new(address.clone(), key, *at)));
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
    pub(super) fn allowed(&mut self, names: &[(String, usize)], action: fn(&Rule) -> bool) -> Vec<Peer> {
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
                peers.extend(keys.into_iter().map(|key| Peer::new(network.clone(), key, *at)));
            }
        }
        peers
    }
}
