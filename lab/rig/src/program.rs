//! Programs that run beside a test or a study.

use crate::wait;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// Interval between two looks at a process.
const LOOK: Duration = Duration::from_millis(5);

/// A program under way. It is killed, and waited for, when this is dropped.
#[derive(Debug)]
pub struct Program {
    child: Child,
    is_group: bool,
    grace: Duration,
    was_killed: bool,
}

impl Program {
    /// Starts a command.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        Ok(Self { child: command.spawn()?, is_group: false, grace: Duration::ZERO, was_killed: false })
    }

    /// Starts a command in a new process group, which Ctrl-C in a terminal does not reach. The whole group is
    /// killed on drop.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn start_group(command: &mut Command) -> io::Result<Self> {
        let mut program = Self::start(command.process_group(0))?;
        program.is_group = true;
        Ok(program)
    }

    /// Sends SIGTERM on drop, and kills only after `grace`. For programs that end processes of their own.
    pub fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// The child, for its pipes.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Id of the process, and of its group if it has its own.
    pub fn id(&self) -> i32 {
        // Linux has none above 2²²; no process has the other number.
        i32::try_from(self.child.id()).unwrap_or(i32::MAX)
    }

    /// Sends a signal to the process.
    ///
    /// # Errors
    /// The process has ended.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(kill(Pid::from_raw(self.id()), signal)?)
    }

    /// Sends a signal to the process and, if it leads a process group, to all of the group.
    ///
    /// # Errors
    /// All have ended.
    pub fn signal_all(&self, signal: Signal) -> io::Result<()> {
        let pid = Pid::from_raw(self.id());
        Ok(if self.is_group { killpg(pid, signal) } else { kill(pid, signal) }?)
    }

    /// Exit status, if the process has ended.
    ///
    /// # Errors
    /// It was waited for elsewhere.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Waits for the end; `None` after `limit`.
    ///
    /// # Errors
    /// It was waited for elsewhere.
    pub fn wait(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        wait::try_until(limit, LOOK, || self.child.try_wait())
    }

    /// Kills the process, and all of its group, and waits for the end.
    pub fn kill(&mut self) {
        // The id of its group may be another's by now.
        if std::mem::replace(&mut self.was_killed, true) {
            return;
        }
        // Each fails if the process has ended already.
        if self.is_group {
            let _ = self.signal_all(Signal::SIGKILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Not to a process that was waited for: its id may be another's by now.
        if !self.grace.is_zero() && matches!(self.ended(), Ok(None)) && self.signal(Signal::SIGTERM).is_ok() {
            let _ = self.wait(self.grace);
        }
        self.kill();
    }
}

/// Path of a program: on the `PATH`, or where Debian keeps the administrator's programs.
pub fn find(program: &str) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
    // Debian leaves it off the PATH of users.
    let system = folders.iter().any(|folder| folder == Path::new("/usr/bin")).then(|| "/usr/sbin".into());
    folders.into_iter().chain(system).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Note on a program that is not installed, with its package; `None` if it is.
pub fn missing(program: &str, package: &str) -> Option<String> {
    let note = || format!("{program} is missing, and so not measured: `apt-get install {package}`");
    find(program).is_none().then(note)
}

/// A command line of a program, by its path if it is found.
pub fn words(program: &str, arguments: &[&str]) -> Vec<OsString> {
    let path = find(program).map_or_else(|| program.into(), PathBuf::into_os_string);
    std::iter::once(path).chain(arguments.iter().map(OsString::from)).collect()
}

/// `what`, and the last `most` bytes of the log of a program, in one line.
pub fn with_last_output(what: &str, log: &Path, most: usize) -> String {
    // A log that cannot be read counts as empty.
    let log = fs::read(log).unwrap_or_default();
    let end = log.get(log.len().saturating_sub(most)..).unwrap_or_default();
    let said = String::from_utf8_lossy(end).split_whitespace().collect::<Vec<_>>().join(" ");
    if said.is_empty() { what.to_owned() } else { format!("{what}; last output: {said}") }
}

/// The last `count` lines of a log, indented.
pub fn last_lines(log: &Path, count: usize) -> String {
    let text = match fs::read(log) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => format!("no log: {error}"),
    };
    let skip = text.lines().count().saturating_sub(count);
    text.lines().skip(skip).map(|line| format!("  {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proc;
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;

    const LIMIT: Duration = Duration::from_secs(15);

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped());
        command
    }

    fn line(process: &mut Program) -> String {
        let mut line = String::new();
        BufReader::new(process.child().stdout.take().unwrap()).read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    #[test]
    fn all_of_a_group_is_killed_on_drop() {
        let mut process = Program::start_group(&mut sh("sleep 600 & echo $!; wait")).unwrap();
        let grandchild = line(&mut process).parse().unwrap();
        assert!(!proc::has_ended(grandchild));
        let id = process.id();
        drop(process);
        // The process itself was waited for; nobody may wait for the other one.
        assert!(proc::Stat::read(id).is_none());
        assert!(wait::until(LIMIT, || proc::has_ended(grandchild)));
    }

    #[test]
    fn a_process_with_grace_ends_by_itself() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ended");
        let mut command = sh("trap 'touch \"$0\"; exit' TERM; echo; while :; do sleep 0.01; done");
        let mut process = Program::start(command.arg(&file)).unwrap().with_grace(LIMIT);
        line(&mut process);
        drop(process);
        assert!(file.exists());
    }

    #[test]
    fn waits_for_the_end_up_to_a_limit() {
        let mut process = Program::start(&mut sh("read word; exit 3")).unwrap();
        assert!(process.ended().unwrap().is_none_or(|status| status.code() == Some(3)));
        assert_eq!(process.wait(LIMIT).unwrap().unwrap().code(), Some(3));
        let mut process = Program::start(&mut sh("exec sleep 600")).unwrap();
        assert_eq!(process.wait(Duration::ZERO).unwrap(), None);
        // The only signal that a parent cannot have set to be ignored.
        process.signal(Signal::SIGKILL).unwrap();
        assert!(!process.wait(LIMIT).unwrap().unwrap().success());
    }

    #[test]
    fn a_missing_program_has_a_note_with_its_package() {
        assert_eq!((find("no-such-server"), missing("sh", "dash")), (None, None));
        let note = missing("no-such-server", "server").unwrap();
        assert_eq!(note, "no-such-server is missing, and so not measured: `apt-get install server`");
        assert!(words("sh", &["-c"])[0].to_string_lossy().ends_with("/sh"));
    }

    #[test]
    fn the_end_of_a_log_is_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        assert_eq!(with_last_output("it ended", &log, 8), "it ended");
        fs::write(&log, "one\ntwo\nthree\n").unwrap();
        assert_eq!(with_last_output("it ended", &log, 10), "it ended; last output: two three");
        assert_eq!(last_lines(&log, 2), "  two\n  three\n");
        assert!(last_lines(&folder.path().join("none"), 2).starts_with("  no log: "));
    }
}
