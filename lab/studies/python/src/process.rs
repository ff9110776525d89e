//! A script in a separate Python process, which answers each line that it gets with one.

use crate::interpreter;
use crate::reply::{Fields, Reply};
use crate::tree::{self, Entry};
use hashlane_lab::study::{Child, Start, TurnError};
use hashlane_rig::wait;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Most bytes of a line.
const LONGEST: usize = 1 << 16;

/// Time between two looks at the stop flag.
const LOOK: Duration = Duration::from_millis(50);

/// A script under way. It is ended, with all that it started, when this is dropped.
#[derive(Debug)]
pub(crate) struct Process<'a> {
    stop: &'a AtomicBool,
    child: Child,
    program: OsString,
    input: Option<ChildStdin>,
    lines: Receiver<Result<String, String>>,
}

/// A script to start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Script<'a> {
    /// Our own command, which ends the script when this process ends, however that does.
    pub(crate) command: &'a Path,
    /// Folder for the script and its output, named after the script.
    pub(crate) folder: &'a Path,
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
    pub(crate) arguments: &'a [OsString],
    /// Variables of the environment.
    pub(crate) variables: &'a [(&'a str, String)],
}

impl<'a> Process<'a> {
    /// Starts a script in the Python of the study; waits end once `stop` is set.
    pub(crate) fn start(script: &Script<'_>, stop: &'a AtomicBool) -> Result<Self, TurnError> {
        let program = interpreter::program()?;
        let path = script.folder.join(script.name).with_extension("py");
        fs::write(&path, script.text).map_err(TurnError::io("cannot write a script"))?;
        let mut words = vec![program.clone(), path.clone().into_os_string()];
        words.extend_from_slice(script.arguments);
        let mut command = Start::child(script.command).command(&words);
        command.envs(script.variables.iter().map(|(name, value)| (name, value)));
        command.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONUNBUFFERED", "1");
        Self::of(command, program, path.with_extension("log"), stop)
    }

    /// Starts a command whose lines are answers.
    fn of(
        command: Command,
        program: OsString,
        log: PathBuf,
        stop: &'a AtomicBool,
    ) -> Result<Self, TurnError> {
        let mut child = Child::new(command, log, true, true)?;
        let pipes = child.program.child();
        let (input, output) = (pipes.stdin.take(), pipes.stdout.take());
        let (to, lines) = sync_channel(16);
        if let Some(output) = output {
            // It ends with the output, which ends with the process.
            thread::spawn(move || {
                let mut output = BufReader::new(output);
                while let Some(line) = line(&mut output) {
                    let broken = line.is_err();
                    if to.send(line).is_err() || broken {
                        break;
                    }
                }
            });
        }
        Ok(Self { stop, child, program, input, lines })
    }

    /// Id of the process.
    pub(crate) fn id(&self) -> i32 {
        self.child.program.id()
    }

    /// Sends a line, and waits for the answer, at most for `limit`.
    ///
    /// # Errors
    /// Python raised an exception, ended, wrote another line or did not answer in time; or the run is to end.
    pub(crate) fn ask(&mut self, request: &str, limit: Duration) -> Result<Fields, TurnError> {
        self.send(request)?;
        self.answer(limit)
    }

    /// Sends a line.
    pub(crate) fn send(&mut self, request: &str) -> Result<(), TurnError> {
        let sent = self.input.as_mut().map(|input| writeln!(input, "{request}"));
        if matches!(sent, Some(Ok(()))) { Ok(()) } else { Err(self.ended()) }
    }

    /// Waits for the next line.
    pub(crate) fn answer(&mut self, limit: Duration) -> Result<Fields, TurnError> {
        let begun = Instant::now();
        loop {
            if let Some(fields) = self.poll(LOOK)? {
                return Ok(fields);
            }
            if self.is_stopped() {
                return Err(TurnError::Stopped);
            }
            if begun.elapsed() > limit {
                return Err(self.failed(&format!("it did not answer within {} s", limit.as_secs())));
            }
        }
    }

    /// `true` once the run is to end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Waits for the next line for a short time; `None` if it has not come.
    pub(crate) fn poll(&mut self, limit: Duration) -> Result<Option<Fields>, TurnError> {
        match self.lines.recv_timeout(limit) {
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
            Ok(Err(broken)) => Err(self.failed(&broken)),
            Ok(Ok(line)) => match line.parse() {
                Ok(Reply::Done(fields)) => Ok(Some(fields)),
                Ok(Reply::Missing(packages)) => Err(interpreter::missing(&self.program, &packages)),
                Ok(Reply::Raised(what)) => Err(TurnError::Raised(what)),
                Err(unexpected) => Err(self.failed(&unexpected)),
            },
        }
    }

