//! Forwarders under load, in alternation; then the parts of ours without I/O, and the memory of its tables.

use crate::load::{self, Forwarder, Link, Names, Reading, Workload};
use crate::metric;
use crate::model::exchanges::{BLOCK, Counts, Exchanges, PARTS, Profile as _};
use crate::model::memory::{Memory, Table};
use crate::under_load::{Subject, note, turns};
use hashlane_hash::scheme::Key;
use hashlane_lab::definition::{CriterionFigure, subject};
use hashlane_lab::study::Fact;
use hashlane_lab::study::{Rounds, order};
use hashlane_lab::study::{RunError, Session};
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

/// Measures a study of forwarders.
pub(crate) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    let mut subjects = subjects(session)?;
    let mut shapes: Vec<Names> = Vec::new();
    for subject in
        subjects.iter().filter(|subject| subject.id == "ours" && subject.workload.link == Link::Unix)
    {
        if !shapes.contains(&subject.workload.names) {
            shapes.push(subject.workload.names);
        }
    }
    let rounds = session.settings.size.repetitions as usize;
    // The memory of tables is a side measurement: a selection of workloads or schemes leaves it out.
    let tables: &[_] = if session.definition.is_selection() { &[] } else { &Table::ALL };
    session.total = rounds * subjects.len() + shapes.len() + tables.len();
    turns(session, &mut subjects, rounds, record)?;
    for names in shapes {
        if session.stopped() {
            return Ok(());
        }
        parts(session, names)?;
    }
    for (id, _) in tables {
        if session.stopped() {
            return Ok(());
        }
        memory(session, id)?;
    }
    Ok(())
}

/// Forwarders to measure, in the order of the study, without those that cannot be measured here; each of
/// these leaves a note.
fn subjects(session: &mut Session<'_>) -> Result<Vec<Subject>, RunError> {
    let definition = session.definition;
    for id in &definition.schemes {
        let Some(forwarder) = Forwarder::of(id) else {
            let known: Vec<_> = Forwarder::ALL.iter().map(|(id, _)| *id).collect();
            let help = format!("known: {}", known.join(", "));
            return Err(RunError::UnknownScheme { id: id.clone(), help });
        };
        session.notes.extend(forwarder.missing());
    }
    let measured = Duration::from_millis(session.settings.size.items.into());
    let mut subjects = Vec::new();
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
            let Some(forwarder) = Forwarder::of(subject(id)) else { continue };
            if forwarder.takes(&workload) && forwarder.missing().is_none() {
                let plan = workload.plan(measured);
                subjects.push(Subject::new(label, id, forwarder, workload, plan));
            }
        }
    }
    Ok(subjects)
}

fn record(session: &mut Session<'_>, subjects: &[Subject]) {
    const PROBE: &str = "cpu-clock";
    let measured: Vec<&Subject> =
        subjects.iter().filter(|subject| !subject.failed && subject.readings.len() > 1).collect();
    let cpu = |subject: &&Subject| subject.readings.iter().filter_map(Reading::cpu_us).collect();
    let rounds = Rounds::of_launches(measured.iter().map(cpu).collect());
    for (at, subject) in measured.iter().enumerate() {
        let (label, id) = (subject.label.as_str(), subject.id.as_str());
        let rates: Vec<f64> = subject.readings.iter().map(Reading::rate).collect();
        session.add(MODEL, label, id, PROBE, metric::CPU_US, "us", rounds.time(at));
        session.add(MODEL, label, id, "wall-clock", metric::RATE, "1/s", Fact::over_launches(&rates));
        let counts = subject.counts();
        let lost = counts.lost as f64 * 1e6 / counts.answered.max(1) as f64;
        session.add(
            MODEL,
            label,
            id,
            "count",
            metric::LOST,
            "Interests",
            Fact::exact(lost, subject.readings.len()),
        );
    }
    let place =
        |label: &str, id: &str| measured.iter().position(|other| other.label == label && other.id == id);
    let mut labels: Vec<&str> = measured.iter().map(|subject| subject.label.as_str()).collect();
    labels.dedup();
    for label in labels {
        let here: Vec<usize> = (0..measured.len())
            .filter(|at| measured.get(*at).is_some_and(|subject| subject.label == label))
            .collect();
        let ids: Vec<String> =
            here.iter().filter_map(|at| measured.get(*at)).map(|subject| subject.id.clone()).collect();
        session.add_ratios(MODEL, label, PROBE, &ids, |of, to| rounds.ratio(*here.get(of)?, *here.get(to)?));
    }
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
    for subject in subjects.iter().filter(|subject| subject.failed) {
        let fact = Fact::exact(1.0, 1);
        session.add(MODEL, &subject.label, &subject.id, "count", metric::FAILED, "forwarders", fact);
    }
    note(session, MODEL, &measured);
}

