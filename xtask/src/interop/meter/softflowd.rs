//! softflowd, which sends NetFlow v9, and nfcapd, which collects it.

use super::flows::Flows;
use super::{TIMEOUT, nfdump};
use crate::interop::program::Program;
use crate::run;
use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The flows that softflowd exports of a capture.
pub(super) fn meter(capture: &Path, folder: &Path) -> Result<Flows, String> {
    // nfcapd cannot choose one.
    let bound = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| socket.local_addr());
    let port = bound.map_err(|error| format!("no free port: {error}"))?.port();
    let mut command = run::command(&["nfcapd", "-b", "127.0.0.1", "-t", "3600", "-p", &port.to_string()]);
    let mut collector = Program::start("nfcapd", command.arg("-l").arg(folder))?;
    collector.wait_until(|| received(port).is_some(), TIMEOUT)?;
    let to = format!("127.0.0.1:{port}");
    let mut command = run::command(&["softflowd", "-d", "-6", "-a", "-v", "9", "-c", "none", "-n", &to]);
    command.arg("-p").arg(folder.with_extension("pid")).arg("-r").arg(capture);
    Program::run("softflowd", &mut command, TIMEOUT)?;
    let start = Instant::now();
    while received(port) != Some(0) {
        if start.elapsed() > TIMEOUT {
            return Err(format!("the collector on port {port} does not read"));
        }
        thread::sleep(Duration::from_millis(10));
    }
    collector.terminate(TIMEOUT)?;
    nfdump(folder)
}

/// Bytes that the socket of a port has received and not handed out.
fn received(port: u16) -> Option<u64> {
    let sockets = fs::read_to_string("/proc/net/udp").ok()?;
    let place = format!("0100007F:{port:04X}");
    let line = sockets.lines().find(|line| line.split_whitespace().nth(1) == Some(place.as_str()))?;
    let queues = line.split_whitespace().nth(4)?;
    u64::from_str_radix(queues.split(':').nth(1)?, 16).ok()
}
