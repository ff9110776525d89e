//! The meter against a map with the same rules.

use super::*;
use crate::record::Counters;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

const SECOND: u64 = 1_000_000_000;
const ETHERNET: u32 = 1;

/// A packet between two of a few hosts.
#[derive(Clone, Copy, Debug)]
struct Sent {
    from: u8,
    to: u8,
    port: u16,
    tcp_flags: Option<u8>,
    payload: u8,
    /// Nanoseconds after the packet before.
    wait: u64,
}

impl Sent {
    fn frame(&self) -> Vec<u8> {
        let header = if self.tcp_flags.is_some() { 20 } else { 8 };
        let total = 20 + header + u16::from(self.payload);
        let mut frame = vec![2; 12];
        frame.extend([8, 0, 0x45, 0]);
        frame.extend(total.to_be_bytes());
        frame.extend([0, 0, 0, 0, 64, if self.tcp_flags.is_some() { 6 } else { 17 }, 0, 0]);
        frame.extend([10, 0, 0, self.from, 10, 0, 0, self.to]);
        // The port belongs to the host with the lower number.
        let [a, b] = if self.from <= self.to { [self.port, 9] } else { [9, self.port] };
        frame.extend([a.to_be_bytes(), b.to_be_bytes()].concat());
        match self.tcp_flags {
            Some(flags) => frame.extend([0, 0, 0, 1, 0, 0, 0, 0, 0x50, flags, 0, 0, 0, 0, 0, 0]),
            None => frame.extend([0; 4]),
        }
        frame.resize(frame.len() + usize::from(self.payload), 0);
        frame
    }

    fn bytes(&self) -> u64 {
        self.frame().len() as u64 - 14
    }
}

fn sent() -> impl Strategy<Value = Sent> {
    let wait =
        prop_oneof![8 => 0..2 * SECOND, 1 => 9 * SECOND..12 * SECOND, 1 => Just(0), 1 => Just(10 * SECOND)];
    let flags =
        prop_oneof![Just(None), Just(Some(2)), Just(Some(18)), Just(Some(16)), Just(Some(17)), Just(Some(4))];
    (1..4u8, 1..4u8, 1..3u16, flags, 0..20u8, wait).prop_map(|(from, to, port, tcp_flags, payload, wait)| {
        Sent { from, to, port, tcp_flags, payload, wait }
    })
}

const OPTIONS: MeterOptions = MeterOptions {
    flows: 1000,
    idle: 10 * SECOND,
    active: 25 * SECOND,
    tunnels: false,
    sampling: 1,
    domain: 7,
    ingress: 3,
};

/// The records that the rules give, written down as simply as can be: a list of packets for each flow.
fn expected(packets: &[(u64, Sent)]) -> Vec<FlowRecord> {
    let mut flows: BTreeMap<_, Vec<Vec<(u64, Sent)>>> = BTreeMap::new();
    for (time, sent) in packets {
        let key = (sent.from.min(sent.to), sent.from.max(sent.to), sent.port, sent.tcp_flags.is_some());
        let runs = flows.entry(key).or_default();
        let flags = |run: &[(u64, Sent)], from: u8| {
            run.iter()
                .filter(|(_, sent)| sent.from == from)
                .fold(0, |all, (_, sent)| all | sent.tcp_flags.unwrap_or(0))
        };
        let ends = runs.last().is_none_or(|run| {
            let closed = closed(flags(run, key.0), flags(run, key.1));
            time - run[run.len() - 1].0 >= OPTIONS.idle
                || time - run[0].0 >= OPTIONS.active
                || sent.tcp_flags == Some(2) && closed
        });
        if ends {
            runs.push(Vec::new());
        }
        runs.last_mut().unwrap().push((*time, *sent));
    }
    let address = |host| IpAddr::from(Ipv4Addr::new(10, 0, 0, host));
    let runs = flows.into_values().flatten();
    let mut records: Vec<FlowRecord> = runs
        .map(|run| {
            let first = run[0].1;
            let [source_port, destination_port] =
                if first.from <= first.to { [first.port, 9] } else { [9, first.port] };
            let half = |forward: bool| {
                let is_forward = |sent: &Sent| sent.from == first.from;
                let packets = run.iter().filter(|(_, sent)| is_forward(sent) == forward);
                packets.fold(Counters::NONE, |all, (time, sent)| Counters {
                    packets: all.packets + 1,
                    bytes: all.bytes + sent.bytes(),
                    tcp_flags: all.tcp_flags | sent.tcp_flags.unwrap_or(0),
                    first: if all.packets == 0 { *time } else { all.first },
                    last: *time,
                })
            };
            FlowRecord {
                domain: OPTIONS.domain,
                ingress: OPTIONS.ingress,
                source: address(first.from),
                destination: address(first.to),
                source_port,
                destination_port,
                protocol: if first.tcp_flags.is_some() { 6 } else { 17 },
                forward: half(true),
                reverse: half(false),
                ..FlowRecord::EMPTY
            }
        })
        .collect();
    records.sort_unstable_by_key(order);
    records
}

