//! The process that has loaded a library, seen from the one that asks it.

use super::child;
use super::wire::{self, HEAD, Reply, Request};
use crate::subject::Fault;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Time after which the state of the process is looked at, while a message is awaited.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Time that a process without a connection may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// Most processes that are started for one library. Each failure ends one.
const MOST_PROCESSES: u32 = 4;

/// A program that calls [`child_main`](super::child_main), and its arguments.
///
/// For most programs: their own file, with an argument for a hidden verb.
#[derive(Clone, Debug)]
pub struct Launcher {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Launcher {
    /// This program with other arguments.
    ///
    /// # Errors
    /// The path of this program is unknown.
    pub fn this_program<A: Into<OsString>>(arguments: impl IntoIterator<Item = A>) -> io::Result<Self> {
        Ok(Self::program(std::env::current_exe()?, arguments))
    }

    /// Another program, with arguments.
    pub fn program<A: Into<OsString>>(program: PathBuf, arguments: impl IntoIterator<Item = A>) -> Self {
        Self { program, arguments: arguments.into_iter().map(Into::into).collect() }
    }
}

/// A library in a separate process, which is started when it is needed.
#[derive(Debug)]
pub(super) struct Session {
    launcher: Launcher,
    load: Request,
    limit: Duration,
    process: Option<Process>,
    started: u32,
    /// The last failure.
    fault: Option<Fault>,
}

impl Session {
    /// Starts the process, in which `load` loads the library. No reply may take longer than `limit`.
    pub(super) fn start(launcher: Launcher, load: Request, limit: Duration) -> Result<Self, Fault> {
        let mut session = Self { launcher, load, limit, process: None, started: 0, fault: None };
        match session.run(|_| Ok(())) {
            Ok(()) => Ok(session),
            Err(Fault::Hung(seconds)) => {
                Err(Fault::Unusable(format!("loading it has not ended within {seconds} s")))
            }
            Err(Fault::Crashed(how)) => {
                Err(Fault::Unusable(format!("loading it has ended its process: {how}")))
            }
            Err(fault) => Err(fault),
        }
    }

    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// The reply to one request.
    pub(super) fn ask(&mut self, request: &Request) -> Result<Reply, Fault> {
        let limit = self.limit;
        self.run(|process| process.ask(request, Deadline::after(limit)))
    }

    /// Lets `work` talk to the process. A process that has failed is ended; the next call starts another, up
    /// to a limit.
    pub(super) fn run<T>(&mut self, work: impl FnOnce(&mut Process) -> Result<T, Fault>) -> Result<T, Fault> {
        // It may have ended since the last request, by a thread or a timer of the library.
        if let Some(fault) = self.process.as_mut().and_then(Process::ended) {
            self.process = None;
            self.fault = Some(fault);
        }
        let mut process = match self.process.take() {
            Some(process) => process,
            None => self.start_process()?,
        };
        let result = work(&mut process);
        match &result {
            Ok(_) => self.process = Some(process),
            Err(fault) => self.fault = Some(fault.clone()),
        }
        result
    }

    /// Does not count the last failure, which was asked for.
    pub(super) fn forgive(&mut self) {
        self.fault = None;
        self.started = self.started.saturating_sub(1);
    }

    fn start_process(&mut self) -> Result<Process, Fault> {
        if let Some(fault) = &self.fault
            && self.started >= MOST_PROCESSES
        {
            return Err(fault.clone());
        }
        self.started += 1;
        let loaded = Process::start(&self.launcher).and_then(|mut process| {
            match process.ask(&self.load, Deadline::after(self.limit))? {
                Reply::Ready => Ok(process),
                _ => Err(foreign_reply()),
            }
        });
        if let Err(fault) = &loaded {
            // The library cannot be loaded: not now, and not by the next process.
            self.started = MOST_PROCESSES;
            self.fault = Some(fault.clone());
        }
        loaded
    }
}

/// Time by which a reply must be there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    limit: Duration,
    at: Instant,
}

impl Deadline {
    pub(super) fn after(limit: Duration) -> Self {
        Self { limit, at: Instant::now() + limit }
    }

    fn fault(self) -> Option<Fault> {
        (Instant::now() >= self.at).then_some(Fault::Hung(self.limit.as_secs()))
    }
}

/// Bytes that no child of ours has sent.
pub(super) fn foreign_reply() -> Fault {
    Fault::Unusable(
        "the library has written to a descriptor that it has not opened, and disturbs the audit's connection \
         to its process; let it write to standard output or error alone"
            .to_owned(),
    )
}

/// A process, with all those that it starts. They are ended when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    stream: UnixStream,
    /// Number of the last request.
    number: u32,
}

