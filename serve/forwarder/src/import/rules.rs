//! The sections of `rib` with trust rules.

use super::Reader;
use super::info::Node;
use super::report::Fate;
use crate::config::{
    Anchor, CheckerKind, KeyCondition, NameCondition, PacketKind, Relation, SignatureAlgorithm, TrustChecker,
    TrustPolicy, TrustRule,
};

/// Next step for a rule that cannot be kept.
const MALFORMED: &str = "NFD refuses it, too; correct it as in ndn-cxx's validator configuration format";

/// True if a section has a trust anchor `any`, which turns the validation off.
pub(super) fn is_any(section: &Node) -> bool {
    section.children.iter().any(|node| has_key(node, "trust-anchor") && value(node, "type") == Some("any"))
}

/// Keeps the rules and trust anchors of a section as the policy of this table. Returns false if it is lost:
/// a policy without one of its rules could allow more.
pub(super) fn policy(reader: &mut Reader, section: &Node, table: &'static str) -> bool {
    if is_any(section) {
        for node in &section.children {
            let fate = match has_key(node, "trust-anchor") && value(node, "type") == Some("any") {
                true => Fate::kept(format!("{table}.any: no signature is verified, as with NFD")),
                false => Fate::ignored("a trust anchor of type any turns the rules off"),
            };
            reader.set_all(node, &fate);
        }
        reader.set(section, Fate::kept(format!("[{table}]")));
        reader.model.trust.push((table, TrustPolicy { any: true, ..TrustPolicy::default() }));
        return true;
    }
    let mut policy = TrustPolicy::default();
    let mut outcomes = Vec::new();
    for node in &section.children {
        let kept = match node.key.to_ascii_lowercase().as_str() {
            "rule" => rule(node).map(|rule| {
                policy.rules.push(rule);
                "rules"
            }),
            "trust-anchor" => anchor(reader, node).map(|anchor| {
                policy.anchors.push(anchor);
                "anchors"
            }),
            _ => Err(format!("unknown section; {MALFORMED}")),
        };
        outcomes.push((node, kept));
    }
    let lost = match outcomes.iter().all(|(_, kept)| kept.is_ok()) {
        false => Some("without all of its lines more could be allowed; correct those that are lost"),
        true if policy.rules.is_empty() || policy.anchors.is_empty() => {
            Some("it accepts nothing without both rules and trust anchors; write both")
        }
        true => None,
    };
    for (node, kept) in outcomes {
        let fate = match (kept, lost) {
            (Ok(kept), None) => Fate::kept(format!("{table}.{kept}")),
            (Ok(_), Some(_)) => Fate::lost("its section is lost"),
            (Err(why), _) => Fate::lost(why),
        };
        reader.set_all(node, &fate);
    }
    match lost {
        None => {
            let has_chains = policy.rules.iter().any(|rule| rule.kind == PacketKind::Data);
            let fate = match has_chains {
                false => Fate::kept(format!("[{table}]")),
                true => {
                    reader.model.set("trust", "fetch", true);
                    Fate::kept(format!("[{table}], trust.fetch"))
                }
            };
            reader.set(section, fate);
            reader.model.trust.push((table, policy));
        }
        Some(why) => reader.set(section, Fate::lost(why)),
    }
    lost.is_none()
}

/// Keys and words of these sections have no case.
fn has_key(node: &Node, key: &str) -> bool {
    node.key.eq_ignore_ascii_case(key)
}

fn child<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    node.children.iter().find(|child| has_key(child, key))
}

fn value<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    child(node, key).map(|child| child.value.as_str())
}

/// Refuses keys that are not known, and keys that come twice but may not.
fn check_keys(node: &Node, known: &[&str], repeated: &[&str]) -> Result<(), String> {
    for (at, child) in node.children.iter().enumerate() {
        let is = |key: &&str| has_key(child, key);
        let is_repeated = repeated.iter().any(is);
        if !is_repeated && !known.iter().any(is) {
            return Err(format!("unknown key {:?} in {}; {MALFORMED}", child.key, node.key));
        }
        let mut earlier = node.children.iter().take(at);
        if !is_repeated && earlier.any(|earlier| has_key(earlier, &child.key)) {
            return Err(format!("{:?} twice in {}; {MALFORMED}", child.key, node.key));
        }
    }
    Ok(())
}

/// The value of a key that must be there.
fn needed<'n>(node: &'n Node, key: &str) -> Result<&'n str, String> {
    value(node, key).ok_or_else(|| format!("no {key} in {}; {MALFORMED}", node.key))
}

fn rule(node: &Node) -> Result<TrustRule, String> {
    check_keys(node, &["id", "for"], &["filter", "checker"])?;
    let kind = match needed(node, "for")?.to_ascii_lowercase().as_str() {
        "interest" => PacketKind::Interest,
        "data" => PacketKind::Data,
        other => return Err(format!("a rule for {other:?}; write interest or data")),
    };
    let of = |key| node.children.iter().filter(move |child| has_key(child, key));
    let filters = of("filter").map(filter).collect::<Result<_, _>>()?;
    let checkers = of("checker").map(checker).collect::<Result<_, _>>()?;
    let rule = TrustRule { id: needed(node, "id")?.to_owned(), kind, filters, checkers };
    rule.compile().map_err(|why| format!("it {why}"))?;
    Ok(rule)
}

