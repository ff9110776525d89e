//! Connections that hold what others need.

use super::super::messages::{self, LONGEST, framed};
use super::super::scene::{Attack, Scene, Testbed, thousands};
use super::super::table::Line;
use super::MB;
use crate::attacker;
use crate::network::Network;
use crate::verdict::Check;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Default of `tcp.memory`, and as much for connections themselves, buffers and the allocator.
const GROWTH: u64 = 128 * MB + 64 * MB;

/// Addresses of the attacker: with 256 connections of each, more than `tcp.connections`.
const ADDRESSES: u16 = 30;

/// Connections that row 18 opens before it looks at the others again.
const OPENED_AT_ONCE: usize = 200;

/// Clients that send the longest queries.
const SENDERS: usize = 64;

/// Shorter timeouts in the quick form, so that its attacks outlast them.
fn timeouts(bench: &Testbed) -> &'static str {
    bench.pick(
        "tcp.idle_timeout_ms = 1000\ntcp.message_timeout_ms = 1000\ntcp.write_timeout_ms = 1000\n",
        // The attack takes 10 s; these take 10 s, 5 s and 10 s by default.
        "tcp.idle_timeout_ms = 8000\ntcp.write_timeout_ms = 8000\n",
    )
}

/// Reasons for which connections were closed.
fn closed(attack: &Attack) -> String {
    let reasons = [
        ("for others", "for_others"),
        ("idle", "idle"),
        ("slow queries", "slow_query"),
        ("slow readers", "slow_reader"),
    ];
    let counts = reasons.map(|(words, reason)| (words, attack.count(&format!("/tcp/closed_{reason}"))));
    let words: Vec<String> = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(words, count)| format!("{} {words}", thousands(*count as f64)))
        .collect();
    let words = if words.is_empty() { "none".to_owned() } else { words.join(", ") };
    format!("closed: {words}; {} open", attack.state("/connections"))
}

/// A check that connections were closed for a reason, or to make room for other connections.
fn has_closed(attack: &Attack, reason: &str) -> Check {
    let count = |reason| attack.count(&format!("/tcp/closed_{reason}"));
    Check::new(count(reason) + count("for_others") > 0, closed(attack))
}

/// Connections of the attacker, each opened again when the server closes it.
struct Clients {
    streams: Vec<TcpStream>,
    server: SocketAddr,
    opened: u64,
}

impl Clients {
    fn new(server: SocketAddr) -> Self {
        Self { streams: Vec::new(), server, opened: 0 }
    }

    /// Opens a connection from the next address.
    fn open(&mut self) -> std::io::Result<TcpStream> {
        let address = Network::Loopback.source((self.opened % u64::from(ADDRESSES)) as u16);
        self.opened += 1;
        let stream = attacker::connect(address, self.server)?;
        stream.set_nonblocking(true)?;
        Ok(stream)
    }

    /// Gives each connection a turn, and replaces those that are closed.
    fn turn(&mut self, most: usize, mut work: impl FnMut(&mut TcpStream) -> std::io::Result<()>) {
        let mut is_kept = |stream: &mut TcpStream| match work(stream) {
            Ok(()) => true,
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        };
        self.streams.retain_mut(&mut is_kept);
        for _ in self.streams.len()..most {
            if let Ok(mut stream) = self.open()
                && is_kept(&mut stream)
            {
                self.streams.push(stream);
            }
        }
    }
}

/// Opens connections beyond all limits, and keeps them.
pub(in super::super) fn idle(bench: &Testbed, name: (u8, &str)) -> Result<Line, String> {
    let scene = Scene::open(bench, timeouts(bench), true)?;
    let most = bench.pick(5_000, 12_000);
    let attack = scene.attack(|| {
        let (begun, mut clients) = (Instant::now(), Clients::new(scene.address()));
        while begun.elapsed() < bench.lasting() {
            // A read finds out if the server has closed it.
            let opened = clients.streams.len() + OPENED_AT_ONCE;
            clients.turn(opened.min(most), is_open);
            thread::sleep(Duration::from_millis(5));
        }
        Ok((clients.opened, clients))
    })?;
    let rate = attack.rate("connections");
    let open = attack.state("/connections");
    let checks = vec![has_closed(&attack, "for_others"), Check::new(open <= 4096, "at most 4,096 are open")];
    scene.close(name, &attack, rate, GROWTH, checks)
}

