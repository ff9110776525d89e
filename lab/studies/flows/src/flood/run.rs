//! Floods: the cost of looking up an innocent flow while hostile ones fill the table.

use super::growth::{add_growth, taken_apart};
use crate::capture::Capture;
use crate::flows::{Flows, Size};
use crate::hashes;
use crate::hostile::Attack;
use crate::metric;
use crate::own;
use crate::tuples::TupleSet;
use hashlane_flow::burst::BURST;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::Key;
use hashlane_lab::definition::subject;
use hashlane_lab::memory;
use hashlane_lab::probe::cpu_time::cpu_ns;
use hashlane_lab::study::{Fact, Rounds, RunError, Session};

/// Innocent flows that are of the kind that the attack is aimed at; they were there first.
const AIMED_AT: usize = BURST;

/// Innocent flows elsewhere in the table.
const ELSEWHERE: usize = 1024;

/// Most hostile flows.
const MAX_HOSTILE: usize = 1 << 16;

/// Most bytes of a table: it has room for all hostile flows, however many are in it.
const PER_TABLE: u64 = 120 * (AIMED_AT + ELSEWHERE + MAX_HOSTILE) as u64;

/// Measures a study of floods.
pub(crate) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    let definition = session.definition;
    let attacks = definition
        .workloads
        .iter()
        .map(|id| id.parse::<Attack>().map_err(|error| RunError::UnknownWorkload(error.to_string())))
        .collect::<Result<Vec<_>, _>>()?;
    for id in definition.measured_schemes() {
        let (table, _) = parse(id)?;
        // Checks the ids before anything takes time.
        if hashes::flows(table, &Key::new(session.settings.key), Size::steady(1)).is_none() {
            return Err(unknown(id, hashes::flows_help()));
        }
    }
    let tables = definition.workloads.iter().map(|id| definition.schemes_on(id).len()).max().unwrap_or(0);
    let smaller = "measure fewer tables (--scheme)";
    memory::check(&definition.slug, tables as u64 * PER_TABLE, smaller)
        .map_err(|error| RunError::Other(Box::new(error)))?;
    let capture = session.own::<Capture>();
    let generated = session.measures_generated();
    session.total = 2 * attacks.len() * (usize::from(capture.is_some()) + usize::from(generated));
    if let Some((label, capture)) = capture {
        own::add_counts(session, label, capture);
        let innocent = &capture.tuples[..capture.tuples.len().min(ELSEWHERE)];
        for (attack, of) in attacks.iter().zip(&definition.workloads) {
            flood(session, &format!("{label}/{attack}"), definition.schemes_on(of), *attack, innocent)?;
        }
    }
    if generated {
        let innocent = crate::workload::generate(TupleSet::Random, ELSEWHERE, session)?;
        for (attack, workload) in attacks.iter().zip(&definition.workloads) {
            flood(session, workload, definition.schemes_on(workload), *attack, &innocent)?;
        }
    }
    Ok(())
}

/// Measures one attack on tables with `innocent` flows elsewhere.
fn flood(
    session: &mut Session<'_>,
    workload: &str,
    schemes: &[String],
    attack: Attack,
    innocent: &[Tuple],
) -> Result<(), RunError> {
    if session.stopped() {
        return Ok(());
    }
    session.step(workload, "making the hostile flows");
    let settings = session.settings;
    let aimed = attack.generate(AIMED_AT + MAX_HOSTILE, settings.seed, &Key::new(settings.key));
    let mut tables = Vec::new();
    for id in schemes {
        tables.push(FloodedTable::new(id, session, &aimed, innocent)?);
    }
    session.step(workload, "timing");
    measure(session, workload, &mut tables);
    Ok(())
}

/// `batched/siphash-1-3/single@4096`: a table, and how many hostile flows are in it.
fn parse(id: &str) -> Result<(&str, usize), RunError> {
    let parts = taken_apart(subject(id)).map(|(table, hostile)| (table, hostile as usize));
    parts.filter(|(_, hostile)| *hostile <= MAX_HOSTILE).ok_or_else(|| {
        let flows = format!("the number of hostile flows, 0 to {MAX_HOSTILE}");
        unknown(id, format!("a scheme ends with @ and {flows}; before that, {}", hashes::flows_help()))
    })
}

