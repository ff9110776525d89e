//! The processes of a server, their CPU time and memory.

use crate::error::ServeError;
use crate::proc;
use nix::sys::signal::{Signal, kill, killpg};
use nix::time::ClockId;
use nix::unistd::Pid;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Bytes of a program's last output in an error.
const LAST: usize = 400;

/// A server: a process, and those that it starts, in one group. All are ended when this is dropped; the first
/// one also when the thread that started it ends, however that does, and those of its own then follow.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    log: PathBuf,
}

/// Memory of the processes of a server, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Resident memory, in which each shared page counts once.
    pub(crate) resident: u64,
    /// Largest peak of one process.
    pub(crate) peak: u64,
}

impl Process {
    /// Starts `program` by way of `command`, our own, on a core or on all. Its output goes to the file `log`.
    pub(crate) fn start(
        command: &Path,
        core: Option<usize>,
        log: PathBuf,
        program: &[OsString],
    ) -> Result<Self, ServeError> {
        let failed = "cannot start a server";
        let output = File::create(&log).map_err(ServeError::io(failed))?;
        let mut child = Command::new(command);
        child.args(["lab", "child", "--parent"]).arg(std::process::id().to_string());
        if let Some(core) = core {
            child.arg("--core").arg(core.to_string());
        }
        child.arg("--").args(program);
        let errors = output.try_clone().map_err(ServeError::io(failed))?;
        child.stdin(Stdio::null()).stdout(output).stderr(errors);
        // Ctrl-C in a terminal is for the study, which ends the server then.
        let child = child.process_group(0).spawn().map_err(ServeError::io(failed))?;
        Ok(Self { child, log })
    }

    /// CPU time of all processes, in user space and in the kernel, since they began.
    pub(crate) fn cpu(&self) -> Result<Duration, ServeError> {
        let mut sum = Duration::ZERO;
        for pid in proc::members(self.group().as_raw())? {
            let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(pid));
            let now =
                clock.and_then(|clock| clock.now()).map_err(ServeError::errno("cannot read CPU time"))?;
            sum += Duration::from(now);
        }
        Ok(sum)
    }

    /// Memory of all processes.
    pub(crate) fn memory(&self) -> Result<Memory, ServeError> {
        let mut sum = Memory::default();
        for pid in proc::members(self.group().as_raw())? {
            let (share, peak) = proc::memory(pid)?;
            sum.resident += share;
            sum.peak = sum.peak.max(peak);
        }
        Ok(sum)
    }

    /// Asks the server to read its zones again.
    pub(crate) fn reload(&self) -> Result<(), ServeError> {
        kill(self.group(), Signal::SIGHUP).map_err(ServeError::errno("cannot signal a server"))
    }

    /// Fails if the server has ended, with its last output.
    pub(crate) fn check(&mut self) -> Result<(), ServeError> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(self.failed(&format!("it ended ({status})"))),
            Err(error) => Err(ServeError::Io("cannot wait for a server", error)),
        }
    }

    /// An error with the end of the output.
    pub(crate) fn failed(&self, what: &str) -> ServeError {
        // A log that cannot be read counts as empty.
        let log = fs::read(&self.log).unwrap_or_default();
        let end = log.get(log.len().saturating_sub(LAST)..).unwrap_or_default();
        let said = String::from_utf8_lossy(end).split_whitespace().collect::<Vec<_>>().join(" ");
        match said.as_str() {
            "" => ServeError::Program(what.to_owned()),
            said => ServeError::Program(format!("{what}; last output: {said}")),
        }
    }

    /// The group, whose number is that of its first process.
    fn group(&self) -> Pid {
        let id = i32::try_from(self.child.id());
        debug_assert!(id.is_ok(), "the kernel's ids are positive numbers of 32 bits");
        // No process has this number: nothing is signalled then.
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
