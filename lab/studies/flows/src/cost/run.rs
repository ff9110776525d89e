//! Run of a study of tuple hashes: their cost, the simulated cost of their code, and their spread of tuples
//! over buckets.

use super::in_c::{self, Source};
use crate::capture::Capture;
use crate::hashes;
use crate::metric;
use crate::own;
use crate::timed_hash::TimedHash;
use crate::workload::{generate, set};
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::Key;
use hashlane_lab::definition::subject;
use hashlane_lab::study::{Rounds, RunError, Session};

/// Tuples that are hashed repeatedly: as many as stay in the first-level cache with everything else.
const BLOCK: usize = 512;

/// Measures a study of hashes of tuples.
pub(crate) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    let definition = session.definition;
    // All names are looked up before anything takes time.
    let schemes = definition.measured_schemes();
    let source = start_source(session);
    let mut timed_hashes = Vec::with_capacity(schemes.len());
    for id in schemes {
        timed_hashes.extend(entry(id, session, source.as_ref())?);
    }
    let sets = definition.workloads.iter().map(|id| set(id)).collect::<Result<Vec<_>, _>>()?;

    let spread = crate::spread::run::Plan::new(session)?;
    let mca = super::mca::Plan::new(session)?;
    let generated = if session.measures_generated() { sets.len() } else { 0 };
    let capture = session.own::<Capture>();
    session.total = usize::from(capture.is_some()) + generated + spread.steps(session) + mca.steps();
    if let Some((label, capture)) = capture {
        own::add_counts(session, label, capture);
        let packets = capture.packets.iter().cycle().take(BLOCK);
        let tuples: Vec<Tuple> =
            packets.filter_map(|place| capture.tuples.get(*place as usize)).copied().collect();
        timed(session, label, &tuples, &mut timed_hashes)?;
    }
    for (id, set) in definition.workloads.iter().zip(&sets).take(generated) {
        let tuples = generate(*set, BLOCK, session)?;
        timed(session, id, &tuples, &mut timed_hashes)?;
    }
    mca.run(session);
    spread.run(session)
}

/// Times all hashes over the tuples, after they were found to agree.
fn timed(
    session: &mut Session<'_>,
    workload: &str,
    tuples: &[Tuple],
    hashes: &mut [Entry],
) -> Result<(), RunError> {
    if session.stopped() {
        return Ok(());
    }
    session.step(workload, "timing");
    agree(workload, tuples, hashes)?;
    cost(session, workload, tuples, hashes);
    Ok(())
}

/// One scheme and its timed hash.
type Entry = (String, Box<dyn TimedHash>);

/// The timed hash of a scheme; `None` of one in C where its program does not run.
fn entry(id: &str, session: &Session<'_>, source: Option<&Source>) -> Result<Option<Entry>, RunError> {
    if in_c::is_in_c(id) {
        let hash = source.and_then(|source| source.hash(id));
        return Ok(hash.map(|hash| (id.into(), Box::new(hash) as Box<dyn TimedHash>)));
    }
    match hashes::tuples(subject(id), &Key::new(session.settings.key)) {
        Some(hash) => {
            #[cfg(feature = "plant")]
            let hash = super::plant::planted(subject(id), hash)?;
            Ok(Some((id.into(), hash)))
        }
        None => Err(RunError::UnknownScheme { id: id.into(), help: hashes::tuples_help() }),
    }
}

/// The source's hashes in C, if the study measures them and they compile here; a note says by which compiler,
/// or why they were not measured.
fn start_source(session: &mut Session<'_>) -> Option<Source> {
    if !session.definition.measured_schemes().iter().any(|id| in_c::is_in_c(id)) {
        return None;
    }
    let manner = in_c::MANNER;
    match Source::start(&Key::new(session.settings.key)) {
        Ok(source) => {
            let (compiler, flags) = (&source.compiler, in_c::FLAGS.join(" "));
            session.notes.push(format!("{manner}: the source's hashes in C, {flags}, by {compiler}"));
            Some(source)
        }
        Err(why) => {
            session.notes.push(format!("{manner}: not measured: {why}"));
            None
        }
    }
}

/// Checks that a hash yields the same one at a time and in a burst.
fn agree(workload: &str, tuples: &[Tuple], hashes: &mut [Entry]) -> Result<(), RunError> {
    let mut seen: Vec<(String, String, u64)> = Vec::new();
    // A burst with a tail that is no whole vector is compared too.
    let tuples = tuples.get(..BLOCK - 3).unwrap_or(tuples);
    for (id, timed) in hashes {
        let hash = id.split('/').next().unwrap_or_default();
        let sum = timed.sum(tuples);
        if timed.failure().is_some() {
            continue;
        }
        match seen.iter().find(|(other, ..)| other == hash) {
            Some((_, other, expected)) if *expected != sum => {
                let schemes = (other.clone(), id.clone());
                return Err(RunError::Disagree { workload: workload.into(), schemes });
            }
            Some(_) => {}
            None => seen.push((hash.into(), id.clone(), sum)),
        }
    }
    Ok(())
}

fn cost(session: &mut Session<'_>, workload: &str, tuples: &[Tuple], hashes: &mut [Entry]) {
    let settings = session.settings;
    let passes = (settings.size.items as usize).div_ceil(BLOCK).max(1);
    let rounds = settings.size.repetitions as usize;
    let per_tuple = |counts: u64| counts as f64 / (passes * tuples.len()) as f64;
    // One pass that does not count warms the caches and the predictors; there is no branch to be learned.
    let throughput = Rounds::run(
        hashes,
        rounds,
        |_| !session.stopped(),
        |(_, hash)| per_tuple(hash.throughputs(tuples, passes)),
    );
    let latency = Rounds::run(
        hashes,
        rounds,
        |_| !session.stopped(),
        |(_, hash)| hash.latencies(tuples, passes).map_or(f64::NAN, per_tuple),
    );
    if throughput.len().min(latency.len()) < 2 {
        return;
    }
    let ids: Vec<String> = hashes.iter().map(|(id, _)| id.clone()).collect();
    let failures: Vec<Option<String>> = hashes.iter().map(|(_, hash)| hash.failure()).collect();
    if let Some((id, why)) = ids.iter().zip(&failures).find_map(|(id, why)| Some((id, why.as_ref()?))) {
        session.notes.push(format!("{workload}: {id} and those like it were not measured: {why}"));
    }
    let measured = |at: usize| failures.get(at).is_some_and(Option::is_none);
    let waits = hashes.iter_mut().enumerate();
    let waits: Vec<bool> = waits.map(|(at, (_, hash))| measured(at) && hash.latency(&[]).is_some()).collect();
    for (at, id) in ids.iter().enumerate().filter(|(at, _)| measured(*at)) {
        let (throughput, latency) = (throughput.time(at), latency.time(at));
        session.add("tuples", workload, id, "throughput", metric::CYCLES_THROUGHPUT, "cycles", throughput);
        if waits[at] {
            session.add("tuples", workload, id, "latency", metric::CYCLES_LATENCY, "cycles", latency);
        }
    }
    session.add_ratios("tuples", workload, "throughput", &ids, |of, to| {
        if measured(of) && measured(to) { throughput.ratio(of, to) } else { None }
    });
    for (of, to) in session.definition.ratio_pairs() {
        let place = |id: &str| ids.iter().position(|other| other == id).filter(|at| waits[*at]);
        if let (Some(of_at), Some(to_at)) = (place(of), place(to))
            && let Some(ratio) = latency.ratio(of_at, to_at)
        {
            session.add("tuples", workload, of, "latency", metric::RATIO_LATENCY, to, ratio);
        }
    }
}
