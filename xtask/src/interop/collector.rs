//! Collectors of flows on a UDP port of this host.

use super::program::Program;
use crate::need::Need;
use crate::run;
use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// nfcapd, nfpcapd and nfdump.
pub(super) const NFDUMP: Need = Need {
    name: "nfdump",
    probe: &["nfdump", "-V"],
    install: "apt-get update && apt-get install --yes nfdump",
};

/// Runs nfcapd while `export` sends flows to the port that it gets. They are in files in `folder` then.
pub(super) fn nfcapd(
    folder: &Path,
    timeout: Duration,
    export: impl FnOnce(u16) -> Result<(), String>,
) -> Result<(), String> {
    let port = free_port()?;
    let mut command = run::command(&["nfcapd", "-b", "127.0.0.1", "-t", "3600", "-p", &port.to_string()]);
    let mut collector = Program::start("nfcapd", command.arg("-l").arg(folder))?;
    collector.wait_until(|| received(port).is_some(), timeout)?;
    export(port)?;
    drained(port, timeout)?;
    collector.terminate(timeout)
}

/// A UDP port that no one uses; the collectors cannot choose one.
pub(super) fn free_port() -> Result<u16, String> {
    let bound = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| socket.local_addr());
    bound.map(|address| address.port()).map_err(|error| format!("no free port: {error}"))
}

/// Bytes that the socket of a port has received and not handed out; `None` if there is no socket.
fn received(port: u16) -> Option<u64> {
    let sockets = fs::read_to_string("/proc/net/udp").ok()?;
    let place = format!("0100007F:{port:04X}");
    let line = sockets.lines().find(|line| line.split_whitespace().nth(1) == Some(place.as_str()))?;
    let queues = line.split_whitespace().nth(4)?;
    u64::from_str_radix(queues.split(':').nth(1)?, 16).ok()
}

/// Waits until the program on a port has read all datagrams.
fn drained(port: u16, timeout: Duration) -> Result<(), String> {
    let start = Instant::now();
    while received(port) != Some(0) {
        if start.elapsed() > timeout {
            return Err(format!("the collector on port {port} does not read"));
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