/// Error if the server has closed a connection.
fn is_open(stream: &mut TcpStream) -> std::io::Result<()> {
    match stream.read(&mut [0; 512])? {
        0 => Err(ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

/// Sends queries for the largest response as fast as the server takes them, and reads nothing.
pub(in super::super) fn never_read(bench: &Testbed, name: (u8, &str)) -> Result<Line, String> {
    let scene = Scene::open(bench, timeouts(bench), true)?;
    let most = bench.pick(400, 3_000);
    let queries = framed(&messages::largest(1)).repeat(100);
    let attack = scene.attack(|| {
        let (begun, mut clients) = (Instant::now(), Clients::new(scene.address()));
        let mut bytes = 0;
        while begun.elapsed() < bench.lasting() {
            // A query that is cut makes of what follows another one.
            clients.turn(most, |stream| stream.write(&queries).map(|length| bytes += length));
            thread::sleep(Duration::from_millis(5));
        }
        Ok((bytes as u64, clients))
    })?;
    let rate = format!(
        "{} connections, {} MB",
        thousands(f64::from(most as u32)),
        thousands(attack.sent as f64 / 1e6)
    );
    let checks = vec![has_closed(&attack, "slow_reader")];
    scene.close(name, &attack, rate, GROWTH, checks)
}

/// Sends a byte of a long query each second.
pub(in super::super) fn byte_a_second(bench: &Testbed, name: (u8, &str)) -> Result<Line, String> {
    let scene = Scene::open(bench, timeouts(bench), true)?;
    let most = bench.pick(2_000, 3_000);
    let attack = scene.attack(|| {
        let (begun, mut clients) = (Instant::now(), Clients::new(scene.address()));
        let (mut bytes, mut turns) = (0, 0);
        while begun.elapsed() < bench.lasting() {
            clients.turn(most, |stream| {
                bytes += stream.write(&[0xff])? as u64;
                is_open(stream)
            });
            turns += 1;
            thread::sleep((begun + Duration::from_secs(turns)).saturating_duration_since(Instant::now()));
        }
        Ok((bytes, clients))
    })?;
    let rate = format!("{} connections, {}", thousands(f64::from(most as u32)), attack.rate("bytes"));
    let checks = vec![has_closed(&attack, "slow_query")];
    scene.close(name, &attack, rate, GROWTH, checks)
}

/// Sends the longest queries as fast as the server takes them, and reads the responses.
pub(in super::super) fn longest_queries(bench: &Testbed, name: (u8, &str)) -> Result<Line, String> {
    let scene = Scene::open(bench, timeouts(bench), true)?;
    // A stream of them: each write goes on where the one before it ended.
    let stream_of: Vec<u8> = (0..3).flat_map(|number| framed(&messages::longest(number))).collect();
    let attack = scene.attack(|| {
        let begun = Instant::now();
        let mut clients: Vec<(TcpStream, usize)> = Vec::new();
        let (mut bytes, mut opened) = (0, 0_u16);
        while begun.elapsed() < bench.lasting() {
            let mut is_stalled = true;
            clients.retain_mut(|(stream, at)| {
                let rest = stream_of.get(*at % stream_of.len()..).unwrap_or_default();
                match stream.write(rest) {
                    Ok(length) => {
                        *at += length;
                        bytes += length;
                        is_stalled = false;
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(_) => return false,
                }
                is_open(stream).map_or_else(|error| error.kind() == ErrorKind::WouldBlock, |()| true)
            });
            while clients.len() < SENDERS && begun.elapsed() < bench.lasting() {
                let address = Network::Loopback.source(opened % ADDRESSES);
                opened = opened.wrapping_add(1);
                let Ok(stream) = attacker::connect(address, scene.address()) else { continue };
                if stream.set_nonblocking(true).is_ok() {
                    clients.push((stream, 0));
                }
            }
            if is_stalled {
                thread::sleep(Duration::from_millis(1));
            }
        }
        Ok(((bytes / (2 + LONGEST)) as u64, clients))
    })?;
    let rate = format!("{SENDERS} connections, {}", attack.rate("queries"));
    let received = thousands(attack.count("/tcp/received") as f64);
    let checks = vec![Check::new(true, format!("{received} received; {}", closed(&attack)))];
    scene.close(name, &attack, rate, GROWTH, checks)
}
