//! Programs that a study measures, each started by way of our own command: they end when the study does,
//! however that ends.

use super::error::TurnError;
use hashlane_rig::program::{self, Program};
use hashlane_rig::{proc, wait};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Bytes of a program's last output in an error.
const LAST: usize = 600;

/// Settings of a program that is to start.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Our own command.
    pub command: &'a Path,
    /// Subcommand of `hashlane lab` that starts the program.
    pub by: &'static str,
    /// Core to run on, if not on any.
    pub core: Option<usize>,
    /// Path that opens the network namespace to run in, if not in this one.
    pub namespace: Option<&'a Path>,
    /// `true` if standard input is a pipe, `false` if it is empty.
    pub is_fed: bool,
    /// `true` if standard output is a pipe, `false` if it goes to the log, as standard error does.
    pub is_read: bool,
}

impl<'a> Start<'a> {
    /// `hashlane lab child`: our command becomes the program.
    pub fn child(command: &'a Path) -> Self {
        Self { command, by: "child", core: None, namespace: None, is_fed: false, is_read: false }
    }

    /// `hashlane lab usage`: our command runs the program, and prints the resources that it used.
    pub fn usage(command: &'a Path) -> Self {
        Self { by: "usage", is_read: true, ..Self::child(command) }
    }

    /// The command that starts a program with its arguments.
    pub fn command(self, program: &[OsString]) -> Command {
        let mut command = Command::new(self.command);
        command.args(["lab", self.by, "--parent"]).arg(std::process::id().to_string());
        if let Some(core) = self.core {
            command.arg("--core").arg(core.to_string());
        }
        if let Some(namespace) = self.namespace {
            command.arg("--namespace").arg(namespace);
        }
        command.arg("--").args(program);
        command
    }

    /// Starts a program with its arguments, whose output goes to the file `log`.
    ///
    /// # Errors
    /// Our command does not start. If the program does not, [`Child::check`] fails.
    pub fn spawn(self, program: &[OsString], log: PathBuf) -> Result<Child, TurnError> {
        Child::new(self.command(program), log, self.is_fed, self.is_read)
    }
}

/// A program under way, and all that is in its group. They are ended when this is dropped.
#[derive(Debug)]
pub struct Child {
    /// The program.
    pub program: Program,
    log: PathBuf,
}

impl Child {
    /// Starts a command; `is_fed` and `is_read` as in [`Start`].
    ///
    /// # Errors
    /// The program does not start, or the log cannot be written.
    pub fn new(mut command: Command, log: PathBuf, is_fed: bool, is_read: bool) -> Result<Self, TurnError> {
        let mut start = || {
            let output = File::create(&log)?;
            command.stdin(if is_fed { Stdio::piped() } else { Stdio::null() });
            command.stdout(if is_read { Stdio::piped() } else { output.try_clone()?.into() }).stderr(output);
            // Ctrl-C in a terminal is for the study, which ends the program then.
            Program::start_group(&mut command)
        };
        let program = start().map_err(TurnError::io("cannot start a program"))?;
        Ok(Self { program, log })
    }

    /// Fails if the program has ended, with its last output.
    ///
    /// # Errors
    /// It has ended.
    pub fn check(&mut self) -> Result<(), TurnError> {
        match self.program.ended().map_err(TurnError::io("cannot wait for a program"))? {
            None => Ok(()),
            Some(status) => Err(self.failed(&format!("it ended ({status})"))),
        }
    }

    /// Calls `ready` every `pause` until it returns a value.
    ///
    /// # Errors
    /// The error of `ready`; the program has ended; `stop` is set; or `limit` is over, and the program
    /// `did_not`.
    pub fn until<T>(
        &mut self,
        (limit, pause): (Duration, Duration),
        stop: &AtomicBool,
        did_not: &str,
        mut ready: impl FnMut() -> Result<Option<T>, TurnError>,
    ) -> Result<T, TurnError> {
        let value = wait::try_until(limit, pause, || {
            let value = ready()?;
            if value.is_none() {
                self.check()?;
                if stop.load(Ordering::Relaxed) {
                    return Err(TurnError::Stopped);
                }
            }
            Ok(value)
        })?;
        value.ok_or_else(|| self.failed(&format!("it {did_not} within {} s", limit.as_secs())))
    }

