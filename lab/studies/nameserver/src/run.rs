//! Run of a study of name servers: its workloads, one group after the other.

use crate::costs;
use crate::growth;
use crate::latency;
use crate::plan::Plan;
use crate::queries::QueryKind;
use crate::reload;
use crate::servers;
use crate::workloads::{
    ALONE, COSTS, EXISTING, Group, LOAD, LOAD_LARGE, MEMORY, MEMORY_LARGE, OTHERS, RANDOM, RELOAD,
};
use hashlane_lab::probe::Cores;
use hashlane_lab::study::{RunError, Session};
use std::time::Duration;

/// Measures a study of name servers.
pub(crate) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    session.check_workloads(&COSTS.iter().map(|(id, ..)| *id).chain(OTHERS).collect::<Vec<_>>())?;
    let programs = session.schemes_in(&servers::ALL)?;
    if session.stopped() {
        return Ok(());
    }
    session.notes.extend(programs.into_iter().filter_map(servers::Program::missing));
    let cores = Cores::detect();
    if !cores.are_apart() {
        session
            .notes
            .push("one core only: the load takes time from the servers, and rates are theirs both".into());
    }
    session.with_folder("hashlane-dns-", |session, folder| {
        let plan = Plan {
            folder,
            cores,
            full: session.settings.full,
            rounds: session.settings.size.repetitions as usize,
            time: Duration::from_millis(session.settings.size.items.into()),
        };
        workloads(session, &plan)
    })
}

/// Measures the workloads of the study.
fn workloads(session: &mut Session<'_>, plan: &Plan<'_>) -> Result<(), RunError> {
    let wanted = |id: &str| session.has_workload(id);
    let groups = [Group::Small, Group::Middle, Group::Signed];
    let growth = wanted(MEMORY) || wanted(LOAD);
    let reload = wanted(RELOAD);
    let latency = [ALONE, EXISTING, RANDOM].into_iter().any(wanted);
    let of_large = |(id, group, _): &(&str, Group, QueryKind)| *group == Group::Large && wanted(id);
    let large = wanted(MEMORY_LARGE) || wanted(LOAD_LARGE) || COSTS.iter().any(of_large);
    session.total = groups.iter().map(|group| costs::steps(session, plan, *group)).sum::<usize>()
        + if growth { growth::steps(session, plan) } else { 0 }
        + if reload { reload::steps(session, plan) } else { 0 }
        + if latency { latency::steps(session, plan) } else { 0 }
        + if large && plan.full { growth::large_steps(session, plan) } else { 0 };
    for group in groups {
        if !session.stopped() {
            costs::run(session, plan, group)?;
        }
    }
    if growth && !session.stopped() {
        growth::run(session, plan)?;
    }
    if reload && !session.stopped() {
        reload::run(session, plan)?;
    }
    if latency && !session.stopped() {
        latency::run(session, plan)?;
    }
    if large && !plan.full {
        session.notes.push("10,000,000 delegations were left out; --full measures them".to_owned());
    } else if large && !session.stopped() {
        growth::run_large(session, plan)?;
    }
    Ok(())
}
