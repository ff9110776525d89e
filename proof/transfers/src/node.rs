//! One server of a pair: its process, its folder, and its zone.

use crate::fetch::serial;
use crate::makers::Maker;
use crate::place::Place;
use hashlane_rig::ports;
use hashlane_rig::program::Program;
use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Longest wait for a server to start, and for a change to arrive.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

/// A server.
pub(crate) struct Node {
    pub(crate) maker: Maker,
    pub(crate) place: Place,
    process: Option<Program>,
}

impl Node {
    pub(crate) fn new(maker: Maker, place: Place) -> Self {
        Self { maker, place, process: None }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.place.port).into()
    }

    /// Starts the server.
    pub(crate) fn start(&mut self) -> Result<(), String> {
        let mut command = self.maker.command(&self.place)?;
        let failed = |error: std::io::Error| format!("{:?}: {error}", self.maker);
        let log =
            File::options().create(true).append(true).open(self.place.folder.join("log")).map_err(failed)?;
        command.current_dir(&self.place.folder).stdin(Stdio::null());
        command.stdout(log.try_clone().map_err(failed)?).stderr(log);
        self.process =
            Some(Program::start(&mut command).map_err(failed)?.with_grace(Duration::from_secs(10)));
        Ok(())
    }

    /// Ends the server, as kill -9 does.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill();
        }
    }

    /// Has the server load its zone file.
    pub(crate) fn load(&self, text: String) -> Result<(), String> {
        self.place.write("zone", text)?;
        self.maker.reload(&self.place, self.id())
    }

    /// Writes the configuration again.
    pub(crate) fn write_settings(&self) -> Result<(), String> {
        self.maker.write_settings(&self.place).map(drop)
    }

    /// The end of the log, for an error.
    pub(crate) fn log(&self) -> String {
        let log = fs::read_to_string(self.place.folder.join("log")).unwrap_or_default();
        let last = log.get(log.len().saturating_sub(2000)..).unwrap_or(&log);
        format!("its log ends:\n{last}")
    }

    pub(crate) fn id(&self) -> i32 {
        self.process.as_ref().map_or(0, Program::id)
    }

    /// Waits until the server answers with a serial number.
    pub(crate) fn wait_for(&mut self, wanted: u32) -> Result<Duration, String> {
        let begun = Instant::now();
        loop {
            let found = serial(self.address());
            if found == Some(wanted) {
                return Ok(begun.elapsed());
            }
            let ended = self.process.as_mut().map(|process| process.ended());
            if begun.elapsed() > PATIENCE || !matches!(ended, Some(Ok(None))) {
                let (maker, log) = (self.maker, self.log());
                return Err(format!("{maker:?}: serial {found:?} in place of {wanted}; {log}"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Free ports.
pub(crate) fn free_ports<const N: usize>() -> Result<[u16; N], String> {
    ports::distinct().map_err(|error| format!("no free ports: {error}"))
}
