//! Run of a study of a cluster: files, a cluster of Ray, sketches in turns, and killed workers.

use super::driver::{Driver, Engine, Made};
use super::keys::Files;
use super::killed;
use super::role::Role;
use super::workloads::{MODEL, ONCE, SPREAD, TWENTY, TWO, WORKLOADS};
use crate::error::PythonError;
use crate::metric;
use hashlane_hash::scheme::Key;
use hashlane_lab::definition::subject;
use hashlane_lab::study::{Fact, Rounds, RunError, Session, order};
use nix::sys::statvfs::statvfs;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Workers of the cluster.
const WORKERS: usize = 2;

/// Kills of [`TWENTY`].
const KILLS: u32 = 20;

/// Free space that the run needs, in bytes: the files, and the logs and objects of Ray.
const ROOM: u64 = 1 << 30;

/// Measures a study of a cluster.
pub(super) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    let definition = session.definition;
    for workload in &definition.workloads {
        if !WORKLOADS.contains(&workload.as_str()) {
            let known = WORKLOADS.join(", ");
            return Err(RunError::UnknownWorkload(format!("unknown workload {workload:?}; known: {known}")));
        }
        for id in definition.schemes_on(workload) {
            let known = if workload == SPREAD { Engine::known() } else { TWO.to_owned() };
            if Engine::of(subject(id)).is_none() || (workload != SPREAD && subject(id) != TWO) {
                let help = format!("known on {workload}: {known}");
                return Err(RunError::UnknownScheme { id: id.clone(), help });
            }
        }
    }
    if session.stopped() {
        return Ok(());
    }
    let of = |id: &str| definition.workloads.iter().any(|workload| workload == id);
    // A quick run has its one kill elsewhere.
    let twenty = of(TWENTY) && (session.settings.full || definition.names_workloads());
    let rounds = session.settings.size.repetitions as usize;
    session.total = 4
        + if of(SPREAD) { rounds * definition.schemes_on(SPREAD).len() } else { 0 }
        + usize::from(of(ONCE))
        + if twenty { KILLS as usize } else { 0 };
    // A short name: the path of a socket of Ray has at most 107 bytes.
    let folder = tempfile::Builder::new().prefix("hashlane-").tempdir();
    let folder = folder.map_err(|error| RunError::Other(Box::new(error)))?;
    let measured = match measure(session, folder.path(), of, twenty) {
        Err(Failure::Python(PythonError::Stopped)) => Ok(()),
        Err(Failure::Python(error)) => Err(RunError::Other(Box::new(error))),
        Err(Failure::Run(error)) => Err(error),
        Ok(()) => Ok(()),
    };
    folder.close().map_err(|error| RunError::Other(Box::new(error))).and(measured)
}

/// Reason why a run ends early.
enum Failure {
    Python(PythonError),
    Run(RunError),
}

impl From<PythonError> for Failure {
    fn from(error: PythonError) -> Self {
        Self::Python(error)
    }
}

fn measure(
    session: &mut Session<'_>,
    folder: &Path,
    of: impl Fn(&str) -> bool,
    twenty: bool,
) -> Result<(), Failure> {
    let first = session.definition.workloads.first().map_or("", String::as_str);
    room(folder)?;
    let files = Files::new(u64::from(session.settings.size.items) * 1_000);
    let key = Key::new(session.settings.key);
    session.step(first, "starting Python");
    let mut driver = Driver::start(session, folder)?;
    session.step(first, "writing the files");
    let size = driver.write(files, session.stop)?;
    let (keys, mib) = (files.keys, size.div_ceil(1 << 20));
    session.notes.push(format!("{} files of Parquet with {keys} keys in all, {mib} MiB", files.files));
    session.step(first, "making the expected sketch");
    let expected = files.expected(&key, session.stop)?;
    session.step(first, "starting Ray");
    driver.cluster(WORKERS, session.stop)?;
    session.notes.push(
        "each process of Ray may map 2 GiB of private memory (RLIMIT_DATA), and a task that asked for 3 GiB \
         was refused them"
            .to_owned(),
    );
    if thread::available_parallelism().is_ok_and(|cores| cores.get() <= WORKERS) {
        session.notes.push(
            "two workers share the cores of this machine with the driver, the raylet and the GCS server"
                .to_owned(),
        );
    }
    // Workers load their packages in their first task.
    let engine = Engine::of(TWO).filter(|_| !session.stopped());
    let warm = engine.map(|engine| driver.sketch(engine, files.tenth(), session.stop)).transpose()?;
    let mut usual =
        warm.map_or(Duration::ZERO, |made| made.wall.mul_f64(files.keys as f64 / files.tenth().keys as f64));
    if of(SPREAD) {
        usual = spread(session, &mut driver, files, &expected)?.unwrap_or(usual);
    }
    if of(ONCE) && !session.stopped() {
        killed::run(session, &mut driver, ONCE, files, 1, usual, &expected).map_err(Failure::Run)?;
    }
    if twenty && !session.stopped() {
        let part = if session.settings.full { files.tenth() } else { files };
        let usual = usual.mul_f64(part.keys as f64 / files.keys as f64);
        let expected = part.expected(&key, session.stop)?;
        killed::run(session, &mut driver, TWENTY, part, KILLS, usual, &expected).map_err(Failure::Run)?;
    }
    Ok(driver.end(session.stop)?)
}