/// The parts of our forwarder, without I/O.
fn parts(session: &mut Session<'_>, names: Names) -> Result<(), RunError> {
    let label = names.to_string();
    session.step(&label, "the parts of ours without I/O");
    let failed = |why: String| RunError::Expectation { workload: label.clone(), what: why };
    let mut forwarding = Exchanges::new(names, &Key::new(session.settings.key))
        .ok_or_else(|| failed("no packets have names of this shape".into()))?;
    let size = session.settings.size;
    // As full as a forwarder's own would be: no more than it could have done in a turn.
    let fill = forwarding.exchanges_to_fill().min(size.items as usize * 1000);
    for _ in 0..fill.div_ceil(BLOCK) {
        forwarding.block().map_err(failed)?;
    }
    let mut samples = vec![Vec::new(); PARTS.len()];
    for _ in 0..SAMPLES * size.repetitions as usize {
        if session.stopped() {
            return Ok(());
        }
        let mut sum = Counts::default();
        for _ in 0..BLOCKS {
            let counts = forwarding.block().map_err(failed)?;
            sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        for (samples, sum) in samples.iter_mut().zip(sum) {
            samples.push(sum as f64 / (BLOCKS * BLOCK) as f64);
        }
    }
    let ghz = session.rates.counter_ghz;
    for (part, samples) in PARTS.iter().zip(&samples) {
        let mut fact = Fact::median(samples);
        session.add(PARTS_MODEL, &label, part, "cycles", metric::CYCLES, "cycles", fact);
        fact.scale(1.0 / ghz);
        session.add(PARTS_MODEL, &label, part, "cycles", metric::NS, "ns", fact);
    }
    decode(session, &label, &mut forwarding)
}

/// The stage that decodes and hashes, by the packets of a burst, in alternation.
fn decode(session: &mut Session<'_>, label: &str, forwarding: &mut Exchanges) -> Result<(), RunError> {
    let mut figures = vec![Vec::new(); BURSTS.len()];
    for round in 0..SAMPLES * session.settings.size.repetitions as usize {
        if session.stopped() {
            return Ok(());
        }
        for at in order(BURSTS.len(), round) {
            let (Some((_, packets)), Some(figures)) = (BURSTS.get(at), figures.get_mut(at)) else { continue };
            let mut sum = 0;
            for _ in 0..BLOCKS {
                let count = forwarding.decode(*packets);
                sum += count.map_err(|what| RunError::Expectation { workload: label.to_owned(), what })?;
            }
            figures.push(sum as f64 / (BLOCKS * BLOCK) as f64);
        }
    }
    let rounds = Rounds::of(figures);
    for (at, (id, _)) in BURSTS.iter().enumerate() {
        let mut fact = rounds.time(at);
        fact.scale(1.0 / session.rates.counter_ghz);
        session.add(PARTS_MODEL, label, id, "cycles", metric::NS, "ns", fact);
        if let (Some(ratio), Some((single, _))) = (rounds.ratio(at, 0).filter(|_| at > 0), BURSTS.first()) {
            session.add(PARTS_MODEL, label, id, "cycles", metric::RATIO, single, ratio);
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
