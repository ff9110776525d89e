//! The section `acl` of knot.conf.

use super::super::address::{self, Network};
use super::super::model::Peer;
use super::super::report::Fate;
use super::tree::Item;
use super::{Knot, MAX_PEERS};

/// Networks that rules before a rule deny at most. Beyond them, all are.
const MAX_REFUSED: usize = 100;

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
    /// An address is lost.
    lacks_address: bool,
    /// It refuses what it names.
    denies: bool,
}

/// Networks that rules deny, and so the rules after them.
#[derive(Default)]
struct Refused {
    networks: Vec<Network>,
    /// All that is allowed could be refused.
    is_all: bool,
}

impl Refused {
    /// Adds the addresses of a rule, with or without its keys.
    fn add(&mut self, rule: &Rule) {
        let before = self.networks.len();
        self.networks
            .extend(rule.networks.iter().take(MAX_REFUSED).filter_map(|(text, _)| Network::of(text)));
        let is_whole = self.networks.len() - before == rule.networks.len();
        self.is_all |=
            !rule.has_address || rule.lacks_address || !is_whole || self.networks.len() > MAX_REFUSED;
    }

    /// True if an address of a network is refused; an empty text stands for all addresses.
    fn has(&self, network: &str) -> bool {
        self.is_all
            || match Network::of(network) {
                Some(network) => self.networks.iter().any(|refused| refused.overlaps(network)),
                None => !self.networks.is_empty(),
            }
    }
}

impl Knot<'_> {
    pub(super) fn rule(&mut self, item: &Item) {
        let (mut rule, kept) = (Rule::default(), "the zones that name the rule");
        let mut narrows = false;
        for entry in &item.entries {
            let fate = match entry.key.as_str() {
                "id" => Fate::kept(kept),
                "address" => {
                    rule.has_address = true;
                    for (text, at) in &entry.values {
                        match address::network(text) {
                            Ok(network) => rule.networks.push((network, None)),
                            Err(why) => {
                                rule.lacks_address = true;
                                self.report.set(*at, Fate::lost(why));
                            }
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
                        rule.lacks_address |= networks.is_empty() || self.groups.contains_key(name);
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
                    rule.denies = true;
                    Fate::kept("the entries without these addresses")
                }
                "deny" => Fate::ignored("it is so"),
                key if key.starts_with("update-") => Fate::lost("no counterpart in this configuration"),
                _ => {
                    narrows = true;
                    Fate::lost("no counterpart in this configuration; the rule is left out")
                }
            };
            self.set(entry, fate);
        }
        if let Some(id) = item.get("id") {
            let rule = if narrows && !rule.denies { Rule::default() } else { rule };
            self.rules.insert(id.value().to_owned(), rule);
        }
    }

    /// The entries of the rules of these names, for an action.
    pub(super) fn allowed(&mut self, names: &[(String, usize)], action: fn(&Rule) -> bool) -> Vec<Peer> {
        let (mut peers, mut refused) = (Vec::new(), Refused::default());
        for (name, at) in names {
            let Some(rule) = self.rules.get(name) else {
                self.report.set(*at, Fate::lost(format!("the rule {name:?} is missing")));
                // It may have refused what the rules after it allow.
                refused.is_all = true;
                continue;
            };
            if !action(rule) {
                continue;
            }
            if rule.denies {
                refused.add(rule);
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
                if refused.has(network) {
                    let why = "a rule before it denies part of it; name the networks without it";
                    self.report.set(*at, Fate::lost(why));
                    continue;
                }
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
