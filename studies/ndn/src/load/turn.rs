//! One forwarder under one load: started, fed, measured, ended.

use super::drive::{Drive, Plan};
use super::forwarders::Start;
use super::network::Network;
use super::window::Counts;
use super::{Forwarder, Link, LoadError, Workload, child};
use hashlane_lab::probe::Cores;
use hashlane_lab::stats::{mean, quantile};
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Most starts of a forwarder with an assigned UDP port, if another program takes that port first each time.
const ATTEMPTS: usize = 5;

/// Round-trip times of Interests, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rtt {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
}

impl Rtt {
    /// Of waiting times in nanoseconds; `None` of none.
    pub(super) fn of(ns: &[u32]) -> Option<Self> {
        let ms: Vec<f64> = ns.iter().map(|ns| f64::from(*ns) / 1e6).collect();
        Some(Self { mean: mean(&ms)?, p50: quantile(&ms, 0.5)?, p99: quantile(&ms, 0.99)? })
    }
}

/// Results of one turn of a forwarder.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Counts of the Interests in the measured time; `answered` are the exchanges.
    pub counts: Counts,
    /// The measured time.
    pub time: Duration,
    /// CPU time of the forwarder in it.
    pub cpu: Duration,
    /// Round-trip times of Interests, of a load with a pace.
    pub rtt: Option<Rtt>,
    /// `true` if the forwarder and the load had a core each.
    pub cores_apart: bool,
}

impl Reading {
    /// Microseconds of CPU for an exchange; `None` where there was none.
    pub fn cpu_us(&self) -> Option<f64> {
        (self.counts.answered > 0).then(|| self.cpu.as_secs_f64() * 1e6 / self.counts.answered as f64)
    }

    /// CPU time in per cent of a core.
    pub fn cpu_percent(&self) -> f64 {
        100.0 * self.cpu.as_secs_f64() / self.time.as_secs_f64().max(1e-9)
    }

    /// Exchanges a second.
    pub fn rate(&self) -> f64 {
        self.counts.answered as f64 / self.time.as_secs_f64().max(1e-9)
    }
}

/// Starts `forwarder` with `command`, our own, puts `workload` on it according to `plan`, and ends it.
///
/// # Errors
/// The forwarder could not be started, ended by itself, or answered no Interest; [`LoadError::Stopped`] soon
/// after `stop` is set.
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
    let mut attempts = 1;
    loop {
        match attempt(command, forwarder, workload, plan, cores, stop) {
            Err(error) if forwarder.lost_its_port(&error) && attempts < ATTEMPTS => attempts += 1,
            done => return done,
        }
    }
}

fn attempt(
    command: &Path,
    forwarder: Forwarder,
    workload: &Workload,
    plan: &Plan,
    cores: Cores,
    stop: &AtomicBool,
) -> Result<Reading, LoadError> {
    let network = if workload.link == Link::Netns { Some(Network::new()?) } else { None };
    let host = if network.is_some() { Ipv4Addr::UNSPECIFIED } else { Ipv4Addr::LOCALHOST };
    let mut drive = Drive::new(workload, plan, forwarder.index(), cores.are_apart(), stop)?;
    if workload.link != Link::Unix {
        drive.open_udp(network.as_ref())?;
    }
    let partners = drive.partners();
    let namespace = network.as_ref().map(Network::router);
    let namespace = namespace.as_deref();
    let (core, tables) = (cores.measured, workload.tables);
    let start = Start { command, core, namespace, host, partners: &partners, tables };
    let mut running = forwarder.start(&start)?;
    drive.connect(&mut running)?;
    let reading = drive.run(&mut running)?;
    Ok(Reading { cores_apart: cores.are_apart(), ..reading })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_mean_median_and_tail_of_waiting_times() {
        let ns: Vec<u32> = (1..=101).map(|ms| ms * 1_000_000).collect();
        assert_eq!(Rtt::of(&ns), Some(Rtt { mean: 51.0, p50: 51.0, p99: 100.0 }));
        assert_eq!(Rtt::of(&[]), None);
    }
}
