//! Captures that are cut, broken or random.

use super::super::{CaptureError, FormatError, Problem, Reader, frames};
use super::build::Order;
use super::read;
use pcap_file::pcapng::PcapNgReader;
use proptest::collection::vec;
use proptest::prelude::*;
use std::ops::ControlFlow;

fn pcapng() -> Vec<u8> {
    let order = Order(false);
    [
        order.section(),
        order.interface(1, 0, &[(9, &[9])]),
        order.enhanced(0, 1, 5, b"first"),
        order.block(0xbad, &[0; 40]),
        order.enhanced(0, 2, 6, b"second"),
    ]
    .concat()
}

fn pcap() -> Vec<u8> {
    let order = Order(true);
    [order.pcap(false, 1), order.record(1, 0, 5, b"first"), order.record(2, 0, 6, b"second")].concat()
}

#[test]
fn a_cut_capture_gives_what_was_read_and_the_offset() {
    for (file, starts) in [(pcap(), vec![24, 45, 67]), (pcapng(), vec![28, 56, 96, 148, 188])] {
        assert_eq!(starts.last(), Some(&file.len()));
        for end in starts[0]..file.len() {
            let (frames, error) = read(&file[..end]);
            let whole = read(&file[..]).0;
            assert!(whole.starts_with(&frames));
            let at = *starts.iter().rev().find(|start| **start <= end).unwrap();
            match error {
                None => assert_eq!(at, end),
                // A block without frames is passed in part.
                Some(CaptureError::CutOff { at: found }) => {
                    assert!(found >= at as u64 && found <= end as u64 && end != at, "{end}: {found}");
                }
                Some(error) => panic!("{end}: {error}"),
            }
        }
    }
    let mut passed = 0;
    let reason = frames(&pcap()[..60], &mut |_| {
        passed += 1;
        ControlFlow::Continue(())
    });
    assert_eq!(reason.unwrap().as_deref(), Some("it ends within a packet, at offset 45"));
    assert_eq!(passed, 1);
}

#[test]
fn a_broken_record_ends_the_capture_at_its_offset() {
    let broken = |mut file: Vec<u8>, at: usize, bytes: &[u8]| {
        file[at..at + bytes.len()].copy_from_slice(bytes);
        match read(&file[..]) {
            (frames, Some(CaptureError::Broken { at, problem })) => (frames.len(), at, problem),
            other => panic!("{other:?}"),
        }
    };
    let long = Problem::Packet { length: (512 << 10) + 1 };
    assert_eq!(broken(pcap(), 53, &[0, 8, 0, 1]), (1, 45, long));
    assert_eq!(broken(pcapng(), 100, &[8, 0, 0, 0]), (1, 96, Problem::Block { length: 8 }));
    assert_eq!(broken(pcapng(), 152, &[41, 0, 0, 0]), (1, 148, Problem::Block { length: 41 }));
    assert_eq!(broken(pcapng(), 184, &[44, 0, 0, 0]), (1, 148, Problem::Block { length: 40 }));
    // More captured bytes than the block has.
    assert_eq!(broken(pcapng(), 168, &[9, 0, 0, 0]), (1, 148, Problem::Block { length: 40 }));
    let section = Order(false).section();
    let twice = [section.clone(), section].concat();
    assert_eq!(broken(twice, 36, &[1, 2, 3, 4]), (0, 28, Problem::Order { magic: 0x0102_0304 }));
    let error = CaptureError::Broken { at: 45, problem: long };
    assert_eq!(error.to_string(), "packet of 524289 bytes; at most 524288 are read, at offset 45");
}

#[test]
fn a_second_capture_in_the_file_is_named_and_nothing_else_is() {
    for (one, two) in [(false, false), (false, true), (true, false), (true, true)] {
        let file = |order: Order| [order.pcap(false, 1), order.record(1, 2, 60, &[7; 60])].concat();
        let first = file(Order(one));
        let (frames, error) = read(&[&first[..], &file(Order(two))].concat()[..]);
        assert_eq!(frames.len(), 1);
        let says = error.unwrap().to_string();
        assert!(says.contains(&format!("a second capture begins at offset {};", first.len())), "{says}");
    }
    // An empty packet at the time of the magic number.
    let order = Order(false);
    let file = [order.pcap(false, 1), order.record(0xa1b2_c3d4, 5, 0, &[])].concat();
    assert!(read(&file[..]).1.is_none());
}

#[test]
fn interfaces_are_bounded() {
    let order = Order(false);
    let interfaces = order.interface(1, 0, &[]).repeat(4097);
    let (_, error) = read(&[order.section(), interfaces].concat()[..]);
    let expected = 28 + 4096 * 20;
    assert!(matches!(error, Some(CaptureError::Broken { at, .. }) if at == expected), "{error:?}");
}

#[test]
fn the_longest_packets_fit() {
    let order = Order(false);
    let bytes = vec![7; 512 << 10];
    let file = [order.pcap(false, 1), order.record(1, 0, 1 << 19, &bytes).repeat(5)].concat();
    let (frames, error) = read(&file[..]);
    assert!(error.is_none() && frames.len() == 5 && frames.iter().all(|frame| frame.bytes == bytes));
}

#[test]
fn names_what_is_no_capture() {
    let reason = |bytes: &[u8]| match Reader::new(bytes) {
        Err(FormatError::NotACapture(reason)) => reason,
        _ => panic!("{bytes:?}"),
    };
    assert_eq!(reason(b""), "the file is empty");
    assert_eq!(reason(b"PK\x03\x04 and more"), "bad magic number 0x504b0304");
    assert_eq!(reason(&pcap()[..23]), "its header is cut off");
    assert_eq!(reason(&pcapng()[..11]), "its header is cut off");
    assert_eq!(reason(&[&pcapng()[..8], &[0; 20]].concat()), "unknown byte order of its first section");
}

/// Frames of a pcapng file as another crate reads them.
fn oracle(file: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut reader = PcapNgReader::new(file).ok()?;
    let mut all = Vec::new();
    while let Some(block) = reader.next_block() {
        match block.ok()? {
            pcap_file::pcapng::Block::EnhancedPacket(packet) => all.push(packet.data.to_vec()),
            pcap_file::pcapng::Block::SimplePacket(packet) => all.push(packet.data.to_vec()),
            _ => {}
        }
    }
    Some(all)
}

proptest! {
    #[test]
    fn never_panics(bytes in vec(any::<u8>(), 0..300), start in 0..6usize) {
        let starts = [pcap()[..24].to_vec(), pcapng()[..28].to_vec(), pcapng()[..56].to_vec(), vec![]];
        let file = [starts.get(start).cloned().unwrap_or_default(), bytes].concat();
        if Reader::new(&file[..]).is_ok() {
            read(&file[..]);
        }
    }

    #[test]
    fn a_changed_capture_is_read_as_another_crate_reads_it(at: prop::sample::Index, to: u8) {
        let mut file = pcapng();
        let at = at.index(file.len());
        file[at] = to;
        // Types of blocks and lengths that are cut may differ; where both read all, the frames are the same.
        if let (Some(expected), Ok(_)) = (oracle(&file), Reader::new(&file[..]))
            && let (frames, None) = read(&file[..])
        {
            let found: Vec<_> = frames.into_iter().map(|frame| frame.bytes).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
