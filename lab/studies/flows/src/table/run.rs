//! Tables of flows: lookups that hit and miss at several sizes, and churn at a steady size.

use super::entry::{Entry, empty, schemes_on};
use super::find::{Found, find, placements};
use super::memory::{QUICK, needed, too_large};
use super::{caches, longest, own, writes};
use crate::capture::Capture;
use crate::flows::{Size, TICK};
use crate::hashes;
use crate::tuples::TupleSet;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::Key;
use hashlane_lab::definition::{Definition, subject};
use hashlane_lab::memory;
use hashlane_lab::study::{RunError, Session, order};
use hashlane_peers::hashes::AES;
use rand_distr::Distribution;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// Measures a study of tables.
pub(crate) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    let definition = session.definition;
    let mut plans: Vec<Plan> = Vec::new();
    for id in &definition.workloads {
        let (flows, operation) = parse(id)?;
        for scheme in definition.schemes_on(id) {
            // Checks the ids before anything takes time.
            let id = subject(scheme);
            let is_known = hashes::cpp(id).is_some()
                || hashes::flows(id, &Key::new(session.settings.key), Size::steady(1)).is_some();
            if !is_known {
                return Err(RunError::UnknownScheme { id: scheme.clone(), help: hashes::flows_help() });
            }
        }
        match plans.iter_mut().find(|plan| plan.flows == flows) {
            Some(plan) => plan.workloads.push((id, operation)),
            None => plans.push(Plan { flows, workloads: vec![(id, operation)] }),
        }
    }
    if !session.measures_generated() {
        plans.clear();
    }
    let capture = session.own::<Capture>();
    session.total = plans.iter().map(|plan| 1 + plan.workloads.len()).sum::<usize>();
    if session.stopped() {
        return Ok(());
    }
    let mut missing: Vec<String> =
        definition.measured_schemes().iter().filter_map(|id| hashes::missing(subject(id))).collect();
    missing.sort();
    missing.dedup();
    session.notes.extend(missing);
    if !AES && definition.measured_schemes().iter().any(|id| subject(id).contains("/ahash/")) {
        session.notes.push(
            "ahash runs without AES, as this build is for any CPU; with AES: \
             RUSTFLAGS=\"-C target-cpu=native\" cargo build --release"
                .to_owned(),
        );
    }
    refuse_beyond_limits(session, &plans, capture.map(|(_, capture)| capture))?;
    caches::add(session);
    if let Some((label, capture)) = capture {
        session.total += own::STEPS;
        own::run(session, label, capture)?;
    }
    for plan in plans {
        if session.stopped() {
            break;
        }
        plan.run(session)?;
    }
    Ok(())
}

/// Operation on the flows of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    /// Every tuple that is looked up is there.
    Hit,
    /// None is.
    Miss,
    /// Flows are added to an empty table.
    Fill,
    /// Flows are added, and those that were added longest ago expire.
    Churn,
    /// Flows are added, removed, found and expired in a table with room; the longest 32 operations count.
    LongestWithRoom,
    /// The same while the table grows.
    LongestGrowing,
}

impl Operation {
    const ALL: [(&str, Self); 6] = [
        ("hit", Self::Hit),
        ("miss", Self::Miss),
        ("fill", Self::Fill),
        ("churn", Self::Churn),
        ("longest-room", Self::LongestWithRoom),
        ("longest-growing", Self::LongestGrowing),
    ];

    fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(other, _)| *other == name).map(|(_, operation)| *operation)
    }

    /// True for lookups, which take turns in tables that are filled before.
    fn finds(self) -> bool {
        matches!(self, Self::Hit | Self::Miss)
    }
}

