//! Run of a study of a cluster: files, a cluster of Ray, sketches in turns, and killed workers.

use super::driver::{Driver, ENGINES, Engine};
use super::keys::Files;
use super::killed;
use super::role::Role;
use super::workloads::{MODEL, ONCE, SPREAD, TWENTY, TWO, WORKLOADS};
use crate::metric;
use hashlane_hash::scheme::Key;
use hashlane_lab::definition::subject;
use hashlane_lab::study::Summary::{Median, Most, Ratio};
use hashlane_lab::study::{Contender, Figures, RunError, Session, TurnError, by_id, ids_of, take_turns};
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

/// Outcome of a turn. Figures of workers are not finite without any.
struct Turn {
    keys: u64,
    wall: Duration,
    /// CPU nanoseconds of each role for each key.
    cpu_ns: [f64; Role::ALL.len()],
    peak: f64,
}

impl Turn {
    /// Nanoseconds for each key.
    fn ns(&self) -> f64 {
        self.wall.as_secs_f64() * 1e9 / self.keys as f64
    }
}

const FIGURES: Figures<Turn> = Figures {
    model: MODEL,
    are_launches: false,
    list: &[
        (Ratio, "wall-clock", metric::NS, "ns", Turn::ns),
        (Most, "count", metric::KEYS, "keys", |turn| turn.keys as f64),
        (Median, "proc", Role::ALL[0].1, "ns", |turn| turn.cpu_ns[0]),
        (Median, "proc", Role::ALL[1].1, "ns", |turn| turn.cpu_ns[1]),
        (Median, "proc", Role::ALL[2].1, "ns", |turn| turn.cpu_ns[2]),
        (Median, "proc", Role::ALL[3].1, "ns", |turn| turn.cpu_ns[3]),
        (Median, "proc", Role::ALL[4].1, "ns", |turn| turn.cpu_ns[4]),
        (Most, "proc", metric::PEAK, "bytes", |turn| turn.peak),
    ],
};

/// Measures a study of a cluster.
pub(super) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    let definition = session.definition;
    session.check_workloads(&WORKLOADS)?;
    for workload in &definition.workloads {
        for id in definition.schemes_on(workload) {
            let known = if workload == SPREAD { ids_of(&ENGINES) } else { TWO.to_owned() };
            if by_id(&ENGINES, subject(id)).is_none() || (workload != SPREAD && subject(id) != TWO) {
                let help = format!("known on {workload}: {known}");
                return Err(RunError::UnknownScheme { id: id.clone(), help });
            }
        }
    }
    if session.stopped() {
        return Ok(());
    }
    // A quick run has its one kill elsewhere.
    let twenty = session.has_workload(TWENTY) && (session.settings.full || definition.names_workloads());
    let rounds = session.settings.size.repetitions as usize;
    session.total = 4
        + if session.has_workload(SPREAD) { rounds * definition.schemes_on(SPREAD).len() } else { 0 }
        + usize::from(session.has_workload(ONCE))
        + if twenty { KILLS as usize } else { 0 };
    // A short name: the path of a socket of Ray has at most 107 bytes.
    session.with_folder("hashlane-", |session, folder| match measure(session, folder, twenty) {
        Ok(()) | Err(TurnError::Stopped) => Ok(()),
        Err(TurnError::Run(error)) => Err(error),
        Err(error) => Err(RunError::other(error)),
    })
}

