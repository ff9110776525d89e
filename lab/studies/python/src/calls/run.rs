//! Run of a study of calls: its workloads, one after the other, in one process of Python.

use super::subject::{self, CALLS, OURS, SPREAD, STRINGS, Subject};
use crate::data::{BATCH, BATCHES, Data};
use crate::error::PythonError;
use crate::metric;
use crate::process::{Process, Script};
use hashlane_hash::scheme::Key;
use hashlane_lab::definition;
use hashlane_lab::study::{Fact, Rounds, RunError, Session, order};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Model of all records.
pub(super) const MODEL: &str = "python-calls";

/// Probe of all records.
const PROBE: &str = "perf_counter";

/// Time in which Python must have loaded all packages.
const START: Duration = Duration::from_secs(120);

/// Note on a package that cannot take part.
const WITHOUT_HASH: &str =
    "pyarrow is not measured: it has no function that returns hashes, only groups by them";

/// Measures a study of calls.
pub(super) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    let definition = session.definition;
    let known = subject::workloads();
    for workload in &definition.workloads {
        if !known.contains(&workload.as_str()) {
            let known = known.join(", ");
            return Err(RunError::UnknownWorkload(format!("unknown workload {workload:?}; known: {known}")));
        }
        for id in definition.schemes_on(workload) {
            if !subject::is_known(workload, definition::subject(id)) {
                let help =
                    format!("not measured on {workload}; lab/studies/python/python-calls lists the schemes");
                return Err(RunError::UnknownScheme { id: id.clone(), help });
            }
        }
    }
    if session.stopped() {
        return Ok(());
    }
    let rounds = session.settings.size.repetitions as usize;
    session.total =
        1 + definition.workloads.iter().map(|id| 1 + rounds * definition.schemes_on(id).len()).sum::<usize>();
    let folder = tempfile::Builder::new().prefix("hashlane-python-").tempdir();
    let folder = folder.map_err(|error| RunError::Other(Box::new(error)))?;
    let measured = workloads(session, folder.path());
    folder.close().map_err(|error| RunError::Other(Box::new(error))).and(measured)
}

/// Measures all workloads.
fn workloads(session: &mut Session<'_>, folder: &Path) -> Result<(), RunError> {
    let definition = session.definition;
    let first = definition.workloads.first().map_or("", String::as_str);
    session.step(first, "writing the keys");
    let data = Data::new(session.settings.seed, BATCH * BATCHES);
    let (mut python, absent) = match data.write(folder).and_then(|()| start(session, folder)) {
        Ok(started) => started,
        Err(PythonError::Stopped) => return Ok(()),
        Err(error) => return Err(RunError::Other(Box::new(error))),
    };
    for workload in &definition.workloads {
        if session.stopped() {
            break;
        }
        let mut subjects = Vec::new();
        let measured = measure(session, &mut python, &absent, workload, &data, folder, &mut subjects);
        record(session, workload, &subjects);
        match measured {
            Ok(()) | Err(Failure::Ours(_, PythonError::Stopped)) => {}
            Err(Failure::Run(error)) => return Err(error),
            Err(Failure::Ours(scheme, error)) => {
                let (workload, why) = (workload.clone(), error.to_string());
                return Err(RunError::Subject { workload, scheme, why });
            }
        }
    }
    Ok(())
}

/// Starts Python with the packages of all schemes, and notes their versions. Returns those that it has not
/// and can do without, too.
fn start(session: &mut Session<'_>, folder: &Path) -> Result<(Process, Vec<String>), PythonError> {
    let definition = session.definition;
    let schemes = definition.workloads.iter().flat_map(|id| definition.schemes_on(id)).map(String::as_str);
    let key: String = session.settings.key.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut arguments = vec![folder.as_os_str().to_owned(), key.into()];
    arguments.extend(subject::packages(schemes).into_iter().map(Into::into));
    let script = Script {
        command: &session.settings.command,
        folder,
        name: "calls",
        text: include_str!("../script/calls.py"),
        arguments: &arguments,
        // One thread for everyone.
        variables: &[("POLARS_MAX_THREADS", "1".to_owned()), ("OMP_NUM_THREADS", "1".to_owned())],
    };
    let mut python = Process::start(&script)?;
    let versions = python.answer(START, session.stop)?;
    let (absent, found): (Vec<_>, Vec<_>) = versions.iter().partition(|(_, version)| *version == "absent");
    let found: Vec<String> = found.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let absent: Vec<String> = absent.iter().map(|(name, _)| (*name).to_owned()).collect();
    session.notes.push(found.join(", "));
    session.notes.extend(
        absent.iter().map(|name| format!("{name} is missing, and so not measured: `pip install {name}`")),
    );
    if definition.workloads.iter().any(|id| id == STRINGS) {
        session.notes.push(WITHOUT_HASH.to_owned());
    }
    Ok((python, absent))
}

/// Reason why a workload was not measured to its end.
enum Failure {
    /// One of our own schemes failed.
    Ours(String, PythonError),
    /// The results are not those that the study expects.
    Run(RunError),
}

