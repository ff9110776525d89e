//! Lookups by name: all tables of one size are built, then asked for the same names in turns.

use super::corpus::Corpus;
use super::host_names::HostNames;
use super::own::Own;
use super::path_names::PathNames;
use super::timing::{build, build_of, find};
use super::workload::{Kind, Operation, Workload, parse};
use super::{prefix, suffix};
use hashlane_lab::definition::subject;
use hashlane_lab::memory;
use hashlane_lab::run::machine;
use hashlane_lab::study::{RunError, Session, by_id, ids_of};

/// Entries of the largest table of a quick run.
const QUICK: usize = 1_000_000;

/// Most bytes that an entry takes in a table, and in the generator.
const PER_ENTRY: u64 = 200;

/// Measures a study of lookups.
pub(crate) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    let definition = session.definition;
    for id in definition.measured_schemes() {
        let known =
            by_id(suffix::SCHEMES, subject(id)).is_some() || by_id(prefix::DESIGNS, subject(id)).is_some();
        if !known && !suffix::is_missing(subject(id)) {
            let help = format!("known: {}, {}", ids_of(suffix::SCHEMES), ids_of(prefix::DESIGNS));
            return Err(RunError::UnknownScheme { id: id.clone(), help });
        }
    }
    let mut plans: Vec<Plan<'_>> = Vec::new();
    for id in &definition.workloads {
        let Workload { kind, entries, operation } = parse(id)?;
        match plans.iter_mut().find(|plan| (plan.kind, plan.entries) == (kind, entries)) {
            Some(plan) => plan.workloads.push((id, operation)),
            None => plans.push(Plan { kind, entries, workloads: vec![(id, operation)] }),
        }
    }
    if !session.measures_generated() {
        plans.clear();
    }
    if session.stopped() {
        return Ok(());
    }
    let missing: Vec<&str> = definition
        .measured_schemes()
        .iter()
        .map(|id| subject(id))
        .filter(|id| suffix::is_missing(id))
        .collect();
    if !missing.is_empty() {
        let note = format!("{}: not measured: this build is without the feature peers", missing.join(", "));
        session.notes.push(note);
    }
    if !session.settings.full && !definition.names_workloads() {
        let (quick, large) = plans.into_iter().partition(|plan| plan.entries <= QUICK);
        plans = quick;
        let large: Vec<&str> =
            large.iter().flat_map(|plan: &Plan<'_>| &plan.workloads).map(|(id, _)| *id).collect();
        if !large.is_empty() {
            session.notes.push(format!("{}: not in a quick run; name them, or use --full", large.join(", ")));
        }
    }
    let most = plans.iter().map(|plan| plan.needed(session)).max().unwrap_or(0);
    memory::check(&definition.slug, most, "name smaller workloads (--workload) or fewer schemes (--scheme)")
        .map_err(|error| RunError::Other(Box::new(error)))?;
    let own = session.own::<Own>();
    session.total =
        plans.iter().map(|plan| 1 + plan.workloads.len()).sum::<usize>() + own.map_or(0, |_| Own::STEPS);
    if let Some((label, own)) = own {
        own.run(session, label)?;
    }
    for plan in plans {
        if session.stopped() {
            break;
        }
        plan.run(session)?;
    }
    Ok(())
}

/// The workloads of one table.
struct Plan<'a> {
    kind: Kind,
    entries: usize,
    workloads: Vec<(&'a str, Operation)>,
}

impl Plan<'_> {
    /// All schemes of the plan.
    fn schemes(&self, session: &Session<'_>) -> Vec<String> {
        let all = self.workloads.iter().flat_map(|(id, _)| session.definition.schemes_on(id));
        let mut schemes: Vec<String> = Vec::new();
        for id in all.filter(|id| build_of(id, self.kind.is_suffixes()).is_some()) {
            if !schemes.contains(id) {
                schemes.push(id.clone());
            }
        }
        schemes
    }

    /// Memory of all tables, which are there at once.
    fn needed(&self, session: &Session<'_>) -> u64 {
        self.entries as u64 * PER_ENTRY * (1 + self.schemes(session).len() as u64)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        let first = self.workloads.first().map_or("", |(id, _)| id);
        if let Some(note) = too_large(first, self.needed(session)) {
            session.notes.push(note);
            session.skip(1 + self.workloads.len());
            return Ok(());
        }
        session.step(first, "generating");
        // Each kind of table has a different seed.
        let seed = session.settings.seed.wrapping_add(session.definition.position(first) as u64);
        let corpus: Box<dyn Corpus> = match self.kind.is_suffixes() {
            true => Box::new(HostNames::new(self.kind, self.entries, seed)),
            false => Box::new(PathNames::new(self.kind, self.entries, seed)),
        };
        let schemes = self.schemes(session);
        let mut tables = build(session, first, &schemes, self.kind.is_suffixes(), &*corpus)?;
        for (id, operation) in &self.workloads {
            if session.stopped() {
                break;
            }
            session.step(id, "timing");
            find(session, id, *operation, &*corpus, &mut tables)?;
        }
        Ok(())
    }
}

/// Note for tables that do not fit into the free memory.
fn too_large(first: &str, needed: u64) -> Option<String> {
    let free = machine::available_memory().filter(|free| needed > *free)?;
    let gib = |bytes: u64| bytes as f64 / (1_u64 << 30) as f64;
    Some(format!(
        "{first} and others of its size were not measured: they take up to {:.1} GiB, and {:.1} GiB are free; \
         name fewer schemes (--scheme)",
        gib(needed),
        gib(free)
    ))
}
