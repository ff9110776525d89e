//! The configuration: one TOML file, in which every value has a default.

use crate::management::{Account, is_management};
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn::mgmt::values::FacePersistency;
use hashlane_ndn::wire::lp::DigestField;
use hashlane_ndn_fw::cs::Policy;
use hashlane_ndn_fw::strategy::Strategy;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use toml::{Table, Value};

mod pit;

pub use pit::{DigestName, Pit, PitDigest, PitIndex};

/// All that can be configured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where packets come from and go to.
    pub faces: Faces,
    /// The pending Interest table.
    pub pit: Pit,
    /// The content store.
    pub cs: Cs,
    /// Names of this network: an Interest whose forwarding hint leads here has arrived, and is forwarded by its name.
    pub regions: Vec<String>,
    /// Rights to give commands.
    pub management: Management,
    /// Which strategy names below a prefix have: URIs of prefixes, and of strategies.
    pub strategies: BTreeMap<String, String>,
    /// Routes that are made at the start, and again when their face was gone.
    pub routes: Vec<Route>,
}

/// A route.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The URI of the prefix.
    pub prefix: String,
    /// Where to: a canonical face URI, as `udp4://192.0.2.1:6363`.
    pub to: String,
    /// What it costs; the cheapest is taken first.
    #[serde(default)]
    pub cost: u64,
}

/// Where packets come from and go to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Faces {
    /// Applications on this host.
    pub unix: Unix,
    /// Datagrams.
    pub udp: Udp,
    /// Connections.
    pub tcp: Tcp,
    /// Applications in browsers.
    pub websocket: WebSocket,
    /// Congestion marks.
    pub congestion: Congestion,
    /// Face URIs of neighbours, as `udp4://192.0.2.1:6363`, that get PitTokens, where the PIT is indexed by them: those who do not know them must drop what
    /// has one.
    pub pit_tokens: Vec<String>,
}

/// Unix stream sockets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Unix {
    /// Paths of sockets to listen on.
    pub path: Vec<PathBuf>,
    /// Their mode: a number, or one in text, as "0o666". A user who may connect may consume, and register prefixes to
    /// its own face; other commands are subject to `management`.
    #[serde(with = "octal")]
    pub mode: u32,
}

impl Default for Unix {
    /// As NFD's for root: `/run/nfd/nfd.sock`; for others `nfd/nfd.sock` in the user's run-time folder, or a folder in the temporary one.
    fn default() -> Self {
        Self { path: vec![default_socket()], mode: 0o666 }
    }
}

/// Modes of files: written in text, as TOML writes numbers in decimals; read as either.
mod octal {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(mode: &u32, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{mode:#o}"))
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Mode {
        Number(u32),
        Text(String),
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        let wrong = || D::Error::custom("a mode is 0o000 to 0o777, as 0o666");
        let mode = match Mode::deserialize(from).map_err(|_| wrong())? {
            Mode::Number(mode) => Some(mode),
            Mode::Text(text) => {
                text.strip_prefix("0o").and_then(|digits| u32::from_str_radix(digits, 8).ok())
            }
        };
        mode.filter(|mode| *mode <= 0o777).ok_or_else(wrong)
    }
}

/// The socket where none is named: the first place at which clients look.
fn default_socket() -> PathBuf {
    hashlane_link::unix::places("nfd").into_iter().next().unwrap_or_default()
}

/// UDP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Udp {
    /// Addresses to listen on; faces that are made by a command send from the first of their family.
    pub listen: Vec<SocketAddr>,
    /// Octets of a datagram at the most; what is longer goes in pieces.
    pub mtu: usize,
    /// Seconds after which the face of a silent peer that came by itself is closed.
    pub idle_timeout_s: u64,
    /// Faces of peers that came by themselves, at the most.
    pub max_on_demand: usize,
    /// Whether the kernel may take and give datagrams of one peer joined (UDP segmentation and receive offload).
    pub offload: bool,
}

impl Udp {
    /// For how long a face of this persistency lives without packets, in milliseconds; for ever where there is nothing.
    pub(crate) fn idle_after(&self, persistency: FacePersistency) -> Option<u64> {
        (persistency == FacePersistency::OnDemand).then(|| self.idle_timeout_s.saturating_mul(1000))
    }
}

/// The port of UDP and TCP, and that of WebSocket.
const PORT: u16 = 6363;
const WEBSOCKET_PORT: u16 = 9696;

fn anywhere(port: u16) -> Vec<SocketAddr> {
    vec![(Ipv4Addr::UNSPECIFIED, port).into(), (Ipv6Addr::UNSPECIFIED, port).into()]
}

impl Default for Udp {
    fn default() -> Self {
        Self {
            listen: anywhere(PORT),
            mtu: hashlane_ndn::wire::MAX_PACKET,
            idle_timeout_s: 600,
            max_on_demand: 4096,
            offload: true,
        }
    }
}

/// TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tcp {
    /// Addresses to listen on.
    pub listen: Vec<SocketAddr>,
}