    /// Output of the program so far.
    pub fn log(&self) -> String {
        // A log that cannot be read counts as empty.
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// An error with the end of the output.
    pub fn failed(&self, what: &str) -> TurnError {
        TurnError::Failed(program::with_last_output(what, &self.log, LAST))
    }
}

/// Runs the load on a program, in a new thread on a core.
///
/// # Errors
/// The error of `work`; or the thread cannot be bound.
pub fn on_core<T: Send>(
    core: Option<usize>,
    work: impl FnOnce() -> Result<T, TurnError> + Send,
) -> Result<T, TurnError> {
    let bound = || {
        core.map_or(Ok(()), proc::bind).map_err(TurnError::io("cannot bind the load to a core"))?;
        work()
    };
    std::thread::scope(|scope| scope.spawn(bound).join())
        .unwrap_or_else(|_| Err(TurnError::Failed("the thread of the load panicked".to_owned())))
}

/// Makes an empty folder for the outputs of a program.
///
/// # Errors
/// The folder cannot be emptied or made.
pub fn empty_folder(folder: &Path) -> Result<(), TurnError> {
    let emptied = if folder.exists() { fs::remove_dir_all(folder) } else { Ok(()) };
    emptied.and_then(|()| fs::create_dir(folder)).map_err(TurnError::io("cannot make a folder for outputs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: (Duration, Duration) = (Duration::from_secs(15), Duration::from_millis(2));

    fn sh(script: &str, folder: &Path) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Child::new(command, folder.join("log"), false, false).unwrap()
    }

    #[test]
    fn a_wait_ends_with_a_value_the_program_the_limit_or_a_stop() {
        let folder = tempfile::tempdir().unwrap();
        let stop = AtomicBool::new(false);
        let mut child = sh("echo ready; exec sleep 600", folder.path());
        let log = folder.path().join("log");
        let said = || Ok(fs::read_to_string(&log).ok().filter(|said| !said.is_empty()));
        assert_eq!(child.until(LIMITS, &stop, "said nothing", said).unwrap(), "ready\n");
        let limits = (Duration::ZERO, LIMITS.1);
        let late = child.until(limits, &stop, "did not answer", || Ok(None::<()>)).unwrap_err();
        assert_eq!(late.to_string(), "it did not answer within 0 s; last output: ready");
        stop.store(true, Ordering::Relaxed);
        let stopped = child.until(LIMITS, &stop, "did not answer", || Ok(None::<()>));
        assert!(matches!(stopped, Err(TurnError::Stopped)));
        stop.store(false, Ordering::Relaxed);
        let mut child = sh("echo no room >&2; exit 3", folder.path());
        let ended = child.until(LIMITS, &stop, "did not answer", || Ok(None::<()>)).unwrap_err();
        assert_eq!(ended.to_string(), "it ended (exit status: 3); last output: no room");
    }

    #[test]
    fn our_command_gets_the_settings_before_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let start = Start { core: Some(3), ..Start::child(Path::new("echo")) };
        let mut child = start.spawn(&["nsd".into(), "-d".into()], folder.path().join("log")).unwrap();
        assert!(child.program.wait(LIMITS.0).unwrap().is_some());
        let said = child.log();
        assert!(said.starts_with("lab child --parent ") && said.ends_with(" --core 3 -- nsd -d\n"), "{said}");
    }

    #[test]
    fn a_folder_is_emptied() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("turn");
        empty_folder(&path).unwrap();
        fs::write(path.join("rest"), "x").unwrap();
        empty_folder(&path).unwrap();
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
    }
}
