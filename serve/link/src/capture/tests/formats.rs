//! Fields of both formats.

use super::super::{Reader, is_capture};
use super::build::Order;
use super::{Owned, in_batches, in_chunks, read};
use pcap_file::pcap::{PcapPacket, PcapWriter};
use proptest::collection::vec;
use proptest::prelude::*;
use std::io::Read;
use std::time::Duration;

fn owned(link: u32, time: u64, original: u32, bytes: &[u8]) -> Owned {
    Owned { link: Some(link), time, original, bytes: bytes.to_vec() }
}

#[test]
fn reads_pcap_in_both_orders_and_resolutions() {
    for order in Order::BOTH {
        for (nanoseconds, unit) in [(false, 1000), (true, 1)] {
            // The bits above the link type state the length of checksums.
            let mut file = order.pcap(nanoseconds, 0xf400_0000 | 276);
            file.extend(order.record(1_700_000_000, 999_999, 3, b"abc"));
            file.extend(order.record(u32::MAX, 1, 1500, b"cut"));
            assert!(is_capture(&file));
            let (frames, error) = read(&file[..]);
            let first = owned(276, 1_700_000_000_000_000_000 + 999_999 * unit, 3, b"abc");
            let second = owned(276, u64::from(u32::MAX) * 1_000_000_000 + unit, 1500, b"cut");
            assert_eq!(frames, [first, second]);
            assert!(error.is_none());
        }
    }
}

#[test]
fn reads_pcapng_with_interfaces_of_their_own() {
    for order in Order::BOTH {
        let offset = if order.0 { 100_i64.to_be_bytes() } else { 100_i64.to_le_bytes() };
        let before = if order.0 { (-1_i64).to_be_bytes() } else { (-1_i64).to_le_bytes() };
        let file = [
            order.section(),
            order.interface(1, 0, &[(2, b"eth0"), (0, b"")]),
            order.interface(101, 4, &[(9, &[9]), (14, &offset)]),
            order.interface(113, 0, &[(9, &[0x80 | 1]), (14, &before)]),
            order.enhanced(0, 5_000_001, 5, b"first"),
            order.enhanced(1, 7, 9, b"ip"),
            order.enhanced(2, 5, 1, b"x"),
            order.enhanced(3, 5, 1, b"?"),
            // A simple packet, cut to the first interface's length, and one of the old kind with drops.
            order.block(3, &[&order.w32(3)[..], b"abc"].concat()),
            order.block(2, &[&order.w16(1)[..], &order.w16(9), &order.words(&[0, 8, 1, 1]), b"o"].concat()),
            // Blocks without frames: statistics, a name resolution, one of nobody's.
            order.block(5, &[0; 12]),
            order.block(4, &[0; 4]),
            order.block(0x8000_0001, &vec![7; 3 << 20]),
            // Another section has its own interfaces.
            Order(!order.0).section(),
            Order(!order.0).enhanced(0, 5, 1, b"?"),
            Order(!order.0).interface(229, 2, &[]),
            Order(!order.0).block(3, &[&Order(!order.0).w32(3)[..], b"ab\0\0"].concat()),
        ]
        .concat();
        let (frames, error) = read(&file[..]);
        assert!(error.is_none(), "{error:?}");
        let unknown = Owned { link: None, time: 0, original: 1, bytes: b"?".to_vec() };
        assert_eq!(
            frames,
            [
                owned(1, 5_000_001_000, 5, b"first"),
                owned(101, 100_000_000_007, 9, b"ip"),
                owned(113, 1_500_000_000, 1, b"x"),
                unknown.clone(),
                owned(1, 0, 3, b"abc"),
                owned(101, 100_000_000_008, 1, b"o"),
                unknown,
                owned(229, 0, 3, b"ab"),
            ]
        );
    }
}

