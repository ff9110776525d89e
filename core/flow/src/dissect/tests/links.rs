//! Links, tags, labels and sessions before IP.

use super::super::{DissectError, Options, dissect};
use super::build::*;
use crate::captured::{ETHERNET, IPV4, IPV6, LINUX_SLL, LINUX_SLL2, LOOP, NULL, RAW};
use crate::packet::PacketError;
use std::vec::Vec;

fn packet() -> Vec<u8> {
    v4(6, &tcp(1234, 443, 0x12))
}

#[test]
fn reads_the_same_packet_from_every_link() {
    let expected = of_ethernet(0x0800, &packet());
    assert_eq!((ports(&expected), expected.tcp_flags, expected.ip_bytes), ([1234, 443], 0x12, 40));
    assert_eq!(expected.key.ends(expected.reversed)[0].0, A.to_ipv6_mapped());
    let cooked = [&[0, 0, 0, 1, 0, 6][..], &[0; 8], &[8, 0], &packet()].concat();
    let cooked2 = [&[8, 0][..], &[0; 18], &packet()].concat();
    let frames = [
        (RAW, packet()),
        (IPV4, packet()),
        (NULL, [&[2, 0, 0, 0], &packet()[..]].concat()),
        (LOOP, [&[0, 0, 0, 2], &packet()[..]].concat()),
        (LINUX_SLL, cooked),
        (LINUX_SLL2, cooked2),
    ];
    for (link, frame) in frames {
        assert_eq!(dissect(link, &frame, Options::default()), Ok(expected), "{link}");
    }
    let sixth = of_ethernet(0x86dd, &v6(17, &udp(1, 2, b"")));
    assert_eq!(dissect(IPV6, &v6(17, &udp(1, 2, b"")), Options::default()), Ok(sixth));
    let unknown = dissect(147, &packet(), Options::default());
    assert_eq!(unknown, Err(DissectError::UnknownLink { link: 147 }));
}

#[test]
fn the_two_outer_tags_are_part_of_the_key() {
    let tag = |ether_type: u16, id: u16| [ether_type.to_be_bytes(), (0xe000 | id).to_be_bytes()].concat();
    let frame = |tags: &[Vec<u8>]| {
        let plain = ethernet(0x0800, &packet());
        [&plain[..12], &tags.concat(), &plain[12..]].concat()
    };
    let vlans = |tags: &[Vec<u8>]| {
        dissect(ETHERNET, &frame(tags), Options::default()).map(|read| read.key.scope().vlans)
    };
    assert_eq!(vlans(&[]), Ok([0, 0]));
    assert_eq!(vlans(&[tag(0x8100, 5)]), Ok([5, 0]));
    assert_eq!(vlans(&[tag(0x88a8, 5), tag(0x8100, 4095)]), Ok([5, 4095]));
    assert_eq!(vlans(&[tag(0x9100, 5), tag(0x8100, 6), tag(0x8100, 7), tag(0x8100, 8)]), Ok([5, 6]));
    let five = [5, 6, 7, 8, 9].map(|id| tag(0x8100, id));
    assert_eq!(vlans(&five), Err(PacketError::TooManyTags { at: 32 }.into()));
}

#[test]
fn passes_labels_to_ip_and_to_ethernet() {
    let expected = of_ethernet(0x0800, &packet());
    let (label, bottom) = ([0, 1, 0x00, 64], [0, 2, 0x01, 64]);
    let labelled = |inside: &[u8]| [&label[..], &bottom, inside].concat();
    assert_eq!(of_ethernet(0x8847, &labelled(&packet())), expected);
    assert_eq!(of_ethernet(0x8848, &labelled(&packet())), expected);
    let sixth = v6(17, &udp(1, 2, b""));
    assert_eq!(of_ethernet(0x8847, &labelled(&sixth)), of_ethernet(0x86dd, &sixth));
    // A pseudowire: control word, then a frame with its own tags.
    let wire = [&[0, 0, 0, 0][..], &ethernet(0x8100, &[&[0, 9, 8, 0], &packet()[..]].concat())].concat();
    let inside = of_ethernet(0x8100, &[&[0, 3, 0x88, 0x47][..], &labelled(&wire)].concat());
    assert_eq!(inside.key.scope().vlans, [9, 0]);
    assert_eq!(ports(&inside), [1234, 443]);
    // An associated channel (RFC 4385) is not IP.
    let frame = ethernet(0x8847, &labelled(&[0x10, 0, 0, 0]));
    let channel = dissect(ETHERNET, &frame, Options::default());
    assert_eq!(channel, Err(PacketError::NotIp { ether_type: 0x8847 }.into()));
}

#[test]
fn labels_and_layers_are_bounded() {
    let frame = ethernet(0x8847, &[0, 1, 0, 64].repeat(17));
    let read = dissect(ETHERNET, &frame, Options::default());
    assert_eq!(read, Err(DissectError::TooManyLabels { at: 14 + 64 }));
    let mut frame = packet();
    let wire = |inside: &[u8]| [&[0, 2, 1, 64, 0, 0, 0, 0], inside].concat();
    frame = ethernet(0x0800, &frame);
    for layers in 1..=5 {
        frame = ethernet(0x8847, &wire(&frame));
        let read = dissect(ETHERNET, &frame, Options::default());
        assert_eq!(read.is_ok(), layers <= 4, "{layers}: {read:?}");
    }
}

#[test]
fn reads_sessions_of_pppoe() {
    let session = |protocol: u16, inside: &[u8]| {
        let length = (inside.len() as u16 + 2).to_be_bytes();
        [&[0x11, 0, 0, 7][..], &length, &protocol.to_be_bytes(), inside].concat()
    };
    assert_eq!(of_ethernet(0x8864, &session(0x21, &packet())), of_ethernet(0x0800, &packet()));
    let sixth = v6(17, &udp(1, 2, b""));
    assert_eq!(of_ethernet(0x8864, &session(0x57, &sixth)), of_ethernet(0x86dd, &sixth));
    // LCP, and discovery.
    for (ether_type, protocol) in [(0x8864, 0xc021), (0x8863, 0x21)] {
        let frame = ethernet(ether_type, &session(protocol, &packet()));
        let read = dissect(ETHERNET, &frame, Options::default());
        assert_eq!(read, Err(PacketError::NotIp { ether_type }.into()));
    }
}