fn check_type(node: &Node, expected: &str) -> Result<(), String> {
    match needed(node, "type")? {
        found if found.eq_ignore_ascii_case(expected) => Ok(()),
        found => Err(format!("unknown type {found:?} of {}; write {expected}", node.key)),
    }
}

fn relation(node: &Node, key: &str) -> Result<Option<Relation>, String> {
    let Some(text) = value(node, key) else { return Ok(None) };
    match text.to_ascii_lowercase().as_str() {
        "equal" => Ok(Some(Relation::Equal)),
        "is-prefix-of" => Ok(Some(Relation::IsPrefixOf)),
        "is-strict-prefix-of" => Ok(Some(Relation::IsStrictPrefixOf)),
        _ => Err(format!("unknown relation {text:?}; write equal, is-prefix-of or is-strict-prefix-of")),
    }
}

fn text(node: &Node, key: &str) -> Option<String> {
    value(node, key).map(str::to_owned)
}

fn filter(node: &Node) -> Result<NameCondition, String> {
    check_keys(node, &["type", "name", "relation", "regex"], &[])?;
    check_type(node, "name")?;
    let (regex, name) = (text(node, "regex"), text(node, "name"));
    Ok(NameCondition { regex, name, relation: relation(node, "relation")? })
}

fn checker(node: &Node) -> Result<TrustChecker, String> {
    check_keys(node, &["type", "sig-type", "key-locator"], &[])?;
    let signature = match value(node, "sig-type").map(str::to_ascii_lowercase).as_deref() {
        None | Some("ecdsa-sha256") => SignatureAlgorithm::EcdsaSha256,
        Some("rsa-sha256") => SignatureAlgorithm::RsaSha256,
        Some("sha256") => {
            let why =
                "a digest authenticates nobody; name a signature with a key, or use the trust anchor any";
            return Err(why.into());
        }
        Some(other) => return Err(format!("unknown sig-type {other:?}; write ecdsa-sha256 or rsa-sha256")),
    };
    let kind = match needed(node, "type")?.to_ascii_lowercase().as_str() {
        "customized" => CheckerKind::Customized,
        "hierarchical" => CheckerKind::Hierarchical,
        other => return Err(format!("unknown type {other:?} of checker; write customized or hierarchical")),
    };
    let key = child(node, "key-locator").map(key_locator).transpose()?;
    Ok(TrustChecker { kind, signature, key })
}

fn key_locator(node: &Node) -> Result<KeyCondition, String> {
    check_keys(node, &["type", "name", "relation", "regex", "hyper-relation"], &[])?;
    check_type(node, "name")?;
    let (regex, name) = (text(node, "regex"), text(node, "name"));
    let mut key =
        KeyCondition { regex, name, relation: relation(node, "relation")?, ..KeyCondition::default() };
    if key.regex.is_some() && key.relation == Some(Relation::Equal) {
        // The documentation of ndn-cxx has both in an example, where the relation says nothing.
        key.relation = None;
    }
    if let Some(hyper) = child(node, "hyper-relation") {
        check_keys(hyper, &["k-regex", "k-expand", "h-relation", "p-regex", "p-expand"], &[])?;
        if key != KeyCondition::default() {
            return Err(format!("hyper-relation beside another condition; {MALFORMED}"));
        }
        key.relation = relation(hyper, "h-relation")?;
        key.key_regex = Some(needed(hyper, "k-regex")?.to_owned());
        key.key_expand = Some(needed(hyper, "k-expand")?.to_owned());
        key.packet_regex = Some(needed(hyper, "p-regex")?.to_owned());
        key.packet_expand = Some(needed(hyper, "p-expand")?.to_owned());
    }
    Ok(key)
}

fn anchor(reader: &Reader, node: &Node) -> Result<Anchor, String> {
    let refresh_s = match value(node, "refresh") {
        None => None,
        Some(text) => Some(seconds(text).ok_or("not a time; write a number with h, m or s, such as 1h")?),
    };
    let path = |key: &str| needed(node, key).map(|file| Some(reader.path(file).into()));
    match needed(node, "type")?.to_ascii_lowercase().as_str() {
        "file" => {
            check_keys(node, &["type", "file-name", "refresh"], &[])?;
            Ok(Anchor { file: path("file-name")?, refresh_s, ..Anchor::default() })
        }
        "dir" => {
            check_keys(node, &["type", "dir", "refresh"], &[])?;
            Ok(Anchor { folder: path("dir")?, refresh_s, ..Anchor::default() })
        }
        "base64" => {
            check_keys(node, &["type", "base64-string"], &[])?;
            let base64 = Some(needed(node, "base64-string")?.to_owned());
            Ok(Anchor { base64, ..Anchor::default() })
        }
        other => Err(format!("unknown type {other:?} of trust-anchor; write file, base64, dir or any")),
    }
}

/// The seconds of a time such as `1h`; 0 is NFD's default of an hour.
fn seconds(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let factor = match unit {
        "h" => 3600,
        "m" => 60,
        "s" => 1,
        _ => return None,
    };
    let number = number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse::<u32>().ok())??;
    Some(if number == 0 { 3600 } else { u64::from(number) * factor })
}
