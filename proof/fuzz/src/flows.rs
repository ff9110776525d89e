//! Properties of a table of flows that receives frames in bursts, and one by one.

use hashlane_flow::burst::{BURST, Burst, Decode, Skipped, Visitor};
use hashlane_flow::dissect::{Options, Undissected, dissect};
use hashlane_flow::fragments::{FragmentLimits, FragmentTable};
use hashlane_flow::packet::Packet;
use hashlane_flow::table::{Flows, Full, Limits};
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::Key;
use std::collections::HashMap;

/// Few, so that the table is full early.
const LIMITS: Limits = Limits { flows: 4, idle: 2 };

/// Frames give the same outcomes and the same table in bursts as one by one.
///
/// The first byte is the size of a burst. Before each frame are two bytes: its length, and with the top bit
/// set the sign that a tick passes and idle flows expire before the burst that begins with it.
pub fn check_burst(octets: &[u8]) {
    let Some((size, rest)) = octets.split_first() else { return };
    let size = 1 + usize::from(*size) % BURST;
    let (mut single, mut many) = (Side::new(), Side::new());
    let mut decode = Decode::default();
    let mut skipped = Skipped::default();
    let mut burst = Burst::default();
    for (now, frames) in rounds(rest) {
        for frames in frames.chunks(size) {
            burst.clear();
            assert!(frames.iter().all(|frame| burst.push(frame)));
            many.flows.receive(&mut decode, &mut burst, now, &mut many.log);
            for (number, frame) in frames.iter().enumerate() {
                match Packet::ethernet(frame) {
                    Ok(packet) => single.receive(number, packet.received(), now),
                    Err(error) => skipped.count(error),
                }
            }
            assert_eq!(many.log, single.log);
            assert_eq!(decode.skipped, skipped);
        }
        assert_eq!(many.all(), single.all());
        assert_eq!(many.expire(now + 1), single.expire(now + 1));
    }
}

/// A frame has one flow however much of it is captured behind its ports, or an error that is counted once.
///
/// The first byte is the type of the link.
pub fn check_dissect(bytes: &[u8]) {
    let Some((link, frame)) = bytes.split_first() else { return };
    let link = u32::from(*link);
    let mut counters = Undissected::default();
    for options in [Options { tunnels: true }, Options::default()] {
        match dissect(link, frame, options) {
            Ok(read) => {
                let [source, destination] = read.key.ends(read.reversed);
                assert!(if read.reversed { source > destination } else { source <= destination });
                let scope = read.key.scope();
                assert!(scope.vlans.iter().all(|vlan| *vlan < 4096) && matches!(scope.version, 4 | 6));
            }
            Err(error) => counters.count(error),
        }
    }
    // The way into a tunnel ends at the tunnel, if not inside.
    assert!(matches!(counters.total(), 0 | 2));
    if let Ok(read) = dissect(link, frame, Options::default())
        && !read.cut
    {
        let longer = dissect(link, &[frame, &[0xa5; 40]].concat(), Options::default());
        assert!(longer.is_ok_and(|longer| longer.key == read.key && longer.fragment == read.fragment));
    }
    if link == 1
        && let Ok(packet) = Packet::ethernet(frame)
    {
        let read = dissect(link, frame, Options::default());
        assert!(read.is_ok_and(|read| read.key.ends(read.reversed) == [packet.source, packet.destination]));
    }
}

/// Fragments of Ethernet frames get the ports of their first, as a map without limits remembers them.
///
/// The frames are as in [`check_burst`], without its first byte; a tick is a second.
pub fn check_fragments(bytes: &[u8]) {
    const SECOND: u64 = 1_000_000_000;
    let timeout = 2 * SECOND;
    let mut table = FragmentTable::new(&Key::VECTOR, FragmentLimits { packets: 1 << 12, timeout });
    let mut known = HashMap::new();
    for (now, frames) in rounds(bytes).into_iter().map(|(tick, frames)| (u64::from(tick) * SECOND, frames)) {
        for frame in frames {
            let Ok(before) = dissect(1, frame, Options::default()) else { continue };
            let mut after = before;
            table.attribute(&mut after, now);
            let ends = [before, after].map(|read| read.key.ends(read.reversed));
            let [[from, to], changed] = ends;
            assert_eq!([from.0, to.0], changed.map(|(address, _)| address));
            let Some(fragment) = before.fragment else {
                assert_eq!(before, after);
                continue;
            };
            let scope = before.key.scope();
            let packet = (from.0, to.0, scope.version, scope.vlans, fragment.id, fragment.protocol);
            if fragment.first && !before.cut {
                known.insert(packet, ([from.1, to.1], scope.protocol, now));
                assert_eq!(before, after);
                continue;
            }
            let first = known.get(&packet).filter(|(_, _, since)| now - since <= timeout);
            let found = (changed.map(|(_, port)| port), after.key.protocol());
            let kept = ([from.1, to.1], scope.protocol);
            assert_eq!(found, first.map_or(kept, |(ports, protocol, _)| (*ports, *protocol)));
        }
    }
    assert_eq!(table.counters.replaced, 0);
}

/// The frames of each tick.
fn rounds(mut rest: &[u8]) -> Vec<(u32, Vec<&[u8]>)> {
    let mut rounds = vec![(0, Vec::new())];
    while let Some((head, after)) = rest.split_first_chunk() {
        let head = u16::from_be_bytes(*head);
        let (frame, after) = after.split_at(after.len().min(usize::from(head & 0x7fff)));
        if head & 0x8000 != 0 {
            rounds.push((rounds.len() as u32, Vec::new()));
        }
        if let Some((_, frames)) = rounds.last_mut() {
            frames.push(frame);
        }
        rest = after;
    }
    rounds
}

/// An outcome: number of a packet, and the value of its flow after it.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Known(usize, u32),
    Begins(usize),
    Refused(usize, u32),
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Log(Vec<Outcome>);

impl Visitor<u32> for Log {
    fn on_known_flow(&mut self, number: usize, packets: &mut u32) {
        *packets += 1;
        self.0.push(Outcome::Known(number, *packets));
    }

    fn on_new_flow(&mut self, number: usize, _: &Tuple) -> Option<u32> {
        self.0.push(Outcome::Begins(number));
        Some(1)
    }

    fn on_table_full(&mut self, number: usize, Full(packets): Full<u32>) {
        self.0.push(Outcome::Refused(number, packets));
    }
}

struct Side {
    flows: Flows<u32>,
    log: Log,
}

impl Side {
    fn new() -> Self {
        Self { flows: Flows::new(&Key::VECTOR, LIMITS, 0), log: Log::default() }
    }

    fn receive(&mut self, number: usize, tuple: Tuple, now: u32) {
        if let Some(packets) = self.flows.touch(&tuple, now) {
            self.log.on_known_flow(number, packets);
        } else if let Some(packets) = self.log.on_new_flow(number, &tuple)
            && let Err(full) = self.flows.insert(tuple, packets, now)
        {
            self.log.on_table_full(number, full);
        }
    }

    fn all(&self) -> Vec<([u8; Tuple::LEN], u32)> {
        let mut all: Vec<_> =
            self.flows.iter().map(|(tuple, packets)| (*tuple.as_bytes(), *packets)).collect();
        all.sort_unstable();
        all
    }

    fn expire(&mut self, now: u32) -> Vec<([u8; Tuple::LEN], u32)> {
        let mut expired = Vec::new();
        self.flows.expire(now, usize::MAX, |tuple, packets| expired.push((*tuple.as_bytes(), packets)));
        expired.sort_unstable();
        expired
    }
}
