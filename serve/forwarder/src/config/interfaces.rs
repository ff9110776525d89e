//! Interfaces that have faces: the tables `[faces.udp_multicast]` and `[faces.ether]`.

use hashlane_link::interfaces::Interface;
use hashlane_ndn::mgmt::face_uri::DEFAULT_MULTICAST_PORT;
use hashlane_ndn::mgmt::values::LinkType;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// The table `[faces.udp_multicast]`: a face to all hosts of a link, on each of some interfaces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UdpMulticast {
    /// Interfaces that have a face of each group: names such as `eth0` or `wl*`, Ethernet addresses, or
    /// networks such as `192.0.2.0/24`. None by default.
    pub interfaces: Vec<InterfaceRule>,
    /// Interfaces that have none, even if `interfaces` matches them.
    pub except: Vec<InterfaceRule>,
    /// Groups, with their ports; of IPv4, IPv6, or both.
    pub groups: Vec<SocketAddr>,
    /// True if not all hosts of a link receive each other's packets, as on an ad hoc wireless network.
    pub ad_hoc: bool,
}

impl Default for UdpMulticast {
    /// No interface; the groups of NFD.
    fn default() -> Self {
        let port = DEFAULT_MULTICAST_PORT;
        let ipv6 = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0x1234);
        let groups = vec![(Ipv4Addr::new(224, 0, 23, 170), port).into(), (ipv6, port).into()];
        Self { interfaces: Vec::new(), except: Vec::new(), groups, ad_hoc: false }
    }
}

/// The table `[faces.ether]`: faces over Ethernet, without IP. They need the capability CAP_NET_RAW.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ether {
    /// Interfaces whose neighbours may have faces, by rules as in `faces.udp_multicast`. None by default.
    pub interfaces: Vec<InterfaceRule>,
    /// Interfaces that have none, even if `interfaces` matches them.
    pub except: Vec<InterfaceRule>,
    /// True if each interface has a face of the group, too.
    pub multicast: bool,
    /// Ethernet address of the group.
    pub group: Mac,
    /// True if not all hosts of a link receive each other's packets.
    pub ad_hoc: bool,
}

impl Default for Ether {
    /// No interface; the group of NFD.
    fn default() -> Self {
        let group = Mac([0x01, 0, 0x5e, 0, 0x17, 0xaa]);
        Self { interfaces: Vec::new(), except: Vec::new(), multicast: true, group, ad_hoc: false }
    }
}

/// Link type of the faces of groups.
pub(crate) fn link_type(ad_hoc: bool) -> LinkType {
    if ad_hoc { LinkType::AdHoc } else { LinkType::MultiAccess }
}

impl UdpMulticast {
    /// True if an interface has faces.
    pub(crate) fn matches(&self, interface: &Interface) -> bool {
        selects(&self.interfaces, &self.except, interface)
    }
}

impl Ether {
    /// True if an interface has faces.
    pub(crate) fn matches(&self, interface: &Interface) -> bool {
        selects(&self.interfaces, &self.except, interface)
    }
}

fn selects(rules: &[InterfaceRule], except: &[InterfaceRule], interface: &Interface) -> bool {
    let matches = |rule: &InterfaceRule| rule.matches(interface);
    rules.iter().any(matches) && !except.iter().any(matches)
}

/// An Ethernet address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Mac(pub [u8; 6]);

/// A rule that interfaces match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum InterfaceRule {
    /// Name, in which `*` stands for any characters and `?` for one.
    Name(String),
    /// Ethernet address.
    Ether(Mac),
    /// Network in which the interface has an address, and the length of its prefix.
    Network(IpAddr, u8),
}

impl InterfaceRule {
    /// True if an interface matches.
    pub(crate) fn matches(&self, interface: &Interface) -> bool {
        match self {
            Self::Name(pattern) => is_match(pattern.as_bytes(), interface.name.as_bytes()),
            Self::Ether(Mac(address)) => interface.ethernet == Some(*address),
            Self::Network(network, length) => {
                interface.addresses.iter().any(|address| is_within(*address, *network, *length))
            }
        }
    }

    /// Name of the only interface that can match; `None` if several can.
    pub(crate) fn exact_name(&self) -> Option<&str> {
        match self {
            Self::Name(name) if !name.contains(['*', '?']) => Some(name),
            _ => None,
        }
    }
}

/// True if a name matches a pattern with `*` and `?`.
fn is_match(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut begin) = (0, 0);
    // The last star, and the place in the name where its text ends.
    let mut star = None;
    while begin < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, begin));
                at += 1;
            }
            Some(byte) if *byte == b'?' || name.get(begin) == Some(byte) => {
                at += 1;
                begin += 1;
            }
            _ => {
                let Some((place, end)) = star else { return false };
                star = Some((place, end + 1));
                (at, begin) = (place + 1, end + 1);
            }
        }
    }
    pattern.get(at..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}