impl Default for Tcp {
    fn default() -> Self {
        Self { listen: anywhere(PORT) }
    }
}

/// WebSocket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebSocket {
    /// Addresses to listen on.
    pub listen: Vec<SocketAddr>,
    /// Origins whose pages may command over a loopback connection, as `https://app.example`, beside those that come from a loopback host.
    pub origins: Vec<String>,
}

impl Default for WebSocket {
    fn default() -> Self {
        Self { listen: anywhere(WEBSOCKET_PORT), origins: Vec::new() }
    }
}

/// Congestion marks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Congestion {
    /// Whether packets are marked that are sent over a connection with a long queue.
    pub mark: bool,
    /// Octets in a queue that are too many.
    pub threshold: u64,
    /// Milliseconds between marks at first.
    pub interval_ms: u64,
}

impl Default for Congestion {
    fn default() -> Self {
        Self { mark: true, threshold: 65_536, interval_ms: 100 }
    }
}

/// The content store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cs {
    /// Packets at the most.
    pub packets: usize,
    /// Octets at the most, with what the store needs beside the packets.
    pub octets: usize,
    /// What leaves a full store first.
    pub policy: CsPolicy,
    /// Whether Data is taken in.
    pub admit: bool,
    /// Whether Interests are answered from it.
    pub serve: bool,
}

/// What leaves a full content store first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CsPolicy {
    /// What was not asked for for longest.
    Lru,
    /// What is no longer fresh, else what came first.
    PriorityFifo,
}

impl Default for Cs {
    fn default() -> Self {
        let hashlane_ndn_fw::cs::Config { packets, bytes: octets, admit, serve, .. } =
            hashlane_ndn_fw::cs::Config::default();
        Self { packets, octets, policy: CsPolicy::Lru, admit, serve }
    }
}

impl Cs {
    pub(crate) fn store(&self) -> hashlane_ndn_fw::cs::Config {
        let policy = match self.policy {
            CsPolicy::Lru => Policy::Lru,
            CsPolicy::PriorityFifo => Policy::PriorityFifo,
        };
        hashlane_ndn_fw::cs::Config {
            packets: self.packets,
            bytes: self.octets,
            policy,
            admit: self.admit,
            serve: self.serve,
        }
    }
}

/// Rights to give commands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Management {
    /// Users, by name or number, that may give every command, as root and the forwarder's own user may.
    pub users: Vec<Account>,
    /// Groups, by name or number, whose members may give every command.
    pub groups: Vec<Account>,
    /// Tells if TCP and WebSocket connections over loopback have the rights of the user who made them.
    pub loopback: bool,
    /// Whether neighbours that sign with a trusted key may register prefixes under `/localhop/nfd/rib`.
    pub localhop: bool,
    /// Files of certificates, in Base64 as the NDN tools write them or binary, whose keys may sign commands from anywhere.
    pub trust_anchors: Vec<PathBuf>,
}

impl Default for Management {
    fn default() -> Self {
        Self {
            users: Vec::new(),
            groups: Vec::new(),
            loopback: true,
            localhop: false,
            trust_anchors: Vec::new(),
        }
    }
}

