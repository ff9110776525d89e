//! Run of a study of calls: its workloads, one after the other, in one process of Python.

use super::timed::{self, BATCHED, Calls, OURS, SPREAD, STRINGS, Timed};
use crate::data::{BATCH, BATCHES, Data};
use crate::metric;
use crate::process::{Process, Script};
use hashlane_hash::scheme::Key;
use hashlane_lab::definition;
use hashlane_lab::study::Summary::Ratio;
use hashlane_lab::study::{Contender, Fact, Figures, RunError, Session, TurnError, take_turns};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Model of all records.
pub(super) const MODEL: &str = "python-calls";

/// Probe of all records.
const PROBE: &str = "perf_counter";

const FIGURES: Figures<f64> = figures(MODEL);

/// Figures of a model.
pub(crate) const fn figures(model: &'static str) -> Figures<f64> {
    Figures { model, are_launches: false, list: &[(Ratio, PROBE, metric::NS, "ns", |ns| *ns)] }
}

/// Time in which Python must have loaded all packages.
const START: Duration = Duration::from_secs(120);

/// Note on a package that cannot take part.
const WITHOUT_HASH: &str =
    "pyarrow is not measured: it has no function that returns hashes, only groups by them";

/// Measures a study of calls.
pub(super) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    session.check_workloads(&timed::workloads())?;
    check_schemes(session, timed::is_known)?;
    if session.stopped() {
        return Ok(());
    }
    count_steps(session);
    session.with_folder("hashlane-python-", workloads)
}

/// Fails unless each scheme is known on its workloads.
pub(crate) fn check_schemes(
    session: &Session<'_>,
    is_known: impl Fn(&str, &str) -> bool,
) -> Result<(), RunError> {
    let definition = session.definition;
    for workload in &definition.workloads {
        for id in definition.schemes_on(workload) {
            if !is_known(workload, definition::subject(id)) {
                let slug = &definition.slug;
                let help = format!("not measured on {workload}; lab/studies/python/{slug} lists the schemes");
                return Err(RunError::UnknownScheme { id: id.clone(), help });
            }
        }
    }
    Ok(())
}

/// Sets the number of steps: the keys, and for each workload the checks and the turns.
pub(crate) fn count_steps(session: &mut Session<'_>) {
    let definition = session.definition;
    let rounds = session.settings.size.repetitions as usize;
    session.total =
        1 + definition.workloads.iter().map(|id| 1 + rounds * definition.schemes_on(id).len()).sum::<usize>();
}

/// Measures all workloads.
fn workloads(session: &mut Session<'_>, folder: &Path) -> Result<(), RunError> {
    let definition = session.definition;
    let first = definition.workloads.first().map_or("", String::as_str);
    session.step(first, "writing the keys");
    let data = Data::new(session.settings.seed, BATCH * BATCHES);
    let (mut python, absent) = match data.write(folder).and_then(|()| start(session, folder)) {
        Ok(started) => started,
        Err(TurnError::Stopped) => return Ok(()),
        Err(error) => return Err(RunError::other(error)),
    };
    for workload in &definition.workloads {
        if session.stopped() {
            break;
        }
        let measured = measure(session, &mut python, &absent, workload, &data, folder);
        measured.or_else(|(scheme, error)| error.end(workload, &scheme))?;
    }
    Ok(())
}