impl Process {
    fn start(launcher: &Launcher) -> Result<Self, Fault> {
        let program = launcher.program.display();
        let failed = |error: io::Error| Fault::Unusable(format!("cannot start {program}: {error}"));
        let (stream, theirs) = UnixStream::pair().map_err(failed)?;
        stream.set_read_timeout(Some(POLL_INTERVAL)).map_err(failed)?;
        stream.set_write_timeout(Some(POLL_INTERVAL)).map_err(failed)?;
        let child = Command::new(&launcher.program)
            .args(&launcher.arguments)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        Ok(Self { child, stream, number: 0 })
    }

    /// The reply to one request.
    pub(super) fn ask(&mut self, request: &Request, deadline: Deadline) -> Result<Reply, Fault> {
        self.send(request, deadline)?;
        self.receive(deadline)
    }

    pub(super) fn send(&mut self, request: &Request, deadline: Deadline) -> Result<(), Fault> {
        self.number = self.number.wrapping_add(1);
        let body = request.encode();
        let head = wire::head(self.number, &body);
        for mut bytes in [&head[..], &body] {
            while !bytes.is_empty() {
                match self.stream.write(bytes) {
                    Ok(written) => bytes = bytes.get(written..).ok_or_else(foreign_reply)?,
                    Err(error) => self.wait_or_fail(&error, deadline)?,
                }
            }
        }
        Ok(())
    }

    /// The next reply to the last request.
    pub(super) fn receive(&mut self, deadline: Deadline) -> Result<Reply, Fault> {
        let mut head = [0; HEAD];
        self.read(&mut head, deadline)?;
        let (number, len) = wire::parse_head(head).ok_or_else(foreign_reply)?;
        if number != self.number {
            return Err(foreign_reply());
        }
        let mut body = vec![0; len];
        self.read(&mut body, deadline)?;
        match Reply::decode(&body).ok_or_else(foreign_reply)? {
            Reply::Refused(why) => Err(Fault::Unusable(why)),
            reply => Ok(reply),
        }
    }

    fn read(&mut self, mut bytes: &mut [u8], deadline: Deadline) -> Result<(), Fault> {
        while !bytes.is_empty() {
            match self.stream.read(bytes) {
                Ok(0) => return Err(self.closed(deadline)),
                Ok(read) => bytes = bytes.get_mut(read..).ok_or_else(foreign_reply)?,
                Err(error) => self.wait_or_fail(&error, deadline)?,
            }
        }
        Ok(())
    }

    /// Returns after a failed read or write if another one makes sense.
    fn wait_or_fail(&mut self, error: &io::Error, deadline: Deadline) -> Result<(), Fault> {
        match error.kind() {
            ErrorKind::Interrupted => Ok(()),
            ErrorKind::WouldBlock | ErrorKind::TimedOut => match self.ended().or(deadline.fault()) {
                Some(fault) => Err(fault),
                None => Ok(()),
            },
            _ => Err(self.closed(deadline)),
        }
    }

    /// The reason why the connection is closed: the process is about to end, or the library has closed it.
    fn closed(&mut self, deadline: Deadline) -> Fault {
        let asked = Instant::now();
        loop {
            match self.ended().or(deadline.fault()) {
                Some(fault) => return fault,
                None if asked.elapsed() > END_TIMEOUT => return closed_connection(),
                None => thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    fn pid(&self) -> Pid {
        // Linux has none above 2²².
        Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(i32::MAX))
    }

    /// The fault of a process that has ended. It stays a zombie, so that its group remains its own.
    fn ended(&mut self) -> Option<Fault> {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        match waitid(Id::Pid(self.pid()), flags) {
            Ok(WaitStatus::StillAlive) => None,
            Ok(WaitStatus::Exited(_, child::CONNECTION_LOST)) => Some(closed_connection()),
            Ok(WaitStatus::Exited(_, status)) => Some(Fault::Crashed(format!("exit status {status}"))),
            Ok(WaitStatus::Signaled(_, Signal::SIGSYS, _)) => Some(Fault::Unusable(child::FORKED.to_owned())),
            Ok(WaitStatus::Signaled(_, signal, _)) => {
                Some(Fault::Crashed(format!("signal {} ({signal})", signal as i32)))
            }
            Ok(status) => Some(Fault::Crashed(format!("{status:?}"))),
            Err(error) => Some(Fault::Unusable(format!("the process of the library is lost: {error}"))),
        }
    }
}

fn closed_connection() -> Fault {
    Fault::Unusable(
        "the library has closed a descriptor that it has not opened: the audit's connection to its process \
         is gone; close only descriptors that the library has opened"
            .to_owned(),
    )
}

/// Ends the process and those that it has started, and releases it.
impl Drop for Process {
    fn drop(&mut self) {
        // Errors mean that the process is gone, which is wanted.
        let _ = killpg(self.pid(), Signal::SIGKILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
