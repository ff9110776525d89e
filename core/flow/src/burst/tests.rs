//! Bursts against the same packets one by one.

use super::*;
use crate::ehash::SipHash13;
use crate::packet::{Packet, PacketError};
use crate::table::{Flow, FlowTable, Full, Limits};
use crate::tuple::Tuple;
use ::hashlane_hash::scheme::Key;
use etherparse::PacketBuilder;
use hashlane_table::Table;
use hashlane_table::batched::Batched;
use hashlane_table::chained::Chained;
use hashlane_table::stage::Stage;
use hashlane_table::swiss::Swiss;
use proptest::collection::vec;
use proptest::prelude::*;
use std::vec::Vec;

const LIMITS: Limits = Limits { flows: 40, idle: 3 };

/// A frame of a flow by its number, or one that the parser refuses.
fn frame(number: u8) -> Vec<u8> {
    let mut out = Vec::new();
    let ethernet = PacketBuilder::ethernet2([1; 6], [2; 6]);
    match number {
        0..60 => {
            let ip = ethernet.ipv4([192, 0, 2, number], [198, 51, 100, 1], 64);
            ip.udp(u16::from(number), 53).write(&mut out, b"hello").unwrap();
        }
        60..70 => {
            let ip = ethernet.ipv6([number; 16], [1; 16], 64);
            ip.tcp(u16::from(number), 443, 1, 1000).write(&mut out, &[]).unwrap();
        }
        70 => ethernet
            .ipv4([192, 0, 2, 1], [198, 51, 100, 1], 64)
            .icmpv4_echo_request(1, 1)
            .write(&mut out, &[])
            .unwrap(),
        71 => out.extend_from_slice(&frame(1)[..30]),
        72 => out.extend_from_slice(&[[0; 12].as_slice(), &[0x08, 0x06], &[0; 28]].concat()),
        _ => {
            out = frame(2);
            out[20] = 0x20;
        }
    }
    out
}

/// Outcome of a packet, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Known(usize, u32),
    Begins(usize, u32),
    Passed(usize),
    Refused(usize, u32),
}

/// Counts packets of known flows; adds a flow unless its foreign port is divisible by 7.
struct Log {
    first: usize,
    outcomes: Vec<Outcome>,
}

fn begins(tuple: &Tuple) -> Option<u32> {
    let port = u32::from(tuple.foreign_port());
    (!port.is_multiple_of(7)).then_some(1000 * port)
}

impl Visitor<u32> for Log {
    fn on_known_flow(&mut self, number: usize, value: &mut u32) {
        *value += 1;
        self.outcomes.push(Outcome::Known(self.first + number, *value));
    }

    fn on_new_flow(&mut self, number: usize, tuple: &Tuple) -> Option<u32> {
        let value = begins(tuple);
        self.outcomes.push(value.map_or(Outcome::Passed(self.first + number), |value| {
            Outcome::Begins(self.first + number, value)
        }));
        value
    }

    fn on_table_full(&mut self, number: usize, Full(value): Full<u32>) {
        self.outcomes.push(Outcome::Refused(self.first + number, value));
    }
}

type Flows<T> = FlowTable<Tuple, u32, SipHash13, T>;

fn one_by_one<T: Table<Tuple, Flow<u32>>>(
    flows: &mut Flows<T>,
    frames: &[Vec<u8>],
    protocol: Option<u8>,
    now: u32,
    skipped: &mut Skipped,
) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for (number, frame) in frames.iter().enumerate() {
        let tuple = match Packet::ethernet(frame) {
            Ok(packet) if protocol.is_none_or(|protocol| packet.protocol == protocol) => packet.received(),
            Ok(_) => {
                skipped.other_protocol += 1;
                continue;
            }
            Err(error) => {
                skipped.count(error);
                continue;
            }
        };
        if let Some(value) = flows.touch(&tuple, now) {
            *value += 1;
            outcomes.push(Outcome::Known(number, *value));
        } else if let Some(value) = begins(&tuple) {
            outcomes.push(Outcome::Begins(number, value));
            if let Err(Full(value)) = flows.insert(tuple, value, now) {
                outcomes.push(Outcome::Refused(number, value));
            }
        } else {
            outcomes.push(Outcome::Passed(number));
        }
    }
    outcomes
}

fn in_bursts<T: Table<Tuple, Flow<u32>>>(
    flows: &mut Flows<T>,
    frames: &[Vec<u8>],
    size: usize,
    decode: &mut Decode,
    now: u32,
) -> Vec<Outcome> {
    let mut log = Log { first: 0, outcomes: Vec::new() };
    let mut burst = Burst::default();
    for (chunk, frames) in frames.chunks(size).enumerate() {
        let mut first = chunk * size;
        let mut left = frames;
        while !left.is_empty() {
            burst.clear();
            left = &left[left.iter().take_while(|frame| burst.push(frame)).count()..];
            log.first = first;
            flows.receive(decode, &mut burst, now, &mut log);
            first += burst.packets().len();
        }
    }
    log.outcomes
}