/// Checks that a folder has the room that the run needs.
fn room(folder: &Path) -> Result<(), PythonError> {
    let found = statvfs(folder).map_err(|errno| {
        PythonError::Io("cannot read the free space of the folder for temporary files", errno.into())
    })?;
    let free = found.blocks_available().saturating_mul(found.fragment_size());
    if free >= ROOM {
        return Ok(());
    }
    let (folder, mib) = (folder.display(), free >> 20);
    Err(PythonError::Program(format!(
        "{folder} has {mib} MiB free, and the study needs 1,024 MiB; set TMPDIR to another folder"
    )))
}

/// A scheme that takes turns.
struct Subject {
    id: String,
    engine: Engine,
    made: Vec<Made>,
}

/// Makes sketches of all files in rounds; the usual time with two workers, if it is known.
fn spread(
    session: &mut Session<'_>,
    driver: &mut Driver,
    files: Files,
    expected: &[u8],
) -> Result<Option<Duration>, Failure> {
    let ids = session.definition.schemes_on(SPREAD).iter();
    let mut subjects: Vec<Subject> = ids
        .filter_map(|id| Some(Subject { id: id.clone(), engine: Engine::of(subject(id))?, made: Vec::new() }))
        .collect();
    let rounds = session.settings.size.repetitions as usize;
    let measured = turns(session, driver, &mut subjects, files, expected, rounds);
    record(session, &subjects, files);
    measured?;
    let two = subjects.iter().find(|subject| subject.id == TWO);
    Ok(two.and_then(|two| two.made.last()).map(|made| made.wall))
}

fn turns(
    session: &mut Session<'_>,
    driver: &mut Driver,
    subjects: &mut [Subject],
    files: Files,
    expected: &[u8],
    rounds: usize,
) -> Result<(), Failure> {
    for round in 0..rounds {
        for at in order(subjects.len(), round) {
            let Some(subject) = subjects.get_mut(at) else { continue };
            if session.stopped() {
                return Ok(());
            }
            session.step(SPREAD, &format!("{}, round {} of {rounds}", subject.id, round + 1));
            let mut made = driver.sketch(subject.engine, files, session.stop)?;
            if made.bytes != expected {
                return Err(Failure::Run(RunError::Expectation {
                    workload: SPREAD.to_owned(),
                    what: format!("the sketch of {} has other bytes than that of the crate", subject.id),
                }));
            }
            // They are those that were expected.
            made.bytes = Vec::new();
            subject.made.push(made);
        }
        if round + 1 < rounds {
            session.report_rounds(|session| record(session, subjects, files));
        }
    }
    Ok(())
}

/// Adds the records of the complete rounds.
fn record(session: &mut Session<'_>, subjects: &[Subject], files: Files) {
    let rounds = subjects.iter().map(|subject| subject.made.len()).min().unwrap_or(0);
    if rounds < 2 {
        return;
    }
    let keys = files.keys as f64;
    let ids: Vec<String> = subjects.iter().map(|subject| subject.id.clone()).collect();
    let figures = |of: &dyn Fn(&Made) -> Duration| -> Vec<Vec<f64>> {
        let each = |made: &Made| of(made).as_secs_f64() * 1e9 / keys;
        subjects.iter().map(|subject| subject.made.iter().take(rounds).map(each).collect()).collect()
    };
    let wall = Rounds::of(figures(&|made| made.wall));
    for (at, id) in ids.iter().enumerate() {
        session.add(MODEL, SPREAD, id, "wall-clock", metric::NS, "ns", wall.time(at));
        session.add(MODEL, SPREAD, id, "count", metric::KEYS, "keys", Fact::exact(keys, rounds));
    }
    session.add_ratios(MODEL, SPREAD, "wall-clock", &ids, |of, to| wall.ratio(of, to));
    for (role, name) in Role::ALL {
        let of = |made: &Made| {
            let cpu = made.cpu.iter().find(|(other, _)| *other == role);
            cpu.map_or(Duration::ZERO, |(_, cpu)| *cpu)
        };
        let cpu = Rounds::of(figures(&of));
        for (at, subject) in subjects.iter().enumerate() {
            // Ray waits while the engine `local` runs.
            if subject.engine.has_workers() || role == Role::Driver {
                session.add(MODEL, SPREAD, &subject.id, "proc", name, "ns", cpu.time(at));
            }
        }
    }
    for subject in subjects {
        if let Some(peak) = subject.made.iter().filter_map(|made| made.peak).max() {
            let fact = Fact::exact(peak as f64, rounds);
            session.add(MODEL, SPREAD, &subject.id, "proc", metric::PEAK, "bytes", fact);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::definition;

    #[test]
    fn all_workloads_of_the_study_are_known() {
        assert_eq!(definition().workloads, WORKLOADS);
        assert_eq!(definition().schemes_on(TWENTY), [TWO, "ray/2/again"]);
    }

    #[test]
    fn a_folder_is_checked_for_room() {
        let error = room(Path::new("/none")).unwrap_err().to_string();
        assert!(error.starts_with("cannot read the free space"), "{error}");
        // It has room, or the error says what to do.
        let here = tempfile::tempdir().unwrap();
        assert!(room(here.path()).err().is_none_or(|error| error.to_string().contains("set TMPDIR")));
    }
}
