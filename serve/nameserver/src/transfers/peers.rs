//! Peers with their keys, and what they may do with a zone.

use super::history::History;
use super::inbox::Inbox;
use crate::config::{self, Config, ZoneFile};
use crate::tls::{self, Channel};
use hashlane_name::dns::text;
use hashlane_transfer::tsig::{Key, Keys};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// The keys of a configuration, by their names in small letters, the issuers of primaries' certificates, and
/// the addresses that peers see.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyRing {
    keys: HashMap<Vec<u8>, Key>,
    issuers: Option<Arc<ClientConfig>>,
    /// Addresses that messages are sent from, at most one of each family.
    sources: Vec<IpAddr>,
}

/// A server that is asked or told, its name in its certificate if it is asked over TLS, and its key.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    /// Address that messages are sent from; `None`: the kernel chooses it.
    pub(crate) source: Option<IpAddr>,
    pub(crate) tls: Option<(ServerName<'static>, Arc<ClientConfig>)>,
    pub(crate) key: Option<Key>,
}

/// Peers that may do something.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    network: Option<config::Network>,
    /// Over TLS alone.
    tls: bool,
    key: Option<Key>,
}

/// The way of messages, by which rules permit them.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'k> {
    pub(crate) channel: Channel,
    /// Key of their valid signature.
    pub(crate) key: Option<&'k Key>,
}

impl From<Channel> for Origin<'_> {
    fn from(channel: Channel) -> Self {
        Self { channel, key: None }
    }
}

/// Rights of others to a zone, and its history.
#[derive(Clone, Debug, Default)]
pub(crate) struct ZoneTransfers {
    /// Clients that may query the zone; empty: all.
    pub(crate) query: Vec<Access>,
    /// Servers that may transfer the zone.
    pub(crate) allow: Vec<Access>,
    /// Servers that may say that it has changed.
    pub(crate) notify_from: Vec<Access>,
    /// NOTIFY on its way, of a zone with primaries.
    pub(crate) news: Option<Arc<Inbox>>,
    /// Differences up to the version in service.
    pub(crate) history: History,
}

impl Peer {
    /// True if a connection to one is a connection to the other: messages are signed one by one.
    pub(crate) fn shares_connection(&self, other: &Self) -> bool {
        let same_tls = match (&self.tls, &other.tls) {
            (None, None) => true,
            // After a reload, other certificates may be trusted.
            (Some((name, settings)), Some(other)) => *name == other.0 && Arc::ptr_eq(settings, &other.1),
            _ => false,
        };
        (self.address, self.source) == (other.address, other.source) && same_tls
    }
}

impl KeyRing {
    /// The keys of a configuration.
    ///
    /// # Errors
    /// The file of a secret or of certificates cannot be read, or holds none.
    pub(crate) fn of(config: &Config) -> io::Result<Self> {
        let names = config.key.iter().map(|key| spelled(&key.name));
        let keys = names.zip(config.keys()?).collect();
        Ok(Self { keys, issuers: tls::client(config)?, sources: config.transfer.source.clone() })
    }

    /// The keys, for messages that name one.
    pub(crate) fn keys(&self) -> Keys {
        self.keys.values().cloned().collect()
    }

    fn find(&self, name: Option<&String>) -> Option<Key> {
        // The configuration was checked: each name is there.
        name.and_then(|name| self.keys.get(&spelled(name))).cloned()
    }

    pub(crate) fn peers(&self, peers: &[config::Peer]) -> Vec<Peer> {
        // The configuration was checked: there are issuers for peers with names, which are names.
        let tls = |name: &String| Some((ServerName::try_from(name.clone()).ok()?, self.issuers.clone()?));
        let source = |peer: &config::Peer| {
            let is = |source: &&IpAddr| source.is_ipv4() == peer.address.is_ipv4();
            self.sources.iter().find(is).copied()
        };
        let peer = |peer: &config::Peer| Peer {
            address: peer.address,
            source: source(peer),
            tls: peer.tls.as_ref().and_then(tls),
            key: self.find(peer.key.as_ref()),
        };
        peers.iter().map(peer).collect()
    }

    fn rules(&self, rules: &[config::Access]) -> impl Iterator<Item = Access> {
        let rule = |rule: &config::Access| Access {
            network: rule.network,
            tls: rule.tls,
            key: self.find(rule.key.as_ref()),
        };
        rules.iter().map(rule)
    }

    /// Servers that may transfer a zone.
    pub(crate) fn transfer(&self, config: &Config, zone: &ZoneFile) -> Vec<Access> {
        self.rules(&zone.allow_transfer).chain(self.rules(&config.transfer.allow)).collect()
    }

    /// Clients that may query a zone: those that are named, and the servers that may transfer it, which ask
    /// for its SOA record. Empty: all.
    pub(crate) fn query(&self, config: &Config, zone: &ZoneFile) -> Vec<Access> {
        match &zone.allow_query[..] {
            [] => Vec::new(),
            rules => self.rules(rules).chain(self.transfer(config, zone)).collect(),
        }
    }

    /// Servers that may say that a zone has changed: its primaries, with their keys, and others.
    pub(crate) fn notify_from(&self, zone: &ZoneFile) -> Vec<Access> {
        let whole = |address: IpAddr| config::Network::new(address, u8::MAX);
        let primaries = self.peers(&zone.primaries).into_iter();
        let primaries = primaries.map(|peer| Access {
            network: Some(whole(peer.address.ip())),
            tls: false,
            key: peer.key,
        });
        primaries.chain(self.rules(&zone.allow_notify)).collect()
    }

    /// Servers that are told of changes of a zone.
    pub(crate) fn notify(&self, config: &Config, zone: &ZoneFile) -> Vec<Peer> {
        let mut peers = self.peers(&zone.notify);
        for peer in self.peers(&config.transfer.notify) {
            if !peers.iter().any(|known| known.address == peer.address) {
                peers.push(peer);
            }
        }
        peers
    }
}

/// The name of a key in wire form and small letters.
fn spelled(name: &str) -> Vec<u8> {
    text::parse(name.as_bytes()).map_or_else(|_| Vec::new(), |name| name.as_bytes().to_ascii_lowercase())
}

impl Access {
    fn permits(&self, address: IpAddr, channel: Channel, signed: Option<&Key>) -> bool {
        self.network.is_none_or(|network| network.contains(address))
            && (!self.tls || channel == Channel::Dot)
            && self.key.as_ref().is_none_or(|key| signed.is_some_and(|signed| signed.is(key)))
    }
}

/// True if one of the rules permits it to an address, whose message has come by a channel, and is signed by a
/// key or not.
pub(crate) fn permits(rules: &[Access], address: IpAddr, channel: Channel, signed: Option<&Key>) -> bool {
    // The address of an IPv4 peer on a socket for both.
    let address = address.to_canonical();
    rules.iter().any(|rule| rule.permits(address, channel, signed))
}