fn agree<T: Table<Tuple, Flow<u32>>>(rounds: &[(Vec<u8>, u32)], size: usize, protocol: Option<u8>) {
    let mut single = Flows::<T>::with_room(8, &Key::VECTOR, LIMITS, 0);
    let mut many = Flows::<T>::with_room(8, &Key::VECTOR, LIMITS, 0);
    let mut decode = Decode { protocol, ..Decode::default() };
    let (mut skipped, mut now) = (Skipped::default(), 0);
    for (numbers, wait) in rounds {
        let frames: Vec<_> = numbers.iter().map(|number| frame(*number)).collect();
        let expected = one_by_one(&mut single, &frames, protocol, now, &mut skipped);
        assert_eq!(in_bursts(&mut many, &frames, size, &mut decode, now), expected);
        assert_eq!(decode.skipped, skipped);
        let sorted = |flows: &Flows<T>| {
            let mut all: Vec<_> = flows.iter().map(|(tuple, value)| (*tuple.as_bytes(), *value)).collect();
            all.sort_unstable();
            all
        };
        assert_eq!(sorted(&many), sorted(&single));
        now += wait;
        let expire = |flows: &mut Flows<T>| {
            let mut gone = Vec::new();
            flows.expire(now, usize::MAX, |tuple, value| gone.push((*tuple.as_bytes(), value)));
            gone.sort_unstable();
            gone
        };
        assert_eq!(expire(&mut many), expire(&mut single));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn packets_in_bursts_do_what_they_do_one_by_one(
        rounds in vec((vec(0..74u8, 0..150), 0..5u32), 1..5),
        size in 1..=64usize,
        protocol in prop_oneof![2 => Just(None), 1 => Just(Some(17)), 1 => Just(Some(6))],
    ) {
        agree::<Batched<Tuple, Flow<u32>>>(&rounds, size, protocol);
        agree::<Swiss<Tuple, Flow<u32>>>(&rounds, size, protocol);
        agree::<Chained<Tuple, Flow<u32>>>(&rounds, size, protocol);
    }
}

#[test]
fn two_packets_of_a_new_flow_make_one_entry() {
    let mut flows = Flows::<Batched<Tuple, Flow<u32>>>::new(&Key::VECTOR, LIMITS, 0);
    let outcomes = in_bursts(&mut flows, &[frame(1), frame(70), frame(1)], 3, &mut Decode::default(), 0);
    assert_eq!(outcomes, [Outcome::Begins(0, 1000), Outcome::Known(2, 1001)]);
    assert_eq!(flows.len(), 1);
}

#[test]
fn reports_each_flow_that_the_limit_refuses() {
    let limits = Limits { flows: 1, ..LIMITS };
    let mut flows = Flows::<Batched<Tuple, Flow<u32>>>::new(&Key::VECTOR, limits, 0);
    let outcomes = in_bursts(&mut flows, &[frame(1), frame(2)], 2, &mut Decode::default(), 0);
    assert_eq!(outcomes, [Outcome::Begins(0, 1000), Outcome::Begins(1, 2000), Outcome::Refused(1, 2000)]);
}

#[test]
fn counts_packets_without_a_tuple_by_reason() {
    let frames = [70, 71, 72, 73, 73, 1].map(frame);
    let mut burst = Burst::default();
    assert!(frames.iter().all(|frame| burst.push(frame)));
    let mut decode = Decode::default();
    decode.run(&mut burst);
    let expected = Skipped { no_ports: 1, too_short: 1, not_ip: 1, fragment: 2, ..Skipped::default() };
    assert_eq!((decode.skipped, decode.skipped.total(), burst.numbers()), (expected, 5, &[5][..]));
    assert_eq!(burst.tuples(), [Packet::ethernet(&frames[5]).unwrap().received()]);
    let mut ip = Decode { link: Link::Ip, ..Decode::default() };
    ip.run(&mut burst);
    assert_eq!((ip.skipped.version, burst.tuples().len()), (6, 0));
    let mut every = Skipped::default();
    for error in [
        PacketError::TooManyTags { at: 0 },
        PacketError::HeaderLength { at: 0 },
        PacketError::TooManyHeaders { at: 0 },
    ] {
        every.count(error);
    }
    assert_eq!((every.too_many_tags, every.header_length, every.too_many_headers), (1, 1, 1));
}

#[test]
fn a_full_burst_takes_no_packet() {
    let mut burst = Burst::default();
    assert!((0..BURST).all(|_| burst.push(&[])) && !burst.push(&[1]));
    assert!(burst.packets().len() == BURST && burst.packets().iter().all(|packet| packet.is_empty()));
    burst.clear();
    assert!(burst.packets().is_empty() && burst.push(&[1]));
}
