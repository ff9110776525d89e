//! Launches of a build: short runs of a study, each in a separate process, with their results in a temporary
//! folder. `compare --run` launches two builds, `study run` this one.

use anyhow::{Context, Result, bail};
use hashlane_records::{FILE_NAME, RecordSet};
use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time between two looks at Ctrl-C while a launch runs: too rare to disturb it.
const PATIENCE: Duration = Duration::from_millis(100);

/// Mark of a line of progress, after the study and the seconds.
const STEP: &str = " s: step ";

/// Lines of a launch's standard error that an error repeats.
const MAX_LINES: usize = 5;

/// Variable of the environment of a launch. Its run starts no further launches, draws nothing, and ends
/// early, with its records, once its standard input is closed. Older builds do not read it.
const LAUNCH: &str = "HASHLANE_LAUNCH";

/// Launches builds, each with its own folder for results.
pub struct Launcher<'a> {
    /// Removed with everything in it when dropped.
    folder: TempDir,
    /// Options of the runs, after those for the size and the folder of results.
    options: Vec<OsString>,
    /// Set by Ctrl-C.
    stop: &'a AtomicBool,
    /// A launch that is stopped ends by itself, and leaves its records so far; otherwise it is killed.
    leaves_records: bool,
}

/// Outcome of a launch.
pub enum Launch {
    /// Its records, and the seconds that it took.
    Records(RecordSet, f64),
    /// It failed: the status, and its standard error.
    Failed(ExitStatus, String),
    /// Ctrl-C ended it.
    Stopped,
}

/// Tests if this process is a launch.
pub fn is_launch() -> bool {
    std::env::var_os(LAUNCH).is_some()
}

/// In a launch, sets `stop` once standard input is closed: by the parent after Ctrl-C, or by its death.
pub fn stop_with_parent(stop: &'static AtomicBool) {
    if is_launch() {
        std::thread::spawn(move || {
            // An error is an end, too.
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            stop.store(true, Ordering::Relaxed);
        });
    }
}

impl<'a> Launcher<'a> {
    /// With a new temporary folder.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn new(options: Vec<OsString>, stop: &'a AtomicBool, leaves_records: bool) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("hashlane-")
            .tempdir()
            .context("cannot make a temporary folder; set TMPDIR to a folder with room")?;
        Ok(Self { folder, options, stop, leaves_records })
    }

    /// Writes the study file of later launches.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_study(&self, text: &str) -> Result<()> {
        let path = self.study();
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    fn study(&self) -> PathBuf {
        self.folder.path().join("study.toml")
    }

    /// Folder of the results of the last launch, also of one that failed or was stopped.
    pub fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    /// Runs the study once by `command`, in a size, `--quick` or `--full`. Gives `step` its lines of
    /// progress.
    ///
    /// # Errors
    /// The command cannot be started, or leaves no records.
    pub fn launch(&self, command: &Path, size: &str, step: &mut dyn FnMut(&str)) -> Result<Launch> {
        let out = self.out();
        if out.exists() {
            // Each launch starts without earlier results, which it would set aside.
            std::fs::remove_dir_all(&out).with_context(|| format!("cannot remove {}", out.display()))?;
        }
        let begun = Instant::now();
        let child = Command::new(command)
            .args(["study", "run"])
            .arg(self.study())
            .args([size, "--out"])
            .arg(&out)
            .args(&self.options)
            .env(LAUNCH, "1")
            // Sockets and files of studies go with the folder.
            .env("TMPDIR", self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}: name a build of hashlane", command.display()))?;
        let ended = self.wait(child, step);
        let (status, said) = ended.with_context(|| format!("cannot wait for {}", command.display()))?;
        let seconds = begun.elapsed().as_secs_f64();
        if self.stop.load(Ordering::Relaxed) {
            return Ok(Launch::Stopped);
        }
        if !status.success() {
            return Ok(Launch::Failed(status, said));
        }
        let records = out.join(FILE_NAME);
        if !records.exists() {
            bail!("{} left no records: {}", command.display(), last_lines(&said));
        }
        let records = RecordSet::read(&records)
            .with_context(|| format!("a launch of {} left no records", command.display()))?;
        Ok(Launch::Records(records, seconds))
    }

    /// Waits for the child's end, also after Ctrl-C, and returns its standard error without lines of
    /// progress.
    fn wait(&self, mut child: Child, step: &mut dyn FnMut(&str)) -> io::Result<(ExitStatus, String)> {
        let mut stdin = child.stdin.take();
        let (to, lines) = mpsc::channel();
        let stderr = child.stderr.take();
        // Ends with the child, whose end of the pipe closes.
        std::thread::spawn(move || {
            for line in stderr.into_iter().flat_map(|stderr| BufReader::new(stderr).split(b'\n')) {
                let Ok(line) = line else { return };
                if to.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    return;
                }
            }
        });
        let mut said = String::new();
        loop {
            match lines.recv_timeout(PATIENCE) {
                Ok(line) => match line.split_once(STEP) {
                    Some((_, what)) => step(what),
                    None => said += &(line + "\n"),
                },
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::Relaxed) => {
                    if self.leaves_records {
                        drop(stdin.take());
                    } else {
                        child.kill()?;
                        break;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        // Closes standard input only after the end: a build that reads it would stop.
        let status = child.wait()?;
        drop(stdin);
        Ok((status, said))
    }
}

/// The scheme that a launch did not know, from its error message.
pub fn unknown_scheme(said: &str) -> Option<&str> {
    said.split("unknown scheme \"").nth(1)?.split('"').next()
}

/// The last lines of a launch's standard error, as one.
pub fn last_lines(said: &str) -> String {
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let first = lines.len().saturating_sub(MAX_LINES);
    let last = lines.get(first..).unwrap_or_default().join(" / ");
    match last.strip_prefix("hashlane: ").unwrap_or(&last) {
        "" => "no message".to_owned(),
        last => last.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_unknown_scheme_in_a_message() {
        let said = "hashlane: study flow-hash: unknown scheme \"jash/single\": a scheme is …\n";
        assert_eq!(unknown_scheme(said), Some("jash/single"));
        assert_eq!(unknown_scheme("hashlane: no study \"x\"\n"), None);
        assert_eq!(last_lines(said), "study flow-hash: unknown scheme \"jash/single\": a scheme is …");
        assert_eq!(last_lines("\n"), "no message");
    }
}
