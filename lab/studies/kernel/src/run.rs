//! Run of a study of kernels with other connection hashes: each boots several times, in alternation.

use crate::guest::Tasks;
use crate::kernels::{KernelScheme, Kernels, Reading, SynReading};
use crate::metric;
use crate::watch::Stopped;
use hashlane_lab::definition::subject;
use hashlane_lab::probe::Cores;
use hashlane_lab::study::{Fact, RunError, Session};
use hashlane_lab::study::{Rounds, order};
use hashlane_stats::{mean, median};
use hashlane_study_flows::add_growth;
use hashlane_study_flows::hostile::{self, Attack};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The models of the records: throughput, cycles, and the cost of a SYN.
pub(crate) const STREAMS: &str = "kernel-streams";
pub(crate) const CYCLES: &str = "kernel";
pub(crate) const SYN: &str = "kernel-syn";

/// As many as the source has.
const COUNT: u32 = 32;

/// Slices that the time of a measurement of throughput is divided into.
const SLICES: u32 = 4;

/// Longest message, in bytes.
const MAX_BYTES: u32 = 1 << 20;

/// Most SYNs before a measurement; some of a set cannot be sent.
const MOST_BEFORE: u32 = (hostile::MOST / 2) as u32;

/// Operations timed inside a kernel.
const TIMED: [&str; 4] = ["independent", "dependent", "miss", "hit"];

/// Measures a study of kernels.
pub(crate) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    let plan = Plan::of(session)?;
    if session.stopped() {
        return Ok(());
    }
    let rounds = session.settings.size.repetitions as usize;
    session.total = plan.kernels.len() * rounds + 1;
    match measure(session, &plan, rounds) {
        Err(error) if !error.is::<Stopped>() => Err(RunError::Other(format!("{error:#}").into())),
        _ => Ok(()),
    }
}

/// A kernel that is booted in each round.
struct Booted {
    /// Id in records, without a number of SYNs.
    id: String,
    scheme: KernelScheme,
    /// `true` if it is booted as the A/A control.
    is_control: bool,
}

/// Contents of the study's ids.
struct Plan {
    kernels: Vec<Booted>,
    tasks: Tasks,
    /// The things of [`TIMED`] that are asked for.
    timed: Vec<String>,
}

impl Plan {
    fn of(session: &Session<'_>) -> Result<Self, RunError> {
        let (mut sizes, mut attacks, mut timed) = (Vec::new(), Vec::new(), Vec::new());
        for id in &session.definition.workloads {
            let unknown = || {
                RunError::UnknownWorkload(format!(
                    "unknown workload {id:?}; known: streams/BYTES (1 to {MAX_BYTES}), cycles/{{{}}} and \
                     syn/SET of a flood",
                    TIMED.join(",")
                ))
            };
            match id.split_once('/').ok_or_else(unknown)? {
                ("streams", size) => sizes.push(within(size, 1, MAX_BYTES).ok_or_else(unknown)?),
                ("syn", set) => attacks.push(set.parse::<Attack>().map_err(|_| unknown())?),
                ("cycles", what) if TIMED.contains(&what) => timed.push(what.to_owned()),
                _ => return Err(unknown()),
            }
        }
        let (mut kernels, mut before) = (Vec::<Booted>::new(), BTreeSet::new());
        for id in session.definition.measured_schemes() {
            let known: Vec<_> = KernelScheme::ALL.iter().map(|scheme| scheme.id()).collect();
            let unknown = || RunError::UnknownScheme {
                id: id.clone(),
                help: format!(
                    "known: {}, and each with @ and a number of hostile SYNs before it, 0 to {MOST_BEFORE}",
                    known.join(", ")
                ),
            };
            let of = subject(id);
            let (name, count) = of.split_once('@').map_or((of, None), |(name, count)| (name, Some(count)));
            let scheme = name.parse::<KernelScheme>().map_err(|_| unknown())?;
            if let Some(count) = count {
                before.insert(within(count, 0, MOST_BEFORE).ok_or_else(unknown)?);
            }
            let is_control = of != id.as_str();
            let id = if is_control { id.clone() } else { scheme.to_string() };
            if kernels.iter().all(|kernel| kernel.id != id) {
                kernels.push(Booted { id, scheme, is_control });
            }
        }
        let tasks = Tasks {
            sizes,
            streams: COUNT,
            slices: SLICES,
            slice: (session.settings.size.items / SLICES).max(1),
            attacks,
            before: before.into_iter().collect(),
            seed: session.settings.seed,
        };
        Ok(Self { kernels, tasks, timed })
    }
}

fn within(number: &str, least: u32, most: u32) -> Option<u32> {
    number.parse().ok().filter(|number| (least..=most).contains(number))
}

