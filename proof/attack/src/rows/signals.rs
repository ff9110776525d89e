//! Rows 12a and 12b: SIGHUP and SIGTERM.

use crate::attacker::{Ports, Speed};
use crate::forwarder::{Settings, ours_at};
use crate::network::Host;
use crate::packets::{HOUR, Template};
use crate::scene::Testbed;
use crate::session::Session;
use crate::verdict::{Check, Line};
use hashlane_ndn::mgmt::Record;
use hashlane_ndn::mgmt::dataset::CsInfo;
use nix::sys::signal::Signal;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// Time limit for settings to take effect.
const SOON: Duration = Duration::from_secs(5);
/// Time limit for an end: the forwarder's own second, and two for a busy machine.
const END: Duration = Duration::from_secs(3);
/// Capacities of the content store before and after.
const PACKETS: [u64; 2] = [1000, 2000];

pub(super) fn hang_up(bench: &Testbed, id: &str) -> Result<Line, String> {
    let attack = "SIGHUP: the configuration is read again; an invalid one changes nothing";
    let toml = |packets: u64| format!("cs.packets = {packets}\n");
    let mut running = bench.start(Settings::toml(toml(PACKETS[0])))?;
    if !bench.program.is_ours() {
        running.signal(Signal::SIGHUP)?;
        let ended = running.wait(Duration::from_secs(1))?.is_some();
        let found = if ended { "ended by SIGHUP" } else { "still runs after SIGHUP" };
        return Ok(Line::of(id, attack, vec![Check::new(!ended, found)]));
    }
    let file = running.folder().join("forwarder.toml");
    let mut checks = Vec::new();
    for (what, text, want) in [
        ("new capacity", ours_at(&running, &toml(PACKETS[1])), PACKETS[1]),
        ("invalid file", ours_at(&running, "cs.packets = \"many\"\n"), PACKETS[1]),
    ] {
        fs::write(&file, text).map_err(|error| error.to_string())?;
        running.signal(Signal::SIGHUP)?;
        let begun = Instant::now();
        thread::sleep(Duration::from_millis(300));
        let mut capacity = None;
        while begun.elapsed() < SOON && running.ended()?.is_none() {
            capacity = self::capacity(&mut Session::unix(&running.socket())?)?;
            if capacity == Some(want) {
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
        let found = match capacity {
            _ if running.ended()?.is_some() => format!("{what}: ended by SIGHUP"),
            Some(capacity) => format!("{what}: the store has {capacity} packets, of {want}"),
            None => format!("{what}: no answer"),
        };
        checks.push(Check::new(capacity == Some(want), found));
    }
    Ok(Line::of(id, attack, checks))
}

fn capacity(session: &mut Session) -> Result<Option<u64>, String> {
    let Some(bytes) = session.dataset("cs/info")? else { return Ok(None) };
    let parsed =
        CsInfo::parse(&bytes).or_else(|_| CsInfo::parse_fields(hashlane_ndn::tlv::Elements::new(&bytes)));
    parsed.map(|info| Some(info.capacity)).map_err(|error| error.to_string())
}

pub(super) fn terminate(bench: &Testbed, id: &str) -> Result<Line, String> {
    let mut running = bench.start(Settings::default())?;
    let to = running.udp(bench.network.forwarder(Host::Attacker));
    let ended = thread::scope(|scope| {
        let flood = scope.spawn(|| {
            bench.attack(|| {
                let mut template = Template::new("/attack/end", 0, HOUR)?;
                let speed = Speed { rate: Some(50_000), lasting: Duration::from_secs(2) };
                Ports::from_one_host(&bench.network, 64, to)?
                    .flood(speed, |number, packet| packet.extend_from_slice(template.stamp(number)))
            })
        });
        thread::sleep(Duration::from_millis(300));
        running.signal(Signal::SIGTERM)?;
        let ended = running.wait(2 * END);
        flood.join().map_err(|_| "the flood has panicked".to_owned())??;
        ended
    })?;
    let found = match ended {
        Some((status, took)) => format!("ended after {} ms: {status}", took.as_millis()),
        None => format!("still runs after {} s", 2 * END.as_secs()),
    };
    let met = ended.is_some_and(|(_, took)| took <= END);
    let attack = "SIGTERM under a flood: the end comes within 1 s (and 2 s for a busy machine)";
    Ok(Line::of(id, attack, vec![Check::new(met, found)]))
}
