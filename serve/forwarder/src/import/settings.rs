//! The sections `general`, `log`, `forwarder` and `tables`.

use super::info::Node;
use super::report::Fate;
use super::{Reader, number};
use crate::config::{parse_name, strategy_name};
use hashlane_ndn_fw::strategy::Strategy;
use toml::Value;

/// The user that NFD runs as.
pub(super) fn general(reader: &mut Reader, section: &Node) {
    reader.set(section, Fate::kept("[server]"));
    for (key, node) in reader.last(&section.children) {
        let (key, kept) = match key {
            "user" => ("user", "server.user"),
            "group" => ("group", "server.group"),
            _ => continue,
        };
        if node.value.is_empty() {
            reader.set(node, Fate::lost("no name; write one, or remove the line"));
            continue;
        }
        reader.model.set("server", key, node.value.as_str());
        reader.set(node, Fate::kept(kept));
    }
}

/// Levels of the log.
pub(super) fn log(reader: &mut Reader, section: &Node) {
    reader.set_all(section, &Fate::ignored("the variable HASHLANE_LOG sets the level of the log"));
}

/// Settings of the forwarding pipeline.
pub(super) fn forwarder(reader: &mut Reader, section: &Node) {
    reader.set(section, Fate::default("no settings here"));
    if let Some(node) = reader.first(&section.children).get("default_hop_limit") {
        let fate = match number(node, 0..=255) {
            Ok(0) => Fate::default("no HopLimit is added"),
            Ok(_) => {
                Fate::lost("a HopLimit is not added to Interests; have the applications set it, or write 0")
            }
            Err(fate) => fate,
        };
        reader.set(node, fate);
    }
}

/// Content store, strategies and regions.
pub(super) fn tables(reader: &mut Reader, section: &Node) {
    reader.set(section, Fate::kept("[cs], [strategies], regions"));
    for (key, node) in reader.first(&section.children) {
        let fate = match key {
            "cs_max_packets" => match number(node, 0..=i64::MAX as u64) {
                Ok(packets) => {
                    reader.model.set("cs", "packets", packets as i64);
                    Fate::kept("cs.packets; cs.octets limits the bytes, too")
                }
                Err(fate) => fate,
            },
            "cs_policy" => match node.value.as_str() {
                "lru" => {
                    reader.model.set("cs", "policy", "lru");
                    Fate::kept("cs.policy")
                }
                "priority_fifo" => {
                    reader.model.set("cs", "policy", "priority-fifo");
                    Fate::kept("cs.policy")
                }
                _ => Fate::lost("unknown policy; write lru or priority_fifo"),
            },
            "cs_unsolicited_policy" => match node.value.as_str() {
                "drop-all" => Fate::default("unsolicited Data is dropped"),
                _ => Fate::lost("unsolicited Data is always dropped; write drop-all"),
            },
            "strategy_choice" => {
                strategies(reader, node);
                Fate::kept("[strategies]")
            }
            "network_region" => regions(reader, node),
            _ => continue,
        };
        reader.set(node, fate);
    }
}

fn strategies(reader: &mut Reader, section: &Node) {
    let mut prefixes = Vec::new();
    for node in &section.children {
        let strategy = strategy_name(&node.value);
        let fate = match (parse_name(&node.key), &strategy) {
            (None, _) => Fate::lost("not the URI of a name; write one, such as /example"),
            (_, None) => Fate::lost("the strategy is not the URI of a name; write one"),
            (Some(prefix), Some(strategy)) => match Strategy::from_name(strategy.view()) {
                Err(error) => Fate::lost(error.to_string()),
                Ok(_) if prefixes.contains(&prefix) => {
                    Fate::lost("a second strategy of this prefix, which NFD refuses; remove one")
                }
                Ok(_) => {
                    reader.model.set("strategies", &prefix.to_string(), node.value.as_str());
                    prefixes.push(prefix);
                    Fate::kept("strategies")
                }
            },
        };
        reader.set(node, fate);
    }
}

fn regions(reader: &mut Reader, section: &Node) -> Fate {
    let mut regions = Vec::new();
    for node in &section.children {
        let fate = match parse_name(&node.key) {
            Some(region) => {
                regions.push(Value::from(region.to_string()));
                Fate::kept("regions")
            }
            None => Fate::lost("not the URI of a name; write one, such as /example"),
        };
        reader.set(node, fate);
    }
    if regions.is_empty() {
        return Fate::default("no regions");
    }
    reader.model.set("", "regions", regions);
    Fate::kept("regions")
}
