//! Writes a capture to measure flow meters with, the same in every run.
//!
//! ```text
//! cargo run --package hashlane-study-flows --example meter_capture -- mix 2000000 350000 mix.pcap
//! cargo run --package hashlane-study-flows --example meter_capture -- flood 10000000 flood.pcap
//! ```
//!
//! `mix` has that many packets and flows; `flood` has a SYN of each of that many ends.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let usage = || io::Error::other("expected `mix PACKETS FLOWS FILE` or `flood FLOWS FILE`");
    let number = |text: &str| text.parse::<u32>().map_err(|_| usage());
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["mix", packets, flows, path] => {
            let mix = Mix { packets: number(packets)?, flows: number(flows)? };
            mix.write(Path::new(path))
        }
        ["flood", flows, path] => write_flood(Path::new(path), number(flows)?),
        _ => Err(usage()),
    }
}

/// Packets of flows between many ends: most flows are short, some long, as on a link to the Internet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mix {
    packets: u32,
    flows: u32,
}

/// Bytes of a frame that are captured, as `tcpdump -s 96` does.
const SNAP: usize = 96;
/// Microseconds in which flows begin.
const SPAN: u64 = 120_000_000;
/// Microseconds of a long flow at most.
const LONGEST: u64 = 60_000_000;
/// Seconds since 1970 of the first packet.
const START: u64 = 1_767_323_045;

const FIN: u8 = 1;
const SYN: u8 = 2;
const ACK: u8 = 16;

/// A packet on its way into a capture.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time: u64,
    flow: u32,
    number: u32,
}

impl Mix {
    /// Writes the capture.
    ///
    /// # Errors
    /// The file cannot be written.
    fn write(self, path: &Path) -> io::Result<()> {
        let counts = self.counts();
        let mut events = Vec::with_capacity(self.packets as usize);
        for (flow, count) in (0..self.flows).zip(&counts) {
            let draw = Draw::of(u64::from(flow));
            let start = draw.number(0) % SPAN;
            let gap = (1_000 << (draw.number(1) % 8)).min(LONGEST / u64::from(*count));
            let at = |number| Event { time: start + gap * u64::from(number), flow, number };
            events.extend((0..*count).map(at));
        }
        events.sort_unstable();
        let mut out = Pcap::create(path)?;
        for event in events {
            let count = counts.get(event.flow as usize).copied().unwrap_or(1);
            out.packet(event, count)?;
        }
        out.finish()
    }

    /// Packets of each flow: one, and the others to few flows.
    fn counts(self) -> Vec<u32> {
        let mut counts = vec![1; self.flows as usize];
        for number in self.flows..self.packets {
            let part = Draw::of(u64::from(number) << 32).number(0) >> 11;
            let part = part as f64 / (1_u64 << 53) as f64;
            let flow = (f64::from(self.flows) * part.powi(4)) as usize;
            if let Some(count) = counts.get_mut(flow) {
                *count += 1;
            }
        }
        counts
    }
}

/// Writes a flood: a SYN of each of as many sources, 1 µs apart.
///
/// # Errors
/// The file cannot be written.
fn write_flood(path: &Path, flows: u32) -> io::Result<()> {
    let mut out = Pcap::create(path)?;
    for flow in 0..flows {
        let source = (0x0a00_0000 + (flow >> 8)).to_be_bytes();
        let ports = [1024 + (flow & 0xff) as u16, 80];
        let end = [198, 51, 100, 1];
        out.frame(u64::from(flow), 40, |frame| tcp(frame, Ends::V4(source, end), ports, SYN, 40))?;
    }
    out.finish()
}

/// Numbers of a flow, each as if drawn at random (SplitMix64).
#[derive(Clone, Copy)]
struct Draw(u64);

impl Draw {
    const fn of(seed: u64) -> Self {
        Self(seed)
    }

    const fn number(self, at: u64) -> u64 {
        let mut z = self.0.wrapping_mul(16).wrapping_add(at).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[derive(Clone, Copy)]
enum Ends {
    V4([u8; 4], [u8; 4]),
    V6([u8; 16], [u8; 16]),
}

/// A capture of Ethernet, to the microsecond.
struct Pcap {
    out: BufWriter<File>,
    frame: Vec<u8>,
}

impl Pcap {
    fn create(path: &Path) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
        for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, SNAP as u32, 1] {
            out.write_all(&word.to_le_bytes())?;
        }
        Ok(Self { out, frame: Vec::with_capacity(SNAP) })
    }