/// Why a text is no configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// It is no TOML, or a value is of the wrong kind: where, and why.
    Toml(String),
    /// A key that there is not: its path, and the one there is that is most like it.
    UnknownKey {
        /// The key, with the tables that it stands in.
        key: String,
        /// One that there is.
        nearest: Option<String>,
    },
    /// A value that cannot be: the key, and why.
    Value {
        /// The key, with the tables that it stands in.
        key: &'static str,
        /// What it must be.
        why: String,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Toml(why) => f.write_str(why),
            Self::UnknownKey { key, nearest: Some(nearest) } => {
                write!(f, "there is no key `{key}`; did you mean `{nearest}`?")
            }
            Self::UnknownKey { key, nearest: None } => write!(f, "there is no key `{key}`"),
            Self::Value { key, why } => write!(f, "`{key}` {why}"),
        }
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let told = |error: toml::de::Error| ConfigError::Toml(error.to_string().trim_end().to_owned());
        let given: Table = text.parse().map_err(told)?;
        let known = Table::try_from(Self::default()).unwrap_or_default();
        known_keys(&given, &known, "")?;
        let config: Self = toml::from_str(text).map_err(told)?;
        config.check()?;
        Ok(config)
    }

    /// The configuration as a file that sets every value.
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).unwrap_or_default()
    }

    fn check(&self) -> Result<(), ConfigError> {
        let wrong = |key, why: &str| Err(ConfigError::Value { key, why: why.into() });
        let Management { users, groups, .. } = &self.management;
        for (key, accounts) in [("management.users", users), ("management.groups", groups)] {
            let is_wrong = |account: &Account| matches!(account, Account::Name(name) if !is_account(name));
            if accounts.iter().any(is_wrong) {
                return wrong(key, "needs names, as \"ndn\", or numbers without quotes, as 1000");
            }
        }
        if !(256..=65_507).contains(&self.faces.udp.mtu) {
            return wrong("faces.udp.mtu", "must be between 256 and 65507");
        }
        if let Some(origin) = self.faces.websocket.origins.iter().find(|origin| !is_origin(origin)) {
            let why = format!(
                "has {origin:?}, but needs SCHEME://HOST or SCHEME://HOST:PORT, as browsers write them"
            );
            return Err(ConfigError::Value { key: "faces.websocket.origins", why });
        }
        if self.pit.entries == 0 {
            return wrong("pit.entries", "must be at least 1");
        }
        let longest = hashlane_ndn_fw::forward::MAX_LIFETIME;
        if !(1..=longest).contains(&self.pit.remote_lifetime_ms) {
            return wrong("pit.remote_lifetime_ms", &format!("must be between 1 and {longest}"));
        }
        if !DigestField::is_type(self.pit.digest.tlv_type) {
            return wrong("pit.digest.tlv_type", "must be a multiple of 4 between 852 and 956");
        }
        if self.pit.digest.function().is_none() {
            return wrong("pit.digest.key", "must have 32 hexadecimal digits, the same at all neighbours");
        }
        if let Some(Err(why)) = self.faces.pit_tokens.iter().map(|uri| face_uri(uri)).find(Result::is_err) {
            return Err(ConfigError::Value { key: "faces.pit_tokens", why });
        }
        for (prefix, strategy) in &self.strategies {
            if region_name(prefix).is_none() || strategy_name(strategy).is_none() {
                return wrong(
                    "strategies",
                    "needs URIs of names on both sides, as \"/\" = \"/localhost/nfd/strategy/best-route\"",
                );
            }
            let name = strategy_name(strategy).as_ref().map(|name| Strategy::from_name(name.view()));
            if let Some(Err(error)) = name {
                return Err(ConfigError::Value {
                    key: "strategies",
                    why: format!("has {strategy}: {error}"),
                });
            }
        }
        for route in &self.routes {
            let Some(prefix) = region_name(&route.prefix) else {
                return wrong("routes.prefix", "must be the URI of a name, as \"/example\"");
            };
            if is_management(prefix.view()) {
                let why = format!("has {:?}, which belongs to the management of the forwarder", route.prefix);
                return Err(ConfigError::Value { key: "routes.prefix", why });
            }
            if let Err(why) = face_uri(&route.to) {
                return Err(ConfigError::Value { key: "routes.to", why });
            }
        }
        if let Some(region) = self.regions.iter().find(|region| region_name(region).is_none()) {
            let why = format!("has {region:?}, which is not the URI of a name");
            return Err(ConfigError::Value { key: "regions", why });
        }
        Ok(())
    }
}

