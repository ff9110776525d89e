//! Row 4b: a host on an Ethernet that forges another source address for each Interest. Row 9d: at line rate.

use super::state;
use crate::attacker::Speed;
use crate::ethernet::{self, Forger};
use crate::forwarder::{Running, Settings};
use crate::innocents::Sink;
use crate::network::INTERFACE;
use crate::packets::{HOUR, Template};
use crate::scene::{Cast, Scene, Testbed};
use crate::session::Session;
use crate::verdict::{Check, Criteria, Line};
use hashlane_rig::{proc, wait};
use std::time::Duration;

/// Addresses at first and in a second, and new ones a second after those: as many as UDP ports in row 4a.
const ADDRESSES: u64 = 4200;
const AT_FIRST: u32 = 4000;
const RATE: u32 = 525;
/// Most on-demand faces of Ethernet, by default.
const PLACES: usize = 1024;
/// Prefix of an application that never answers.
const SINK: &str = "/sink";
/// Most growth of the resident memory: the PIT's 512 MiB, and a quarter more for the allocator.
const MOST_GROWTH: u64 = 640 << 20;
/// Time limit for the forwarder to use the Ethernet.
const TIMEOUT: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(20);

/// Sends from more addresses than there are faces, and then from new ones at a rate.
pub(super) fn at_a_rate(bench: &Testbed, id: &str) -> Result<Line, String> {
    let lasting = bench.pick(Duration::from_secs(4), Duration::from_secs(11));
    let name = format!(
        "{ADDRESSES} forged Ethernet addresses, then {RATE} new ones a second for {} s",
        lasting.as_secs()
    );
    let speeds = [Speed::of(ADDRESSES as u32, AT_FIRST), Speed { rate: Some(RATE), lasting }];
    let attack =
        Attack { name, cast: Cast::USUAL, criteria: Criteria::USUAL, speeds: &speeds, addresses: u64::MAX };
    run(bench, id, &attack)
}

/// A flood from forged addresses, and the service that everyone else must get.
pub(super) struct Attack<'a> {
    pub(super) name: String,
    pub(super) cast: Cast,
    pub(super) criteria: Criteria,
    /// Speeds of the flood, one after the other.
    pub(super) speeds: &'a [Speed],
    /// Addresses after which the first one comes again.
    pub(super) addresses: u64,
}

pub(super) fn run(bench: &Testbed, id: &str, attack: &Attack<'_>) -> Result<Line, String> {
    let Attack { name, cast, criteria, speeds, addresses } = attack;
    if !bench.program.is_ours() {
        return Ok(Line::not_applicable(id, name, "this row configures no Ethernet for it"));
    }
    let Some(segment) = bench.network.segment()? else {
        return Ok(Line::not_applicable(id, name, "needs network namespaces: run as root"));
    };
    let entries = bench.pick(1 << 15, 1 << 20);
    let settings = format!("faces.ether.interfaces = [\"{INTERFACE}\"]\npit.entries = {entries}\n");
    let running = bench.start(Settings::toml(settings))?;
    wait_for_group(&running)?;
    let cast = Cast { ethernet: Some(segment.forwarder), ..*cast };
    let scene = Scene::around(bench, running, cast)?;
    let sink = Sink::start(&scene.running.socket(), SINK)?;
    let mut session = scene.session()?;
    let neighbour = ethernet::uri(segment.neighbour);
    let face = state::face(&mut session, &neighbour)?.ok_or_else(|| format!("no face of {neighbour}"))?;
    let pid = scene.running.pid();
    let before = proc::resident(pid).ok_or("the forwarder has ended")?;
    scene.begin();
    let sent = bench.attack(|| {
        let (forger, mut template) = (Forger::open(segment.forwarder)?, Template::new(SINK, 0, HOUR)?);
        let source = |number: u64| (number % addresses) as u32;
        let mut write = |number: u64, frame: &mut Vec<u8>| frame.extend_from_slice(template.stamp(number));
        let mut sent = 0;
        for speed in *speeds {
            sent += forger.flood(*speed, sent, source, &mut write);
        }
        Ok(sent)
    })?;
    let peak = proc::resident(pid).unwrap_or(u64::MAX);
    let faces = state::faces(&mut session)?;
    let status = state::status(&mut session)?;
    scene.calm();
    let kept = state::face(&mut session, &neighbour)? == Some(face);
    drop(sink);
    let forged = faces.iter().filter(|face| ethernet::is_forged(&face.uri)).count();
    let pending = status.map_or(u64::MAX, |status| status.pit_entries);
    let grown = peak.saturating_sub(before);
    let checks = vec![
        Check::new(
            (1..=PLACES).contains(&forged),
            format!("{sent} frames, {forged} faces of forged addresses"),
        ),
        Check::new(pending <= entries, format!("{pending} pending Interests, of {entries}")),
        Check::new(grown <= MOST_GROWTH, format!("grew by {} MB", grown.div_ceil(1_000_000))),
        Check::new(kept, format!("face of the Ethernet neighbour {}", if kept { "kept" } else { "lost" })),
    ];
    scene.close(id, name, *criteria, checks)
}

/// Waits until the forwarder has the face of the group, and so receives frames.
fn wait_for_group(running: &Running) -> Result<(), String> {
    let (mut session, group) = (Session::unix(&running.socket())?, ethernet::uri(ethernet::GROUP));
    let face = wait::try_until(TIMEOUT, TICK, || state::face(&mut session, &group))?;
    face.map(drop).ok_or_else(|| format!("no face of {group} in {} s\n{}", TIMEOUT.as_secs(), running.log()))
}