    fn packet(&mut self, event: Event, count: u32) -> io::Result<()> {
        let Event { time, flow, number } = event;
        let draw = Draw::of(u64::from(flow));
        let (a, b) = (draw.number(2).to_be_bytes(), draw.number(3).to_be_bytes());
        let [a0, a1, a2, a3, a4, a5, ..] = a;
        let [b0, b1, b2, b3, ..] = b;
        let is_tcp = !draw.number(4).is_multiple_of(4);
        let v6 = draw.number(5).is_multiple_of(8);
        // A server of few answers many clients of many.
        let forward = number.is_multiple_of(2);
        let client = [10, a0 & 0x3f, a1, a2];
        let server = [203, 0, 113, b0 & 0x3f];
        let ports = [1024 | u16::from_be_bytes([a3, a4]), server_port(b1)];
        let (mut from, mut to, mut ports) = (client, server, ports);
        if !forward {
            (from, to) = (to, from);
            ports.reverse();
        }
        let ends = if v6 {
            let wide = |part: [u8; 4]| {
                let [a, b, c, d] = part;
                [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d]
            };
            Ends::V6(wide(from), wide(to))
        } else {
            Ends::V4(from, to)
        };
        let shift = u64::from(number).wrapping_mul(8).wrapping_add(8);
        let size = match Draw::of(u64::from(flow) << 24 ^ shift).number(6) % 8 {
            _ if number < 2 => 0,
            0..3 => 0,
            3 => 24 + usize::from(a5),
            4 => 512 + usize::from(b2) + usize::from(b3),
            _ => 1_400,
        };
        let headers = if v6 { 40 } else { 20 } + if is_tcp { 20 } else { 8 };
        let bytes = headers + size;
        if is_tcp {
            let flags = match number {
                0 => SYN,
                1 => SYN | ACK,
                number if count > 4 && number + 2 >= count => FIN | ACK,
                _ => ACK,
            };
            self.frame(time, bytes, |frame| tcp(frame, ends, ports, flags, bytes))
        } else {
            self.frame(time, bytes, |frame| udp(frame, ends, ports, bytes))
        }
    }

    /// Writes a frame with an IP packet of that many bytes.
    fn frame(&mut self, time: u64, bytes: usize, write: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        self.frame.clear();
        write(&mut self.frame);
        let captured = (14 + bytes).min(SNAP);
        self.frame.resize(captured, 0);
        let (seconds, micros) = (START + time / 1_000_000, time % 1_000_000);
        for word in [seconds as u32, micros as u32, captured as u32, (14 + bytes) as u32] {
            self.out.write_all(&word.to_le_bytes())?;
        }
        self.out.write_all(&self.frame)
    }

    fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Headers of Ethernet and IP. Checksums stay 0: no meter looks at them.
fn ip(frame: &mut Vec<u8>, ends: Ends, protocol: u8, bytes: usize) {
    frame.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]);
    match ends {
        Ends::V4(from, to) => {
            let [high, low] = (bytes as u16).to_be_bytes();
            frame.extend([8, 0, 0x45, 0, high, low, 0, 0, 0x40, 0, 64, protocol, 0, 0]);
            frame.extend(from);
            frame.extend(to);
        }
        Ends::V6(from, to) => {
            let [high, low] = (bytes as u16).saturating_sub(40).to_be_bytes();
            frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, high, low, protocol, 64]);
            frame.extend(from);
            frame.extend(to);
        }
    }
}

/// A port of a server.
const fn server_port(drawn: u8) -> u16 {
    match drawn & 3 {
        0 => 443,
        1 => 80,
        2 => 53,
        _ => 8080,
    }
}

fn ports(frame: &mut Vec<u8>, ports: [u16; 2]) {
    frame.extend(ports.iter().flat_map(|port| port.to_be_bytes()));
}

fn tcp(frame: &mut Vec<u8>, ends: Ends, between: [u16; 2], flags: u8, bytes: usize) {
    ip(frame, ends, 6, bytes);
    ports(frame, between);
    frame.extend([0, 0, 0, 1, 0, 0, 0, 1, 0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
}

fn udp(frame: &mut Vec<u8>, ends: Ends, between: [u16; 2], bytes: usize) {
    let header = if matches!(ends, Ends::V4(..)) { 20 } else { 40 };
    ip(frame, ends, 17, bytes);
    ports(frame, between);
    frame.extend((bytes as u16).saturating_sub(header).to_be_bytes());
    frame.extend([0, 0]);
}
