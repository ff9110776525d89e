//! Row 5: TCP connections that send nothing, as many as there is room for.

use crate::attacker::{closed, connections};
use crate::forwarder::Settings;
use crate::network::Host;
use crate::scene::{Cast, Scene, Testbed};
use crate::session::PATIENCE;
use crate::verdict::{Check, Criteria, Line};
use std::thread;
use std::time::Duration;

/// Time after which a connection without a packet is closed.
const IDLE: Duration = Duration::from_secs(60);

pub(super) fn run(bench: &Testbed) -> Result<Vec<Line>, String> {
    let (count, descriptors) = bench.pick((1100, Some(1024)), (16_128, None));
    let scene = Scene::open(bench, Settings { descriptors, ..Settings::default() }, Cast::USUAL)?;
    let to = scene.running.tcp(bench.network.forwarder(Host::Attacker));
    scene.begin();
    let limit = bench.pick(Duration::from_secs(3), Duration::from_secs(90));
    let idle = bench.attack(|| Ok(connections(bench.network.source(0), to, count, limit)))?;
    // Newcomers have time to lose their patience.
    thread::sleep(bench.pick(PATIENCE + Duration::from_secs(1), IDLE + Duration::from_secs(10)));
    let closed = closed(&idle);
    let found = format!("{} connections opened, {closed} of them closed by the forwarder", idle.len());
    // The quick form does not wait that long.
    let checks = vec![Check::new(bench.quick || closed == idle.len(), found)];
    drop(idle);
    scene.calm();
    let proportion = if bench.quick { ", with 1,024 file descriptors" } else { "" };
    let attack = format!("{count} idle TCP connections of one host{proportion}");
    scene.close("5", &attack, Criteria::USUAL, checks).map(|line| vec![line])
}
