//! The process of a forwarder, and its CPU time.

use super::error::LoadError;
use nix::time::ClockId;
use nix::unistd::Pid;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A folder for sockets and logs that is gone when it is dropped. Its path is short, as those of sockets must
/// be.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new() -> Result<Self, LoadError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("hashlane-load-{}-{number}", std::process::id()));
        fs::create_dir(&path).map_err(|error| LoadError::Io("cannot make a folder for sockets", error))?;
        Ok(Self(path))
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A failure leaves a folder behind in the directory for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The process of a forwarder. It is ended when this is dropped; and when the thread that started it ends,
/// however that does.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    clock: ClockId,
    log: PathBuf,
}

impl Process {
    /// Starts `program` with `arguments`, by way of `command`, our own.
    pub(super) fn start(
        command: &Path,
        core: Option<usize>,
        namespace: Option<&Path>,
        log: PathBuf,
        program: &Path,
        arguments: &[OsString],
    ) -> Result<Self, LoadError> {
        let failed = |error: io::Error| LoadError::Start { program: program.display().to_string(), error };
        let output = File::create(&log).map_err(failed)?;
        let mut child = Command::new(command);
        child.args(["lab", "child", "--parent"]).arg(std::process::id().to_string());
        if let Some(core) = core {
            child.arg("--core").arg(core.to_string());
        }
        if let Some(namespace) = namespace {
            child.arg("--namespace").arg(namespace);
        }
        child.arg("--").arg(program).args(arguments);
        child.stdin(Stdio::null()).stdout(output.try_clone().map_err(failed)?).stderr(output);
        // Ctrl-C in a terminal is for the study, which ends the forwarder then.
        let child = child.process_group(0).spawn().map_err(failed)?;
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap_or(-1));
        let clock = ClockId::pid_cpu_clock_id(pid).map_err(|error| failed(error.into()));
        // From here on the child ends where anything fails.
        let mut process = Self { child, clock: ClockId::CLOCK_MONOTONIC, log };
        process.clock = clock?;
        Ok(process)
    }

    /// CPU time of all its threads, in user space and in the kernel, since it began.
    pub(super) fn cpu(&self) -> Result<Duration, LoadError> {
        let now = self
            .clock
            .now()
            .map_err(|error| LoadError::Io("cannot read the CPU time of the forwarder", error.into()))?;
        Ok(Duration::from(now))
    }

    /// Fails if it has ended, with its last output.
    pub(super) fn check(&mut self) -> Result<(), LoadError> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(self.failed(&format!("the forwarder ended ({status})"))),
            Err(error) => Err(LoadError::Io("cannot wait for the forwarder", error)),
        }
    }

    /// An error with the end of the log.
    pub(super) fn failed(&self, what: &str) -> LoadError {
        let log = fs::read(&self.log).unwrap_or_default();
        let end = log.get(log.len().saturating_sub(400)..).unwrap_or_default();
        let said = String::from_utf8_lossy(end);
        match said.trim() {
            "" => LoadError::Forwarder(what.to_owned()),
            said => LoadError::Forwarder(format!("{what}; last output: {said}")),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
