//! Multicast faces, which NFD has on all interfaces by default, and Ethernet faces.

use crate::config::{Ether, InterfaceRule, Mac, UdpMulticast};
use crate::import::info::Node;
use crate::import::report::Fate;
use crate::import::{Keys, Reader, number, yes_or_no};
use std::net::{IpAddr, SocketAddr};
use toml::Value;

const UDP: &str = "faces.udp_multicast";
const ETHER: &str = "faces.ether";

/// Keeps the keys of multicast faces of the section `udp`.
pub(super) fn udp(reader: &mut Reader, keys: &Keys<'_>) {
    let is_on = flag(reader, keys, "mcast", true, &format!("{UDP}.interfaces"));
    let mut groups = Vec::new();
    let defaults = UdpMulticast::default().groups;
    for (address, port, switch, is_ipv4) in [
        ("mcast_group", "mcast_port", "enable_v4", true),
        ("mcast_group_v6", "mcast_port_v6", "enable_v6", false),
    ] {
        let is_enabled = keys.get(switch).is_none_or(|node| yes_or_no(node) != Ok(false));
        let default = defaults.iter().find(|group| group.is_ipv4() == is_ipv4).copied();
        let Some(mut group) = default else { continue };
        if let Some(node) = keys.get(address) {
            let given: Option<IpAddr> = node.value.parse().ok();
            match given.filter(|given| given.is_multicast() && given.is_ipv4() == is_ipv4) {
                Some(given) => {
                    group.set_ip(given);
                    set(reader, node, is_on, format!("{UDP}.groups"));
                }
                None => reader.set(node, Fate::lost("not a multicast address of this family; write one")),
            }
        }
        if let Some(node) = keys.get(port) {
            match number(node, 1..=u16::MAX.into()) {
                Ok(given) => {
                    group.set_port(u16::try_from(given).unwrap_or_default());
                    set(reader, node, is_on, format!("{UDP}.groups"));
                }
                Err(fate) => reader.set(node, fate),
            }
        }
        if is_enabled {
            groups.push(group);
        }
    }
    interfaces(reader, keys, UDP, is_on);
    if is_on && groups != defaults {
        let groups: Vec<String> = groups.iter().map(SocketAddr::to_string).collect();
        reader.model.set(UDP, "groups", groups);
    }
}

/// Keeps the section `ether`. NFD has faces of neighbours and of the group by default.
pub(super) fn ether(reader: &mut Reader, section: &Node) {
    let keys = reader.last(&section.children);
    let listens = flag(reader, &keys, "listen", true, &format!("{ETHER}.interfaces"));
    let multicast = flag(reader, &keys, "mcast", true, &format!("{ETHER}.multicast"));
    let is_on = listens || multicast;
    if let Some(node) = keys.get("idle_timeout") {
        reader.set(node, Fate::ignored("faces.udp.idle_timeout_s holds for Ethernet, too"));
    }
    if let Some(node) = keys.get("mcast_group") {
        match node.value.parse::<Mac>() {
            Ok(group) => {
                set(reader, node, multicast, format!("{ETHER}.group"));
                if multicast && group != Ether::default().group {
                    reader.model.set(ETHER, "group", group.to_string());
                }
            }
            Err(_) => reader.set(node, Fate::lost("not an Ethernet address; write one")),
        }
    }
    interfaces(reader, &keys, ETHER, is_on);
    if is_on && !multicast {
        reader.model.set(ETHER, "multicast", false);
    }
    reader.set(
        section,
        match (is_on, listens) {
            (false, _) => Fate::default("no Ethernet faces"),
            (true, true) => Fate::kept(format!("[{ETHER}]; the forwarder needs the capability CAP_NET_RAW")),
            (true, false) => Fate::kept(format!(
                "[{ETHER}]; the forwarder needs the capability CAP_NET_RAW, and neighbours have faces, too"
            )),
        },
    );
}

/// Keeps the interfaces that have faces, and the type of their links.
fn interfaces(reader: &mut Reader, keys: &Keys<'_>, table: &'static str, is_on: bool) {
    let allowed = list(reader, keys, "whitelist", (table, "interfaces"), is_on);
    let denied = list(reader, keys, "blacklist", (table, "except"), is_on);
    let is_ad_hoc = flag(reader, keys, "mcast_ad_hoc", false, &format!("{table}.ad_hoc"));
    if !is_on {
        if let Some(node) = keys.get("mcast_ad_hoc") {
            set(reader, node, false, String::new());
        }
        return;
    }
    reader.model.set(table, "interfaces", allowed.unwrap_or_else(|| vec!["*".into()]));
    if let Some(denied) = denied.filter(|denied| !denied.is_empty()) {
        reader.model.set(table, "except", denied);
    }
    if is_ad_hoc {
        reader.model.set(table, "ad_hoc", true);
    }
}

/// Keeps a list of interfaces; `None` if the section has none.
fn list(
    reader: &mut Reader,
    keys: &Keys<'_>,
    key: &str,
    (table, kept): (&str, &str),
    is_on: bool,
) -> Option<Vec<Value>> {
    let node = keys.get(key)?;
    set(reader, node, is_on, format!("{table}.{kept}"));
    let mut rules = Vec::new();
    for item in &node.children {
        let text = match item.key.as_str() {
            "*" => Some("*"),
            "ifname" | "ether" | "subnet" => Some(item.value.as_str()),
            _ => None,
        };
        match text.and_then(|text| text.parse::<InterfaceRule>().ok()) {
            Some(rule) => {
                set(reader, item, is_on, format!("{table}.{kept}"));
                rules.push(Value::from(rule.to_string()));
            }
            None => {
                let why = "not an interface; write *, or ifname, ether or subnet with a value";
                reader.set_all(item, &Fate::lost(why));
            }
        }
    }
    Some(rules)
}

/// Value of a switch, and its outcome.
fn flag(reader: &mut Reader, keys: &Keys<'_>, key: &str, default: bool, kept: &str) -> bool {
    let Some(node) = keys.get(key) else { return default };
    let value = yes_or_no(node);
    reader.set(node, value.clone().err().unwrap_or_else(|| Fate::kept(kept.to_owned())));
    value.unwrap_or(default)
}

/// The outcome of a key that has an effect only if its faces are on.
fn set(reader: &mut Reader, node: &Node, is_on: bool, kept: String) {
    reader.set(node, if is_on { Fate::kept(kept) } else { Fate::ignored("these faces are off") });
}
