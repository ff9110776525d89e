//! Packets of flows between many ends.

use super::frame::{ACK, Ends, FIN, SYN, tcp, udp};
use super::pcap::Pcap;
use hashlane_lab::scatter::Distinct;
use std::io::{self, Write};

/// Packets of flows between many ends: most flows are short, some long, as on a link to the Internet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mix {
    /// All packets.
    pub(crate) packets: u32,
    /// Flows, at least 1 and at most as many as packets.
    pub(crate) flows: u32,
}

/// Microseconds in which flows begin.
const SPAN: u64 = 120_000_000;

/// Microseconds of a long flow at most.
const LONGEST: u64 = 60_000_000;
/// A packet on its way into a capture.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time: u64,
    flow: u32,
    number: u32,
}

impl Mix {
    /// Writes a capture of all packets.
    ///
    /// # Errors
    /// `to` takes no more bytes.
    pub(crate) fn capture(self, to: impl Write) -> io::Result<()> {
        let counts = self.counts();
        let mut events = Vec::with_capacity(self.packets as usize);
        for (flow, count) in (0..self.flows).zip(&counts) {
            let draw = Draw(u64::from(flow));
            let start = draw.number(0) % SPAN;
            let gap = (1_000 << (draw.number(1) % 8)).min(LONGEST / u64::from(*count));
            let at = |number| Event { time: start + gap * u64::from(number), flow, number };
            events.extend((0..*count).map(at));
        }
        events.sort_unstable();
        let mut out = Pcap::new(to)?;
        for event in events {
            let count = counts.get(event.flow as usize).copied().unwrap_or(1);
            write(&mut out, event, count)?;
        }
        out.finish()
    }

    /// Packets of each flow: one, and the others to few flows.
    fn counts(self) -> Vec<u32> {
        let mut counts = vec![1; self.flows as usize];
        for number in self.flows..self.packets {
            let part = Draw(u64::from(number) << 32).number(0) >> 11;
            let part = part as f64 / (1_u64 << 53) as f64;
            let flow = (f64::from(self.flows) * part.powi(4)) as usize;
            if let Some(count) = counts.get_mut(flow) {
                *count += 1;
            }
        }
        counts
    }
}

/// Writes a packet of a flow of `count` packets.
fn write(out: &mut Pcap<impl Write>, event: Event, count: u32) -> io::Result<()> {
    let Event { time, flow, number } = event;
    let draw = Draw(u64::from(flow));
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
    let size = match Draw(u64::from(flow) << 24 ^ shift).number(6) % 8 {
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
        out.frame(time, bytes, |frame| tcp(frame, ends, ports, flags, bytes))
    } else {
        out.frame(time, bytes, |frame| udp(frame, ends, ports, bytes))
    }
}

/// Numbers of a flow, each as if drawn at random.
#[derive(Clone, Copy)]
struct Draw(u64);

impl Draw {
    fn number(self, at: u64) -> u64 {
        let place = self.0.wrapping_mul(16).wrapping_add(at);
        // The state of SplitMix64 before that place.
        Distinct::new(place.wrapping_sub(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).draw()
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn has_as_many_packets_and_flows_as_it_says() {
        let mix = Mix { packets: 5_000, flows: 800 };
        let counts = mix.counts();
        assert_eq!((counts.len(), counts.iter().sum::<u32>()), (800, 5_000));
        assert!(counts.iter().filter(|count| **count < 10).count() > 400);
        let mut capture = Vec::new();
        mix.capture(&mut capture).unwrap();
        let (mut rest, mut packets, mut ends) = (&capture[24..], 0, HashSet::new());
        while let Some((head, after)) = rest.split_first_chunk::<16>() {
            let length = u32::from_le_bytes([head[8], head[9], head[10], head[11]]) as usize;
            let (frame, after) = after.split_at(length);
            let (addresses, ports) = if frame[12] == 8 { (26..34, 34..38) } else { (22..54, 54..58) };
            let (from, to) = frame[addresses.clone()].split_at(addresses.len() / 2);
            let mut both = [(from, &frame[ports.start..][..2]), (to, &frame[ports.start + 2..][..2])];
            both.sort_unstable();
            ends.insert(both);
            (rest, packets) = (after, packets + 1);
        }
        assert_eq!((rest.len(), packets, ends.len()), (0, 5_000, 800));
    }
}