/// An RST, or a FIN in each direction.
fn closed(forward: u8, reverse: u8) -> bool {
    (forward | reverse) & 4 != 0 || forward & reverse & 1 != 0
}

fn order(record: &FlowRecord) -> impl Ord + use<> {
    let Counters { first, last, packets, bytes, tcp_flags } = record.forward;
    let ports = (record.source_port, record.destination_port, record.protocol);
    (record.source, record.destination, ports, first, last, packets, bytes, tcp_flags)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn meters_as_a_map_with_the_same_timeouts(sent in vec(sent(), 0..200), burst in 1..40usize) {
        let mut time = 1_700_000_000 * SECOND;
        let packets: Vec<(u64, Sent)> = sent.into_iter().filter(|sent| sent.from != sent.to).map(|sent| {
            time += sent.wait;
            (time, sent)
        }).collect();
        let bytes: Vec<Vec<u8>> = packets.iter().map(|(_, sent)| sent.frame()).collect();
        let frames: Vec<Frame<'_>> = packets.iter().zip(&bytes).map(|((time, _), bytes)| {
            Frame { time: *time, link: Some(ETHERNET), original: bytes.len() as u32, bytes }
        }).collect();
        let mut meter = Meter::new(&Key::VECTOR, OPTIONS);
        let mut records = Vec::new();
        let mut out = |record: &FlowRecord| records.push(*record);
        for frames in frames.chunks(burst) {
            meter.receive(frames.iter().copied(), &mut out);
        }
        let stats = meter.finish(&mut out);
        for record in &mut records {
            let is_closed = closed(record.forward.tcp_flags, record.reverse.tcp_flags);
            prop_assert!(is_closed || record.end != EndReason::EndOfFlow);
            prop_assert!(!is_closed || matches!(record.end, EndReason::EndOfFlow | EndReason::ActiveTimeout));
            record.end = FlowRecord::EMPTY.end;
        }
        records.sort_unstable_by_key(order);
        prop_assert_eq!(&records, &expected(&packets));
        prop_assert_eq!((stats.packets, stats.flows_exported), (packets.len() as u64, records.len() as u64));
        prop_assert_eq!((stats.flows_opened, stats.flows_open), (stats.flows_exported, 0));
    }
}

fn frames_of(hosts: impl Iterator<Item = u32>, flags: u8) -> Vec<Vec<u8>> {
    hosts
        .map(|host| {
            let sent = Sent { from: 1, to: 2, port: 5, tcp_flags: Some(flags), payload: 0, wait: 0 };
            let mut frame = sent.frame();
            frame[26..30].copy_from_slice(&host.to_be_bytes());
            frame
        })
        .collect()
}

fn receive(meter: &mut Meter, frames: &[Vec<u8>], time: u64, records: &mut Vec<FlowRecord>) {
    let frames: Vec<_> =
        frames.iter().map(|bytes| Frame { time, link: Some(ETHERNET), original: 60, bytes }).collect();
    meter.receive(frames, &mut |record| records.push(*record));
}