/// Parses `64Ki/hit`: a number of flows and an operation on them.
fn parse(id: &str) -> Result<(usize, Operation), RunError> {
    let unknown = || {
        RunError::UnknownWorkload(format!(
            "no workload {id:?}: a workload is <flows>/<operation>; flows: a number, or one with Ki or Mi, up to \
             64Mi; operations: {}",
            Operation::ALL.map(|(name, _)| name).join(", ")
        ))
    };
    let (size, operation) = id.split_once('/').ok_or_else(unknown)?;
    let (digits, unit) = match (size.strip_suffix("Ki"), size.strip_suffix("Mi")) {
        (Some(digits), _) => (digits, 1 << 10),
        (_, Some(digits)) => (digits, 1 << 20),
        _ => (size, 1),
    };
    let flows = digits.parse::<usize>().ok().and_then(|n| n.checked_mul(unit)).ok_or_else(unknown)?;
    let operation = Operation::of(operation).ok_or_else(unknown)?;
    if !(2 * TICK..=64 << 20).contains(&flows) {
        return Err(unknown());
    }
    Ok((flows, operation))
}

/// The workloads of one size.
struct Plan<'a> {
    flows: usize,
    workloads: Vec<(&'a str, Operation)>,
}

/// Checks that the largest tables of the run fit into the limits of the process: an allocation beyond one
/// would end it.
fn refuse_beyond_limits(
    session: &Session<'_>,
    plans: &[Plan<'_>],
    capture: Option<&Capture>,
) -> Result<(), RunError> {
    let definition = session.definition;
    let of_capture =
        capture.map_or(0, |capture| needed(capture.tuples.len(), definition.measured_schemes().len()));
    let full = session.settings.full;
    let measured =
        |plan: &&Plan<'_>| plan.too_long(session).is_none() && (full || plan.needed(definition) <= QUICK);
    let of_plans = plans.iter().filter(measured).map(|plan| plan.needed(definition)).max();
    let most = of_plans.unwrap_or(0).max(of_capture);
    let room = memory::room().map_or(u64::MAX, |room| room.bytes);
    let fits = |plan: &&Plan<'_>| plan.needed(definition) <= room;
    let smaller =
        match plans.iter().filter(fits).max_by_key(|plan| plan.flows).and_then(|p| p.workloads.first()) {
            Some((id, _)) => format!("measure fewer flows: --workload {id} fits"),
            None => "measure fewer tables (--scheme)".to_owned(),
        };
    memory::check(&definition.slug, most, &smaller).map_err(|error| RunError::Other(Box::new(error)))
}

impl Plan<'_> {
    /// The schemes whose tables are all in memory at once.
    fn schemes(&self, definition: &Definition) -> Vec<String> {
        let finds = self.workloads.iter().filter(|(_, operation)| operation.finds());
        let mut schemes: Vec<String> = finds.flat_map(|(id, _)| schemes_on(definition, id)).collect();
        schemes.sort();
        schemes.dedup();
        schemes
    }

    /// Most tables in memory at once: other kinds than lookups and churn have one at a time.
    fn tables(&self, definition: &Definition) -> usize {
        let churned = self.workloads.iter().filter(|(_, operation)| *operation == Operation::Churn);
        let churned = churned.map(|(id, _)| schemes_on(definition, id).len()).max().unwrap_or(1);
        self.schemes(definition).len().max(churned)
    }

    fn needed(&self, definition: &Definition) -> u64 {
        needed(self.flows, self.tables(definition))
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        let definition = session.definition;
        let finds = |&&(_, operation): &&(&str, Operation)| operation.finds();
        let schemes = self.schemes(definition);
        let note = too_large(self.flows, self.tables(definition), session.settings.full);
        if let Some(note) = note.or_else(|| self.too_long(session)) {
            session.notes.push(note);
            session.skip(1 + self.workloads.len());
            return Ok(());
        }
        let first = self.workloads.first().map_or("", |(id, _)| id);
        session.step(first, "filling the tables");
        // Twice as many as there are flows: the second half is never in the tables that are asked for the
        // first.
        let tuples = crate::workload::generate(TupleSet::Random, 2 * self.flows, session)?;
        let (inside, outside) = tuples.split_at(self.flows);
        let mut found: Vec<Found> = self.workloads.iter().filter(finds).map(|_| Found::default()).collect();
        for (time, rounds) in placements(session.settings.size.repetitions).enumerate() {
            let mut tables = Vec::new();
            for at in order(schemes.len(), time) {
                let Some(id) = schemes.get(at) else { continue };
                let mut table = empty(id, Size::steady(self.flows), session)?;
                table.flows.add(inside, 0);
                tables.push((at, table));
                if session.stopped() {
                    break;
                }
            }
            tables.sort_by_key(|(at, _)| *at);
            let mut tables: Vec<Entry> = tables.into_iter().map(|(_, table)| table).collect();
            for (&(workload, operation), found) in self.workloads.iter().filter(finds).zip(&mut found) {
                if session.stopped() {
                    break;
                }
                match time {
                    0 => session.step(workload, "timing"),
                    _ => session.doing(workload, "timing, in new tables"),
                }
                let among = if operation == Operation::Hit { inside } else { outside };
                let seed = session.settings.seed.wrapping_add(time as u64);
                found.append(self.find(session, workload, among, &mut tables, (operation, seed, rounds))?);
            }
        }
        for (&(workload, _), found) in self.workloads.iter().filter(finds).zip(&found) {
            found.record(session, workload);
        }
        for &(workload, operation) in self.workloads.iter().filter(|(_, operation)| !operation.finds()) {
            if session.stopped() {
                return Ok(());
            }
            session.step(workload, "timing");
            match operation {
                Operation::Churn => writes::churn(session, workload, &tuples)?,
                Operation::LongestWithRoom => longest::run(session, workload, &tuples, true)?,
                Operation::LongestGrowing => longest::run(session, workload, &tuples, false)?,
                _ => writes::fill(session, workload, inside)?,
            }
        }
        Ok(())
    }

    /// Note for workloads of minutes, which are measured by a full run or by name; `None` for others.
    fn too_long(&self, session: &Session<'_>) -> Option<String> {
        if session.settings.full || session.definition.names_workloads() {
            return None;
        }
        let minutes = |operation| matches!(operation, Operation::LongestWithRoom | Operation::LongestGrowing);
        self.workloads.iter().all(|(_, operation)| minutes(*operation)).then(|| {
            let ids: Vec<&str> = self.workloads.iter().map(|(id, _)| *id).collect();
            format!("{}: not in a quick run; name them, or use --full", ids.join(", "))
        })
    }

    /// Looks up tuples drawn from `among`, anew for each round.
    fn find(
        &self,
        session: &mut Session<'_>,
        workload: &str,
        among: &[Tuple],
        tables: &mut [Entry],
        (operation, seed, rounds): (Operation, u64, usize),
    ) -> Result<Found, RunError> {
        let schemes = schemes_on(session.definition, workload);
        let mut tables: Vec<&mut Entry> =
            tables.iter_mut().filter(|table| schemes.contains(&table.id)).collect();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        find(session, workload, &mut tables, rounds, |asked, queries| {
            let mut sum = 0;
            for _ in 0..queries {
                let at = below(&mut random, among.len());
                asked.extend(among.get(at));
                sum += at as u64;
            }
            if operation == Operation::Hit { (queries as u64, sum) } else { (0, 0) }
        })
    }
}

/// A number below `bound`.
fn below(random: &mut Xoshiro256PlusPlus, bound: usize) -> usize {
    rand_distr::Uniform::new(0, bound.max(1)).map_or(0, |uniform| uniform.sample(random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_sizes_and_kinds() {
        assert_eq!(parse("1Ki/hit").ok(), Some((1024, Operation::Hit)));
        assert_eq!(parse("16Mi/miss").ok(), Some((1 << 24, Operation::Miss)));
        assert_eq!(parse("1000/churn").ok(), Some((1000, Operation::Churn)));
        assert_eq!(parse("4Mi/longest-room").ok(), Some((4 << 20, Operation::LongestWithRoom)));
        for id in [
            "",
            "1Ki",
            "1Ki/",
            "1Ki/hits",
            "Ki/hit",
            "0/hit",
            "63/hit",
            "65Mi/hit",
            "99999999999999999999Mi/hit",
        ] {
            assert!(parse(id).is_err(), "{id}");
        }
    }
}