/// True if the first `length` bits of two addresses of one family are equal.
fn is_within(address: IpAddr, network: IpAddr, length: u8) -> bool {
    let (differing, bits) = match (address, network) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (u128::from(a.to_bits() ^ b.to_bits()), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits() ^ b.to_bits(), 128),
        _ => return false,
    };
    differing.checked_shr(bits - u32::from(length).min(bits)).unwrap_or(0) == 0
}

impl FromStr for InterfaceRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The longest pattern that can match a name of 15 bytes, with a star between any two.
        const LONGEST: usize = 31;
        let wrong = || {
            format!(
                "{text:?} is not the name of an interface (\"eth0\", \"wl*\"), an Ethernet address \
                 (\"02:00:00:00:00:01\") or a network (\"192.0.2.0/24\")"
            )
        };
        if let Some((network, length)) = text.split_once('/') {
            let network: IpAddr = network.parse().map_err(|_| wrong())?;
            let bits = if network.is_ipv4() { 32 } else { 128 };
            let length = length.parse().ok().filter(|length| *length <= bits).ok_or_else(wrong)?;
            return Ok(Self::Network(network, length));
        }
        if let Ok(mac) = text.parse() {
            return Ok(Self::Ether(mac));
        }
        let is_plain = |c: char| !c.is_control() && !c.is_whitespace() && c != ':';
        let is_name = !text.is_empty() && text.len() <= LONGEST && text.chars().all(is_plain);
        if is_name { Ok(Self::Name(text.to_owned())) } else { Err(wrong()) }
    }
}

impl fmt::Display for InterfaceRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Ether(mac) => mac.fmt(f),
            Self::Network(network, length) => write!(f, "{network}/{length}"),
        }
    }
}

impl FromStr for Mac {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not an Ethernet address, such as \"01:00:5e:00:17:aa\"");
        let mut address = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut address {
            let part =
                parts.next().filter(|part| part.len() == 2 && part.bytes().all(|c| c.is_ascii_hexdigit()));
            *byte = u8::from_str_radix(part.ok_or_else(wrong)?, 16).map_err(|_| wrong())?;
        }
        if parts.next().is_none() { Ok(Self(address)) } else { Err(wrong()) }
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl TryFrom<String> for InterfaceRule {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<InterfaceRule> for String {
    fn from(rule: InterfaceRule) -> Self {
        rule.to_string()
    }
}

impl TryFrom<String> for Mac {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Mac> for String {
    fn from(mac: Mac) -> Self {
        mac.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface() -> Interface {
        Interface {
            name: "wlp2s0".into(),
            index: 3,
            ethernet: Some([2, 0, 0, 0, 0, 0xab]),
            addresses: vec!["192.0.2.7".parse().unwrap(), "fe80::7".parse().unwrap()],
            ..Interface::default()
        }
    }

    #[test]
    fn rules_match_names_ethernet_addresses_and_networks() {
        let matches = |rule: &str| rule.parse::<InterfaceRule>().unwrap().matches(&interface());
        for rule in [
            "*",
            "wlp2s0",
            "wlp*",
            "*s0",
            "w*p*0",
            "wlp?s0",
            "******",
            "02:00:00:00:00:AB",
            "192.0.2.0/24",
            "192.0.2.7/32",
            "0.0.0.0/0",
            "fe80::/10",
            "::/0",
        ] {
            assert!(matches(rule), "{rule}");
        }
        for rule in [
            "wlp2s",
            "eth0",
            "wlp?",
            "*1",
            "p*",
            "02:00:00:00:00:ac",
            "192.0.3.0/24",
            "192.0.2.8/32",
            "fe80::8/128",
            "2001:db8::/32",
        ] {
            assert!(!matches(rule), "{rule}");
        }
    }

    #[test]
    fn exceptions_go_before_and_no_rule_is_no_interface() {
        let rules = |texts: &[&str]| texts.iter().map(|rule| rule.parse().unwrap()).collect::<Vec<_>>();
        let matches = |all: &[&str], except: &[&str]| {
            UdpMulticast { interfaces: rules(all), except: rules(except), ..Default::default() }
                .matches(&interface())
        };
        assert!(matches(&["*"], &[]) && matches(&["eth0", "wl*"], &["lo"]));
        assert!(
            !matches(&["*"], &["192.0.2.0/24"])
                && !matches(&[], &[])
                && !Ether::default().matches(&interface())
        );
    }

    #[test]
    fn wrong_rules_are_refused_and_others_written_as_read() {
        for wrong in
            ["", "a b", "eth0:1", "192.0.2.0/33", "192.0.2/24", "::/129", "0.0.0.0/-1", &"x".repeat(32)]
        {
            let error = wrong.parse::<InterfaceRule>().expect_err(wrong);
            assert!(error.contains("is not the name of an interface"), "{error}");
        }
        for text in ["eth0", "*", "02:00:00:00:00:01", "2001:db8::/32"] {
            assert_eq!(text.parse::<InterfaceRule>().unwrap().to_string(), text);
        }
        assert!("1:0:5e:0:17:aa".parse::<Mac>().is_err() && "01:00:5e:00:17:aa:01".parse::<Mac>().is_err());
    }
}