/// Measures a workload in rounds.
fn measure(
    session: &mut Session<'_>,
    python: &mut Process,
    absent: &[String],
    workload: &str,
    data: &Data,
    folder: &Path,
    subjects: &mut Vec<Subject>,
) -> Result<(), Failure> {
    session.step(workload, "checking the results");
    let size = session.settings.size;
    let rounds = size.repetitions as usize;
    let turn = Duration::from_millis(size.items.into());
    for id in session.definition.schemes_on(workload) {
        if absent.iter().any(|name| name == subject::package(id)) {
            continue;
        }
        let key = Key::new(session.settings.key);
        let subject = Subject::new(python, workload, id, turn, session.stop).and_then(|subject| {
            match data.expected(workload, definition::subject(id), &key) {
                Some(expected) if expected != subject.sum => Err(PythonError::Raised(format!(
                    "its hashes sum to {}, and those of the crate to {expected}",
                    subject.sum
                ))),
                _ => Ok(subject),
            }
        });
        match subject {
            Ok(subject) => subjects.push(subject),
            Err(PythonError::Raised(why)) if subject::is_foreign(id) => {
                session.notes.push(format!("{id} was not measured: {why}"));
            }
            Err(error) => return Err(Failure::Ours(id.clone(), error)),
        }
    }
    agree(workload, subjects)?;
    if let Some((_, buckets)) = SPREAD.iter().find(|(id, _)| *id == workload) {
        same_sketch(session, python, workload, data, folder, *buckets)?;
    }
    for round in 0..rounds {
        for at in order(subjects.len(), round) {
            let Some(subject) = subjects.get_mut(at) else { continue };
            if session.stopped() {
                return Ok(());
            }
            session.step(workload, &format!("{}, round {} of {rounds}", subject.id, round + 1));
            let turn = subject.turn(python, workload, session.stop);
            turn.map_err(|error| Failure::Ours(subject.id.clone(), error))?;
        }
    }
    let counted = subject::counted(python, workload, subjects, session.stop);
    counted.map_err(|error| Failure::Ours(OURS.to_owned(), error))?;
    if CALLS.contains(&workload) {
        let mut figures = Vec::new();
        for _ in 0..rounds {
            let ns = subject::empty(python, workload, session.stop);
            figures.push(ns.map_err(|error| Failure::Ours(OURS.to_owned(), error))?);
        }
        session.add(MODEL, workload, OURS, PROBE, metric::EMPTY_NS, "ns", Fact::median(&figures));
    }
    Ok(())
}

/// Checks that two packages with one hash agree.
fn agree(workload: &str, subjects: &[Subject]) -> Result<(), Failure> {
    let sum = |id: &str| subjects.iter().find(|subject| subject.id == id).map(|subject| subject.sum);
    let [a, b] = ["polars-hash/xxh3-64", "xxhash/xxh3-64"];
    match (sum(a), sum(b)) {
        (Some(one), Some(other)) if one != other => Err(Failure::Run(RunError::Disagree {
            workload: workload.to_owned(),
            schemes: (a.to_owned(), b.to_owned()),
        })),
        _ => Ok(()),
    }
}

/// Checks that a sketch of Python has the bytes of the crate's.
fn same_sketch(
    session: &Session<'_>,
    python: &mut Process,
    workload: &str,
    data: &Data,
    folder: &Path,
    buckets: usize,
) -> Result<(), Failure> {
    let ours = |error| Failure::Ours(OURS.to_owned(), error);
    subject::sketch(python, workload, session.stop).map_err(ours)?;
    let found = fs::read(folder.join("sketch"));
    let found = found.map_err(|error| ours(PythonError::Io("cannot read the sketch of Python", error)))?;
    let expected = data.sketch(&Key::new(session.settings.key), buckets);
    match expected {
        Ok(expected) if expected == found => Ok(()),
        Ok(_) => Err(Failure::Run(RunError::Expectation {
            workload: workload.to_owned(),
            what: "the sketch of Python has other bytes than that of the crate".to_owned(),
        })),
        Err(error) => Err(Failure::Run(RunError::Other(Box::new(error)))),
    }
}

/// Adds the records of the complete rounds.
fn record(session: &mut Session<'_>, workload: &str, subjects: &[Subject]) {
    let rounds = subjects.iter().map(|subject| subject.figures.len()).min().unwrap_or(0);
    if rounds < 2 {
        return;
    }
    let ids: Vec<String> = subjects.iter().map(|subject| subject.id.clone()).collect();
    let complete = |subject: &Subject| subject.figures.iter().take(rounds).copied().collect();
    let rounds = Rounds::of(subjects.iter().map(complete).collect());
    for (at, id) in ids.iter().enumerate() {
        session.add(MODEL, workload, id, PROBE, metric::NS, "ns", rounds.time(at));
    }
    session.add_ratios(MODEL, workload, PROBE, &ids, |of, to| rounds.ratio(of, to));
}
