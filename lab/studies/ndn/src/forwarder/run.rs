//! Forwarders under load, in alternation; then the parts of ours without I/O, and the memory of its tables.

use crate::load::{self, Forwarder, Link, Names, Reading, Workload};
use crate::metric;
use crate::model::exchanges::{BLOCK, Exchanges, PARTS, Profile as _};
use crate::model::memory::{Memory, Table};
use crate::under_load::{Loads, contender, counts, note, turns};
use hashlane_hash::scheme::Key;
use hashlane_lab::definition::{CriterionFigure, subject};
use hashlane_lab::study::Summary::{Median, Ratio};
use hashlane_lab::study::{Contender, Fact, Figures, Rounds, RunError, Session, by_id};
use std::process::{Command, Stdio};
use std::time::Duration;

pub(crate) const MODEL: &str = "forwarder";
/// Models of the additional measurements.
const PARTS_MODEL: &str = "forwarder-parts";
const MEMORY_MODEL: &str = "forwarder-memory";

/// Most entries that a table of the forwarder is filled with in the quick size: with more, a turn takes
/// longer than all others together.
const MOST_ENTRIES_QUICK: usize = 20_000;

/// Entries of a table whose memory is measured, and the label of their workload.
const ENTRIES: u32 = 100_000;
const ENTRIES_LABEL: &str = "100k";

/// Packets of the bursts that are decoded, and the ids of their records; the others are compared with the
/// first.
const BURSTS: [(&str, usize); 3] = [("decode-1", 1), ("decode-16", 16), ("decode-64", 64)];

/// Blocks of a sample of the parts, and samples for each round of the study.
const BLOCKS: usize = 16;
const SAMPLES: usize = 8;

/// Probe of figures of CPU time.
const PROBE: &str = "cpu-clock";

const FIGURES: Figures<Reading> = Figures {
    model: MODEL,
    are_launches: true,
    list: &[
        (Ratio, PROBE, metric::CPU_US, "us", Reading::cpu_us),
        (Median, "wall-clock", metric::RATE, "1/s", Reading::rate),
        // Of loads with a pace.
        (Median, "wall-clock", metric::RTT_P50_MS, "ms", |reading| reading.rtt_ms(|rtt| rtt.p50)),
        (Median, "wall-clock", metric::RTT_P99_MS, "ms", |reading| reading.rtt_ms(|rtt| rtt.p99)),
    ],
};

/// Measures a study of forwarders.
pub(crate) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    let mut all = contenders(session)?;
    let mut shapes: Vec<Names> = Vec::new();
    for Contender { id, subject, .. } in &all {
        let names = subject.workload.names;
        if id == "ours" && subject.workload.link == Link::Unix && !shapes.contains(&names) {
            shapes.push(names);
        }
    }
    let rounds = session.settings.size.repetitions as usize;
    // The memory of tables is a side measurement: a selection of workloads or schemes leaves it out.
    let tables: &[_] = if session.definition.is_selection() { &[] } else { &Table::ALL };
    session.total = rounds * all.len() + shapes.len() + tables.len();
    turns(session, &mut all, record)?;
    for names in shapes {
        if !session.stopped() {
            parts(session, names)?;
        }
    }
    for (id, _) in tables {
        if !session.stopped() {
            memory(session, id)?;
        }
    }
    Ok(())
}

/// Forwarders to measure, in the order of the study, without those that cannot be measured here; each of
/// these leaves a note.
fn contenders(session: &mut Session<'_>) -> Result<Vec<Loads>, RunError> {
    let definition = session.definition;
    let forwarders = session.schemes_in(&Forwarder::ALL)?;
    session.notes.extend(forwarders.into_iter().filter_map(Forwarder::missing));
    let measured = Duration::from_millis(session.settings.size.items.into());
    let mut all = Vec::new();
    for label in &definition.workloads {
        let workload: Workload = label
            .parse()
            .map_err(|error: load::WorkloadError| RunError::UnknownWorkload(error.to_string()))?;
        let entries = workload.tables.map_or(0, |tables| tables.prefixes.max(tables.packets));
        let is_large = entries.max(workload.pending) > MOST_ENTRIES_QUICK;
        if is_large && !session.settings.full && !definition.names_workloads() {
            session.notes.push(format!("{label} was left out; --full measures it"));
            continue;
        }
        for id in definition.schemes_on(label) {
            let Some(forwarder) = by_id(&Forwarder::ALL, subject(id)) else { continue };
            if forwarder.takes(&workload) && forwarder.missing().is_none() {
                all.push(contender(label, id, forwarder, workload, workload.plan(measured)));
            }
        }
    }
    Ok(all)
}