fn measure(session: &mut Session<'_>, plan: &Plan, rounds: usize) -> anyhow::Result<()> {
    session.step("kernels", "preparing");
    let (stop, _settings) = (session.stop, session.settings);
    let source = session.own::<PathBuf>().map(|(_, path)| path.as_path());
    let mut doing = |what: &str| session.doing("kernels", what);
    let mut schemes: Vec<KernelScheme> = Vec::new();
    for Booted { scheme, .. } in &plan.kernels {
        if !schemes.contains(scheme) {
            schemes.push(*scheme);
        }
    }
    let kernels = Kernels::build(&schemes, source, stop, &mut doing)?;
    session.notes.extend(kernels.notes.iter().cloned());
    let mut readings: Vec<Vec<Reading>> = vec![Vec::new(); plan.kernels.len()];
    let ended = boot(session, plan, &kernels, rounds, &mut readings);
    record(session, plan, &readings);
    ended
}

/// Boots each kernel in each round, in turns. Reports the records after each boot: a later failure costs none
/// of them.
fn boot(
    session: &mut Session<'_>,
    plan: &Plan,
    kernels: &Kernels,
    rounds: usize,
    readings: &mut [Vec<Reading>],
) -> anyhow::Result<()> {
    let (stop, settings, core) = (session.stop, session.settings, Cores::detect().measured);
    for round in 0..rounds {
        for place in order(plan.kernels.len(), round) {
            let Some(Booted { id, scheme, .. }) = plan.kernels.get(place) else { continue };
            let label = format!("{id}, boot {} of {rounds}", round + 1);
            session.step(&label, "booting");
            let mut doing = |what: &str| session.doing(&label, what);
            let reading = kernels.boot(*scheme, &settings.command, core, &plan.tasks, stop, &mut doing)?;
            if let Some(readings) = readings.get_mut(place) {
                readings.push(reading);
            }
            session.report_rounds(|session| record(session, plan, readings));
        }
    }
    Ok(())
}

/// One figure of each boot of each kernel; a run that ended early has more boots of some kernels than of
/// others.
struct Boots<'a> {
    kernels: &'a [Booted],
    readings: &'a [Vec<Reading>],
}

impl Boots<'_> {
    /// Figures of the kernels in all of whose boots `figures` finds some, with their ids: of each boot that
    /// which `of` makes of them.
    fn rounds(
        &self,
        of: fn(&[f64]) -> Option<f64>,
        figures: impl Fn(&Reading) -> Option<&Vec<f64>>,
    ) -> (Vec<String>, Rounds) {
        let (mut ids, mut found) = (Vec::new(), Vec::new());
        for (Booted { id, .. }, boots) in self.kernels.iter().zip(self.readings) {
            let of_boots: Option<Vec<f64>> = boots.iter().map(|reading| of(figures(reading)?)).collect();
            if let Some(of_boots) = of_boots.filter(|of_boots| !of_boots.is_empty()) {
                ids.push(id.clone());
                found.push(of_boots);
            }
        }
        (ids, Rounds::of(found))
    }
}

/// Adds the records and notes of all boots so far.
fn record(session: &mut Session<'_>, plan: &Plan, readings: &[Vec<Reading>]) {
    if readings.iter().all(Vec::is_empty) {
        return;
    }
    let boots = Boots { kernels: &plan.kernels, readings };
    let checked: u64 = readings.iter().flatten().map(|reading| reading.checked).sum();
    session.notes.push(format!(
        "{checked} hashes of the kernels equal those of our crates for the same tuples and secrets, bit for \
         bit"
    ));
    for &size in &plan.tasks.sizes {
        let figures = boots.rounds(mean, |reading| reading.streams.get(&size));
        add(session, STREAMS, &format!("streams/{size}"), (metric::MBIT, "Mbit/s", 1.0), figures);
    }
    let cycles = session.rates.core_cycles_a_count();
    for what in &plan.timed {
        let figures = boots.rounds(least, |reading| reading.cycles.get(what));
        let measure = (metric::CYCLES_MIN_MEAN, "cycles", cycles);
        add(session, CYCLES, &format!("cycles/{what}"), measure, figures);
    }
    let ns = 1.0 / session.rates.counter_ghz;
    if !plan.tasks.attacks.is_empty() {
        let floor = boots.rounds(median, |reading| Some(&reading.floor));
        add(session, SYN, "floor", (metric::NS, "ns", ns), floor);
    }
    for attack in &plan.tasks.attacks {
        syn(session, plan, &boots, *attack, ns);
    }
}

/// Smallest figure of repetitions of the same instructions in the same caches: disturbances only add.
fn least(figures: &[f64]) -> Option<f64> {
    figures.iter().copied().reduce(f64::min)
}