fn measure(session: &mut Session<'_>, folder: &Path, twenty: bool) -> Result<(), TurnError> {
    let first = session.definition.workloads.first().map_or("", String::as_str);
    room(folder)?;
    let files = Files::new(u64::from(session.settings.size.items) * 1_000);
    let key = Key::new(session.settings.key);
    session.step(first, "starting Python");
    let mut driver = Driver::start(session, folder)?;
    session.step(first, "writing the files");
    let size = driver.write(files)?;
    let (keys, mib) = (files.keys, size.div_ceil(1 << 20));
    session.notes.push(format!("{} files of Parquet with {keys} keys in all, {mib} MiB", files.files));
    session.step(first, "making the expected sketch");
    let expected = files.expected(&key, session.stop)?;
    session.step(first, "starting Ray");
    driver.cluster(WORKERS)?;
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
    let engine = by_id(&ENGINES, TWO).filter(|_| !session.stopped());
    let warm = engine.map(|engine| driver.sketch(engine, files.tenth(), None)).transpose()?;
    let mut usual =
        warm.map_or(Duration::ZERO, |made| made.wall.mul_f64(files.keys as f64 / files.tenth().keys as f64));
    if session.has_workload(SPREAD) {
        usual = spread(session, &mut driver, files, &expected)?.unwrap_or(usual);
    }
    if session.has_workload(ONCE) && !session.stopped() {
        killed::run(session, &mut driver, ONCE, files, 1, usual, &expected)?;
    }
    if twenty && !session.stopped() {
        let part = if session.settings.full { files.tenth() } else { files };
        let usual = usual.mul_f64(part.keys as f64 / files.keys as f64);
        let expected = part.expected(&key, session.stop)?;
        killed::run(session, &mut driver, TWENTY, part, KILLS, usual, &expected)?;
    }
    driver.end()
}

/// Checks that a folder has the room that the run needs.
fn room(folder: &Path) -> Result<(), TurnError> {
    let found = statvfs(folder)
        .map_err(TurnError::io("cannot read the free space of the folder for temporary files"))?;
    let free = found.blocks_available().saturating_mul(found.fragment_size());
    if free >= ROOM {
        return Ok(());
    }
    let (folder, mib) = (folder.display(), free >> 20);
    Err(TurnError::Failed(format!(
        "{folder} has {mib} MiB free, and the study needs 1,024 MiB; set TMPDIR to another folder"
    )))
}

/// Makes sketches of all files in rounds; the usual time with two workers, if it is known.
fn spread(
    session: &mut Session<'_>,
    driver: &mut Driver<'_>,
    files: Files,
    expected: &[u8],
) -> Result<Option<Duration>, RunError> {
    let ids = session.definition.schemes_on(SPREAD).iter();
    let contender = |id: &String| Some(Contender::new(SPREAD, id, by_id(&ENGINES, subject(id))?, false));
    let mut all: Vec<_> = ids.filter_map(contender).collect();
    let turn =
        |_: &mut Session<'_>, contender: &mut Contender<Engine, Turn>, _| {
            let made = driver.sketch(contender.subject, files, None)?;
            if made.bytes != expected {
                let what = format!("the sketch of {} has other bytes than that of the crate", contender.id);
                return Err(RunError::Expectation { workload: SPREAD.to_owned(), what }.into());
            }
            // Ray waits while the engine `local` runs.
            let is_there = |role| contender.subject.has_workers() || role == Role::Driver;
            let cpu_ns = made.cpu.map(|(role, cpu)| {
                if is_there(role) { cpu.as_secs_f64() * 1e9 / files.keys as f64 } else { f64::NAN }
            });
            let peak = made.peak.map_or(f64::NAN, |peak| peak as f64);
            Ok(Turn { keys: files.keys, wall: made.wall, cpu_ns, peak })
        };
    let rounds = session.settings.size.repetitions as usize;
    take_turns(session, &mut all, rounds, turn, |session, all| FIGURES.record(session, all))?;
    let two = all.iter().find(|contender| contender.id == TWO);
    Ok(two.and_then(|two| two.turns.last()).map(|turn| turn.wall))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::tests::sample;

    #[test]
    fn all_workloads_of_the_study_are_known() {
        let definition = sample(&[]).definition;
        assert_eq!(definition.workloads, WORKLOADS);
        assert_eq!(definition.schemes_on(TWENTY), [TWO, "ray/2/again"]);
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