    /// The error of a process that has ended, or will at once.
    fn ended(&mut self) -> TurnError {
        // Its output is closed before it ends.
        match self.child.program.wait(Duration::from_secs(1)) {
            Ok(Some(status)) => self.failed(&format!("Python ended early ({status})")),
            _ => self.failed("Python closed its output"),
        }
    }

    /// An error with the end of the output.
    pub(crate) fn failed(&self, what: &str) -> TurnError {
        self.child.failed(what)
    }
}

/// The next line of an output without its end; `None` at the end.
fn line(output: &mut impl std::io::BufRead) -> Option<Result<String, String>> {
    let mut line = Vec::new();
    // An output that cannot be read has ended.
    let read = output.take(LONGEST as u64).read_until(b'\n', &mut line).unwrap_or(0);
    match line.strip_suffix(b"\n") {
        _ if read == 0 => None,
        Some(line) => Some(Ok(String::from_utf8_lossy(line).into_owned())),
        None if read == LONGEST => Some(Err(format!("it wrote a line of more than {LONGEST} bytes"))),
        // The process ended within the line.
        None => None,
    }
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        // Ray's processes are in separate groups.
        let all = tree::tree(self.id());
        self.child.program.kill();
        all.iter().skip(1).for_each(|entry| {
            entry.kill();
        });
        // Nobody must write into a folder that is deleted next.
        wait::until(Duration::from_secs(5), || !all.iter().any(Entry::is_alive));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);
    static RUNNING: AtomicBool = AtomicBool::new(false);
    static STOPPED: AtomicBool = AtomicBool::new(true);

    /// A script of the shell in place of Python.
    fn shell(text: &str) -> (Process<'static>, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.arg("-c").arg(text);
        (Process::of(command, "python3".into(), folder.path().join("log"), &RUNNING).unwrap(), folder)
    }

    fn error(text: &str) -> String {
        let (mut process, _folder) = shell(text);
        process.answer(PATIENCE).unwrap_err().to_string()
    }

    #[test]
    fn answers_each_line_with_one() {
        let (mut process, _folder) = shell("while read word; do echo ok got=$word; done");
        for word in ["a", "b"] {
            let fields = process.ask(word, PATIENCE).unwrap();
            assert_eq!(fields.text("got"), Some(word));
        }
        assert!(process.poll(Duration::ZERO).unwrap().is_none());
    }

    #[test]
    fn a_dead_process_is_an_error_with_its_last_lines() {
        let said = error("echo MemoryError: 64 GiB >&2; exit 3");
        assert_eq!(said, "Python ended early (exit status: 3); last output: MemoryError: 64 GiB");
        assert!(error("kill -KILL $$").starts_with("Python ended early (signal: 9"));
        assert!(error("printf 'ok ns=1'").starts_with("Python ended early"));
    }

    #[test]
    fn foreign_lines_and_exceptions_are_errors() {
        assert!(error("echo hello; sleep 60").starts_with("it wrote \"hello\"; expected"));
        assert_eq!(error("echo error ValueError: x; sleep 60"), "ValueError: x");
        assert!(error("echo missing mmh3; sleep 60").starts_with("python3 has no package mmh3; install"));
        let long = error("head -c 100000 /dev/zero; sleep 60");
        assert_eq!(long, "it wrote a line of more than 65536 bytes");
    }

    #[test]
    fn processes_in_groups_of_their_own_are_ended_too() {
        let (mut process, _folder) = shell("setsid sleep 600 & echo ok pid=$!; wait");
        let fields = process.answer(PATIENCE).unwrap();
        let child = Entry::now(fields.number("pid").unwrap()).unwrap();
        assert!(child.is_alive());
        drop(process);
        assert!(!child.is_alive());
    }

    #[test]
    fn a_process_that_hangs_is_left_after_a_bound_and_ended() {
        let (mut process, _folder) = shell("sleep 600");
        let error = process.answer(Duration::ZERO).unwrap_err();
        assert_eq!(error.to_string(), "it did not answer within 0 s");
        process.stop = &STOPPED;
        let stopped = process.answer(PATIENCE);
        assert!(matches!(stopped, Err(TurnError::Stopped)));
        let id = process.id();
        drop(process);
        assert!(!Path::new("/proc").join(id.to_string()).exists());
    }
}
