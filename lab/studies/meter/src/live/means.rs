//! Short frames as fast as the sender can, to a meter that has them by one of several means.

use super::network::{self, FAR, NEAR};
use super::sender::{Load, Sender};
use super::trial::{Setup, bind};
use crate::counted::Counted;
use crate::meters;
use crate::traffic::{Ends, udp};
use crate::usage::{self, LOOK};
use hashlane_lab::study::{Child, Start, TurnError, empty_folder};
use hashlane_rig::{namespace, proc};
use nix::sys::signal::Signal;
use std::thread;
use std::time::Duration;

/// Time in which a meter must be ready, and in which it must end.
const PATIENCE: Duration = Duration::from_secs(120);

/// Time after the last frame in which the meter has metered all that it received.
const SETTLE: Duration = Duration::from_millis(400);

/// Flows of the frames: few, so that the table and the export take little.
const FLOWS: u64 = 1_000;

/// Bytes of a frame before its checksum: the shortest.
const SHORT: usize = 60;

/// MTU of the sender's end with which the driver of the meter's end refuses a program, whose frames fit a
/// page. The meter then has it in the network stack.
const JUMBO: u32 = 9000;

/// Means by which a meter has the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Means {
    /// XDP with the program in the driver.
    Native,
    /// XDP with the program in the network stack.
    Generic,
    /// A packet socket.
    Packet,
    /// No meter: the frames end in the kernel.
    Sender,
}

/// Outcome of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sped {
    /// Time on the clock for each packet that was metered, in nanoseconds.
    pub(crate) wall_ns: f64,
    /// CPU time of the meter for each such packet, in nanoseconds; not a number without a meter.
    pub(crate) cpu_ns: f64,
    pub(crate) sent: u64,
    /// Packets that were sent and not metered.
    pub(crate) lost: u64,
}

/// Sends so many frames to an interface, as fast as the sender can.
pub(crate) fn run(setup: Setup<'_>, means: Means, frames: u64) -> Result<Sped, TurnError> {
    empty_folder(setup.folder)?;
    network::with_pair(|| {
        bind();
        if means == Means::Generic {
            let set = namespace::ip(&format!("link set {NEAR} mtu {JUMBO}"));
            set.map_err(TurnError::io("cannot set the MTU of an interface"))?;
        }
        let meter = match means {
            Means::Sender => None,
            means => Some(start(setup, means)?),
        };
        let sender = Sender::open()?;
        let before = meter.as_ref().map(cpu).transpose()?;
        let sent = sender.send(&Load { from: 0, frames, rate: None }, write, setup.stop)?;
        let time = sent.time.as_secs_f64() * 1e9;
        let (Some(child), Some(before)) = (meter, before) else {
            let wall_ns = time / sent.frames.max(1) as f64;
            return Ok(Sped { wall_ns, cpu_ns: f64::NAN, sent: sent.frames, lost: 0 });
        };
        thread::sleep(SETTLE);
        let used = cpu(&child)?.saturating_sub(before).as_secs_f64() * 1e9;
        child.program.signal_all(Signal::SIGTERM).map_err(TurnError::io("cannot end a program"))?;
        usage::wait(child, PATIENCE, setup.stop)?;
        let metered = Counted::read(&setup.folder.join(meters::OUTPUT), None)?.packets;
        let each = |time: f64| time / metered.max(1) as f64;
        let lost = sent.frames.saturating_sub(metered);
        Ok(Sped { wall_ns: each(time), cpu_ns: each(used), sent: sent.frames, lost })
    })
}

/// Starts a meter, and waits until it listens by the means.
fn start(setup: Setup<'_>, means: Means) -> Result<Child, TurnError> {
    let io = if means == Means::Packet { "packet" } else { "xdp" };
    let arguments = ["--promiscuous", "--interface", FAR, "--force", "--io", io];
    let program = meters::ours(setup.command, &arguments, setup.folder);
    let mut child = Start::usage(setup.command).spawn(&program, setup.folder.join("log"))?;
    let is_ready = || {
        let shown = namespace::shown(&format!("link show {FAR}"));
        let shown = shown.map_err(TurnError::io("cannot look at the interface of the meter"))?;
        Ok(match means {
            Means::Packet | Means::Sender => network::is_heard()?,
            Means::Native => shown.contains(" xdp "),
            Means::Generic => shown.contains(" xdpgeneric "),
        }
        .then_some(()))
    };
    child.until((PATIENCE, LOOK), setup.stop, "did not listen on the interface by the means", is_ready)?;
    Ok(child)
}

/// CPU time of a meter so far.
fn cpu(child: &Child) -> Result<Duration, TurnError> {
    let processes = proc::members(child.program.id()).map_err(TurnError::io("cannot list processes"))?;
    let time = |pid| proc::cpu(pid).map_err(TurnError::io("cannot read CPU time"));
    processes.into_iter().map(time).sum()
}

/// A short frame of one of [`FLOWS`] flows.
fn write(number: u64, frame: &mut Vec<u8>) {
    let client = (0x0a00_0000 + (number % FLOWS) as u32).to_be_bytes();
    udp(frame, Ends::V4(client, [198, 51, 100, 1]), [40_000, 53], SHORT - 14);
    frame.resize(SHORT, 0);
}
