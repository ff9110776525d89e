//! Row 3: Interests that take much memory each.

use super::state;
use crate::attacker::{Ports, Speed};
use crate::forwarder::Settings;
use crate::innocents::Sink;
use crate::network::Host;
use crate::packets::{HOUR, Template};
use crate::scene::{Cast, Scene, Testbed};
use crate::stats::digits;
use crate::verdict::{Check, Criteria, Line};
use hashlane_rig::proc;
use std::time::Duration;

/// Bytes of a name beyond its prefix.
const PADDING: usize = 8300;
/// Most growth of the resident memory: the PIT's 512 MiB, and a quarter more for the allocator.
const MOST_GROWTH: u64 = 640 << 20;
/// Longest lifetime of Interests from other hosts, by default.
const LIFETIME_CAP: Duration = Duration::from_secs(30);
/// Time limit for giving memory back after expiry.
const GIVEN_BACK: Duration = Duration::from_secs(10);

pub(super) fn run(bench: &Testbed) -> Result<Vec<Line>, String> {
    let (packets, rate) = bench.pick((37_500, 12_500), (500_000, 25_000));
    let lifetime = bench.pick(4000, HOUR);
    // So that the store's own growth is no part of the figure.
    let scene = Scene::open(bench, Settings::toml("cs.admit = false\n"), Cast::USUAL)?;
    let sink = Sink::start(&scene.running.socket(), "/sink")?;
    let pid = scene.running.pid();
    let before = proc::resident(pid).ok_or("the forwarder has ended")?;
    let mut template = Template::new("/sink", PADDING, lifetime)?;
    scene.begin();
    let peak = bench.attack(|| {
        let to = scene.running.udp(bench.network.forwarder(Host::Attacker));
        let mut ports = Ports::from_one_host(&bench.network, 1, to)?;
        ports.flood(Speed::of(packets, rate), |number, packet| {
            packet.extend_from_slice(template.stamp(number))
        })?;
        Ok(proc::resident(pid))
    })?;
    let pending = state::pending(&mut scene.session()?);
    scene.calm();
    let expiry = Duration::from_millis(lifetime).min(LIFETIME_CAP);
    let low = before * 3 / 2;
    let fell = scene.wait_until(expiry + GIVEN_BACK, || proc::resident(pid).is_some_and(|rss| rss <= low));
    let after = proc::resident(pid).unwrap_or(u64::MAX);
    drop(sink);
    let grown = peak.unwrap_or(u64::MAX).saturating_sub(before);
    let checks = vec![
        Check::new(grown <= MOST_GROWTH, format!("grew by {} MB, {pending}", mega(grown))),
        Check::new(
            fell.is_some(),
            format!("{} of {} MB, 10 s after expiry at most 1.5 times", mega(after), mega(before)),
        ),
    ];
    let attack = format!("{rate} Interests of 8.4 kB a second from one port, {packets} in all");
    scene.close("3", &attack, Criteria::USUAL, checks).map(|line| vec![line])
}

fn mega(bytes: u64) -> String {
    digits(bytes as f64 / 1e6)
}
