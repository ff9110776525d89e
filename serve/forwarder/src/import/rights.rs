//! The sections `authorizations` and `rib`.

use super::info::Node;
use super::model::Authorize;
use super::report::Fate;
use super::{Reader, rules, yes_or_no};
use crate::config::MODULES;

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
            "auto_prefix_propagate" => {
                let why = "prefixes are not registered at a gateway; register them there, by \
                           `hashlane ndn route add` on the gateway";
                reader.set_all(node, &Fate::lost(why));
            }
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
