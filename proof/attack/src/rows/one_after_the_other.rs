//! Row 1: peers that fill the PIT one after the other, and leave.

use super::state;
use crate::attacker::{Ports, Speed, connect, pace};
use crate::forwarder::Settings;
use crate::innocents::Sink;
use crate::network::Host;
use crate::packets::{HOUR, Template};
use crate::scene::{Cast, Scene, Testbed};
use crate::verdict::{Check, Criteria, Line};
use std::io::Write;
use std::time::{Duration, Instant};

const PEERS: u32 = 26;
/// Names that the management never answers, and names of an application that never answers.
const PREFIXES: [&str; 2] = ["/localhop/nfd/attack", "/sink"];

pub(super) fn run(bench: &Testbed) -> Result<Vec<Line>, String> {
    let (entries, rate) = bench.pick((1 << 15, 50_000), (1 << 20, 200_000));
    // One peer in four is a UDP port whose Interests reach the application: those alone fill the PIT.
    let each = entries / (PEERS / 4);
    let scene = Scene::open(bench, Settings::toml(format!("pit.entries = {entries}\n")), Cast::USUAL)?;
    let sink = Sink::start(&scene.running.socket(), PREFIXES[1])?;
    scene.begin();
    let sent =
        bench.attack(|| (0..PEERS).map(|peer| one(&scene, peer, each, rate)).sum::<Result<u64, String>>())?;
    let pending = state::pending(&mut scene.session()?);
    scene.calm();
    drop(sink);
    let attack =
        format!("{each} Interests of an hour from each of {PEERS} UDP ports and TCP connections in turn");
    let found = Check::new(true, format!("{sent} sent to a PIT of {entries}, {pending}"));
    scene.close("1", &attack, Criteria::USUAL, vec![found]).map(|line| vec![line])
}

/// Sends the Interests of one peer, and closes it.
fn one(scene: &Scene<'_>, peer: u32, count: u32, rate: u32) -> Result<u64, String> {
    let (network, running) = (&scene.bench.network, &scene.running);
    let host = network.forwarder(Host::Attacker);
    let mut template = Template::new(PREFIXES[peer as usize / 2 % 2], 0, HOUR)?;
    let first = u64::from(peer) << 32;
    if peer.is_multiple_of(2) {
        let mut ports = Ports::from_one_host(network, 1, running.udp(host))?;
        return ports.flood(Speed::of(count, rate), |number, packet| {
            packet.extend_from_slice(template.stamp(first | number));
        });
    }
    let mut stream = connect(network.source(0), running.tcp(host))
        .map_err(|error| format!("a TCP connection: {error}"))?;
    stream.set_write_timeout(Some(Duration::from_secs(1))).map_err(|error| error.to_string())?;
    let (begun, mut sent) = (Instant::now(), 0);
    while sent < count {
        let chunk = 64.min(count - sent);
        let bytes: Vec<u8> = (sent..sent + chunk)
            .flat_map(|number| template.stamp(first | u64::from(number)).to_vec())
            .collect();
        // The forwarder reads no more of it, or has closed it.
        if stream.write_all(&bytes).is_err() {
            break;
        }
        sent += chunk;
        pace(begun, sent as usize, rate);
    }
    Ok(sent.into())
}