/// Tells if a text can be the name of a user or a group: a number in quotes is a mistake, and not a name.
fn is_account(name: &str) -> bool {
    !name.is_empty()
        && !name.contains([':', ',', '\0'])
        && !name.contains(char::is_whitespace)
        && !name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is an origin as browsers send it: without a path, and in lower case.
fn is_origin(text: &str) -> bool {
    let host = text.split_once("://").map_or("", |(_, host)| host);
    !host.is_empty()
        && !host.contains(['/', '@'])
        && !text.contains(|c: char| c.is_uppercase() || c.is_whitespace())
}

/// The name that a URI is of.
pub(crate) fn region_name(uri: &str) -> Option<hashlane_name::build::OwnedName<hashlane_name::ndn::Ndn>> {
    hashlane_name::uri::parse_uri(uri.as_bytes()).ok()
}

/// The name of a strategy; of one word, that of NFD's.
pub(crate) fn strategy_name(uri: &str) -> Option<hashlane_name::build::OwnedName<hashlane_name::ndn::Ndn>> {
    match uri.starts_with('/') {
        true => region_name(uri),
        false => region_name(&format!("/localhost/nfd/strategy/{uri}")),
    }
}

/// The face URI of a route, or why it is none.
pub(crate) fn face_uri(uri: &str) -> Result<FaceUri, String> {
    let parsed = uri.parse::<FaceUri>().map_err(|error| format!("has {uri:?}: {error}"))?;
    match parsed.is_canonical() {
        true => Ok(parsed),
        false => Err(format!("has {uri:?}, but needs an address and a port, as \"udp4://192.0.2.1:6363\"")),
    }
}

/// Nothing, where all keys of `given` are in `known`.
fn known_keys(given: &Table, known: &Table, path: &str) -> Result<(), ConfigError> {
    for (key, value) in given {
        // Its keys are prefixes.
        if path.is_empty() && key == "strategies" {
            continue;
        }
        match (known.get(key), value) {
            (Some(Value::Table(known)), Value::Table(given)) => {
                known_keys(given, known, &format!("{path}{key}."))?;
            }
            (Some(_), _) => {}
            (None, _) => {
                let near =
                    known.keys().map(|other| (strsim::normalized_damerau_levenshtein(key, other), other));
                let nearest = near.filter(|(like, _)| *like > 0.5).max_by(|a, b| a.0.total_cmp(&b.0));
                return Err(ConfigError::UnknownKey {
                    key: format!("{path}{key}"),
                    nearest: nearest.map(|(_, other)| format!("{path}{other}")),
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_a_default_and_can_be_written() {
        let default = Config::default();
        assert_eq!(Config::parse(""), Ok(default.clone()));
        assert_eq!(Config::parse(&default.to_toml()), Ok(default));
        let text = "[strategies]\n\"/\" = \"multicast\"\n[[routes]]\nprefix = \"/\"\nto = \"udp4://192.0.2.1:6363\"\n";
        assert_eq!(Config::parse(text).unwrap().routes[0].cost, 0);
        let config = Config::parse("[cs]\npolicy = \"priority-fifo\"\noctets = 1000\n").unwrap();
        assert_eq!(
            (config.cs.policy, config.cs.octets, config.cs.packets),
            (CsPolicy::PriorityFifo, 1000, 65_536)
        );
    }

    #[test]
    fn users_and_groups_are_names_or_numbers() {
        let config =
            Config::parse("[management]\nusers = [1000, \"ann\"]\ngroups = [\"ndn\", 60]\n").unwrap();
        let name = |name: &str| Account::Name(name.into());
        assert_eq!(config.management.users, [Account::Id(1000), name("ann")]);
        assert_eq!(config.management.groups, [name("ndn"), Account::Id(60)]);
        assert_eq!(Config::parse(&config.to_toml()), Ok(config));
    }

    #[test]
    fn modes_are_octal() {
        assert!(Config::default().to_toml().contains("mode = \"0o666\"\n"));
        let mode = |text: &str| {
            Config::parse(&format!("[faces.unix]\nmode = {text}")).map(|config| config.faces.unix.mode)
        };
        for text in ["0o660", "432", "\"0o660\""] {
            assert_eq!(mode(text), Ok(0o660), "{text}");
        }
        for text in ["0o1000", "-1", "\"660\"", "\"0o668\"", "\"\"", "true"] {
            assert!(mode(text).unwrap_err().to_string().contains("0o000 to 0o777"), "{text}");
        }
    }

    #[test]
    fn says_what_is_wrong() {
        let says = |text: &str| Config::parse(text).unwrap_err().to_string();
        assert_eq!(says("[cs]\npackts = 3"), "there is no key `cs.packts`; did you mean `cs.packets`?");
        assert_eq!(says("[faces.upd]\nmtu = 3"), "there is no key `faces.upd`; did you mean `faces.udp`?");
        assert_eq!(says("zzz = 1"), "there is no key `zzz`");
        assert_eq!(says("[faces.udp]\nmtu = 3"), "`faces.udp.mtu` must be between 256 and 65507");
        for origin in ["app.example", "https://app.example/", "https://App.example", "https://", "null"] {
            let text = says(&format!("[faces.websocket]\norigins = [\"{origin}\"]"));
            assert!(text.contains(origin) && text.contains("SCHEME://HOST:PORT"), "{text}");
        }
        for accounts in ["users = [\"\"]", "users = [\"1000\"]", "groups = [\"a b\"]"] {
            let text = says(&format!("[management]\n{accounts}"));
            assert!(text.starts_with("`management.") && text.contains("names, as \"ndn\""), "{text}");
        }
        for accounts in ["users = [-1]", "groups = [true]"] {
            let text = says(&format!("[management]\n{accounts}"));
            assert!(text.contains("line 2") && text.contains("or a number, as 1000"), "{text}");
        }
        let text = says("[[routes]]\nprefix = \"/localhost/nfd/rib\"\nto = \"udp4://192.0.2.1:6363\"\n");
        assert_eq!(
            text,
            "`routes.prefix` has \"/localhost/nfd/rib\", which belongs to the management of the forwarder"
        );
        assert_eq!(says("regions = [\"a\"]"), "`regions` has \"a\", which is not the URI of a name");
        assert!(
            says("[[routes]]\nprefix = \"/a\"\nto = \"udp://a\"").starts_with("`routes.to` has \"udp://a\"")
        );
        assert!(
            says("[strategies]\n\"/\" = \"fastest\"")
                .contains("choose one of best-route, multicast, asf, random")
        );
        assert!(says("[pit]\nentries = \"many\"").contains("line 2"));
        let lifetime = |millis: u64| format!("[pit]\nremote_lifetime_ms = {millis}");
        for millis in [0, 3_600_001] {
            let text = "`pit.remote_lifetime_ms` must be between 1 and 3600000";
            assert_eq!(says(&lifetime(millis)), text);
        }
        assert_eq!(Config::parse(&lifetime(1000)).unwrap().pit.remote_lifetime_ms, 1000);
        assert_eq!(Config::default().pit.remote_lifetime_ms, 30_000);
        assert!(says("[pit]\nindex = \"trie\"").contains("line 2"));
        let needs = "`pit.digest.key` must have 32 hexadecimal digits, the same at all neighbours";
        assert_eq!(says("[pit.digest]\nfunction = \"siphash-64\""), needs);
        assert!(says("[pit.digest]\ntlv_type = 848").contains("between 852 and 956"));
        assert!(says("[faces]\npit_tokens = [\"udp4://a\"]").starts_with("`faces.pit_tokens` has"));
        assert!(says("[faces.tcp]\nlisten = [\"localhost\"]").contains("line 2"));
        assert!(says("[cs").contains("line 1"));
    }
}
