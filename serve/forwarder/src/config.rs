//! The configuration: one TOML file, in which every value has a default.

mod cs;
mod faces;
mod interfaces;
mod management;
mod pit;
mod propagate;
mod rib;
#[cfg(test)]
mod tests;
mod threads;
mod trust;
mod uri;
mod websocket;

pub use cs::{Cs, CsPolicy};
pub use faces::{Congestion, Faces, Memory, Moderation, Tcp, Udp, Unix};
pub use hashlane_daemon::config::{ConfigError, Metrics, Server};
pub(crate) use interfaces::link_type;
pub use interfaces::{Ether, InterfaceRule, Mac, UdpMulticast};
pub use management::{Authorize, MODULES, Management};
pub use pit::{DigestName, Pit, PitDigest, PitIndex};
pub use propagate::{Propagate, PropagateIdentity};
pub use rib::{Announcements, Rib};
pub use threads::{Shards, Threads};
pub use trust::{
    Anchor, CheckerKind, KeyCondition, NameCondition, PacketKind, Relation, SignatureAlgorithm, Trust,
    TrustChecker, TrustPolicy, TrustRule,
};
pub(crate) use uri::{face_uri, parse_name, strategy_name};
pub use websocket::{WebSocket, WebSocketTls};

use crate::management::{Account, is_gateway, is_management};
use faces::is_origin;
use hashlane_daemon::config::{Keys, parse, read, to_toml};
use hashlane_link::packet;
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn::mgmt::face_uri::Protocol;
use hashlane_ndn::wire::lp::DigestField;
use hashlane_ndn_fw::strategy::Strategy;
use management::is_account;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::Path;

/// The whole configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// User to run as.
    pub server: Server,
    /// Counters over HTTP.
    pub metrics: Metrics,
    /// Forwarding threads.
    pub threads: Threads,
    /// Transports.
    pub faces: Faces,
    /// The pending Interest table.
    pub pit: Pit,
    /// The content store.
    pub cs: Cs,
    /// Names of this network. An Interest whose forwarding hint has one of these as prefix is forwarded by
    /// its own name.
    pub regions: Vec<String>,
    /// Rights to give commands.
    pub management: Management,
    /// Routes that prefix announcements make.
    pub rib: Rib,
    /// Rules for signed registrations.
    pub trust: Trust,
    /// Strategy choices: URIs of prefixes, with URIs of strategies.
    pub strategies: BTreeMap<String, String>,
    /// Routes that are made at the start, and again when their face was closed.
    pub routes: Vec<Route>,
}

/// A route.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// URI of the prefix.
    pub prefix: String,
    /// Canonical face URI of the next hop, such as `udp4://192.0.2.1:6363`.
    pub to: String,
    /// Local end of the face: the interface of an Ethernet face, such as `dev://eth0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<String>,
    /// Cost. The next hop of the lowest cost is preferred.
    #[serde(default)]
    pub cost: u64,
}

/// The keys of `strategies` are prefixes.
const KEYS: Keys = Keys {
    free: &["strategies"],
    replaced: &[("management.loopback", "faces.tcp.loopback` or `faces.websocket.loopback")],
};

impl Config {
    /// Reads and checks a configuration file.
    ///
    /// # Errors
    /// The file cannot be read, is longer than 64 MiB or no UTF-8 text; the first error in its text.
    pub fn read(path: &Path) -> io::Result<Self> {
        read(path, Self::parse)
    }

