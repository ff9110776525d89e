//! Children of a test: their signals at the start, and waits for them that end.

use crate::{proc, wait};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use std::io::{BufRead as _, BufReader, Read};
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Once};
use std::thread;
use std::time::Duration;

/// Time for what a process does at once: a line, a message.
pub const PROMPT: Duration = Duration::from_secs(15);

/// Time for its end after a signal. A debug build that others leave little CPU takes over 15 s to export the
/// flows of a flood.
const END: Duration = Duration::from_secs(60);

/// Time for a run to its end, on a machine that others load.
const LONG: Duration = Duration::from_secs(600);

/// Has children of this thread start with the default action of each signal, and with none blocked.
///
/// A child ignores what this process ignores, as under `nohup` or an agent, but no signal that has a handler
/// here. The flag of these handlers is read by nobody, so this process ignores the signals as before.
fn default_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let all = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGUSR1];
        for signal in all.map(|signal| signal as i32) {
            if proc::ignores(signal).unwrap() {
                signal_hook::flag::register(signal, Arc::default()).unwrap();
            }
        }
    });
    SigSet::empty().thread_set_mask().unwrap();
}

/// A command that starts with signals ignored, as by `nohup`: names such as `HUP INT`.
pub fn ignoring(signals: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("trap '' {signals}; exec \"$0\" \"$@\"")]);
    shell.arg(command.get_program()).args(command.get_args());
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(command.get_current_dir().unwrap());
    shell
}

/// Starts a command.
#[track_caller]
pub fn start(command: &mut Command) -> Child {
    default_signals();
    command.spawn().unwrap()
}

/// Runs a command to its end, and returns what it printed to pipes; those are its outputs.
#[track_caller]
pub fn output(command: &mut Command) -> Output {
    within(start(command.stdout(Stdio::piped()).stderr(Stdio::piped())), LONG)
}

/// Waits for the end of a process that is about to end, and returns what it printed to pipes.
#[track_caller]
pub fn finish(child: Child) -> Output {
    within(child, END)
}

/// Waits for the end of a process that is about to end.
#[track_caller]
pub fn ended(child: &mut Child) -> ExitStatus {
    status_within(child, END).unwrap_or_else(|| {
        child.kill().unwrap();
        let mut said = String::new();
        // Closed when the child ends, unless one of its child processes holds it.
        if let Some(err) = child.stderr.take() {
            said = read(Some(err)).recv_timeout(PROMPT).map_or_else(|_| "?".into(), text);
        }
        panic!("the process has not ended within {END:?}; its standard error:\n{said}")
    })
}

#[track_caller]
fn within(mut child: Child, limit: Duration) -> Output {
    let (out, err) = (read(child.stdout.take()), read(child.stderr.take()));
    let status = status_within(&mut child, limit);
    if status.is_none() {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let [stdout, stderr] = [out, err].map(|pipe| pipe.recv_timeout(PROMPT));
    match (status, stdout, stderr) {
        (Some(status), Ok(stdout), Ok(stderr)) => Output { status, stdout, stderr },
        (Some(_), ..) => panic!("the process has ended, and one of its children still has its output"),
        (None, stdout, stderr) => {
            let [out, err] = [stdout, stderr].map(|bytes| bytes.map_or_else(|_| "?".into(), text));
            panic!(
                "the process has not ended within {limit:?}; its output:\n{out}\nits standard error:\n{err}"
            )
        }
    }
}

/// Waits for the end of a process; `None` after the limit.
pub fn status_within(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    wait::try_until(limit, Duration::from_millis(5), || child.try_wait()).unwrap()
}

/// Reads a pipe to its end.
fn read(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (to, bytes) = channel();
    thread::spawn(move || {
        let mut all = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut all);
        }
        // The test may have ended.
        let _ = to.send(all);
    });
    bytes
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The next line of a pipe that nobody else reads; empty at its end.
#[track_caller]
pub fn read_line(pipe: &mut BufReader<impl Read + AsFd>) -> String {
    if pipe.buffer().is_empty() {
        let mut ready = [PollFd::new(pipe.get_ref().as_fd(), PollFlags::POLLIN)];
        let timeout = PollTimeout::try_from(PROMPT).unwrap();
        assert_eq!(poll(&mut ready, timeout).unwrap(), 1, "no line within {PROMPT:?}");
    }
    let mut line = String::new();
    pipe.read_line(&mut line).unwrap();
    line
}

/// Lines of a pipe, with an end to the wait for each.
pub struct Lines {
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Lines {
    /// The lines of a pipe that is there.
    pub fn of(pipe: Option<impl Read + Send + 'static>) -> Self {
        let pipe = BufReader::new(pipe.unwrap());
        let (to, lines) = channel();
        // Read to its end, as a full pipe would block the process.
        thread::spawn(move || pipe.lines().map_while(Result::ok).for_each(|line| drop(to.send(line))));
        Self { lines, seen: Vec::new() }
    }

    /// The next line; `None` at the end of the pipe.
    #[track_caller]
    pub fn next_line(&mut self) -> Option<String> {
        match self.lines.recv_timeout(PROMPT) {
            Ok(line) => {
                self.seen.push(line.clone());
                Some(line)
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no line within {PROMPT:?} after:\n{:#?}", self.seen),
        }
    }

    /// The next line, which is not the end of the pipe.
    #[track_caller]
    pub fn line(&mut self) -> String {
        self.next_line().unwrap_or_else(|| panic!("no further line after:\n{:#?}", self.seen))
    }

    /// All lines until the end of the pipe.
    #[track_caller]
    pub fn rest(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.next_line()).collect()
    }
}
