//! The sections `zone:` and `pattern:` of nsd.conf.

use super::super::MAX_DEPTH;
use super::super::address;
use super::super::model::{Peer, Zone};
use super::super::report::{Fate, Report};
use super::super::source::source;
use super::super::words::Word;
use super::refusal::{List, Refusal};
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

/// A zone or a pattern.
#[derive(Default)]
pub(super) struct Block {
    pub(super) name: String,
    /// Number of the line that names it, or that begins it.
    pub(super) at: usize,
    pub(super) statements: Vec<(Statement, usize)>,
}

#[derive(Clone)]
pub(super) enum Statement {
    File(String),
    Include(String),
    /// A primary, and the name of its section `tls-auth:`.
    Primary(Peer, Option<String>),
    /// A primary that is lost.
    NoPrimary,
    Notify(Peer),
    AllowTransfer(Peer),
    AllowNotify(Peer),
    AllowQuery(Peer),
    /// A client that is lost.
    NoClient,
    Refuse(Refusal),
    Source(IpAddr),
}

/// Names that statements refer to.
pub(super) struct Names<'n> {
    pub(super) patterns: &'n HashMap<&'n str, &'n Block>,
    /// Folder of zone files.
    pub(super) folder: &'n str,
    /// Names in certificates, by the names of sections `tls-auth:`.
    pub(super) domains: &'n HashMap<&'n str, &'n str>,
}

/// Adds the statements of a zone or a pattern to a zone. Returns false if there are too many.
pub(super) fn add(
    (zone, refusals): (&mut Zone, &mut Vec<Refusal>),
    block: &Block,
    names: &Names<'_>,
    (report, used): (&mut Report, &mut HashSet<usize>),
    budget: &mut usize,
    depth: usize,
) -> bool {
    used.insert(block.at);
    for (statement, at) in &block.statements {
        match budget.checked_sub(1) {
            Some(left) if depth < MAX_DEPTH => *budget = left,
            _ => return false,
        }
        match statement {
            Statement::File(file) => {
                let name = zone.name.strip_suffix('.').unwrap_or(&zone.name);
                let file = file.replace("%s", name);
                let folder = names.folder;
                let is_whole = file.starts_with('/') || folder.is_empty();
                let path = if is_whole { file } else { format!("{}/{file}", folder.trim_end_matches('/')) };
                zone.file = Some((path, *at));
            }
            Statement::Include(name) => match names.patterns.get(name.as_str()) {
                Some(pattern) => {
                    if !add((zone, refusals), pattern, names, (report, used), budget, depth + 1) {
                        return false;
                    }
                }
                None => {
                    // It may have limited access.
                    let why = format!("the pattern {name:?} is missing");
                    report.set(*at, Fate::lost(why.clone()));
                    zone.fault = Some(why);
                }
            },
            Statement::Primary(peer, tls) => {
                zone.is_secondary = true;
                let domain = tls.as_deref().map(|name| (name, names.domains.get(name)));
                match domain {
                    None => zone.primaries.push(peer.clone()),
                    Some((_, Some(domain))) => zone.primaries.push(peer.clone().over_tls(domain)),
                    Some((name, None)) => {
                        let why = format!("the tls-auth {name:?} is missing, or has no auth-domain-name");
                        report.set(*at, Fate::lost(why));
                    }
                }
            }
            Statement::NoPrimary => zone.is_secondary = true,
            Statement::Notify(peer) => zone.notify.push(peer.clone()),
            Statement::AllowTransfer(peer) => zone.allow_transfer.push(peer.clone()),
            Statement::AllowNotify(peer) => zone.allow_notify.push(peer.clone()),
            Statement::AllowQuery(peer) => {
                zone.limits_query = true;
                zone.allow_query.push(peer.clone());
            }
            Statement::Source(ip) => zone.sources.push((*ip, *at)),
            Statement::NoClient => zone.limits_query = true,
            Statement::Refuse(refusal) => {
                zone.limits_query |= refusal.list == List::Query;
                refusals.push(refusal.clone());
            }
        }
    }
    true
}

