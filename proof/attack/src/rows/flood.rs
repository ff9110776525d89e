//! Row 9: as much as the line, or the forwarder, takes.

use super::{Part, ethernet_addresses, state};
use crate::attacker::{Ports, Speed, connections};
use crate::forwarder::Settings;
use crate::network::Host;
use crate::packets::Template;
use crate::scene::{Cast, ETHERNET, Scene, Testbed};
use crate::verdict::{Check, Criteria, Line};
use crate::wire;
use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const CAST: Cast = Cast { rate: 200, web_socket: true, ..Cast::USUAL };
const SOURCES: u16 = 1000;
const SOCKETS: usize = 200;
/// Forged Ethernet addresses, in turn.
const ADDRESSES: u64 = 1 << 16;

pub(super) fn run(bench: &Testbed) -> Result<Vec<Line>, String> {
    let parts: [(&str, Part); 4] = [
        ("9a", |bench, id| datagrams(bench, id, 1)),
        ("9b", |bench, id| datagrams(bench, id, SOURCES)),
        ("9c", frames),
        ("9d", forged_addresses),
    ];
    Ok(state::run_parts(parts, |id, part| part(bench, id)))
}

fn lasting(bench: &Testbed) -> Duration {
    bench.pick(Duration::from_secs(2), Duration::from_secs(20))
}

fn open(bench: &Testbed) -> Result<Scene<'_>, String> {
    let cast = Cast { web_socket: bench.program.has_web_socket(), ..CAST };
    Scene::open(bench, Settings::default(), cast)
}

fn datagrams(bench: &Testbed, id: &str, sources: u16) -> Result<Line, String> {
    let scene = open(bench)?;
    let speed = Speed { rate: None, lasting: lasting(bench) };
    let to = scene.running.udp(bench.network.forwarder(Host::Attacker));
    scene.begin();
    let sent = bench.attack(|| {
        let mut template = Template::new("/attack/flood", 0, 4000)?;
        let mut ports = Ports::from_hosts(&bench.network, sources, to)?;
        ports.flood(speed, |number, packet| packet.extend_from_slice(template.stamp(number)))
    })?;
    scene.calm();
    let found = Check::new(true, format!("{} packets a second", sent / speed.lasting.as_secs().max(1)));
    let attack = format!("UDP at line rate from {sources} source{}", if sources == 1 { "" } else { "s" });
    scene.close(id, &attack, Criteria::FLOOD, vec![found])
}

fn frames(bench: &Testbed, id: &str) -> Result<Line, String> {
    let attack = format!("empty WebSocket continuation frames over {SOCKETS} connections");
    if !bench.program.has_web_socket() {
        return Ok(Line::not_applicable(id, &attack, "no WebSocket in this build"));
    }
    let scene = open(bench)?;
    let to = scene.running.web_socket(bench.network.forwarder(Host::Attacker));
    scene.begin();
    let (opened, sent) = bench.attack(|| {
        let streams = connections(bench.network.source(0), to, SOCKETS, Duration::from_secs(5));
        let mut open: Vec<TcpStream> =
            streams.into_iter().filter_map(|stream| begin_message(stream, to)).collect();
        let opened = open.len();
        Ok((opened, continue_messages(&mut open, lasting(bench))))
    })?;
    scene.calm();
    let found = format!("{opened} connections, {} frames a second", sent / lasting(bench).as_secs().max(1));
    scene.close(id, &attack, Criteria::FLOOD, vec![Check::new(true, found)])
}

fn forged_addresses(bench: &Testbed, id: &str) -> Result<Line, String> {
    let name = format!("Ethernet at line rate from {ADDRESSES} forged addresses");
    let cast = Cast { web_socket: bench.program.has_web_socket(), ..CAST };
    let speeds = [Speed { rate: None, lasting: lasting(bench) }];
    // Frames of forged addresses and of the neighbour wait in one queue, and are alike.
    let criteria = Criteria { beside: Some(ETHERNET), ..Criteria::FLOOD };
    let attack = ethernet_addresses::Attack { name, cast, criteria, speeds: &speeds, addresses: ADDRESSES };
    ethernet_addresses::run(bench, id, &attack)
}

/// Frame with a mask of zeros and no payload: the beginning of a message, and a part of it that is not the
/// last.
const BEGIN: [u8; 6] = [0x02, 0x80, 0, 0, 0, 0];
const CONTINUE: [u8; 6] = [0x00, 0x80, 0, 0, 0, 0];
/// Frames of one write.
const FRAMES: usize = 2000;

/// Opens a WebSocket over a connection, and begins a message.
fn begin_message(stream: TcpStream, to: std::net::SocketAddr) -> Option<TcpStream> {
    let mut stream = wire::shake_hands(stream, to).ok()?;
    stream.write_all(&BEGIN).ok()?;
    stream.set_nonblocking(true).ok()?;
    Some(stream)
}

/// Sends parts of messages that never end over all connections. Returns the number of frames.
fn continue_messages(open: &mut [TcpStream], lasting: Duration) -> u64 {
    let bytes = CONTINUE.repeat(FRAMES);
    // A write may end within a frame: the rest follows before other frames.
    let mut offsets = vec![0; open.len()];
    let (begun, mut sent) = (Instant::now(), 0);
    while begun.elapsed() < lasting && !open.is_empty() {
        let before = sent;
        for (stream, offset) in open.iter_mut().zip(&mut offsets) {
            match stream.write(&bytes[*offset..]) {
                Ok(count) => {
                    sent += count;
                    *offset = (*offset + count) % CONTINUE.len();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // Closed by the forwarder; a failing write costs little.
                Err(_) => {}
            }
        }
        if sent == before {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    (sent / CONTINUE.len()) as u64
}