#[test]
fn times_out_of_range_stay_within_it() {
    let order = Order(false);
    for (options, ticks, expected) in [
        (vec![(9, vec![6])], u64::MAX, u64::MAX),
        (vec![(9, vec![0x7f])], u64::MAX, 1_000_000_000),
        (vec![(9, vec![0])], u64::MAX, u64::MAX),
        (vec![(14, vec![0, 0, 0, 0, 0, 0, 0, 0x80])], 5, 0),
        (vec![(14, vec![0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f])], 0, i64::MAX as u64),
    ] {
        let options: Vec<(u16, &[u8])> = options.iter().map(|(code, value)| (*code, &value[..])).collect();
        let file =
            [order.section(), order.interface(1, 0, &options), order.enhanced(0, ticks, 1, b"x")].concat();
        assert_eq!(read(&file[..]).0[0].time, expected);
    }
}

/// Reads few bytes at a time.
struct Dribble<'a>(&'a [u8], usize);

impl Read for Dribble<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let len = out.len().min(self.1);
        self.0.read(&mut out[..len])
    }
}

#[test]
fn frames_of_a_slow_stream_come_when_they_are_there() {
    let order = Order(false);
    let records: Vec<_> = (0..9).map(|i| order.record(i, 0, 40, &[i as u8; 40])).collect();
    let file = [order.pcap(false, 1), records.concat()].concat();
    for piece in [1, 7, 56, 57] {
        assert_eq!(read(Dribble(&file, piece)).0.len(), 9);
    }
    // One record a read: each batch has its frame before the next read.
    let mut reader = Reader::new(Dribble(&file, 24)).unwrap();
    assert_eq!(reader.next_batch().unwrap().unwrap().count(), 0);
    let mut reader = Reader::new(Dribble(&file, 24 + 56)).unwrap();
    assert_eq!(reader.next_batch().unwrap().unwrap().count(), 1);
    assert_eq!(reader.offset(), 24 + 56);
}

#[test]
fn frames_not_taken_are_in_the_next_batch() {
    let order = Order(false);
    let file = [order.pcap(false, 1), order.record(1, 0, 1, b"a"), order.record(2, 0, 1, b"b")].concat();
    let mut reader = Reader::new(&file[..]).unwrap();
    let first = reader.next_batch().unwrap().unwrap().next().unwrap();
    assert_eq!(first.bytes, b"a");
    let rest: Vec<_> = reader.next_batch().unwrap().unwrap().map(Owned::of).collect();
    assert_eq!(rest, [owned(1, 2_000_000_000, 1, b"b")]);
    assert!(reader.next_batch().unwrap().is_none());
}

proptest! {
    #[test]
    fn reads_what_another_crate_writes(
        packets in vec((any::<u32>(), 0..1_000_000u32, vec(any::<u8>(), 0..300)), 0..20), piece in 1..2000usize,
    ) {
        let mut file = Vec::new();
        let mut writer = PcapWriter::new(&mut file).unwrap();
        for (seconds, micros, bytes) in &packets {
            let time = Duration::new(u64::from(*seconds), micros * 1000);
            writer.write_packet(&PcapPacket::new(time, bytes.len() as u32, bytes)).unwrap();
        }
        let (frames, error) = read(Dribble(&file, piece));
        prop_assert!(error.is_none());
        let expected = packets.iter().map(|(seconds, micros, bytes)| {
            owned(1, u64::from(*seconds) * 1_000_000_000 + u64::from(*micros) * 1000, bytes.len() as u32, bytes)
        });
        prop_assert_eq!(frames, expected.collect::<Vec<_>>());
    }
}

/// A stream that gives a byte at a time, and is silent before each.
struct Silent<'a>(&'a [u8], bool);

impl Read for Silent<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(std::io::ErrorKind::WouldBlock.into());
        }
        let length = out.len().min(1);
        self.0.read(&mut out[..length])
    }
}

#[test]
fn a_stream_that_has_no_bytes_yet_brings_empty_batches() {
    let order = Order(false);
    let file = [order.pcap(false, 1), order.record(1, 2, 3, b"abc"), order.record(4, 5, 6, b"cut")].concat();
    assert_eq!(in_batches(Silent(&file, false)).0, read(&file[..]).0);
    assert_eq!(in_chunks(Silent(&file, false)).0, read(&file[..]).0);
}
