//! One forwarder under one load: started, fed, measured, ended.

use super::drive::{Drive, Plan};
use super::forwarders::{Start, free_port};
use super::process::Cores;
use super::window::Counts;
use super::{Forwarder, Link, LoadError, Workload, child};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What was measured of a forwarder.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// What became of the Interests in the measured time; `answered` are the exchanges.
    pub counts: Counts,
    /// The measured time.
    pub time: Duration,
    /// CPU time of the forwarder in it.
    pub cpu: Duration,
    /// Whether the forwarder and the load had a core each.
    pub cores_apart: bool,
}

impl Reading {
    /// Microseconds of CPU for an exchange; `None` where there was none.
    pub fn cpu_us(&self) -> Option<f64> {
        (self.counts.answered > 0).then(|| self.cpu.as_secs_f64() * 1e6 / self.counts.answered as f64)
    }

    /// Exchanges a second.
    pub fn rate(&self) -> f64 {
        self.counts.answered as f64 / self.time.as_secs_f64().max(1e-9)
    }
}

/// Starts `forwarder` with `command`, our own, puts `workload` on it as `plan` says, and ends it again.
///
/// # Errors
/// The forwarder could not be started, ended by itself, or answered nobody; [`LoadError::Stopped`] soon after `stop` is set.
pub fn turn(
    command: &Path,
    forwarder: Forwarder,
    workload: &Workload,
    plan: &Plan,
    stop: &AtomicBool,
) -> Result<Reading, LoadError> {
    // In a thread of its own, which alone is bound to a core, and with which the forwarder's process ends.
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| in_thread(command, forwarder, workload, plan, stop));
        thread.join().unwrap_or_else(|_| Err(LoadError::Forwarder("the load ended by a defect".into())))
    })
}

fn in_thread(
    command: &Path,
    forwarder: Forwarder,
    workload: &Workload,
    plan: &Plan,
    stop: &AtomicBool,
) -> Result<Reading, LoadError> {
    let cores = Cores::detect();
    if let Some(core) = cores.load {
        child::bind(core).map_err(|error| LoadError::Io("cannot bind the load to a core", error))?;
    }
    let udp = free_port()?;
    let mut drive = Drive::new(workload, plan, stop)?;
    if workload.link == Link::Udp {
        drive.open_udp(udp)?;
    }
    let partners = drive.partners();
    let start = Start { command, core: cores.forwarder, udp, partners: &partners };
    let mut running = forwarder.start(&start)?;
    if let Some(socket) = &running.socket {
        drive.connect(socket, &mut running.process)?;
    }
    let reading = drive.run(&mut running.process)?;
    Ok(Reading { cores_apart: cores.apart(), ..reading })
}