#[test]
fn flows_end_without_a_packet_once_time_has_gone_on() {
    let mut meter = Meter::new(&Key::VECTOR, OPTIONS);
    let mut records = Vec::new();
    assert!(!meter.advance(SECOND, &mut |_| unreachable!("no flow")));
    receive(&mut meter, &frames_of(0..100, 16), SECOND, &mut records);
    meter.advance(10 * SECOND, &mut |record| records.push(*record));
    assert!(records.is_empty());
    meter.advance(12 * SECOND, &mut |record| records.push(*record));
    assert_eq!((records.len(), meter.stats().flows_open), (100, 0));
    assert!(records.iter().all(|record| record.end == EndReason::IdleTimeout));
}

#[test]
fn flows_end_on_time_after_the_clock_was_set_back() {
    let mut meter = Meter::new(&Key::VECTOR, OPTIONS);
    let (mut records, before, after) = (Vec::new(), 100_000 * SECOND, 10_000 * SECOND);
    receive(&mut meter, &frames_of(0..100, 16), before, &mut records);
    meter.follow_clock(after);
    // Frames from before may still come.
    receive(&mut meter, &frames_of(100..101, 16), before + SECOND, &mut records);
    meter.follow_clock(after + SECOND / 4);
    meter.follow_clock(after + SECOND / 2);
    meter.advance(after + 8 * SECOND, &mut |record| records.push(*record));
    assert_eq!((records.len(), meter.stats().flows_open), (0, 101));
    // A flow that goes on ends by its age, as its first packet seems to come from later.
    receive(&mut meter, &frames_of(0..1, 16), after + 9 * SECOND, &mut records);
    let ended: Vec<_> = records.iter().map(|record| (record.end, record.forward.last)).collect();
    assert_eq!(ended, [(EndReason::ActiveTimeout, before)]);
    meter.advance(after + 12 * SECOND, &mut |record| records.push(*record));
    assert_eq!((records.len(), meter.stats().flows_open), (101, 1));
    meter.advance(after + 20 * SECOND, &mut |record| records.push(*record));
    assert_eq!((records.len(), meter.stats().flows_open), (102, 0));
    assert!(records[1..].iter().all(|record| record.end == EndReason::IdleTimeout));
}

#[test]
fn packets_that_are_a_little_ahead_of_the_clock_are_no_other_time() {
    let mut meter = Meter::new(&Key::VECTOR, OPTIONS);
    receive(&mut meter, &frames_of(0..1, 16), 10 * SECOND, &mut Vec::new());
    (0..3).for_each(|_| meter.follow_clock(9 * SECOND));
    assert_eq!(meter.time(), 10 * SECOND);
}

#[test]
fn flows_end_when_the_clock_jumps_ahead_by_years() {
    for years in [1, 8, 20, 60] {
        let mut meter = Meter::new(&Key::VECTOR, OPTIONS);
        let mut records = Vec::new();
        receive(&mut meter, &frames_of(0..100, 16), SECOND, &mut records);
        let now = SECOND + years * 365 * 86_400 * SECOND;
        while meter.advance(now, &mut |record| records.push(*record)) {}
        assert_eq!((records.len(), meter.stats().flows_open), (100, 0), "{years} years");
    }
}

#[test]
fn in_a_flood_of_new_flows_those_that_are_answered_stay() {
    let mut meter = Meter::new(&Key::VECTOR, OPTIONS);
    let mut records = Vec::new();
    // Half of the table is established: an answered handshake, and data.
    let established = 0..500;
    let mut answers = frames_of(established.clone(), 18);
    for frame in &mut answers {
        let (source, destination) = (frame[26..30].to_vec(), frame[30..34].to_vec());
        frame[26..34].copy_from_slice(&[destination, source].concat());
        frame[34..38].rotate_left(2);
    }
    for frames in [&frames_of(established.clone(), 2), &answers, &frames_of(established.clone(), 16)] {
        receive(&mut meter, frames, SECOND, &mut records);
    }
    assert_eq!((records.len(), meter.stats().flows_open), (0, 500));
    let memory = meter.memory();
    receive(&mut meter, &frames_of(1000..101_000, 2), SECOND + 1, &mut records);
    assert!(meter.stats().flows_open <= OPTIONS.flows as u64);
    assert_eq!(meter.memory(), memory);
    receive(&mut meter, &frames_of(established, 16), SECOND + 2, &mut records);
    let stats = meter.stats();
    assert_eq!((stats.flows_evicted, records.len() as u64), (stats.flows_exported, stats.flows_exported));
    assert!(records.iter().all(|record| record.end == EndReason::LackOfResources && !record.is_biflow()));
    let mut open = Vec::new();
    let stats = meter.finish(&mut |record| open.push(*record));
    let kept = open.iter().filter(|record| record.is_biflow()).map(|record| record.forward.packets);
    assert!(kept.eq(std::iter::repeat_n(3, 500)));
    assert_eq!((stats.flows_exported, stats.flows_opened), (100_500, 100_500));
    assert_eq!(stats.dropped.total(), 0);
}

