//! One forwarder under one load: started, fed, measured, ended.

use super::drive::Drive;
use super::forwarders::{Forwarder, Start};
use super::network::Network;
use super::plan::Plan;
use super::reading::Reading;
use super::workload::{Link, Workload};
use hashlane_lab::probe::Cores;
use hashlane_lab::study::{TurnError, on_core};
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Most starts of a forwarder with an assigned UDP port, if another program takes that port first each time.
const ATTEMPTS: usize = 5;

/// Starts `forwarder` with `command`, our own, puts `workload` on it according to `plan`, and ends it.
///
/// # Errors
/// The forwarder could not be started, ended by itself, or answered no Interest; [`TurnError::Stopped`] soon
/// after `stop` is set.
pub fn turn(
    command: &Path,
    forwarder: Forwarder,
    workload: &Workload,
    plan: &Plan,
    stop: &AtomicBool,
) -> Result<Reading, TurnError> {
    let cores = Cores::detect();
    // In a separate thread: only it is bound to a core, and the forwarder's process ends with it.
    on_core(cores.load, || {
        let mut attempts = 1;
        loop {
            match attempt(command, forwarder, workload, plan, cores, stop) {
                Err(error) if forwarder.lost_its_port(&error) && attempts < ATTEMPTS => attempts += 1,
                done => return done,
            }
        }
    })
}

fn attempt(
    command: &Path,
    forwarder: Forwarder,
    workload: &Workload,
    plan: &Plan,
    cores: Cores,
    stop: &AtomicBool,
) -> Result<Reading, TurnError> {
    let network = if workload.link == Link::Netns { Some(Network::new()?) } else { None };
    let host = if network.is_some() { Ipv4Addr::UNSPECIFIED } else { Ipv4Addr::LOCALHOST };
    let mut drive = Drive::new(workload, plan, forwarder.index(), cores.are_apart(), stop)?;
    if workload.link != Link::Unix {
        drive.open_udp(network.as_ref())?;
    }
    let partners = drive.partners();
    let namespace = network.as_ref().map(Network::router);
    let namespace = namespace.as_deref();
    let Workload { tables, reliability, .. } = *workload;
    let core = cores.measured;
    let start = Start { command, core, namespace, host, partners: &partners, tables, reliability };
    let mut running = forwarder.start(&start)?;
    drive.connect(&mut running)?;
    let reading = drive.run(&mut running)?;
    Ok(Reading { cores_apart: cores.are_apart(), ..reading })
}
