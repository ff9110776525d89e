//! Floods of datagrams.

use super::super::messages;
use super::super::scene::{Attack, Scene, Testbed, thousands};
use super::super::table::Line;
use super::MB;
use crate::attacker::{Ports, Speed};
use crate::network::Network;
use crate::stats::digits;
use crate::verdict::Check;
use std::net::SocketAddr;

/// Memory that a flood of datagrams may cost: counters of the rate limit, buffers.
const GROWTH: u64 = 64 * MB;

/// Networks of 256 addresses that an attacker sends from.
const NETWORKS: u16 = 200;

/// Ports of one address, so that its datagrams meet each worker.
const PORTS: usize = 16;

/// Sends from 200 networks.
pub(super) fn flood(
    speed: Speed,
    server: SocketAddr,
    write: impl FnMut(u64, &mut Vec<u8>),
) -> Result<(u64, Ports), String> {
    let mut ports = Ports::from_networks(&Network::Loopback, NETWORKS, server)?;
    ports.flood(speed, write).map(|sent| (sent, ports))
}

/// A row of one flood.
fn row(
    bench: &Testbed,
    name: (u8, &str),
    write: impl FnMut(u64, &mut Vec<u8>),
    check: impl FnOnce(&Attack) -> Check,
) -> Result<Line, String> {
    let scene = Scene::open(bench, "", false)?;
    let attack = scene.attack(|| flood(bench.speed(), scene.address(), write))?;
    let (rate, check) = (attack.rate("queries"), check(&attack));
    scene.close(name, &attack, rate, GROWTH, vec![check])
}

/// Messages received, and responses sent.
fn counts(attack: &Attack) -> String {
    let [received, sent] =
        ["/udp/received", "/udp/sent"].map(|counter| thousands(attack.count(counter) as f64));
    format!("{received} received, {sent} answered")
}

pub(in super::super) fn random_subdomains(bench: &Testbed, name: (u8, &str)) -> Result<Line, String> {
    row(bench, name, messages::random_subdomain, |attack| Check::new(true, counts(attack)))
}

pub(in super::super) fn malformed_edns(bench: &Testbed, name: (u8, &str)) -> Result<Line, String> {
    row(bench, name, messages::malformed_edns, |attack| Check::new(true, counts(attack)))
}

pub(in super::super) fn malformed(bench: &Testbed, name: (u8, &str)) -> Result<Line, String> {
    row(bench, name, messages::malformed, |attack| Check::new(true, counts(attack)))
}

pub(in super::super) fn compression_loops(bench: &Testbed, name: (u8, &str)) -> Result<Line, String> {
    row(bench, name, messages::compression_loop, |attack| Check::new(true, counts(attack)))
}

/// Queries of one address for the largest response: whole ones at most as `rate_limit` says, and in all fewer
/// bytes than the attacker has sent.
pub(in super::super) fn amplification(bench: &Testbed, name: (u8, &str)) -> Result<Line, String> {
    let scene = Scene::open(bench, "", false)?;
    let mut length = 0;
    let attack = scene.attack(|| {
        let mut ports = Ports::from_one_host(&Network::Loopback, PORTS, scene.address())?;
        let sent = ports.flood(bench.speed(), |number, packet| {
            packet.extend(messages::largest(number as u16));
            length = packet.len();
        });
        sent.map(|sent| (sent, ports))
    })?;
    let (asked, sent) = (attack.count("/udp/received_bytes"), attack.count("/udp/sent_bytes"));
    let whole = attack.count("/udp/sent").saturating_sub(attack.count("/udp/limited_truncated"));
    // A second's worth is there at the begin; innocents get 200 responses a second, and one more second for
    // the counters, which are read a moment later.
    let most = (400.0 * (attack.took.as_secs_f64() + 2.0)) as u64;
    let factor = digits(sent as f64 / asked.max(1) as f64);
    let checks = vec![
        Check::new(whole <= most, format!("{whole} whole responses, innocents' included, of at most {most}")),
        Check::new(sent < asked, format!("{factor} bytes sent for each byte received ({length} a query)")),
    ];
    let rate = attack.rate("queries");
    scene.close(name, &attack, rate, GROWTH, checks)
}
