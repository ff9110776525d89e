//! Random bytes, and frames that are changed or cut.

use super::super::{DissectError, Options, Undissected, dissect};
use super::build::*;
use crate::captured::{ETHERNET, LINUX_SLL, LINUX_SLL2, LOOP, RAW};
use crate::packet::{Packet, PacketError};
use proptest::collection::vec;
use proptest::prelude::*;
use std::vec::Vec;

/// A frame with each kind of header.
fn frames() -> Vec<Vec<u8>> {
    let inner = ethernet(0x0800, &v4(6, &tcp(1, 2, 3)));
    let vxlan = udp(9, 4789, &[&[8, 0, 0, 0, 0, 0, 5, 0], &inner[..]].concat());
    let gtpu = [&[0x34, 255, 0, 8, 0, 0, 0, 7, 0, 0, 0, 0x85, 1, 0, 9, 0], &v6(58, &[128, 0])[..]].concat();
    std::vec![
        inner.clone(),
        ethernet(0x86dd, &v6(17, &udp(1, 2, b"x"))),
        ethernet(0x88a8, &[&[0, 5, 0x81, 0, 0, 6, 0x08, 0], &v4(17, &vxlan)[..]].concat()),
        ethernet(0x8847, &[&[0, 1, 0, 9, 0, 2, 1, 9, 0, 0, 0, 0], &inner[..]].concat()),
        ethernet(
            0x8864,
            &[&[0x11, 0, 0, 1, 0, 9, 0, 0x57], &v6_part(7, 0, true, 17, &udp(1, 2, b""))[..]].concat()
        ),
        ethernet(0x0800, &v4(47, &[&[0x20, 0, 0x65, 0x58, 0, 0, 0, 3], &inner[..]].concat())),
        ethernet(0x86dd, &v6(17, &udp(2152, 2152, &gtpu))),
        ethernet(0x0800, &v4(41, &v6(0, &[&[6, 0, 0, 0, 0, 0, 0, 0], &tcp(1, 2, 3)[..]].concat()))),
        ethernet(0x0800, &v4_part(7, 2, false, 1, b"rest")),
    ]
}

proptest! {
    #[test]
    fn never_panics(bytes in vec(any::<u8>(), 0..200), link in 0..300u32, tunnels: bool) {
        let _ = dissect(link, &bytes, Options { tunnels });
        for link in [ETHERNET, RAW, LOOP, LINUX_SLL, LINUX_SLL2] {
            let _ = dissect(link, &bytes, Options { tunnels });
        }
    }

    #[test]
    fn never_panics_on_changed_frames(
        number in 0..9usize, changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        end: prop::sample::Index, tunnels: bool,
    ) {
        let mut frame = frames().swap_remove(number);
        for (at, to) in changes {
            let at = at.index(frame.len());
            frame[at] = to;
        }
        frame.truncate(end.index(frame.len() + 1));
        if let Ok(read) = dissect(ETHERNET, &frame, Options { tunnels }) {
            prop_assert!(read.key.first() <= read.key.second());
            prop_assert!(matches!(read.key.scope().version, 4 | 6));
        }
        // The parser of tuples reads the same ports.
        if let Ok(packet) = Packet::ethernet(&frame) {
            let read = dissect(ETHERNET, &frame, Options::default()).unwrap();
            prop_assert_eq!(read.key.ends(read.reversed), [packet.source, packet.destination]);
            prop_assert_eq!((read.key.protocol(), read.fragment), (packet.protocol, None));
        }
    }
}

#[test]
fn a_frame_cut_anywhere_has_its_flow_or_says_so() {
    for frame in frames() {
        let whole = dissect(ETHERNET, &frame, Options::default()).unwrap();
        for end in 0..frame.len() {
            match dissect(ETHERNET, &frame[..end], Options::default()) {
                Ok(read) => assert!(read.cut || read == whole, "{end}: {read:?}"),
                Err(error) => {
                    let short = matches!(error, DissectError::Packet(PacketError::TooShort { .. }));
                    assert!(short, "{end}: {error}");
                }
            }
        }
    }
}

#[test]
fn a_long_frame_of_headers_inside_headers_ends() {
    let mut frame = v4(6, &tcp(1, 2, 3));
    while frame.len() < 60_000 {
        frame = v4(47, &[&[0, 0, 0x65, 0x58][..], &ethernet(0x0800, &frame)].concat());
    }
    assert!(dissect(RAW, &frame, Options { tunnels: true }).is_ok());
    let bridged = [&[2; 12][..], &[0x65, 0x58]].concat().repeat(4000);
    assert!(dissect(ETHERNET, &bridged, Options { tunnels: true }).is_err());
}

#[test]
fn counts_frames_without_a_flow_by_cause() {
    let mut counters = Undissected::default();
    let errors = [
        PacketError::TooShort { at: 0, needs: 1 }.into(),
        PacketError::NotIp { ether_type: 0x0806 }.into(),
        PacketError::TooManyTags { at: 0 }.into(),
        PacketError::Version { at: 0, version: 5 }.into(),
        PacketError::HeaderLength { at: 0 }.into(),
        PacketError::TooManyHeaders { at: 0 }.into(),
        DissectError::TooManyLabels { at: 0 },
        DissectError::TooManyLayers { at: 0 },
        DissectError::UnknownLink { link: 9 },
    ];
    errors.into_iter().for_each(|error| counters.count(error));
    assert!(counters.causes().iter().all(|(_, count)| *count == 1));
    let mut sum = counters;
    sum.add(&counters);
    assert_eq!(sum.total(), 18);
    assert!(sum.causes().iter().all(|(_, count)| *count == 2));
}
