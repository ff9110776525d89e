//! The process of a forwarder, and its CPU time.

use super::error::LoadError;
use hashlane_rig::proc;
use hashlane_rig::program::{self, Program};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Bytes of the last output in an error.
const LAST: usize = 400;

/// The process of a forwarder. It is ended when this is dropped; and when the thread that started it ends,
/// however that does.
#[derive(Debug)]
pub(super) struct Process {
    process: Program,
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
        Ok(Self { process: Program::start_group(&mut child).map_err(failed)?, log })
    }

    /// CPU time of all its threads, in user space and in the kernel, since it began.
    pub(super) fn cpu(&self) -> Result<Duration, LoadError> {
        proc::cpu(self.process.id())
            .map_err(|error| LoadError::Io("cannot read the CPU time of the forwarder", error))
    }

    /// Fails if it has ended, with its last output.
    pub(super) fn check(&mut self) -> Result<(), LoadError> {
        let ended = self.process.ended();
        match ended.map_err(|error| LoadError::Io("cannot wait for the forwarder", error))? {
            None => Ok(()),
            Some(status) => Err(self.failed(&format!("the forwarder ended ({status})"))),
        }
    }

    /// An error with the end of the log.
    pub(super) fn failed(&self, what: &str) -> LoadError {
        LoadError::Forwarder(program::with_last_output(what, &self.log, LAST))
    }
}
