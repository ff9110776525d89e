//! The process of a meter, and the resources that it used.

use crate::error::MeterError;
use crate::usage::Usage;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of a program's last output in an error.
const LAST: usize = 400;

/// Time between two looks at a process.
const LOOK: Duration = Duration::from_millis(5);

/// A meter's process, which [`usage`](crate::usage) starts and measures. Both are ended when this is dropped,
/// and when the thread that started them ends, however that does.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
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
        let child = child.process_group(0).spawn().map_err(MeterError::io("cannot start a process"))?;
        Ok(Self { child, log })
    }

    /// The pipe to its standard input, once.
    pub(crate) fn input(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Asks the program to end.
    pub(crate) fn terminate(&self) -> Result<(), MeterError> {
        killpg(self.group(), Signal::SIGTERM).map_err(MeterError::errno("cannot end a program"))
    }

    /// Fails if the program has ended.
    pub(crate) fn check(&mut self) -> Result<(), MeterError> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err(self.failed("it ended early")),
            Err(error) => Err(MeterError::Io("cannot wait for a program", error)),
        }
    }

    /// Waits for the end of the program; fails after `limit`, and once `stop` is set.
    pub(crate) fn wait(mut self, limit: Duration, stop: &AtomicBool) -> Result<(Usage, String), MeterError> {
        let begun = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(_)) => break,
                Ok(None) => {}
                Err(error) => return Err(MeterError::Io("cannot wait for a program", error)),
            }
            if stop.load(Ordering::Relaxed) {
                return Err(MeterError::Stopped);
            }
            if begun.elapsed() > limit {
                return Err(self.failed(&format!("it did not end within {} s", limit.as_secs())));
            }
            thread::sleep(LOOK);
        }
        let mut said = String::new();
        if let Some(mut output) = self.child.stdout.take() {
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
        let log = self.log();
        let start = (log.len().saturating_sub(LAST)..=log.len()).find(|at| log.is_char_boundary(*at));
        match log.get(start.unwrap_or(log.len())..).unwrap_or_default().trim() {
            "" => MeterError::Program(what.to_owned()),
            said => MeterError::Program(format!("{what}; last output: {said}")),
        }
    }

    fn group(&self) -> Pid {
        let id = i32::try_from(self.child.id());
        debug_assert!(id.is_ok(), "the kernel's ids are positive numbers of 32 bits");
        // No group has this number: nothing is ended then.
        Pid::from_raw(id.unwrap_or(i32::MAX))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = killpg(self.group(), Signal::SIGKILL);
        let _ = self.child.wait();
    }
}