/// A statement of a zone or a pattern.
pub(super) fn in_zone(
    block: &mut Block,
    key: &str,
    values: &[Word<'_>],
    at: usize,
    named: &'static str,
) -> Fate {
    let mut values: Vec<&str> = values.iter().map(|word| &*word.text).collect();
    let value = values.first().copied().unwrap_or_default();
    if let (Some(list), [text, "BLOCKED", ..]) = (List::of(key), &values[..]) {
        let network = address::network(text);
        let fate = match &network {
            Ok(_) => Fate::kept("the entries without these addresses"),
            Err(why) => Fate::lost(why.clone()),
        };
        block.statements.push((Statement::Refuse(Refusal { list, network: network.ok() }), at));
        return fate;
    }
    let parsed = match key {
        "name" => {
            value.clone_into(&mut block.name);
            block.at = at;
            return Fate::kept(named);
        }
        "zonefile" => match value.replace("%s", "").contains('%') {
            true => {
                return Fate::lost("of the patterns in names of files, %s alone is known; write the name");
            }
            false => Ok((Statement::File(value.to_owned()), "zone.file")),
        },
        "include-pattern" => Ok((Statement::Include(value.to_owned()), "the statements of the pattern")),
        "request-xfr" => {
            let kind = values.first().copied();
            let kept = match kind {
                Some("AXFR") => "zone.primaries; IXFR is tried first",
                Some("UDP") => "zone.primaries; asked over TCP",
                _ => "zone.primaries",
            };
            if matches!(kind, Some("AXFR" | "UDP")) {
                values.remove(0);
            }
            let tls = if values.len() == 3 { values.pop().map(str::to_owned) } else { None };
            other(&values, at, address::server).map(|peer| (Statement::Primary(peer, tls), kept))
        }
        "notify" => other(&values, at, address::server).map(|peer| (Statement::Notify(peer), "zone.notify")),
        "provide-xfr" => other(&values, at, address::network)
            .map(|peer| (Statement::AllowTransfer(peer), "zone.allow_transfer")),
        "allow-notify" => other(&values, at, address::network)
            .map(|peer| (Statement::AllowNotify(peer), "zone.allow_notify")),
        "allow-query" => {
            other(&values, at, address::network).map(|peer| (Statement::AllowQuery(peer), "zone.allow_query"))
        }
        "outgoing-interface" => source(value).map(|ip| (Statement::Source(ip), "transfer.source")),
        "allow-axfr-fallback" if value == "yes" => return Fate::ignored("it is so"),
        "notify-retry"
        | "zonestats"
        | "store-ixfr"
        | "create-ixfr"
        | "ixfr-size"
        | "ixfr-number"
        | "size-limit-xfr"
        | "multi-primary-check"
        | "multi-master-check" => {
            return Fate::ignored("no counterpart");
        }
        "allow-axfr-fallback"
        | "rrl-whitelist"
        | "max-refresh-time"
        | "min-refresh-time"
        | "max-retry-time"
        | "min-retry-time"
        | "min-expire-time"
        | "verify-zone"
        | "verifier"
        | "verifier-feed-zone"
        | "verifier-timeout"
        | "catalog"
        | "catalog-member-pattern"
        | "catalog-producer-zone" => return Fate::lost("no counterpart in this configuration"),
        _ => return Fate::lost("unknown"),
    };
    match parsed {
        Ok((statement, kept)) => {
            block.statements.push((statement, at));
            Fate::kept(kept)
        }
        Err(why) => {
            match key {
                "request-xfr" => block.statements.push((Statement::NoPrimary, at)),
                "allow-query" => block.statements.push((Statement::NoClient, at)),
                _ => {}
            }
            Fate::lost(why)
        }
    }
}

/// Another server: an address, and a key, `NOKEY` or `BLOCKED`.
fn other(
    values: &[&str],
    at: usize,
    address: impl Fn(&str) -> Result<String, String>,
) -> Result<Peer, String> {
    match values {
        [_, "BLOCKED", ..] => Err("only entries that allow are refused with BLOCKED".to_owned()),
        [text, "NOKEY"] => Ok(Peer::new(address(text)?, None, at)),
        [text, key] => Ok(Peer::new(address(text)?, Some(key), at)),
        [_, _, _, ..] => Err("certificates of clients have no counterpart here".to_owned()),
        _ => Err("an address and a key are needed".to_owned()),
    }
}
