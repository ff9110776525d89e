//! The processes of a server, their CPU time and memory.

use crate::error::ServeError;
use hashlane_rig::proc;
use hashlane_rig::program::{self, Program};
use nix::sys::signal::Signal;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Bytes of a program's last output in an error.
const LAST: usize = 400;

/// A server: a process, and those that it starts, in one group. All are ended when this is dropped. The
/// first one also ends with the thread that started it, however that ends, and its children then follow.
#[derive(Debug)]
pub(crate) struct Process {
    process: Program,
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
        let process = Program::start_group(&mut child).map_err(ServeError::io(failed))?;
        Ok(Self { process, log })
    }

    /// CPU time of all processes, in user space and in the kernel, since they began.
    pub(crate) fn cpu(&self) -> Result<Duration, ServeError> {
        let all = proc::members(self.process.id()).map_err(ServeError::io("cannot list processes"))?;
        all.into_iter().map(|pid| proc::cpu(pid).map_err(ServeError::io("cannot read CPU time"))).sum()
    }

    /// Memory of all processes.
    pub(crate) fn memory(&self) -> Result<Memory, ServeError> {
        let failed = "cannot read the memory of a process";
        let unknown = || ServeError::Program("the kernel does not state the memory of a process".to_owned());
        let mut sum = Memory::default();
        for pid in proc::members(self.process.id()).map_err(ServeError::io("cannot list processes"))? {
            // A page that several processes map counts in parts.
            let shares = proc::read(pid, "smaps_rollup").map_err(ServeError::io(failed))?;
            sum.resident += proc::kilobytes(&shares, "Pss").ok_or_else(unknown)?;
            sum.peak = sum.peak.max(proc::peak(pid).ok_or_else(unknown)?);
        }
        Ok(sum)
    }

    /// Asks the server to read its zones again.
    pub(crate) fn reload(&self) -> Result<(), ServeError> {
        self.process.signal(Signal::SIGHUP).map_err(ServeError::io("cannot signal a server"))
    }

    /// Fails if the server has ended, with its last output.
    pub(crate) fn check(&mut self) -> Result<(), ServeError> {
        match self.process.ended().map_err(ServeError::io("cannot wait for a server"))? {
            None => Ok(()),
            Some(status) => Err(self.failed(&format!("it ended ({status})"))),
        }
    }

    /// An error with the end of the output.
    pub(crate) fn failed(&self, what: &str) -> ServeError {
        ServeError::Program(program::with_last_output(what, &self.log, LAST))
    }
}
