//! Names in the study files and records of name servers, and the zones of workloads.

use crate::queries::QueryKind;
use crate::zone::{Shape, Zone};

/// Model of all records.
pub(crate) const MODEL: &str = "nameserver";

/// Our server, and the one that criteria name.
#[cfg(test)]
pub(crate) const OURS: &str = "ours";
#[cfg(test)]
pub(crate) const NSD: &str = "nsd";

/// A zone of few records, one of 165,000, two of 1,000,000, and one of 10,000,000 delegations.
pub(crate) const SMALL: Zone = Zone { names: 1_000, shape: Shape::Mixed };
pub(crate) const MIDDLE: Zone = Zone { names: 88_050, shape: Shape::Mixed };
pub(crate) const MIXED: Zone = Zone { names: 533_333, shape: Shape::Mixed };
pub(crate) const MILLION: Zone = Zone { names: 400_000, shape: Shape::Delegations };
pub(crate) const LARGE: Zone = Zone { names: 10_000_000, shape: Shape::Delegations };

/// Memory and load time of a zone of 1,000,000 records, and of 10,000,000 delegations.
pub(crate) const MEMORY: &str = "memory/1m";
pub(crate) const LOAD: &str = "load/1m";
pub(crate) const MEMORY_LARGE: &str = "memory/10m";
pub(crate) const LOAD_LARGE: &str = "load/10m";

/// Reloads under load.
pub(crate) const RELOAD: &str = "reload";

/// Latency of an innocent client alone, beside queries for existing names, and beside random subdomains.
pub(crate) const ALONE: &str = "latency/alone";
pub(crate) const EXISTING: &str = "latency/existing";
pub(crate) const RANDOM: &str = "latency/random";

/// Serial number of generated zones.
pub(crate) const SERIAL: u32 = 1;

/// Workloads that are not of [`COSTS`].
pub(crate) const OTHERS: [&str; 8] =
    [MEMORY, LOAD, MEMORY_LARGE, LOAD_LARGE, RELOAD, ALONE, EXISTING, RANDOM];

/// Zones whose answers are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Small,
    Middle,
    Signed,
    Large,
}

/// Workloads that time answers: their zones and queries.
pub(crate) const COSTS: [(&str, Group, QueryKind); 13] = [
    ("small/positive", Group::Small, QueryKind::Positive),
    ("small/nxdomain", Group::Small, QueryKind::NxDomain),
    ("small/referral", Group::Small, QueryKind::Referral),
    ("small/mix", Group::Small, QueryKind::Mix),
    ("165k/positive", Group::Middle, QueryKind::Positive),
    ("165k/nxdomain", Group::Middle, QueryKind::NxDomain),
    ("165k/referral", Group::Middle, QueryKind::Referral),
    ("165k/mix", Group::Middle, QueryKind::Mix),
    ("165k/random", Group::Middle, QueryKind::Random),
    ("signed/positive", Group::Signed, QueryKind::SignedPositive),
    ("signed/nxdomain", Group::Signed, QueryKind::SignedNxDomain),
    ("10m/referral", Group::Large, QueryKind::Referral),
    ("10m/random", Group::Large, QueryKind::Random),
];

impl Group {
    /// The zone; the signed one is small in a quick run, as signing takes time.
    pub(crate) fn zone(self, full: bool) -> Zone {
        match self {
            Self::Small => SMALL,
            Self::Signed if !full => SMALL,
            Self::Middle | Self::Signed => MIDDLE,
            Self::Large => LARGE,
        }
    }
}
