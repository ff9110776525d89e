//! The sections `authorizations` and `rib`.

use super::info::Node;
use super::model::Authorize;
use super::report::Fate;
use super::{Reader, number, rules, yes_or_no};
use crate::config::{MODULES, Propagate};

/// Certificates whose keys may give commands.
pub(super) fn authorizations(reader: &mut Reader, section: &Node) {
    reader.set(section, Fate::kept("[[management.authorize]]"));
    for node in section.children.iter().filter(|node| node.key == "authorize") {
        authorize(reader, node);
    }
}

fn authorize(reader: &mut Reader, section: &Node) {
    let keys = reader.first(&section.children);
    let (Some(file), Some(privileges)) = (keys.get("certfile"), keys.get("privileges")) else {
        return reader.set_all(section, &Fate::lost("it needs certfile and privileges; write both"));
    };
    let mut modules = Vec::new();
    for node in &privileges.children {
        let fate = match MODULES.contains(&node.key.as_str()) {
            true => {
                modules.push(node.key.clone());
                Fate::kept("management.authorize.modules")
            }
            false => Fate::lost("unknown module; write one of faces, fib, cs, strategy-choice"),
        };
        reader.set(node, fate);
    }
    let is_empty = modules.is_empty();
    let kept = |key: &'static str| match is_empty {
        true => Fate::ignored("no privileges"),
        false => Fate::kept(key),
    };
    reader.set(privileges, kept("management.authorize.modules"));
    reader.set(section, kept("[[management.authorize]]"));
    let is_any = file.value == "any";
    let fate = match is_any && !is_empty {
        true => Fate::kept(
            "management.authorize.certificate: every user of this host may give these commands, as with NFD; \
             to name them instead, use management.users",
        ),
        false => kept("management.authorize.certificate"),
    };
    reader.set(file, fate);
    if !is_empty {
        let certificate = if is_any { "any".to_owned() } else { reader.path(&file.value) };
        reader.model.authorize.push(Authorize { certificate, modules });
    }
}

/// Rights to register prefixes, and announcements to others.
pub(super) fn rib(reader: &mut Reader, section: &Node) {
    reader.set(section, Fate::kept("[management], [trust]"));
    let keys = reader.first(&section.children);
    let has_localhost = keys.contains_key("localhost_security");
    for (key, node) in keys {
        match key {
            "localhost_security" => localhost(reader, node),
            "localhop_security" => {
                let is_kept = rules::policy(reader, node, "trust.localhop");
                reader.model.set("management", "localhop", is_kept);
            }
            "prefix_announcement_validation" => announcements(reader, node),
            "auto_prefix_propagate" => propagate(reader, node),
            "readvertise_nlsr" => {
                let fate = match yes_or_no(node) {
                    Ok(false) => Fate::default("nothing is announced to NLSR"),
                    Ok(true) => {
                        reader.model.set("rib", "readvertise_nlsr", true);
                        Fate::kept("rib.readvertise_nlsr")
                    }
                    Err(fate) => fate,
                };
                reader.set(node, fate);
            }
            _ => {}
        }
    }
    if !has_localhost {
        absent(reader);
    }
}

/// Propagation to a gateway. The keys of NFD's user are in a keychain that is not read.
fn propagate(reader: &mut Reader, section: &Node) {
    let why = "the keys of the keychain are not read: export each identity by `ndnsec export -i IDENTITY -o FILE`, \
               and name it in [[rib.propagate.identities]]; the settings are kept";
    reader.set(section, Fate::lost(why));
    let mut settings = Propagate::default();
    for (key, node) in reader.first(&section.children) {
        let Propagate { cost, timeout_ms, refresh_s, base_retry_wait_s, max_retry_wait_s, .. } =
            &mut settings;
        let (value, range, ours) = match key {
            "cost" => (cost, 0..=i64::MAX as u64, "cost"),
            "timeout" => (timeout_ms, Propagate::TIMEOUT_MS, "timeout_ms"),
            "refresh_interval" => (refresh_s, Propagate::SECONDS, "refresh_s"),
            "base_retry_wait" => (base_retry_wait_s, Propagate::SECONDS, "base_retry_wait_s"),
            "max_retry_wait" => (max_retry_wait_s, Propagate::SECONDS, "max_retry_wait_s"),
            _ => continue,
        };
        let fate = match number(node, range) {
            Ok(number) => {
                *value = number;
                reader.model.set("rib.propagate", ours, number as i64);
                Fate::kept(format!("rib.propagate.{ours}"))
            }
            Err(fate) => fate,
        };
        reader.set(node, fate);
    }
    let Propagate { base_retry_wait_s, max_retry_wait_s, .. } = settings;
    if max_retry_wait_s < base_retry_wait_s {
        // A longest pause below the first one is the first one.
        reader.model.set("rib.propagate", "max_retry_wait_s", base_retry_wait_s as i64);
    }
}

/// Accepts prefix announcements, if none of their rules is lost.
fn announcements(reader: &mut Reader, section: &Node) {
    if rules::policy(reader, section, "trust.prefix_announcement") {
        reader.model.set("rib", "prefix_announcements", "trusted");
    }
}

/// Refuses registrations of applications, as NFD does without the section for them.
pub(super) fn absent(reader: &mut Reader) {
    reader.model.set("management", "own_faces", false);
}

fn localhost(reader: &mut Reader, section: &Node) {
    if !rules::policy(reader, section, "trust.localhost") || !rules::is_any(section) {
        // Only signed registrations pass then.
        absent(reader);
    }
}
