//! Launches of a build: short runs of a study, with their results in a temporary folder.

use anyhow::{Context, Result, anyhow, bail};
use hashlane_lab::record::RecordSet;
use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time between two looks at Ctrl-C while a launch runs: too rare to disturb it.
const PATIENCE: Duration = Duration::from_millis(100);

/// Lines of a launch's standard error that an error repeats.
const MAX_LINES: usize = 5;

/// Launches builds, each with its own folder for results.
pub(super) struct Launcher<'a> {
    /// Removed with everything in it when dropped.
    folder: TempDir,
    /// Options with the user's own workload.
    inputs: Vec<OsString>,
    /// Set by Ctrl-C.
    stop: &'a AtomicBool,
}

/// Outcome of a launch.
pub(super) enum Launch {
    /// Its records, and the seconds that it took.
    Records(RecordSet, f64),
    /// A scheme that the build does not know.
    Unknown(String),
    /// Ctrl-C ended it.
    Stopped,
}

impl<'a> Launcher<'a> {
    /// With a new temporary folder.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub(super) fn new(inputs: Vec<OsString>, stop: &'a AtomicBool) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("hashlane-")
            .tempdir()
            .context("cannot make a temporary folder; set TMPDIR to a folder with room")?;
        Ok(Self { folder, inputs, stop })
    }

    /// Writes the study file of later launches.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write_study(&self, text: &str) -> Result<()> {
        let path = self.study();
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    fn study(&self) -> PathBuf {
        self.folder.path().join("study.toml")
    }

    /// Runs the study once by `command`.
    ///
    /// # Errors
    /// The command cannot be started, fails, or leaves no records.
    pub(super) fn launch(&self, command: &Path) -> Result<Launch> {
        let out = self.folder.path().join("out");
        let begun = Instant::now();
        let child = Command::new(command)
            .args(["study", "run"])
            .arg(self.study())
            .arg("--quick")
            .arg("--out")
            .arg(&out)
            .args(&self.inputs)
            // Sockets and files of studies go with the folder.
            .env("TMPDIR", self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}: name a build of hashlane", command.display()))?;
        let ended = self.wait(child).with_context(|| format!("cannot wait for {}", command.display()))?;
        let Some((status, said)) = ended else { return Ok(Launch::Stopped) };
        let seconds = begun.elapsed().as_secs_f64();
        if self.stop.load(Ordering::Relaxed) {
            return Ok(Launch::Stopped);
        }
        if !status.success() {
            return match unknown_scheme(&said) {
                Some(scheme) => Ok(Launch::Unknown(scheme.to_owned())),
                None => Err(failure(command, status, &said)),
            };
        }
        let path = out.join("records.csv");
        if !path.exists() {
            bail!("{} left no records: {}", command.display(), last_lines(&said));
        }
        let records = RecordSet::read(&path)?;
        // Each launch starts without earlier results, which it would set aside.
        std::fs::remove_dir_all(&out).with_context(|| format!("cannot remove {}", out.display()))?;
        Ok(Launch::Records(records, seconds))
    }

    /// Waits for the child's end, and returns its standard error; `None` once Ctrl-C has killed it.
    fn wait(&self, mut child: Child) -> std::io::Result<Option<(ExitStatus, String)>> {
        let stderr = child.stderr.take();
        let (to, said) = mpsc::channel();
        // Ends with the child, whose end of the pipe closes.
        std::thread::spawn(move || {
            let mut text = Vec::new();
            if let Some(mut stderr) = stderr {
                let _ = stderr.read_to_end(&mut text);
            }
            let _ = to.send(String::from_utf8_lossy(&text).into_owned());
        });
        loop {
            match said.recv_timeout(PATIENCE) {
                Ok(said) => return Ok(Some((child.wait()?, said))),
                Err(RecvTimeoutError::Disconnected) => return Ok(Some((child.wait()?, String::new()))),
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::Relaxed) => {
                    child.kill()?;
                    child.wait()?;
                    return Ok(None);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// The scheme that a launch did not know, from its error message.
fn unknown_scheme(said: &str) -> Option<&str> {
    said.split("unknown scheme \"").nth(1)?.split('"').next()
}

/// Error for a launch that failed, with the next step.
fn failure(command: &Path, status: ExitStatus, said: &str) -> anyhow::Error {
    let command = command.display();
    let lines = last_lines(said);
    match status.code() {
        Some(1) => anyhow!(
            "{command} failed: {lines}; choose what both builds know with STUDY, --scheme and --workload"
        ),
        _ => anyhow!(
            "{command} failed ({status}): {lines}; is it a build of hashlane? `{command} --version` should \
             say so"
        ),
    }
}

/// The last lines of a launch's standard error, as one.
fn last_lines(said: &str) -> String {
    let lines: Vec<&str> =
        said.lines().map(str::trim).filter(|line| !line.is_empty() && !line.contains(" s: step ")).collect();
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
        let said =
            "x, 2 s: step 1 of 2\nhashlane: study flow-hash: unknown scheme \"jash/single\": a scheme is …\n";
        assert_eq!(unknown_scheme(said), Some("jash/single"));
        assert_eq!(unknown_scheme("hashlane: no study \"x\"\n"), None);
        assert_eq!(last_lines(said), "study flow-hash: unknown scheme \"jash/single\": a scheme is …");
        assert_eq!(last_lines("\n"), "no message");
    }
}
