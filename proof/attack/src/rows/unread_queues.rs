//! Row 10: queues that grow because nobody reads them, or because the rest never comes.

use super::{Part, state};
use crate::attacker::{Ports, Speed, connections};
use crate::forwarder::Settings;
use crate::innocents::Producer;
use crate::network::Host;
use crate::packets::{self, first_fragment};
use crate::scene::{Cast, Scene, Testbed};
use crate::session::{LIFETIME, PATIENCE};
use crate::verdict::{Check, Criteria, Line};
use hashlane_rig::proc;
use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

/// Most growth of the resident memory: all send queues and all reassembly together.
const MOST_GROWTH: u64 = 256 << 20;
/// Time after which a connection that takes nothing is closed.
const STUCK: Duration = Duration::from_secs(30);
/// Connections of newcomers that may be open when they are counted.
const NEWCOMERS: u64 = 4;
/// Time limit for the queues to fill, and time without growth after which they have.
const FILLED: Duration = Duration::from_secs(6);
const STEADY: Duration = Duration::from_secs(1);
/// Data that each connection asks for, and their length in bytes.
const ASKED: usize = 500;
const LONG: usize = 8000;

pub(super) fn run(bench: &Testbed) -> Result<Vec<Line>, String> {
    let parts: [(&str, Part); 2] = [("10a", never_read), ("10b", fragments)];
    Ok(state::run_parts(parts, |id, part| part(bench, id)))
}

fn never_read(bench: &Testbed, id: &str) -> Result<Line, String> {
    let count = bench.pick(300, 4000);
    let scene = Scene::open(bench, Settings::default(), Cast::USUAL)?;
    let bulk = Producer::of(&scene.running.socket(), "/bulk", LONG)?;
    let pid = scene.running.pid();
    let before = proc::resident(pid).ok_or("the forwarder has ended")?;
    let descriptors = proc::descriptors(pid).ok_or("the forwarder has ended")?;
    let to = scene.running.tcp(bench.network.forwarder(Host::Attacker));
    scene.begin();
    let mut peak = before;
    let streams = bench.attack(|| {
        let mut streams = connections(bench.network.source(0), to, count, bench.pick(PATIENCE, 4 * PATIENCE));
        for stream in &mut streams {
            ask_for_all(stream)?;
            peak = peak.max(proc::resident(pid).unwrap_or(0));
        }
        Ok(streams)
    })?;
    peak = peak.max(highest(pid));
    if !bench.quick {
        thread::sleep(STUCK + Duration::from_secs(10));
    }
    // They do not see it: they would have to read all that came before the end.
    let opened = streams.len();
    let open = proc::descriptors(pid).unwrap_or(u64::MAX).saturating_sub(descriptors + NEWCOMERS);
    drop(streams);
    scene.calm();
    drop(bulk);
    let grown = peak - before;
    let checks = vec![
        Check::new(grown <= MOST_GROWTH, format!("grew by {} MB", grown / 1_000_000)),
        Check::new(
            bench.quick || open == 0,
            format!("{open} of {opened} connections still open at the forwarder"),
        ),
    ];
    let attack = format!("{count} TCP clients ask for 4 MB each and never read");
    scene.close(id, &attack, Criteria::USUAL, checks)
}

/// Resident memory when it grows no more: the forwarder has read all that it was asked.
fn highest(pid: i32) -> u64 {
    let (begun, mut highest, mut grown) = (Instant::now(), 0, Instant::now());
    while begun.elapsed() < FILLED && grown.elapsed() < STEADY {
        let rss = proc::resident(pid).unwrap_or(0);
        if rss > highest {
            (highest, grown) = (rss, Instant::now());
        }
        thread::sleep(Duration::from_millis(20));
    }
    highest
}

/// Asks for the same names on every connection, so that the content store has them.
fn ask_for_all(stream: &mut TcpStream) -> Result<(), String> {
    stream.set_write_timeout(Some(Duration::from_millis(200))).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    for number in 0..ASKED {
        bytes.extend(packets::interest(&packets::name(&format!("/bulk/{number}"))?, LIFETIME));
    }
    // Fails if the forwarder has closed it, or reads no more.
    let _ = stream.write_all(&bytes);
    Ok(())
}

/// Ports, and first fragments of each.
const PORTS: usize = 1000;
const FRAGMENTS: u32 = 16;
const FRAGMENT: usize = 8700;

fn fragments(bench: &Testbed, id: &str) -> Result<Line, String> {
    let scene = Scene::open(bench, Settings::default(), Cast::USUAL)?;
    let pid = scene.running.pid();
    let before = proc::resident(pid).ok_or("the forwarder has ended")?;
    let to = scene.running.udp(bench.network.forwarder(Host::Attacker));
    let rounds = bench.pick(2, 10);
    scene.begin();
    let mut peak = before;
    bench.attack(|| {
        let mut ports = Ports::from_one_host(&bench.network, PORTS, to)?;
        let count = PORTS as u32 * FRAGMENTS;
        for round in 0..rounds {
            let speed = Speed::of(count, 16_000);
            // Sequence numbers as in packets of two fragments.
            ports.flood(speed, |number, packet| {
                packet.extend(first_fragment(2 * (u64::from(count) * round + number), FRAGMENT));
            })?;
            peak = peak.max(proc::resident(pid).unwrap_or(0));
        }
        Ok(())
    })?;
    scene.calm();
    let grown = peak - before;
    let checks = vec![Check::new(grown <= MOST_GROWTH, format!("grew by {} MB", grown / 1_000_000))];
    let attack = format!("{FRAGMENTS} first fragments of 8.7 kB from each of {PORTS} ports, {rounds} times");
    scene.close(id, &attack, Criteria::USUAL, checks)
}
