//! A supervised program: its lines are read as they arrive, and it ends when the run does.

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Longest line in bytes; the rest becomes another line.
const LINE: u64 = 1 << 20;

/// Number of last lines that are kept, and of characters of each.
const KEPT: usize = 12;
const WIDTH: usize = 200;

/// Most lines that wait to be read; then the program waits.
const WAITING: usize = 1024;

/// Time that a program may take to end after it was asked to.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// Interval of the checks for a stopped run.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A program and all that it starts, in a process group of their own. They are ended when this is dropped.
struct Watched(Child);

/// The run was stopped.
#[derive(Debug, thiserror::Error)]
#[error("stopped")]
pub(crate) struct Stopped;

/// Exit status of a program, and its last lines.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) said: String,
}

/// Runs `command`, passes each line of its standard output and error to `line`, and ends it if `stop` is set
/// or it prints nothing for `silence`.
pub(crate) fn watch(
    mut command: Command,
    stop: &AtomicBool,
    silence: Duration,
    line: &mut dyn FnMut(&str),
) -> Result<Ended> {
    let name = command.get_program().to_string_lossy().into_owned();
    let failed = || format!("cannot start {name}");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn().with_context(failed)?;
    let mut watched = Watched(child);
    let lines = watched.lines();
    let mut last = VecDeque::new();
    let mut heard = Instant::now();
    let mut ended: Option<Instant> = None;
    loop {
        if stop.load(Ordering::Relaxed) {
            bail!(Stopped);
        }
        match lines.recv_timeout(POLL_INTERVAL) {
            Ok(said) => {
                heard = Instant::now();
                line(&said);
                if last.len() == KEPT {
                    last.pop_front();
                }
                last.push_back(said.chars().take(WIDTH).collect::<String>());
            }
            Err(RecvTimeoutError::Timeout) if heard.elapsed() > silence => {
                let silence = silence.as_secs();
                bail!("`{name}` failed; last output:\nno output for {silence} s\n{}", joined(last));
            }
            Err(RecvTimeoutError::Timeout) => match ended {
                // On a busy machine its last lines may still be on their way here.
                None if watched.has_ended() => {
                    watched.kill_group();
                    ended = Some(Instant::now());
                }
                Some(at) if at.elapsed() > END_TIMEOUT => break,
                _ => {}
            },
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = watched.end().with_context(failed)?;
    Ok(Ended { status, said: joined(last) })
}

fn joined(lines: VecDeque<String>) -> String {
    Vec::from(lines).join("\n")
}

impl Watched {
    /// Lines of both outputs as they arrive, until both are closed.
    fn lines(&mut self) -> Receiver<String> {
        let (to, lines) = mpsc::sync_channel(WAITING);
        let outputs: [Option<Box<dyn Read + Send>>; 2] = [
            self.0.stdout.take().map(|out| Box::new(out) as _),
            self.0.stderr.take().map(|out| Box::new(out) as _),
        ];
        for output in outputs.into_iter().flatten() {
            let to = to.clone();
            thread::spawn(move || {
                let mut output = BufReader::new(output);
                let mut bytes = Vec::new();
                while let Ok(1..) = output.by_ref().take(LINE).read_until(b'\n', &mut bytes) {
                    if to.send(String::from_utf8_lossy(&bytes).trim_end().to_owned()).is_err() {
                        break;
                    }
                    bytes.clear();
                }
            });
        }
        lines
    }

    fn pid(&self) -> Pid {
        // Linux has none above 2²².
        Pid::from_raw(i32::try_from(self.0.id()).unwrap_or(i32::MAX))
    }

    /// State of the process; an error if it was released. An ended process stays a zombie, so that its group
    /// remains its own.
    fn state(&self) -> nix::Result<WaitStatus> {
        waitid(Id::Pid(self.pid()), WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT)
    }

    fn has_ended(&self) -> bool {
        !matches!(self.state(), Ok(WaitStatus::StillAlive))
    }

    /// Waits for the program with a timeout, kills the rest of its group, and releases it.
    fn end(&mut self) -> io::Result<ExitStatus> {
        let asked = Instant::now();
        while !self.has_ended() && asked.elapsed() < END_TIMEOUT {
            thread::sleep(Duration::from_millis(5));
        }
        self.kill_group();
        self.0.wait()
    }

    /// Kills the processes that are left of the group: they may keep its outputs open.
    fn kill_group(&self) {
        // There may be none.
        let _ = killpg(self.pid(), Signal::SIGKILL);
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // The number of one that was let go may be another's by now.
        if self.state().is_ok() {
            // SIGTERM first: a program that has children then ends them.
            let _ = killpg(self.pid(), Signal::SIGTERM);
            let _ = self.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    /// Waits until an ended process is gone: it goes when it next gets a core, and stays a zombie if no
    /// process waits for it.
    fn ends(pid: &str) {
        let begun = Instant::now();
        loop {
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            if state.is_empty() || state.contains(") Z ") {
                break;
            }
            assert!(begun.elapsed() < LONG, "{state}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn lines_are_heard_and_the_last_are_kept() {
        let mut heard = Vec::new();
        let run = AtomicBool::new(false);
        let ended =
            watch(sh("seq 1 20; exit 3"), &run, LONG, &mut |line| heard.push(line.to_owned())).unwrap();
        assert_eq!(ended.status.code(), Some(3));
        assert_eq!(heard.len(), 20);
        assert!(ended.said.starts_with("9\n10\n") && ended.said.ends_with("\n20"), "{}", ended.said);
    }

    #[test]
    fn a_stopped_program_ends_with_its_children() {
        let stop = AtomicBool::new(false);
        let mut pid = String::new();
        let begun = Instant::now();
        let stopped = watch(sh("sleep 1000 & echo $!; wait"), &stop, LONG, &mut |line| {
            pid = line.to_owned();
            stop.store(true, Ordering::Relaxed);
        });
        assert!(stopped.unwrap_err().is::<Stopped>());
        assert!(begun.elapsed() < LONG);
        ends(&pid);
    }

    #[test]
    fn orphans_of_a_program_end_with_the_run() {
        let stop = AtomicBool::new(false);
        let mut pid = String::new();
        // The shell is gone long before it is looked for again.
        let stopped = watch(sh("sleep 1000 & echo $!; exit 0"), &stop, LONG, &mut |line| {
            pid = line.to_owned();
            thread::sleep(Duration::from_millis(300));
            stop.store(true, Ordering::Relaxed);
        });
        assert!(stopped.unwrap_err().is::<Stopped>());
        ends(&pid);
    }

    #[test]
    fn ends_a_silent_program() {
        let run = AtomicBool::new(false);
        let error = watch(sh("echo begun; exec sleep 1000"), &run, Duration::from_millis(300), &mut |_| ())
            .unwrap_err();
        let said = error.to_string();
        assert!(said.contains("no output") && said.contains("begun"), "{said}");
    }

    #[test]
    fn names_a_missing_program() {
        let run = AtomicBool::new(false);
        let error = watch(Command::new("/no/such/program"), &run, LONG, &mut |_| ()).unwrap_err();
        assert!(format!("{error:#}").starts_with("cannot start /no/such/program: "), "{error:#}");
    }
}
