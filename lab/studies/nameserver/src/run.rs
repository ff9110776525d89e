//! Run of a study of name servers: its workloads, one group after the other.

use crate::costs;
use crate::error::ServeError;
use crate::growth;
use crate::latency;
use crate::load;
use crate::plan::Plan;
use crate::queries::Kind;
use crate::reload;
use crate::servers::Program;
use crate::workloads::{
    ALONE, COSTS, EXISTING, Group, LOAD, LOAD_LARGE, MEMORY, MEMORY_LARGE, OTHERS, RANDOM, RELOAD,
};
use hashlane_lab::definition::subject;
use hashlane_lab::study::{RunError, Session};
use std::time::Duration;

/// Measures a study of name servers.
pub(crate) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    let definition = session.definition;
    let known = || COSTS.iter().map(|(id, ..)| *id).chain(OTHERS);
    for id in &definition.workloads {
        if !known().any(|known| known == id) {
            let known = known().collect::<Vec<_>>().join(", ");
            return Err(RunError::UnknownWorkload(format!("unknown workload {id:?}; known: {known}")));
        }
    }
    let mut missing = Vec::new();
    for id in &definition.schemes {
        let program = Program::of(subject(id)).ok_or_else(|| RunError::UnknownScheme {
            id: id.clone(),
            help: format!("known: {}", Program::known()),
        })?;
        missing.extend(program.missing());
    }
    if session.stopped() {
        return Ok(());
    }
    session.notes.extend(missing);
    let other = |error: ServeError| RunError::Other(Box::new(error));
    let cores = load::cores().map_err(other)?;
    if cores.0 == cores.1 {
        session
            .notes
            .push("one core only: the load takes time from the servers, and rates are theirs both".into());
    }
    let folder = tempfile::Builder::new().prefix("hashlane-dns-").tempdir();
    let folder = folder.map_err(|error| RunError::Other(Box::new(error)))?;
    let plan = Plan {
        folder: folder.path(),
        cores,
        full: session.settings.full,
        rounds: session.settings.size.repetitions as usize,
        time: Duration::from_millis(session.settings.size.items.into()),
    };
    let measured = workloads(session, &plan);
    folder.close().map_err(|error| RunError::Other(Box::new(error))).and(measured)
}

/// Measures the workloads of the study.
fn workloads(session: &mut Session<'_>, plan: &Plan<'_>) -> Result<(), RunError> {
    let wanted = |id: &str| session.definition.workloads.iter().any(|workload| workload == id);
    let groups = [Group::Small, Group::Middle, Group::Signed];
    let growth = wanted(MEMORY) || wanted(LOAD);
    let reload = wanted(RELOAD);
    let latency = [ALONE, EXISTING, RANDOM].into_iter().any(wanted);
    let of_large = |(id, group, _): &(&str, Group, Kind)| *group == Group::Large && wanted(id);
    let large = wanted(MEMORY_LARGE) || wanted(LOAD_LARGE) || COSTS.iter().any(of_large);
    session.total = groups.iter().map(|group| costs::steps(session, plan, *group)).sum::<usize>()
        + if growth { growth::steps(session, plan) } else { 0 }
        + if reload { reload::steps(session) } else { 0 }
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
