//! The Python process that calls `hashlane.distributed`, and the processes of Ray that it starts.

use super::keys::{BUCKETS, Files};
use super::role::{Role, spent};
use super::workloads::TWO;
use crate::process::{Process, Script};
use crate::tree::{self, Entry};
use hashlane_lab::study::{Session, TurnError};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Memory that each process may map for itself, in bytes: the limit of a worker.
pub(super) const LIMIT: u64 = 2 << 30;

/// Time in which files must be written, Ray must have started, and a sketch be made.
const PATIENCE: Duration = Duration::from_secs(600);

/// Time in which Ray must have ended by itself.
const END: Duration = Duration::from_secs(30);

/// Time between two looks at the memory of workers.
const LOOK: Duration = Duration::from_millis(200);

/// An engine of `hashlane.distributed`, and its number of workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Engine {
    name: &'static str,
    workers: u8,
}

/// Engines by the ids of schemes.
pub(super) const ENGINES: [(&str, Engine); 3] = [
    ("local/1", Engine { name: "local", workers: 1 }),
    ("ray/1", Engine { name: "ray", workers: 1 }),
    (TWO, Engine { name: "ray", workers: 2 }),
];

impl Engine {
    /// `true` if its tasks run in processes of their own.
    pub(super) fn has_workers(self) -> bool {
        self.name == "ray"
    }
}

/// A sketch that was made.
#[derive(Clone, Debug)]
pub(super) struct Made {
    /// Time of the call.
    pub(super) wall: Duration,
    /// Bytes of the sketch.
    pub(super) bytes: Vec<u8>,
    /// Largest peak of resident memory of a worker, in bytes; `None` without workers.
    pub(super) peak: Option<u64>,
    /// CPU time of each role.
    pub(super) cpu: [(Role, Duration); 5],
    /// The worker that was killed.
    pub(super) killed: Option<i32>,
}

/// The process, and the folder of the files.
#[derive(Debug)]
pub(super) struct Driver<'a> {
    process: Process<'a>,
    folder: PathBuf,
}

impl<'a> Driver<'a> {
    /// Starts Python in an empty folder; notes the versions of the packages.
    pub(super) fn start(session: &mut Session<'a>, folder: &Path) -> Result<Self, TurnError> {
        let key: String = session.settings.key.iter().map(|byte| format!("{byte:02x}")).collect();
        let arguments =
            [folder.as_os_str().to_owned(), key.into(), BUCKETS.to_string().into(), LIMIT.to_string().into()];
        let script = Script {
            command: &session.settings.command,
            folder,
            name: "cluster",
            text: include_str!("../script/cluster.py"),
            arguments: &arguments,
            variables: &[
                // No report to the makers of Ray.
                ("RAY_USAGE_STATS_ENABLED", "0".to_owned()),
            ],
        };
        let mut process = Process::start(&script, session.stop)?;
        let versions = process.answer(PATIENCE)?;
        let versions: Vec<String> =
            versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        session.notes.push(versions.join(", "));
        Ok(Self { process, folder: folder.to_owned() })
    }

    /// Writes the files, and returns their size in bytes.
    pub(super) fn write(&mut self, files: Files) -> Result<u64, TurnError> {
        let Files { files, rows, keys } = files;
        let written = self.process.ask(&format!("write {files} {rows} {keys}"), PATIENCE)?;
        written.number("bytes").map_err(TurnError::Failed)
    }

    /// Starts Ray with a core for each of so many workers, and checks that each process is held to the limit.
    pub(super) fn cluster(&mut self, cores: usize) -> Result<(), TurnError> {
        self.process.ask(&format!("start {cores}"), PATIENCE)?;
        let refused = self.process.ask(&format!("refused {}", LIMIT + LIMIT / 2), PATIENCE)?;
        let refused: u8 = refused.number("refused").map_err(TurnError::Failed)?;
        let held = |entry: &Entry| entry.data_limit() == Some(LIMIT) || !entry.is_alive();
        let held = self.tree().iter().all(held);
        if refused == 1 && held {
            return Ok(());
        }
        Err(TurnError::Failed("a worker of Ray has more memory than its limit of 2 GiB".to_owned()))
    }

    /// Ends Ray, and then Python.
    pub(super) fn end(mut self) -> Result<(), TurnError> {
        self.process.ask("end", END).map(|_| ())
    }

    /// Makes a sketch of the first files. With `kill`, a busy worker is killed so long after the begin of the
    /// call: it waits for one, and if the call ends first, no worker was killed.
    pub(super) fn sketch(
        &mut self,
        engine: Engine,
        files: Files,
        kill: Option<Duration>,
    ) -> Result<Made, TurnError> {
        let Engine { name, workers } = engine;
        let before = self.tree();
        let (mut peak, mut killed) = (0, None);
        let begun = Instant::now();
        self.process.send(&format!("spread {name} {workers} {}", files.files))?;
        let fields = loop {
            let left = kill.filter(|_| killed.is_none()).map(|after| after.saturating_sub(begun.elapsed()));
            // A busy worker is not there at once.
            let wait = left.map_or(LOOK, |left| left.clamp(Duration::from_millis(2), LOOK));
            if let Some(fields) = self.process.poll(wait)? {
                break fields;
            }
            if self.process.is_stopped() {
                return Err(TurnError::Stopped);
            }
            if begun.elapsed() > PATIENCE {
                return Err(self.process.failed(&format!("no sketch within {} s", PATIENCE.as_secs())));
            }
            if left == Some(Duration::ZERO) {
                let tree = self.tree();
                if let Some(worker) = tree.iter().find(|entry| Role::is_busy(entry, self.process.id())) {
                    // Afterwards its peak is unknown.
                    peak = peak.max(worker.peak().unwrap_or(0));
                    killed = worker.kill().then_some(worker.pid);
                }
            }
        };
        let after = self.tree();
        for worker in after.iter().filter(|entry| Role::of(entry, self.process.id()) == Role::Worker) {
            peak = peak.max(worker.peak().unwrap_or(0));
        }
        let ns = fields.number("ns").map_err(TurnError::Failed)?;
        let result = self.folder.join("result");
        // The next call writes its own.
        let bytes = fs::read(&result).and_then(|bytes| fs::remove_file(&result).map(|()| bytes));
        Ok(Made {
            wall: Duration::from_nanos(ns),
            bytes: bytes.map_err(TurnError::io("cannot read the sketch of Python"))?,
            peak: engine.has_workers().then_some(peak),
            cpu: spent(self.process.id(), &before, &after),
            killed,
        })
    }

    /// All processes.
    fn tree(&self) -> Vec<Entry> {
        tree::tree(self.process.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::tests::sample;
    use hashlane_lab::study::by_id;

    #[test]
    fn every_scheme_of_the_study_is_an_engine() {
        for scheme in &sample(&[]).definition.schemes {
            let Engine { name, workers } = by_id(&ENGINES, scheme).unwrap();
            assert_eq!(format!("{name}/{workers}"), *scheme);
        }
    }
}
