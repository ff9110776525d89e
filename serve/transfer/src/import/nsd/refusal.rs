//! `BLOCKED` in nsd.conf: addresses that are refused, whatever else allows them.

use super::super::address::Network;
use super::super::model::{Peer, Zone};
use super::super::report::{Fate, Report};

/// Refusals that a list has at most. A list with more is dropped.
const MAX_REFUSALS: usize = 100;

/// A list of a zone that has refusals.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Query,
    Transfer,
    Notify,
}

impl List {
    /// The list of a statement.
    pub(super) fn of(key: &str) -> Option<Self> {
        match key {
            "allow-query" => Some(Self::Query),
            "provide-xfr" => Some(Self::Transfer),
            "allow-notify" => Some(Self::Notify),
            _ => None,
        }
    }
}

/// A refusal of a network in our form; `None`: of unknown addresses, which may be any.
#[derive(Clone)]
pub(super) struct Refusal {
    pub(super) list: List,
    pub(super) network: Option<String>,
}

/// Drops the entries of a zone that allow addresses which are refused: this server has no refusals.
pub(super) fn apply(zone: &mut Zone, refusals: &[Refusal], report: &mut Report) {
    for (list, peers) in [
        (List::Query, &mut zone.allow_query),
        (List::Transfer, &mut zone.allow_transfer),
        (List::Notify, &mut zone.allow_notify),
    ] {
        let own = refusals.iter().filter(|refusal| refusal.list == list);
        let networks: Vec<Option<Network>> =
            own.map(|refusal| refusal.network.as_deref().and_then(Network::of)).collect();
        if networks.is_empty() {
            continue;
        }
        let is_refused = |peer: &Peer| {
            let network = Network::of(&peer.address);
            networks.len() > MAX_REFUSALS
                || networks.iter().any(|refused| match (network, refused) {
                    (Some(network), Some(refused)) => network.overlaps(*refused),
                    _ => true,
                })
        };
        peers.retain(|peer| {
            let is_lost = is_refused(peer);
            if is_lost {
                let why = "part of it is BLOCKED; name the networks without it";
                report.set(peer.at, Fate::lost(why));
            }
            !is_lost
        });
    }
}
