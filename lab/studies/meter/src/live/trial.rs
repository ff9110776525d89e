//! One meter on an interface, under one load.

use super::network::{self, FAR};
use super::sender::{Load, Sender};
use crate::counted::Counted;
use crate::meters::{self, softflowd_dropped, softflowd_live};
use crate::traffic::{Ends, Flood, udp};
use crate::usage::{self, LOOK, Usage};
use hashlane_lab::probe::Cores;
use hashlane_lab::study::{Child, Start, TurnError};
use hashlane_rig::proc;
use nix::sys::signal::Signal;
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Time in which a meter must be ready, and in which it must end.
const PATIENCE: Duration = Duration::from_secs(120);

/// Flows of the load that looks for losses: fewer than the limits of both meters.
const FLOWS: u64 = 500_000;

/// Bytes of a short frame.
const SHORT: usize = 60;

/// Meter of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Live {
    /// `hashlane flow meter` with this limit of flows.
    Ours(u32),
    Softflowd,
}

/// Packets of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packets {
    /// So many short packets of 500,000 flows.
    Flows(u64),
    /// A flood, after its handshakes.
    Flood(Flood),
}

/// Surroundings of all trials.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup<'a> {
    /// Our own command.
    pub(crate) command: &'a Path,
    /// Folder for outputs, empty before each trial.
    pub(crate) folder: &'a Path,
    pub(crate) stop: &'a AtomicBool,
}

/// Results of a trial.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trial {
    /// Packets that reached the interface.
    pub(crate) arrived: u64,
    /// Packets per second that were sent.
    pub(crate) rate: f64,
    /// Packets that were metered.
    pub(crate) metered: u64,
    /// Counts of our records.
    pub(crate) counted: Counted,
    /// Output of the meter.
    pub(crate) log: String,
    pub(crate) usage: Usage,
}

impl Trial {
    /// Packets that arrived and were not metered.
    pub(crate) fn lost(&self) -> u64 {
        self.arrived.saturating_sub(self.metered)
    }

    /// Share of the packets that were not metered.
    pub(crate) fn share_lost(&self) -> f64 {
        self.lost() as f64 / self.arrived.max(1) as f64
    }
}

/// Packets per second that the sender reaches on an interface without a meter.
pub(crate) fn fastest(setup: Setup<'_>, frames: u64) -> Result<f64, TurnError> {
    network::with_pair(|| {
        bind();
        let load = Load { from: 0, frames, rate: None };
        Ok(Sender::open()?.send(&load, short, setup.stop)?.rate())
    })
}

/// Runs a meter under a load of `rate` packets per second, or of as many as the sender reaches.
pub(crate) fn run(
    setup: Setup<'_>,
    meter: Live,
    packets: Packets,
    rate: Option<f64>,
) -> Result<Trial, TurnError> {
    network::with_pair(|| {
        bind();
        let sink = UdpSocket::bind(("127.0.0.1", 0)).and_then(|sink| Ok((sink.local_addr()?, sink)));
        let (to, _sink) = sink.map_err(TurnError::io("no UDP port is free"))?;
        let Setup { command, folder, stop } = setup;
        let program = match meter {
            Live::Ours(flows) => {
                let flows = ["--promiscuous", "--interface", FAR, "--force", "--flows", &flows.to_string()];
                meters::ours(command, &flows, folder)
            }
            Live::Softflowd => softflowd_live(FAR, to, folder),
        };
        let mut child = Start::usage(command).spawn(&program, folder.join("log"))?;
        let is_ready = || Ok(network::is_heard()?.then_some(()));
        child.until((PATIENCE, LOOK), stop, "did not listen on the interface", is_ready)?;
        let sender = Sender::open()?;
        let before = network::arrived()?;
        let (sent, flood) = match packets {
            Packets::Flows(frames) => (sender.send(&Load { from: 0, frames, rate }, short, stop)?, None),
            Packets::Flood(flood) => {
                let write = |number, frame: &mut Vec<u8>| {
                    flood.write(number, frame);
                    frame.resize(SHORT, 0);
                };
                let first = Load { from: 0, frames: flood.handshakes(), rate };
                let rest = flood.packets() - flood.handshakes();
                let rest = Load { from: flood.handshakes(), frames: rest, rate };
                sender.send(&first, write, stop)?;
                let sent = sender.send(&rest, write, stop)?;
                if sent.frames < rest.frames {
                    let (frames, rest) = (sent.frames, rest.frames);
                    return Err(child.failed(&format!("the sender sent {frames} frames of {rest} in time")));
                }
                (sent, Some(flood))
            }
        };
        let arrived = network::arrived()?.packets - before.packets;
        let lost = if meter == Live::Softflowd { dropped(&child, setup)? } else { 0 };
        let terminated = child.program.signal_all(Signal::SIGTERM);
        terminated.map_err(TurnError::io("cannot end a program"))?;
        let (usage, log) = usage::wait(child, PATIENCE, stop)?;
        let (counted, metered) = match meter {
            Live::Ours(_) => {
                let counted = Counted::read(&folder.join(meters::OUTPUT), flood)?;
                (counted, counted.packets)
            }
            Live::Softflowd => (Counted::default(), arrived.saturating_sub(lost)),
        };
        Ok(Trial { arrived, rate: sent.rate(), metered, counted, log, usage })
    })
}

/// Binds this thread, which sends, to the last core, so that the meter has the others.
pub(super) fn bind() {
    if let Some(core) = Cores::detect().load {
        // A thread that cannot be bound runs wherever the kernel likes.
        let _ = proc::bind(core);
    }
}

/// A short frame of one of [`FLOWS`] flows.
fn short(number: u64, frame: &mut Vec<u8>) {
    let client = (0x0a00_0000 + (number % FLOWS) as u32).to_be_bytes();
    udp(frame, Ends::V4(client, [198, 51, 100, 1]), [40_000, 53], SHORT - 14);
    frame.resize(SHORT, 0);
}

/// Packets that softflowd had no room for. Those that wait in its ring are not lost: it reads the last ones
/// only with others behind them.
fn dropped(child: &Child, setup: Setup<'_>) -> Result<u64, TurnError> {
    let output = Command::new("softflowctl")
        .arg("-c")
        .arg(setup.folder.join(meters::CONTROL))
        .arg("statistics")
        .stdin(Stdio::null())
        .output()
        .map_err(TurnError::io("cannot start softflowctl"))?;
    let dropped = softflowd_dropped(&String::from_utf8_lossy(&output.stdout));
    dropped.ok_or_else(|| child.failed("softflowctl prints no statistics"))
}
