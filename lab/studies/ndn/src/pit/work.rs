//! Workloads of the study of indexes, and their ids.

use crate::load::{self, Index, Names, Workload};
use crate::model::pending::{BLOCK, Filling, Operation};
use hashlane_lab::definition::subject;
use hashlane_lab::study::{RunError, Session, by_id};

/// Limits of the quick size: names of the source's longer kind, and tables up to this size.
pub(super) const QUICK_COMPONENTS: usize = 11;
pub(super) const QUICK_PENDING: usize = 64 << 10;

/// Kind of measurement that a workload asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Table(Operation, Filling),
    Load(Workload),
    Paced(Workload),
    /// At the pace that takes nearly a whole core.
    Busy(Workload),
    Parts(Names),
    Digest(Names),
}

impl Work {
    /// The load of forwarders in processes of their own.
    pub(super) fn load(&self) -> Option<Workload> {
        match self {
            Self::Load(load) | Self::Paced(load) | Self::Busy(load) => Some(*load),
            Self::Table(..) | Self::Parts(_) | Self::Digest(_) => None,
        }
    }
}

/// Indexes that the study names. Without load, each Data satisfies one entry, so `digest-one` equals `digest`
/// and is left out.
pub(super) fn indexes(session: &Session<'_>, under_load: bool) -> Vec<(String, Index)> {
    let schemes = session.definition.measured_schemes().iter();
    let known = schemes.filter_map(|id| Some((id.clone(), by_id(&Index::ALL, subject(id))?)));
    known.filter(|(_, index)| under_load || *index != Index::DigestOne).collect()
}

pub(super) fn is_quick(work: &Work) -> bool {
    match work {
        Work::Table(_, filling) => {
            filling.names.components == QUICK_COMPONENTS && filling.pending <= QUICK_PENDING
        }
        Work::Load(workload) | Work::Paced(workload) => {
            workload.names.components == QUICK_COMPONENTS && workload.link == load::Link::Udp
        }
        // So short a time as the quick size has decides nothing about queues.
        Work::Busy(_) => false,
        Work::Parts(names) | Work::Digest(names) => names.components == QUICK_COMPONENTS,
    }
}

/// Parses the id of a workload: `match/64Ki/11`, `load/udp/11`, `paced/udp/11`, `busy/udp/11`, `parts/11`,
/// `digest/11`.
pub(super) fn parse(id: &str) -> Result<Work, RunError> {
    let unknown = || {
        RunError::UnknownWorkload(format!(
            "no workload {id:?}: there are OPERATION/ENTRIES/COMPONENTS, perhaps with /prefixes behind it \
             (operations: insert, match, interest, data, expire; entries: a number, or one with Ki or Mi, \
             from 1Ki to 16Mi), load/LINK/COMPONENTS, paced/LINK/COMPONENTS and busy/LINK/COMPONENTS (links: \
             unix, udp, netns), \
             parts/COMPONENTS and digest/COMPONENTS; components: 3 to 20"
        ))
    };
    // A load is written alike, but for its link.
    let names = |count: &str| format!("unix/{count}").parse().ok().map(|load: Workload| load.names);
    let (kind, rest) = id.split_once('/').ok_or_else(unknown)?;
    let parse = || {
        if let Some((_, operation)) = Operation::ALL.iter().find(|(known, _)| *known == kind) {
            let (rest, prefixes) = rest.strip_suffix("/prefixes").map_or((rest, false), |rest| (rest, true));
            let (pending, count) = rest.split_once('/')?;
            let (digits, unit) = match (pending.strip_suffix("Ki"), pending.strip_suffix("Mi")) {
                (Some(digits), _) => (digits, 1 << 10),
                (_, Some(digits)) => (digits, 1 << 20),
                _ => (pending, 1),
            };
            let pending = digits.parse::<usize>().ok()?.checked_mul(unit)?;
            let pending = Some(pending).filter(|pending| (4 * BLOCK..=16 << 20).contains(pending))?;
            return Some(Work::Table(*operation, Filling { pending, names: names(count)?, prefixes }));
        }
        match kind {
            "load" => Some(Work::Load(rest.parse().ok()?)),
            "paced" => Some(Work::Paced(rest.parse().ok()?)),
            "busy" => Some(Work::Busy(rest.parse().ok()?)),
            "parts" => Some(Work::Parts(names(rest)?)),
            "digest" => Some(Work::Digest(names(rest)?)),
            _ => None,
        }
    };
    parse().ok_or_else(unknown)
}