#[test]
fn a_flow_takes_the_memory_that_is_documented() {
    // Numbers just above the limit of a power of two of buckets, where most of them are free.
    for flows in [6 * (1 << 12) + 1, 100_000, 6 * (1 << 15) + 1] {
        let limits = Limits { flows, idle: 601 };
        let table = FlowsBy::<MeterKey, Biflow>::with_room(flows, &Key::VECTOR, limits, 0);
        assert!(
            table.memory() <= flows * MeterOptions::FLOW_BYTES + 5000,
            "{} bytes",
            table.memory() / flows
        );
    }
}

#[test]
fn samples_one_packet_of_many() {
    let mut meter = Meter::new(&Key::VECTOR, MeterOptions { sampling: 10, ..OPTIONS });
    receive(&mut meter, &frames_of(0..105, 16), SECOND, &mut Vec::new());
    let stats = meter.stats();
    assert_eq!((stats.packets, stats.flows_open, stats.dropped.sampled), (105, 11, 94));
}

#[test]
fn frames_without_a_flow_are_counted_by_cause() {
    let mut meter = Meter::new(&Key::VECTOR, OPTIONS);
    let frames = [vec![0; 5], vec![0; 60], [vec![2; 12], vec![8, 6], vec![0; 28]].concat()];
    receive(&mut meter, &frames, SECOND, &mut Vec::new());
    let stats = meter.stats();
    assert_eq!((stats.packets, stats.flows_open), (3, 0));
    assert_eq!((stats.dropped.not_ip, stats.dropped.malformed), (2, 1));
}

#[test]
fn timeouts_and_limits_change_while_flows_are_open() {
    let mut meter = Meter::new(&Key::VECTOR, OPTIONS);
    // Before the first packet, too.
    meter.change(&OPTIONS);
    let mut records = Vec::new();
    receive(&mut meter, &frames_of(0..900, 16), SECOND, &mut records);
    assert_eq!((records.len(), meter.stats().flows_open), (0, 900));
    // A lower limit: each burst of packets of known flows evicts some.
    meter.change(&MeterOptions { flows: 100, idle: OPTIONS.idle / 10, ..OPTIONS });
    for _ in 0..20 {
        receive(&mut meter, &frames_of(2000..2001, 16), SECOND + 1, &mut records);
    }
    assert!(meter.stats().flows_open <= 100, "{:?}", meter.stats());
    assert_eq!(meter.stats().dropped.table, 0);
    let evicted = records.len();
    assert!(evicted >= 800 && records.iter().all(|record| record.end == EndReason::LackOfResources));
    // The shorter timeout holds for flows that are there.
    while meter.advance(SECOND + OPTIONS.idle / 5, &mut |record| records.push(*record)) {}
    assert_eq!((meter.stats().flows_open, records.len()), (0, 901));
    assert!(records[evicted..].iter().all(|record| record.end == EndReason::IdleTimeout));
    // A higher limit than at the start.
    meter.change(&MeterOptions { flows: 5000, ..OPTIONS });
    receive(&mut meter, &frames_of(0..5000, 16), 100 * SECOND, &mut records);
    assert_eq!((meter.stats().flows_open, records.len()), (5000, 901));
}
