//! Studies of zone transfers: their CPU time, their memory, and the answers meanwhile.

mod changes;
mod client;
mod inward;
mod metric;
mod outward;
mod usage;

#[cfg(test)]
mod tests;

use crate::plan::Plan;
use crate::servers;
use crate::workloads::{LARGE, MILLION, MIXED};
use crate::zone::Zone;
use hashlane_lab::probe::Cores;
use hashlane_lab::study::{RunError, Session};
use hashlane_rig::proc;
use std::time::Duration;

/// Model of the records.
pub(crate) const MODEL: &str = "transfer";

/// A whole zone of 1,000,000 records to a client, from a primary, and again from the disk: delegations alone,
/// and among hosts.
const OUT: [(&str, Zone); 2] = [("axfr-out/delegations", MILLION), ("axfr-out/mixed", MIXED)];
const IN: [(&str, &str, Zone); 2] =
    [("axfr-in/delegations", "restart/delegations", MILLION), ("axfr-in/mixed", "restart/mixed", MIXED)];

/// 1,000 changes of a zone of 1,000,000 and of 25,000,000 records, under a load.
const CHANGES: &str = "ixfr/1m";
const CHANGES_LARGE: &str = "ixfr/25m";

/// All workloads.
fn all() -> Vec<&'static str> {
    let out = OUT.iter().map(|(id, _)| *id);
    let inward = IN.iter().flat_map(|(id, restart, _)| [*id, *restart]);
    out.chain(inward).chain([CHANGES, CHANGES_LARGE]).collect()
}

/// Memory that is needed for the changes of the large zone, by our primary and a secondary.
const NEEDED_LARGE: u64 = 16_000_000_000;

/// Longest time of a transfer or a reload of the large zone.
const PATIENCE_LARGE: Duration = Duration::from_secs(600);

/// Measures a study of transfers.
pub(crate) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    session.check_workloads(&all())?;
    let programs = session.schemes_in(&servers::ALL)?;
    if session.stopped() {
        return Ok(());
    }
    session.notes.extend(programs.into_iter().filter_map(servers::Program::missing));
    session.with_folder("hashlane-transfer-", |session, folder| {
        let plan = Plan {
            folder,
            cores: Cores::detect(),
            full: session.settings.full,
            rounds: session.settings.size.repetitions as usize,
            time: Duration::from_millis(session.settings.size.items.into()),
        };
        workloads(session, &plan)
    })
}

fn workloads(session: &mut Session<'_>, plan: &Plan<'_>) -> Result<(), RunError> {
    let out: Vec<_> = OUT.into_iter().filter(|(id, _)| session.has_workload(id)).collect();
    let is_in =
        |(id, restart, _): &(&str, &str, _)| session.has_workload(id) || session.has_workload(restart);
    let inward: Vec<_> = IN.into_iter().filter(is_in).collect();
    let (changes, large) = (session.has_workload(CHANGES), session.has_workload(CHANGES_LARGE));
    let is_large = large && plan.full && proc::available().is_some_and(|free| free > NEEDED_LARGE);
    session.total = out.iter().map(|(id, _)| outward::steps(session, plan, id)).sum::<usize>()
        + inward.iter().map(|(id, ..)| inward::steps(session, plan, id)).sum::<usize>()
        + if changes { changes::steps(session, plan, CHANGES) } else { 0 }
        + if is_large { changes::steps(session, plan, CHANGES_LARGE) } else { 0 };
    for (id, zone) in out {
        if !session.stopped() {
            outward::run(session, plan, id, zone)?;
        }
    }
    for (id, restart, zone) in inward {
        if !session.stopped() {
            inward::run(session, plan, [id, restart], zone)?;
        }
    }
    if changes && !session.stopped() {
        changes::run(session, plan, (CHANGES, MIXED), servers::PATIENCE)?;
    }
    if is_large && !session.stopped() {
        changes::run(session, plan, (CHANGES_LARGE, LARGE), PATIENCE_LARGE)?;
    } else if large && !is_large {
        let why = "25,000,000 records were left out: --full measures them, with 16 GB of free memory";
        session.notes.push(why.to_owned());
    }
    Ok(())
}