fn unknown(id: &str, help: String) -> RunError {
    RunError::UnknownScheme { id: id.into(), help }
}

/// A table with innocent and hostile flows, and who is looked up.
struct FloodedTable<'a> {
    id: String,
    flows: Box<dyn Flows>,
    aimed_at: &'a [Tuple],
    hostile: &'a [Tuple],
    elsewhere: &'a [Tuple],
}

impl<'a> FloodedTable<'a> {
    fn new(
        id: &str,
        session: &Session<'_>,
        aimed: &'a [Tuple],
        elsewhere: &'a [Tuple],
    ) -> Result<Self, RunError> {
        let (table, hostile) = parse(id)?;
        let room = ELSEWHERE + AIMED_AT + MAX_HOSTILE;
        let flows = hashes::flows(table, &Key::new(session.settings.key), Size::steady(room));
        let mut flows = flows.ok_or_else(|| unknown(id, hashes::flows_help()))?;
        let (aimed_at, hostile_flows) = aimed.split_at(AIMED_AT.min(aimed.len()));
        let hostile = hostile_flows.get(..hostile).unwrap_or(hostile_flows);
        flows.add(elsewhere, 0);
        flows.add(aimed_at, 0);
        flows.add(hostile, 0);
        Ok(Self { id: id.into(), flows, aimed_at, hostile, elsewhere })
    }

    /// Nanoseconds of CPU time of a lookup, over as many passes as take 50 µs. One or two passes before them
    /// fill the caches.
    fn time(&self, tuples: &[Tuple]) -> f64 {
        const LEAST_NS: f64 = 50_000.0;
        let passes = |count: f64| {
            let start = cpu_ns();
            for _ in 0..count as u64 {
                std::hint::black_box(self.flows.find(std::hint::black_box(tuples)));
            }
            cpu_ns() - start
        };
        let count = match passes(1.0) {
            long if long >= LEAST_NS => 1.0,
            _ => (LEAST_NS / passes(1.0).max(1.0)).ceil(),
        };
        passes(count) / (count * tuples.len() as f64)
    }
}

fn measure(session: &mut Session<'_>, workload: &str, tables: &mut [FloodedTable<'_>]) {
    let rounds = session.settings.size.repetitions as usize;
    let aimed = Rounds::run(tables, rounds, |_| !session.stopped(), |t| t.time(t.aimed_at));
    let elsewhere = Rounds::run(tables, rounds, |_| !session.stopped(), |t| t.time(t.elsewhere));
    if aimed.len().min(elsewhere.len()) < 2 {
        return;
    }
    let ids: Vec<String> = tables.iter().map(|table| table.id.clone()).collect();
    for (at, table) in tables.iter().enumerate() {
        let compared: Vec<f64> =
            table.aimed_at.iter().map(|tuple| table.flows.comparisons(tuple) as f64).collect();
        let mean = hashlane_stats::mean(&compared).unwrap_or_default();
        // The hostile flow that was added first is the last of a chain, and so are those aimed at.
        let last = table.hostile.first().map_or(0, |tuple| table.flows.comparisons(tuple)) as f64;
        let longest = compared.iter().copied().fold(last, f64::max);
        let id = &table.id;
        session.add("flood", workload, id, "rounds", metric::NS, "ns", aimed.time(at));
        session.add("flood", workload, id, "rounds", metric::NS_ELSEWHERE, "ns", elsewhere.time(at));
        let exact = |value| Fact::exact(value, compared.len());
        session.add("flood", workload, id, "count", metric::COMPARED, "entries", exact(mean));
        session.add("flood", workload, id, "count", metric::LONGEST_CHAIN, "entries", exact(longest));
    }
    session.add_ratios("flood", workload, "rounds", &ids, |of, to| aimed.ratio(of, to));
    let place = ("flood", workload, "rounds");
    add_growth(session, place, metric::RATIO, &ids, &aimed);
    add_growth(session, place, metric::RATIO_ELSEWHERE, &ids, &elsewhere);
}
