//! The sections `remote` and `remotes` of knot.conf.

use super::super::address;
use super::super::model::Peer;
use super::super::report::Fate;
use super::super::source::{Reached, source};
use super::tree::{Entry, Item};
use super::{Knot, MAX_PEERS};

/// A server under a name.
#[derive(Default)]
pub(super) struct Remote {
    addresses: Vec<String>,
    key: Option<String>,
    channel: Channel,
}

/// Messages to a remote.
#[derive(Default, Clone)]
enum Channel {
    #[default]
    Clear,
    /// Over TLS, with this name in the certificate.
    Tls(String),
    /// In a way that this server lacks: the remote is left out.
    Missing(&'static str),
}

impl Channel {
    fn of(item: &Item) -> Self {
        let is_on = |key: &str| item.get(key).is_some_and(|entry| !is_off(entry.value()));
        let is_set = |entry: &&Entry| !entry.values.is_empty();
        let has_pins = item.entries.iter().filter(is_set).any(|entry| is_pin(&entry.key));
        let names = item.get("cert-hostname").map_or(&[][..], |entry| &entry.values);
        let is_name = |name: &str| {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
        };
        match names {
            _ if is_on("quic") => Self::Missing("this server has no QUIC; the remote is left out"),
            _ if has_pins => Self::Missing("public keys are not pinned here; the remote is left out"),
            [] if is_on("tls") => Self::Missing(
                "TLS needs a cert-hostname, as it checks the certificate here; the remote is left out",
            ),
            [] => Self::Clear,
            _ if !is_on("tls") => Self::Missing("cert-hostname needs `tls: on`; the remote is left out"),
            [(name, _)] if !name.is_empty() && is_name(name) => Self::Tls(name.clone()),
            _ => Self::Missing("TLS needs one cert-hostname here; the remote is left out"),
        }
    }
}

fn is_off(value: &str) -> bool {
    matches!(value, "off" | "false" | "")
}

/// True for the key of an entry that pins a certificate.
fn is_pin(key: &str) -> bool {
    key.starts_with("pin") || key.starts_with("cert-") && key != "cert-hostname"
}

/// The use of a remote.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Primary,
    Notify,
    Access,
}

impl Knot<'_> {
    pub(super) fn remote(&mut self, item: &Item) {
        let mut from = Vec::new();
        let mut remote = Remote { channel: Channel::of(item), ..Remote::default() };
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
                "quic" | "tls" if is_off(entry.value()) => Fate::ignored("it is so"),
                key if matches!(key, "quic" | "tls" | "cert-hostname") || is_pin(key) => {
                    match &remote.channel {
                        Channel::Missing(why) => Fate::lost(*why),
                        _ => Fate::kept("the primaries that name the remote"),
                    }
                }
                "via" => {
                    for (text, at) in &entry.values {
                        match source(text) {
                            Ok(ip) => from.push((ip, *at)),
                            Err(why) => self.report.set(*at, Fate::lost(why)),
                        }
                    }
                    Fate::kept("transfer.source")
                }
                "automatic-acl" => Fate::lost("no counterpart in this configuration"),
                _ => Fate::lost("unknown"),
            };
            self.set(entry, fate);
        }
        self.reached.push(Reached::new(remote.addresses.iter().map(String::as_str), from));
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

    /// The addresses of a remote or of several without their ports, each with its key.
    pub(super) fn networks_of(&mut self, name: &str, at: usize) -> Vec<(String, Option<String>)> {
        let mut found = Vec::new();
        for Peer { address, key, .. } in self.servers(&[(name.to_owned(), at)], Use::Access) {
            let ip = address.parse::<std::net::SocketAddr>().map(|address| address.ip().to_string());
            found.push((ip.unwrap_or(address), key));
        }
        found
    }

    /// The servers of these names.
    pub(super) fn servers(&mut self, names: &[(String, usize)], of: Use) -> Vec<Peer> {
        let mut peers = Vec::new();
        for (name, at) in names {
            let members = self.groups.get(name);
            let members = members.map_or(std::slice::from_ref(name), Vec::as_slice);
            let (mut missing, mut fault) = (None, None);
            for member in members {
                let Some(remote) = self.remotes.get(member) else {
                    missing = Some(member.clone());
                    continue;
                };
                let key = remote.key.as_deref();
                let clear = remote.addresses.iter().map(|address| Peer::new(address.clone(), key, *at));
                match (&remote.channel, of) {
                    (Channel::Clear, _) => peers.extend(clear),
                    (Channel::Tls(name), Use::Primary) => peers.extend(clear.map(|peer| peer.over_tls(name))),
                    (Channel::Tls(_), Use::Notify) => {
                        fault = Some(format!(
                            "NOTIFY goes over UDP here, but {member:?} takes it over TLS alone"
                        ));
                    }
                    (_, Use::Access) => {
                        fault = Some(format!(
                            "certificates of clients have no counterpart here, as of {member:?}"
                        ));
                    }
                    (Channel::Missing(why), _) => fault = Some(format!("{member:?}: {why}")),
                }
            }
            self.peers += 1 + peers.len();
            if self.peers > MAX_PEERS {
                self.report.set(*at, Fate::lost("the zones have too many remotes together"));
                return Vec::new();
            }
            if let Some(missing) = missing {
                self.report.set(*at, Fate::lost(format!("the remote {missing:?} is missing")));
            }
            if let Some(fault) = fault {
                self.report.set(*at, Fate::lost(fault));
            }
        }
        peers
    }
}
