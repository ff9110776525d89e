//! A server under way.

use super::{Job, Program};
use crate::check::{self, Manner};
use crate::error::ServeError;
use crate::load::Target;
use crate::process::Process;
use crate::queries::Queries;
use hashlane_rig::{ports, wait};
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two queries to a server that does not answer yet.
const PAUSE: Duration = Duration::from_millis(1);

/// A server that has answered.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) target: Target,
    /// Time from the start to the first answer.
    pub(crate) started: Duration,
    probe: Probe,
}

impl Server {
    /// Starts a server on a core, or on all, and waits for its first answer, at most for `limit`.
    pub(crate) fn start(
        program: Program,
        command: &Path,
        core: Option<usize>,
        zone: &Path,
        folder: &Path,
        limit: Duration,
        stop: &AtomicBool,
    ) -> Result<Self, ServeError> {
        empty(folder)?;
        let port = ports::free().map_err(ServeError::io("no port is free"))?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let arguments = program.prepare(&Job { command, zone, folder, address })?;
        let probe = Probe::new(address, program.manner())?;
        let begun = Instant::now();
        let mut process = Process::start(command, core, folder.join("output"), &arguments)?;
        let answer = wait::try_until(limit, PAUSE, || {
            let answer = probe.ask()?;
            if answer.is_none() {
                process.check()?;
                if stop.load(Ordering::Relaxed) {
                    return Err(ServeError::Stopped);
                }
            }
            Ok(answer)
        })?;
        if answer.is_none() {
            return Err(process.failed(&format!("it did not answer within {} s", limit.as_secs())));
        }
        let target = Target { address, manner: program.manner() };
        Ok(Self { process, target, started: begun.elapsed(), probe })
    }

    /// Serial number of the zone in an answer; `None` without an answer.
    pub(crate) fn serial(&self) -> Result<Option<u32>, ServeError> {
        self.probe.ask()
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
    fn new(to: SocketAddr, manner: Manner) -> Result<Self, ServeError> {
        let open = || {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
            socket.connect(to)?;
            socket.set_read_timeout(Some(Duration::from_millis(10)))?;
            Ok(socket)
        };
        let socket = open().map_err(ServeError::io("cannot make a socket"))?;
        Ok(Self { socket, query: Queries::soa(), manner })
    }

    /// Serial number in an answer, or 0 in an echo; `None` without an answer.
    fn ask(&self) -> Result<Option<u32>, ServeError> {
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

/// Makes an empty folder.
fn empty(folder: &Path) -> Result<(), ServeError> {
    let failed = "cannot make a folder for a server";
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(ServeError::io(failed))?;
    }
    fs::create_dir(folder).map_err(ServeError::io(failed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_emptied() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server");
        empty(&path).unwrap();
        fs::write(path.join("rest"), "x").unwrap();
        empty(&path).unwrap();
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
    }
}