fn record(session: &mut Session<'_>, all: &[Loads]) {
    FIGURES.record(session, all);
    for Contender { workload, id, turns, has_failed, .. } in all {
        let (metric, unit, fact) = if *has_failed {
            (metric::FAILED, "forwarders", Fact::exact(1.0, 1))
        } else {
            let counts = counts(turns);
            let lost = counts.lost as f64 * 1e6 / counts.answered.max(1) as f64;
            (metric::LOST, "Interests", Fact::exact(lost, turns.len()))
        };
        session.add(MODEL, workload, id, "count", metric, unit, fact);
    }
    let measured: Vec<&Loads> = all.iter().filter(|loads| !loads.has_failed).collect();
    let cpu = |loads: &&Loads| loads.turns.iter().map(Reading::cpu_us).collect();
    let rounds = Rounds::of_launches(measured.iter().map(cpu).collect());
    let place =
        |label: &str, id: &str| measured.iter().position(|other| other.workload == label && other.id == id);
    for criterion in &session.definition.criteria {
        let (of, workload) = (&criterion.of, &criterion.workload);
        let (to, name) = match &criterion.figure {
            CriterionFigure::Metric | CriterionFigure::OtherMetric(_) | CriterionFigure::Ratio(_) => continue,
            CriterionFigure::Difference(to) => (place(workload, to), to),
            CriterionFigure::RatioToWorkload(to) => (place(to, of), to),
        };
        let (Some(of_at), Some(to)) = (place(workload, of), to) else { continue };
        let (metric, fact) = match &criterion.figure {
            CriterionFigure::RatioToWorkload(_) => (metric::RATIO_WORKLOAD, rounds.ratio(of_at, to)),
            _ => (metric::MORE, rounds.difference(of_at, to)),
        };
        if let Some(fact) = fact {
            session.add(MODEL, workload, of, PROBE, metric, name, fact);
        }
    }
    note(session, MODEL, all);
}

/// The parts of our forwarder, without I/O.
fn parts(session: &mut Session<'_>, names: Names) -> Result<(), RunError> {
    let label = names.to_string();
    session.step(&label, "the parts of ours without I/O");
    let failed = |what: String| RunError::Expectation { workload: label.clone(), what };
    let mut forwarding = Exchanges::new(names, &Key::new(session.settings.key))
        .ok_or_else(|| failed("no packets have names of this shape".into()))?;
    let size = session.settings.size;
    // As full as a forwarder's own would be: no more than it could have done in a turn.
    forwarding.fill(size.items as usize * 1000).map_err(failed)?;
    let rounds = SAMPLES * size.repetitions as usize;
    let parts =
        Rounds::try_run(&mut [&mut forwarding], rounds, |_| !session.stopped(), |it| it.sample(BLOCKS));
    let parts = parts.map_err(failed)?;
    // The stage that decodes and hashes, by the packets of a burst, in alternation.
    let decode = |(_, packets): &mut (&str, usize)| {
        let blocks = (0..BLOCKS).map(|_| forwarding.decode(*packets)).sum::<Result<u64, String>>()?;
        Ok([blocks as f64 / (BLOCKS * BLOCK) as f64])
    };
    let [bursts] =
        Rounds::try_run(&mut BURSTS.clone(), rounds, |_| !session.stopped(), decode).map_err(failed)?;
    if session.stopped() {
        return Ok(());
    }
    for (part, cycles) in PARTS.into_iter().zip(&parts) {
        session.add_cycles(PARTS_MODEL, &label, &[part.to_owned()], cycles);
    }
    let ids = BURSTS.map(|(id, _)| id.to_owned());
    let ns = bursts.clone().scaled(1.0 / session.rates.counter_ghz);
    session.add_rounds([PARTS_MODEL, &label, "cycles", metric::NS, "ns"], &ids, &ns);
    for (at, (id, _)) in BURSTS.iter().enumerate().skip(1) {
        if let Some(ratio) = bursts.ratio(at, 0) {
            session.add(PARTS_MODEL, &label, id, "cycles", metric::RATIO, BURSTS[0].0, ratio);
        }
    }
    Ok(())
}

/// The memory of a table, filled in a separate process.
fn memory(session: &mut Session<'_>, table: &str) -> Result<(), RunError> {
    session.step(ENTRIES_LABEL, &format!("memory of the {table}"));
    let failed =
        |why: String| RunError::Subject { workload: ENTRIES_LABEL.into(), scheme: table.into(), why };
    let output = Command::new(&session.settings.command)
        .args(["lab", "memory", table, &ENTRIES.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let memory: Memory = String::from_utf8_lossy(&output.stdout).parse().map_err(failed)?;
    for (metric, bytes, probe) in [
        (metric::OCTETS, memory.resident, "resident"),
        (metric::OCTETS_ACCOUNTED, memory.accounted, "count"),
        (metric::OCTETS_PACKET, memory.packet, "count"),
    ] {
        let fact = Fact::exact(bytes, ENTRIES as usize);
        session.add(MEMORY_MODEL, ENTRIES_LABEL, table, probe, metric, "octets", fact);
    }
    Ok(())
}