/// The figures of one workload, how far the boots of each kernel lie apart, and the ratios that the study
/// asks for.
fn add(
    session: &mut Session<'_>,
    model: &str,
    workload: &str,
    (metric, unit, scale): (&str, &str, f64),
    (ids, rounds): (Vec<String>, Rounds),
) {
    for (at, id) in ids.iter().enumerate() {
        let mut fact = rounds.time(at);
        fact.scale(scale);
        session.add(model, workload, id, "boots", metric, unit, fact);
        if let Some(again) = rounds.apart(at) {
            session.add(model, workload, id, "boots", metric::AGAIN, "boots", again);
        }
    }
    session.add_ratios(model, workload, "boots", &ids, |of, to| rounds.ratio(of, to));
}

/// Cost of the SYNs of a set, as schemes with @ and the number of SYNs before.
fn syn(session: &mut Session<'_>, plan: &Plan, boots: &Boots<'_>, attack: Attack, ns: f64) {
    let workload = format!("syn/{attack}");
    let (mut ids, mut figures) = (Vec::new(), Vec::new());
    // Figures of the control: reports do not list them under other ids.
    let mut control: Vec<(String, Vec<f64>)> = Vec::new();
    for (readings, Booted { id, scheme, is_control }) in boots.readings.iter().zip(boots.kernels) {
        let syns: Vec<_> = readings.iter().filter_map(|reading| reading.syn.get(attack.id())).collect();
        if let Some(sent) = syns.iter().filter_map(|syn| syn.short).min() {
            session.notes.push(format!(
                "{workload}: {id} was stopped after {sent} hostile SYNs, as each took too long"
            ));
        }
        for &before in &plan.tasks.before {
            let points = syns.iter().filter_map(|syn| median(syn.points.get(&before)?));
            let points: Vec<f64> = points.collect();
            // A point is kept only if all boots so far have it.
            let is_whole = !points.is_empty() && points.len() == readings.len();
            let id = format!("{scheme}@{before}");
            if is_whole && *is_control {
                control.push((id, points));
            } else if is_whole {
                ids.push(id);
                figures.push(points);
            }
        }
        if *is_control {
            continue;
        }
        let longest = syns.iter().map(|syn| syn.longest).max();
        if let (Some(longest), Some(most)) = (longest, plan.tasks.before.last()) {
            let fact = Fact::exact(longest as f64, syns.len());
            let id = format!("{id}@{most}");
            session.add(SYN, &workload, &id, "count", metric::LONGEST_CHAIN, "entries", fact);
        }
        lost(session, plan, &workload, id, &syns);
    }
    if let Some((of, to)) = &session.definition.control {
        // Behind as many SYNs as both took.
        let pair = control.into_iter().rev().find_map(|(id, points)| {
            let at = ids.iter().position(|other| *other == id)?;
            Rounds::of(vec![points, figures.get(at)?.clone()]).ratio(0, 1)
        });
        if let Some(ratio) = pair {
            session.add(SYN, &workload, of, "boots", metric::RATIO, to, ratio);
        }
    }
    let rounds = Rounds::of(figures);
    add(session, SYN, &workload, (metric::NS, "ns", ns), (ids.clone(), rounds.clone()));
    add_growth(session, (SYN, &workload, "boots"), metric::RATIO, &ids, &rounds);
}

/// Requests that are missing from the table after the last SYN of a set: the most of any boot, with a note.
///
/// On a busy machine the kernel drops packets, and the figures behind many SYNs then describe a smaller
/// table.
fn lost(session: &mut Session<'_>, plan: &Plan, workload: &str, id: &str, syns: &[&SynReading]) {
    let counted: Vec<_> = syns.iter().map(|syn| syn.table).collect();
    let of = |&(sent, entries): &(u64, u64)| sent.saturating_sub(entries);
    let Some(worst) = counted.iter().max_by_key(|table| of(table)) else { return };
    if let Some(most) = plan.tasks.before.last() {
        let fact = Fact::exact(of(worst) as f64, counted.len());
        session.add(SYN, workload, &format!("{id}@{most}"), "count", metric::LOST_ENTRIES, "entries", fact);
    }
    let times = counted.iter().filter(|table| of(table) > 0).count();
    if times > 0 {
        let (sent, entries) = worst;
        session.notes.push(format!(
            "{workload}: {id} lost requests in {times} of {} boots; at worst the table had {entries} entries \
             after {sent} SYNs. Figures after many SYNs are those of a smaller table: repeat the run on an \
             idle machine",
            counted.len()
        ));
    }
    if let Some(left) = syns.iter().filter_map(|syn| syn.left).max() {
        session.notes.push(format!(
            "{workload}: {left} requests stayed in the table of {id} after each was reset; the next set was \
             measured with them"
        ));
    }
}