/// Starts Python with the packages of all schemes, and notes their versions. Returns those that it has not
/// and can do without, too.
pub(crate) fn start<'a>(
    session: &mut Session<'a>,
    folder: &Path,
) -> Result<(Process<'a>, Vec<String>), TurnError> {
    let definition = session.definition;
    let schemes = definition.workloads.iter().flat_map(|id| definition.schemes_on(id)).map(String::as_str);
    let key: String = session.settings.key.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut arguments = vec![folder.as_os_str().to_owned(), key.into()];
    arguments.extend(timed::packages(schemes).into_iter().map(Into::into));
    let script = Script {
        command: &session.settings.command,
        folder,
        name: "calls",
        text: include_str!("../script/calls.py"),
        arguments: &arguments,
        // One thread for everyone.
        variables: &[("POLARS_MAX_THREADS", "1".to_owned()), ("OMP_NUM_THREADS", "1".to_owned())],
    };
    let mut python = Process::start(&script, session.stop)?;
    let versions = python.answer(START)?;
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

/// Measures a workload in rounds. An error is of a scheme.
fn measure(
    session: &mut Session<'_>,
    python: &mut Process<'_>,
    absent: &[String],
    workload: &str,
    data: &Data,
    folder: &Path,
) -> Result<(), (String, TurnError)> {
    let ours = |error| (OURS.to_owned(), error);
    let rounds = session.settings.size.repetitions as usize;
    let (keys, key) = (timed::keys(workload), Key::new(session.settings.key));
    let expected = |scheme: &str| data.expected(workload, scheme, &key);
    let mut all = contenders(session, python, absent, workload, keys, expected)?;
    agree(workload, &all).map_err(|error| ours(error.into()))?;
    if let Some((_, buckets)) = SPREAD.iter().find(|(id, _)| *id == workload) {
        same_sketch(session, python, workload, data, folder, *buckets).map_err(ours)?;
    }
    let turn = |_: &mut Session<'_>, timed: &mut Timed, _| timed::turn(timed, python);
    let ended = take_turns(session, &mut all, rounds, turn, |session, all| FIGURES.record(session, all));
    ended.map_err(|error| ours(error.into()))?;
    if session.stopped() {
        return Ok(());
    }
    timed::counted(python, workload, &all).map_err(ours)?;
    if BATCHED.contains(&workload) {
        let empty = (0..rounds).map(|_| timed::empty(python, workload));
        let empty = empty.collect::<Result<Vec<f64>, _>>().map_err(ours)?;
        session.add(MODEL, workload, OURS, PROBE, metric::EMPTY_NS, "ns", Fact::median(&empty));
    }
    Ok(())
}

/// The schemes that can be measured on a workload of so many keys, each with the hashes `expected` of it. An
/// error is of a scheme.
pub(crate) fn contenders(
    session: &mut Session<'_>,
    python: &mut Process<'_>,
    absent: &[String],
    workload: &str,
    keys: usize,
    expected: impl Fn(&str) -> Option<u64>,
) -> Result<Vec<Timed>, (String, TurnError)> {
    session.step(workload, "checking the results");
    let turn = Duration::from_millis(session.settings.size.items.into());
    let mut all: Vec<Timed> = Vec::new();
    for id in session.definition.schemes_on(workload) {
        if absent.iter().any(|name| name == timed::package(id)) {
            continue;
        }
        let calls = Calls::new(python, workload, id, keys, turn).and_then(|calls| {
            match expected(definition::subject(id)) {
                Some(expected) if expected != calls.sum => Err(TurnError::Raised(format!(
                    "its hashes sum to {}, and those of the crate to {expected}",
                    calls.sum
                ))),
                _ => Ok(calls),
            }
        });
        match calls {
            Ok(calls) => all.push(Contender::new(workload, id, calls, timed::is_foreign(id))),
            Err(TurnError::Raised(why)) if timed::is_foreign(id) => {
                session.notes.push(format!("{id} was not measured on {workload}: {why}"));
            }
            Err(error) => return Err((id.clone(), error)),
        }
    }
    Ok(all)
}

/// Checks that two packages with one hash agree.
fn agree(workload: &str, all: &[Timed]) -> Result<(), RunError> {
    let sum = |id: &str| all.iter().find(|timed| timed.id == id).map(|timed| timed.subject.sum);
    let [a, b] = ["polars-hash/xxh3-64", "xxhash/xxh3-64"];
    match (sum(a), sum(b)) {
        (Some(one), Some(other)) if one != other => {
            let (workload, schemes) = (workload.to_owned(), (a.to_owned(), b.to_owned()));
            Err(RunError::Disagree { workload, schemes })
        }
        _ => Ok(()),
    }
}

/// Checks that a sketch of Python has the bytes of the crate's.
fn same_sketch(
    session: &Session<'_>,
    python: &mut Process<'_>,
    workload: &str,
    data: &Data,
    folder: &Path,
    buckets: usize,
) -> Result<(), TurnError> {
    timed::sketch(python, workload)?;
    let found = fs::read(folder.join("sketch")).map_err(TurnError::io("cannot read the sketch of Python"))?;
    let expected = data.sketch(&Key::new(session.settings.key), buckets).map_err(RunError::other)?;
    if expected == found {
        return Ok(());
    }
    let what = "the sketch of Python has other bytes than that of the crate".to_owned();
    Err(RunError::Expectation { workload: workload.to_owned(), what }.into())
}
