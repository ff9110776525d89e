//! Packets of NetFlow v9, taken apart by hand.

use hashlane_meter::{Counters, Exporter, FlowRecord, Netflow9Exporter, Netflow9Options, Sink};
use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

const SECOND: u64 = 1_000_000_000;
const MILLISECOND: u64 = 1_000_000;
/// 2026-01-02 03:04:05 UTC.
const START: u64 = 1_767_323_045 * SECOND;

fn flow(first: u64, last: u64) -> FlowRecord {
    let forward = Counters { packets: 3, bytes: 120, tcp_flags: 2, first, last };
    let reverse = Counters { packets: 2, bytes: 99, tcp_flags: 18, first: first + MILLISECOND, last };
    FlowRecord {
        source: Ipv4Addr::new(192, 0, 2, 1).into(),
        destination: Ipv4Addr::new(198, 51, 100, 7).into(),
        source_port: 40_000,
        destination_port: 443,
        protocol: 6,
        forward,
        reverse,
        ..FlowRecord::EMPTY
    }
}

/// An exporter, and the socket that gets its packets.
fn exporter(options: Netflow9Options) -> (Netflow9Exporter, UdpSocket) {
    let collector = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
    collector.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    let sink = Sink::udp(collector.local_addr().expect("a bound socket")).expect("a socket");
    (Netflow9Exporter::new(sink, options), collector)
}

/// A packet: its number of records, sequence number, start of the exporter in milliseconds, and sets.
struct Packet {
    count: u16,
    sequence: u32,
    boot: u64,
    sets: Vec<(u16, Vec<u8>)>,
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]).into()
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn receive(collector: &UdpSocket) -> Packet {
    let mut buffer = [0; 65_536];
    let len = collector.recv(&mut buffer).expect("a packet");
    let bytes = &buffer[..len];
    assert_eq!(half(bytes, 0), 9);
    let (mut sets, mut at) = (Vec::new(), 20);
    while at < len {
        let size = usize::from(half(bytes, at + 2));
        assert_eq!(size % 4, 0, "sets end at a word");
        sets.push((half(bytes, at), bytes[at + 4..at + size].to_vec()));
        at += size;
    }
    assert_eq!(at, len);
    let boot = word(bytes, 8) * 1_000 - word(bytes, 4);
    Packet { count: half(bytes, 2), sequence: u32::try_from(word(bytes, 12)).expect("a word"), boot, sets }
}

/// First and last time of the records of TCP over IPv4, in milliseconds since 1970: the last two of the
/// fields, which take 47 bytes.
fn times(packet: &Packet) -> Vec<(u64, u64)> {
    let mut times = Vec::new();
    for (_, set) in packet.sets.iter().filter(|(id, _)| *id >= 256) {
        for record in set.chunks_exact(4 + 4 + 1 + 2 + 2 + 4 + 1 + 8 + 8 + 1 + 4 + 4) {
            times.push((packet.boot + word(record, 35), packet.boot + word(record, 39)));
        }
    }
    times
}

#[test]
fn a_flow_becomes_a_record_for_each_direction() {
    let (mut exporter, collector) = exporter(Netflow9Options::default());
    let last = START + 1_500 * MILLISECOND;
    exporter.write(&flow(START + 7 * MILLISECOND, last), last + SECOND).unwrap();
    exporter.tick(last + 2 * SECOND).unwrap();
    let packet = receive(&collector);
    let (start, end) = (START / MILLISECOND, last / MILLISECOND);
    assert_eq!(times(&packet), [(start + 7, end), (start + 8, end)]);
    // The template, and two records.
    assert_eq!((packet.count, packet.sequence), (3, 0));
    assert_eq!(packet.sets[0].0, 0);
    assert_eq!(packet.sets[1].1[..8], [192, 0, 2, 1, 198, 51, 100, 7]);
    assert_eq!(packet.sets[1].1[43..51], [198, 51, 100, 7, 192, 0, 2, 1]);

    exporter.write(&flow(START, last), last + 3 * SECOND).unwrap();
    exporter.finish(last + 3 * SECOND).unwrap();
    let packet = receive(&collector);
    assert_eq!((packet.count, packet.sequence, packet.sets.len()), (2, 1, 1));
    assert_eq!(exporter.totals().flows, 4);
}

#[test]
fn flows_of_old_captures_and_years_apart_keep_their_times() {
    let (mut exporter, collector) = exporter(Netflow9Options::default());
    let years = [0, 10, 3, 3].map(|years| START - years * 365 * 86_400 * SECOND);
    for first in years {
        exporter.write(&flow(first, first + SECOND), START + 60 * SECOND).unwrap();
    }
    exporter.finish(START + 60 * SECOND).unwrap();
    let mut found = Vec::new();
    while found.len() < 2 * years.len() {
        found.extend(times(&receive(&collector)));
    }
    let expected: Vec<_> = years.iter().map(|first| first / MILLISECOND).collect();
    assert_eq!(found.iter().step_by(2).map(|(first, _)| *first).collect::<Vec<_>>(), expected);
    assert!(found.iter().step_by(2).all(|(first, last)| last - first == 1_000));
}

#[test]
fn templates_and_sampling_are_repeated() {
    let options = Netflow9Options { template_packets: 2, sampling: 100, ..Netflow9Options::default() };
    let (mut exporter, collector) = exporter(options);
    let mut ids = Vec::new();
    for number in 0..4 {
        let now = START + number * 5 * SECOND;
        exporter.write(&flow(START, START), now).unwrap();
        exporter.tick(now + 2 * SECOND).unwrap();
        ids.push(receive(&collector).sets.into_iter().map(|(id, _)| id).collect::<Vec<_>>());
    }
    let (with, without) = (vec![1, 320, 0, 256], vec![256]);
    assert_eq!(ids, [with.clone(), without.clone(), with, without]);
}
