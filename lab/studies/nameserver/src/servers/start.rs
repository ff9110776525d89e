//! A server under way.

use super::place::Place;
use super::{Entrant, Job, Source, config};
use crate::check::{self, Manner};
use crate::load::Target;
use crate::queries::Queries;
use hashlane_lab::study::{Child, Session, Start, TurnError, empty_folder};
use hashlane_rig::proc;
use nix::sys::signal::Signal;
use std::io;
use std::net::UdpSocket;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time between two queries to a server that does not answer yet.
const PAUSE: Duration = Duration::from_millis(1);

/// A server that has answered.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) target: Target,
    pub(crate) place: Place,
    /// Time from the start to the first answer.
    pub(crate) started: Duration,
    probe: Probe,
}

/// Memory of the processes of a server, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Resident memory, in which each shared page counts once.
    pub(crate) resident: u64,
    /// Largest peak of one process.
    pub(crate) peak: u64,
}

/// A server to start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) entrant: Entrant,
    /// Core that it runs on; `None`: all.
    pub(crate) core: Option<usize>,
    pub(crate) source: Source<'a>,
    /// Folder for its configuration and state.
    pub(crate) folder: &'a Path,
    /// Longest time until its first answer.
    pub(crate) limit: Duration,
}

impl Server {
    /// Starts a server in an empty folder, and waits for its first answer.
    pub(crate) fn start(session: &Session<'_>, launch: Launch<'_>) -> Result<Self, TurnError> {
        empty_folder(launch.folder)?;
        Self::start_again(session, launch, &mut |_| ())
    }

    /// The same in a folder that may have what an earlier server left. While it waits, `watch` is called with
    /// the group of its processes.
    pub(crate) fn start_again(
        session: &Session<'_>,
        launch: Launch<'_>,
        watch: &mut dyn FnMut(i32),
    ) -> Result<Self, TurnError> {
        let Launch { entrant: Entrant { program, io }, core, source, folder, limit } = launch;
        let place = Place::new(io)?;
        let address = place.address;
        let command = &session.settings.command;
        let arguments = config::prepare(program, &Job { command, source, folder, address, io })?;
        let probe = Probe::new(&place, program.manner())?;
        let begun = Instant::now();
        let namespace = place.namespace();
        let start = Start { core, namespace: namespace.as_deref(), ..Start::child(command) };
        let mut child = start.spawn(&arguments, folder.join("output"))?;
        let group = child.program.id();
        child.until((limit, PAUSE), session.stop, "did not answer", || {
            watch(group);
            probe.ask()
        })?;
        let started = begun.elapsed();
        place.check()?;
        let target = Target { address, from: place.clients(), manner: program.manner() };
        Ok(Self { child, target, place, started, probe })
    }

    /// Waits until the zone in an answer has this serial number, at most for `limit`.
    pub(crate) fn wait_for(
        &mut self,
        serial: u32,
        limit: Duration,
        session: &Session<'_>,
    ) -> Result<(), TurnError> {
        let Self { child, probe, .. } = self;
        let has_it = || Ok((probe.ask()? == Some(serial)).then_some(()));
        child.until((limit, PAUSE), session.stop, "did not serve a new zone", has_it)
    }

    /// Ends the server as an operator does, so that it leaves its files in order.
    pub(crate) fn end(mut self, limit: Duration) -> Result<(), TurnError> {
        self.child.program.signal(Signal::SIGTERM).map_err(TurnError::io("cannot signal a server"))?;
        match self.child.program.wait(limit).map_err(TurnError::io("cannot wait for a server"))? {
            Some(_) => Ok(()),
            None => Err(self.child.failed(&format!("it did not end within {} s", limit.as_secs()))),
        }
    }

    /// Its processes: the first, and those that it started.
    fn processes(&self) -> Result<Vec<i32>, TurnError> {
        proc::members(self.child.program.id()).map_err(TurnError::io("cannot list processes"))
    }

    /// CPU time of all processes, in user space and in the kernel, since they began.
    pub(crate) fn cpu(&self) -> Result<Duration, TurnError> {
        self.processes()?
            .into_iter()
            .map(|pid| proc::cpu(pid).map_err(TurnError::io("cannot read CPU time")))
            .sum()
    }

    /// Memory of all processes.
    pub(crate) fn memory(&self) -> Result<Memory, TurnError> {
        let unknown = || TurnError::Failed("the kernel does not state the memory of a process".to_owned());
        let mut sum = Memory::default();
        for pid in self.processes()? {
            // A page that several processes map counts in parts.
            let shares = proc::read(pid, "smaps_rollup");
            let shares = shares.map_err(TurnError::io("cannot read the memory of a process"))?;
            sum.resident += proc::kilobytes(&shares, "Pss").ok_or_else(unknown)?;
            sum.peak = sum.peak.max(proc::peak(pid).ok_or_else(unknown)?);
        }
        Ok(sum)
    }
}

/// A socket that asks for the SOA record.
#[derive(Debug)]
struct Probe {
    socket: UdpSocket,
    query: Queries,
    manner: Manner,
}

impl Probe {
    fn new(place: &Place, manner: Manner) -> Result<Self, TurnError> {
        let open = || -> io::Result<UdpSocket> {
            let socket = UdpSocket::bind((place.clients(), 0))?;
            socket.connect(place.address)?;
            socket.set_read_timeout(Some(Duration::from_millis(10)))?;
            Ok(socket)
        };
        let socket = place.open(open).map_err(TurnError::io("cannot make a socket"))?;
        Ok(Self { socket, query: Queries::soa(), manner })
    }

    /// Serial number in an answer, or 0 in an echo; `None` without an answer.
    fn ask(&self) -> Result<Option<u32>, TurnError> {
        let Some(query) = self.query.get(0) else { return Ok(None) };
        let mut buffer = [0; 2048];
        // A port on which nobody listens yet is an error of the socket, once.
        if self.socket.send(query.message).is_err() {
            return Ok(None);
        }
        let Ok(length) = self.socket.recv(&mut buffer) else { return Ok(None) };
        let answer = buffer.get(..length).unwrap_or_default();
        Ok(match self.manner {
            Manner::Answers => check::serial(answer),
            Manner::Echoes => check::check(answer, &query, self.manner).ok().map(|()| 0),
        })
    }
}
