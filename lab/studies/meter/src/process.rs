//! The process of a meter, and the resources that it used.

use crate::error::MeterError;
use crate::usage::Usage;
use hashlane_rig::program::{self, Program};
use hashlane_rig::wait;
use nix::sys::signal::Signal;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Bytes of a program's last output in an error.
const LAST: usize = 400;

/// Time between two looks at a process.
const LOOK: Duration = Duration::from_millis(5);

/// A meter's process, which [`usage`](crate::usage) starts and measures. Both are ended when this is dropped,
/// and when the thread that started them ends, however that does.
#[derive(Debug)]
pub(crate) struct Process {
    process: Program,
    log: PathBuf,
}

impl Process {
    /// Starts `program` by way of `command`, our own. Its output goes to the file `log`; its standard input
    /// is empty, or a pipe if it is `fed`.
    pub(crate) fn start(
        command: &Path,
        log: PathBuf,
        program: &[OsString],
        fed: bool,
    ) -> Result<Self, MeterError> {
        let output = File::create(&log).map_err(MeterError::io("cannot write the output of a program"))?;
        let mut child = Command::new(command);
        child.args(["lab", "usage", "--parent"]).arg(std::process::id().to_string()).arg("--").args(program);
        child.stdin(if fed { Stdio::piped() } else { Stdio::null() }).stdout(Stdio::piped()).stderr(output);
        // Ctrl-C in a terminal is for the study, which ends the program then.
        let process = Program::start_group(&mut child);
        Ok(Self { process: process.map_err(MeterError::io("cannot start a process"))?, log })
    }

    /// The pipe to its standard input, once.
    pub(crate) fn input(&mut self) -> Option<ChildStdin> {
        self.process.child().stdin.take()
    }

    /// Asks the program to end.
    pub(crate) fn terminate(&self) -> Result<(), MeterError> {
        self.process.signal_all(Signal::SIGTERM).map_err(MeterError::io("cannot end a program"))
    }

    /// Fails if the program has ended.
    pub(crate) fn check(&mut self) -> Result<(), MeterError> {
        match self.process.ended().map_err(MeterError::io("cannot wait for a program"))? {
            None => Ok(()),
            Some(_) => Err(self.failed("it ended early")),
        }
    }

    /// Waits for the end of the program; fails after `limit`, and once `stop` is set.
    pub(crate) fn wait(mut self, limit: Duration, stop: &AtomicBool) -> Result<(Usage, String), MeterError> {
        let status = wait::try_until(limit, LOOK, || {
            let status = self.process.ended().map_err(MeterError::io("cannot wait for a program"))?;
            match status {
                None if stop.load(Ordering::Relaxed) => Err(MeterError::Stopped),
                status => Ok(status),
            }
        })?;
        if status.is_none() {
            return Err(self.failed(&format!("it did not end within {} s", limit.as_secs())));
        }
        let mut said = String::new();
        if let Some(mut output) = self.process.child().stdout.take() {
            output.read_to_string(&mut said).map_err(MeterError::io("cannot read what a program used"))?;
        }
        let usage: Usage = said.parse().map_err(|error: String| self.failed(&error))?;
        Ok((usage, self.log()))
    }

    /// Output of the program so far.
    pub(crate) fn log(&self) -> String {
        // A log that cannot be read counts as empty.
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// An error with the end of the output.
    pub(crate) fn failed(&self, what: &str) -> MeterError {
        MeterError::Program(program::with_last_output(what, &self.log, LAST))
    }
}