    /// Parses and checks a configuration.
    ///
    /// # Errors
    /// The first error in the text.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let config = parse(text, &Self::default(), &KEYS)?;
        config.check()?;
        Ok(config)
    }

    /// The configuration as a file that sets every value.
    pub fn to_toml(&self) -> String {
        to_toml(self)
    }

    /// Checks the values that are not valid for every value of their type.
    ///
    /// # Errors
    /// The first invalid value.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let invalid = |key: &str, why: &str| Err(ConfigError::value(key, why));
        let Management { users, groups, .. } = &self.management;
        for (key, accounts) in [("management.users", users), ("management.groups", groups)] {
            let is_invalid = |account: &Account| matches!(account, Account::Name(name) if !is_account(name));
            if accounts.iter().any(is_invalid) {
                return invalid(key, "needs names, such as \"ndn\", or numbers without quotes, such as 1000");
            }
        }
        let mut modules = self.management.authorize.iter().flat_map(|authorize| &authorize.modules);
        if let Some(module) = modules.find(|module| !MODULES.contains(&module.as_str())) {
            let why = format!("has {module:?}, but needs some of {}", MODULES.join(", "));
            return Err(ConfigError::value("management.authorize.modules", why));
        }
        for (key, policy) in [
            ("trust.localhost", &self.trust.localhost),
            ("trust.localhop", &self.trust.localhop),
            ("trust.prefix_announcement", &self.trust.prefix_announcement),
        ] {
            policy.check().map_err(|why| ConfigError::value(key, why))?;
        }
        if !self.trust.localhop.is_empty() && !self.management.localhop {
            return invalid("trust.localhop", "has no effect: set management.localhop = true, too");
        }
        if !self.trust.prefix_announcement.is_empty() && self.rib.announcements().is_none() {
            let why = "has no effect: set rib.prefix_announcements = \"trusted\", too";
            return invalid("trust.prefix_announcement", why);
        }
        if !(256..=65_507).contains(&self.faces.udp.mtu) {
            return invalid("faces.udp.mtu", "must be between 256 and 65507");
        }
        let is_no_group = |group: &&SocketAddr| !group.ip().is_multicast() || group.port() == 0;
        if let Some(group) = self.faces.udp_multicast.groups.iter().find(is_no_group) {
            let why =
                format!("has {group}, but needs multicast groups and ports, such as \"224.0.23.170:56363\"");
            return Err(ConfigError::value("faces.udp_multicast.groups", why));
        }
        let Mac(group) = self.faces.ether.group;
        if packet::is_host(group) || group == [0xff; 6] || group == [0; 6] {
            return invalid(
                "faces.ether.group",
                "must be the address of a group, such as \"01:00:5e:00:17:aa\"",
            );
        }
        let Moderation { pause_us, poll_us } = self.faces.moderation;
        for (key, us) in [("faces.moderation.pause_us", pause_us), ("faces.moderation.poll_us", poll_us)] {
            if us > 1000 {
                return invalid(key, "must be at most 1000: packets wait for as long");
            }
        }
        // Each holds a few of the longest packets.
        const LEAST: u64 = 1 << 16;
        for (key, bytes) in [
            ("faces.memory.reassembly", self.faces.memory.reassembly),
            ("faces.memory.send_queues", self.faces.memory.send_queues),
            ("faces.udp.receive_buffer", self.faces.udp.receive_buffer as u64),
        ] {
            if bytes < LEAST {
                return invalid(
                    key,
                    &format!("must be at least {LEAST}, to hold a few of the longest packets"),
                );
            }
        }
        if let Some(origin) = self.faces.websocket.origins.iter().find(|origin| !is_origin(origin)) {
            let why = format!(
                "has {origin:?}, but needs SCHEME://HOST or SCHEME://HOST:PORT, as browsers write them"
            );
            return Err(ConfigError::value("faces.websocket.origins", why));
        }
        self.faces.websocket.tls.check()?;
        self.rib.propagate.check()?;
        if !self.threads.shards.is_valid() {
            return invalid("threads.shards", "must be 1 to 64, or \"auto\"");
        }
        if self.pit.entries == 0 {
            return invalid("pit.entries", "must be at least 1");
        }
        if self.pit.bytes < hashlane_ndn_fw::forward::MIN_PIT_BYTES {
            let least = hashlane_ndn_fw::forward::MIN_PIT_BYTES;
            return invalid(
                "pit.bytes",
                &format!("must be at least {least}, to hold a few of the longest packets"),
            );
        }
        let longest = hashlane_ndn_fw::forward::MAX_LIFETIME;
        if !(1..=longest).contains(&self.pit.remote_lifetime_ms) {
            return invalid("pit.remote_lifetime_ms", &format!("must be between 1 and {longest}"));
        }
        if !DigestField::is_type(self.pit.digest.tlv_type) {
            return invalid("pit.digest.tlv_type", "must be a multiple of 4 between 852 and 956");
        }
        if self.pit.digest.function().is_none() {
            return invalid("pit.digest.key", "must have 32 hexadecimal digits, the same at all neighbours");
        }
        if let Some(Err(why)) = self.faces.pit_tokens.iter().map(|uri| face_uri(uri)).find(Result::is_err) {
            return Err(ConfigError::value("faces.pit_tokens", why));
        }
        for text in &self.faces.reliability {
            match face_uri(text) {
                Ok(FaceUri::Ip { protocol: Protocol::Udp, .. }) => {}
                Ok(_) => {
                    let why = format!("has {text}, but only UDP loses packets: name faces of udp4 or udp6");
                    return Err(ConfigError::value("faces.reliability", why));
                }
                Err(why) => return Err(ConfigError::value("faces.reliability", why)),
            }
        }
        for (prefix, strategy) in &self.strategies {
            if parse_name(prefix).is_none() || strategy_name(strategy).is_none() {
                return invalid(
                    "strategies",
                    "needs URIs of names on both sides, such as \"/\" = \"/localhost/nfd/strategy/best-route\"",
                );
            }
            let name = strategy_name(strategy).as_ref().map(|name| Strategy::from_name(name.view()));
            if let Some(Err(error)) = name {
                return Err(ConfigError::value("strategies", format!("has {strategy}: {error}")));
            }
        }
        for route in &self.routes {
            let Some(prefix) = parse_name(&route.prefix) else {
                return invalid("routes.prefix", "must be the URI of a name, such as \"/example\"");
            };
            if is_management(prefix.view()) && !is_gateway(prefix.view()) {
                let why = format!("has {:?}, which belongs to the management of the forwarder", route.prefix);
                return Err(ConfigError::value("routes.prefix", why));
            }
            let to = face_uri(&route.to).map_err(|why| ConfigError::value("routes.to", why))?;
            let local = route.local.as_deref().map(face_uri).transpose();
            let local = local.map_err(|why| ConfigError::value("routes.local", why))?;
            self.check_ends(&to, local.as_ref())?;
        }
        if let Some(region) = self.regions.iter().find(|region| parse_name(region).is_none()) {
            let why = format!("has {region:?}, which is not the URI of a name");
            return Err(ConfigError::value("regions", why));
        }
        Ok(())
    }

    /// Checks both ends of the face of a route.
    fn check_ends(&self, to: &FaceUri, local: Option<&FaceUri>) -> Result<(), ConfigError> {
        let is_group = match to {
            FaceUri::Ether(address) => *address == self.faces.ether.group.0,
            to => to.socket_address().is_none_or(|address| address.ip().is_multicast()),
        };
        let why = match (to, local) {
            (FaceUri::Ether(_), Some(FaceUri::Dev(_))) => return Ok(()),
            (FaceUri::Ether(_), Some(_)) => "is no interface: write it as local = \"dev://eth0\"",
            (FaceUri::Ether(_), None) if !is_group => {
                let why =
                    format!("has {to}, but not the interface: add local, such as local = \"dev://eth0\"");
                return Err(ConfigError::value("routes.to", why));
            }
            (_, Some(_)) if !is_group => "is for faces of Ethernet and of groups: leave it out",
            _ => return Ok(()),
        };
        Err(ConfigError::value("routes.local", why))
    }
}
