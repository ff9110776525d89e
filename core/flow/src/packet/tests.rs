//! Packets built by hand, by another crate, and at random.

use super::*;
use etherparse::{NetSlice, PacketBuilder, SlicedPacket, TransportSlice};
use proptest::collection::vec;
use proptest::prelude::*;
use std::vec::Vec;

fn tcp_v4() -> Vec<u8> {
    let mut out = Vec::new();
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4([192, 0, 2, 1], [198, 51, 100, 2], 64);
    builder.tcp(1234, 443, 1, 1000).write(&mut out, b"hello").unwrap();
    out
}

/// An IPv6 packet with these extension headers, each a type and its bytes without the type of the next.
fn v6(headers: &[(u8, &[u8])], last: u8, rest: &[u8]) -> Vec<u8> {
    let mut chain = Vec::new();
    for (i, (_, bytes)) in headers.iter().enumerate() {
        chain.push(headers.get(i + 1).map_or(last, |(kind, _)| *kind));
        chain.extend_from_slice(bytes);
    }
    chain.extend_from_slice(rest);
    let mut out = std::vec![0x60, 0, 0, 0];
    out.extend_from_slice(&(chain.len() as u16).to_be_bytes());
    out.push(headers.first().map_or(last, |(kind, _)| *kind));
    out.push(64);
    out.extend_from_slice(&"2001:db8::1".parse::<Ipv6Addr>().unwrap().octets());
    out.extend_from_slice(&"2001:db8::2".parse::<Ipv6Addr>().unwrap().octets());
    out.extend_from_slice(&chain);
    out
}

const UDP: [u8; 8] = [0x04, 0xd2, 0x00, 0x35, 0, 8, 0, 0];

#[test]
fn addresses_are_ipv4_if_both_are() {
    let mapped = |last| (core::net::Ipv4Addr::new(192, 0, 2, last).to_ipv6_mapped(), 0);
    let packet = Packet { source: mapped(1), destination: mapped(2), protocol: 6 };
    assert_eq!(packet.addresses(), [IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2])]);
    let six = Packet { source: (Ipv6Addr::LOCALHOST, 0), ..packet };
    assert_eq!(six.addresses(), [Ipv6Addr::LOCALHOST, mapped(2).0].map(IpAddr::V6));
}

#[test]
fn reads_a_packet_from_both_ends() {
    let packet = Packet::ethernet(&tcp_v4()).unwrap();
    let expected = Tuple::v4([198, 51, 100, 2].into(), 443, [192, 0, 2, 1].into(), 1234);
    assert_eq!((packet.received(), packet.sent(), packet.protocol), (expected, expected.reversed(), 6));
    assert_eq!(Packet::ip(&tcp_v4()[14..]), Ok(packet));
}

#[test]
fn what_a_packet_carries_ends_where_its_header_says() {
    let frame = tcp_v4();
    let segment = Segment::ethernet(&frame).unwrap();
    assert_eq!((segment.packet, segment.bytes), (Packet::ethernet(&frame).unwrap(), &frame[34..]));
    let padded = [&frame[..], &[0; 9]].concat();
    assert_eq!(Segment::ethernet(&padded), Ok(segment));
    let v6 = [v6(&[], 17, &[&UDP[..], b"hello"].concat()), std::vec![0; 9]].concat();
    assert_eq!(Segment::ip(&v6).unwrap().bytes, [&UDP[..], b"hello"].concat());
    // The capture may be cut.
    assert_eq!(Segment::ethernet(&frame[..38]).unwrap().bytes, &frame[34..38]);
}

#[test]
fn hands_out_what_tcp_and_udp_carry() {
    let frame = tcp_v4();
    let part = Segment::ethernet(&frame).unwrap().stream().unwrap();
    assert_eq!(part, StreamPart { sequence: 1, opens: false, bytes: b"hello" });
    let mut opening = frame.clone();
    opening[34 + 13] |= 2;
    assert!(Segment::ethernet(&opening).unwrap().stream().unwrap().opens);
    // TCP options, a header length that claims some, and a header that is cut off.
    opening[34 + 12] = 0x60;
    assert_eq!(Segment::ethernet(&opening).unwrap().stream().unwrap().bytes, b"o");
    opening[34 + 12] = 0xf0;
    assert_eq!(Segment::ethernet(&opening).unwrap().stream(), None);
    assert_eq!(Segment::ethernet(&frame[..34 + 19]).unwrap().stream(), None);

    let mut header = UDP;
    header[5] = 13;
    let datagram = v6(&[], 17, &[&header[..], b"hello"].concat());
    assert_eq!(Segment::ip(&datagram).unwrap().datagram(), Some(&b"hello"[..]));
    assert_eq!(Segment::ip(&datagram[..datagram.len() - 1]).unwrap().datagram(), None);
    header[5] = 7;
    assert_eq!(Segment::ip(&v6(&[], 17, &header)).unwrap().datagram(), None);
}

#[test]
fn walks_extension_headers() {
    let plain = Packet::ip(&v6(&[], 17, &UDP)).unwrap();
    assert_eq!((plain.source.1, plain.destination.1), (1234, 53));
    let options: (u8, &[u8]) = (0, &[0, 1, 4, 0, 0, 0, 0]);
    let routing: (u8, &[u8]) = (43, &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let authentication: (u8, &[u8]) = (51, &[1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2]);
    let atomic: (u8, &[u8]) = (44, &[0, 0, 0, 1, 2, 3, 4]);
    let destination: (u8, &[u8]) = (60, options.1);
    let walked = v6(&[options, routing, atomic, authentication, destination], 17, &UDP);
    assert_eq!(Packet::ip(&walked), Ok(plain));
    let seventeen = v6(&[destination; 17], 17, &UDP);
    assert_eq!(Packet::ip(&seventeen), Err(PacketError::TooManyHeaders { at: 40 + 17 * 8 }));
    assert!(Packet::ip(&v6(&[destination; 16], 17, &UDP)).is_ok());
}

#[test]
fn refuses_fragments() {
    for (flags, part) in [([0x20, 0], true), ([0, 1], true), ([0x40, 0], false)] {
        let mut packet = tcp_v4();
        packet[20..22].copy_from_slice(&flags);
        assert_eq!(Packet::ethernet(&packet) == Err(PacketError::Fragment { at: 20 }), part, "{flags:?}");
    }
    for offset_and_flags in [[0, 1], [0, 8]] {
        let header = [0, offset_and_flags[0], offset_and_flags[1], 0, 0, 0, 1];
        assert_eq!(Packet::ip(&v6(&[(44, &header)], 17, &UDP)), Err(PacketError::Fragment { at: 42 }));
    }
}

#[test]
fn passes_tags_of_virtual_lans() {
    let plain = tcp_v4();
    let tagged = |tags: usize| [&plain[..12], &[0x81, 0, 0, 5].repeat(tags), &plain[12..]].concat();
    for tags in 0..=4 {
        assert_eq!(Packet::ethernet(&tagged(tags)), Packet::ethernet(&plain), "{tags}");
    }
    assert_eq!(Packet::ethernet(&tagged(5)), Err(PacketError::TooManyTags { at: 32 }));
}

#[test]
fn names_the_rule_that_garbage_breaks() {
    use PacketError::*;
    let changed = |at: usize, to: u8| {
        let mut packet = tcp_v4();
        packet[at] = to;
        Packet::ethernet(&packet).unwrap_err()
    };
    assert_eq!(changed(12, 0x09), NotIp { ether_type: 0x0900 });
    assert_eq!(changed(14, 0x65), Version { at: 14, version: 6 });
    assert_eq!(changed(14, 0x44), HeaderLength { at: 14 });
    assert_eq!(changed(17, 19), HeaderLength { at: 16 });
    assert_eq!(changed(17, 23), TooShort { at: 34, needs: 4 });
    assert_eq!(changed(23, 1), NoPorts { protocol: 1 });
    assert_eq!(Packet::ip(&[]), Err(TooShort { at: 0, needs: 1 }));
    assert_eq!(Packet::ip(&[0x50]), Err(Version { at: 0, version: 5 }));
    assert_eq!(Packet::ip(&v6(&[], 58, &UDP)), Err(NoPorts { protocol: 58 }));
    assert!(std::format!("{}", changed(23, 1)).contains("protocol 1 has no ports"));
}

#[test]
fn a_packet_captured_in_part_needs_its_ports() {
    let packet = tcp_v4();
    let whole = Packet::ethernet(&packet);
    for end in 0..packet.len() {
        let part = Packet::ethernet(&packet[..end]);
        if end >= 38 { assert_eq!(part, whole) } else { assert!(part.is_err(), "{end}") }
    }
}

/// The other crate's reading of an IP packet.
fn oracle(packet: &[u8]) -> Option<(Tuple, bool)> {
    let sliced = SlicedPacket::from_ip(packet).ok()?;
    let (source, destination): (Ipv6Addr, Ipv6Addr) = match sliced.net? {
        NetSlice::Ipv4(v4) => {
            (v4.header().source_addr().to_ipv6_mapped(), v4.header().destination_addr().to_ipv6_mapped())
        }
        NetSlice::Ipv6(v6) => (v6.header().source_addr(), v6.header().destination_addr()),
        _ => return None,
    };
    let (from, to) = match sliced.transport? {
        TransportSlice::Tcp(tcp) => (tcp.source_port(), tcp.destination_port()),
        TransportSlice::Udp(udp) => (udp.source_port(), udp.destination_port()),
        _ => return None,
    };
    Some((Tuple::new(destination, to, source, from), true))
}

proptest! {
    #[test]
    fn agrees_with_another_reading(
        v4: bool, udp: bool, addresses: [[u8; 16]; 2], ports: [u16; 2], payload in vec(any::<u8>(), 0..40),
        change in proptest::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let mut packet = Vec::new();
        let [from, to] = addresses;
        let ip = if v4 {
            PacketBuilder::ipv4([from[0], from[1], from[2], from[3]], [to[0], to[1], to[2], to[3]], 9)
        } else {
            PacketBuilder::ipv6(from, to, 9)
        };
        if udp {
            ip.udp(ports[0], ports[1]).write(&mut packet, &payload).unwrap();
        } else {
            ip.tcp(ports[0], ports[1], 7, 9).write(&mut packet, &payload).unwrap();
        }
        let expected = oracle(&packet);
        prop_assert!(expected.is_some());
        prop_assert_eq!(Packet::ip(&packet).ok().map(|packet| packet.received()), expected.map(|(tuple, _)| tuple));
        // A changed byte must not make the two readers disagree on packets that the other one accepts.
        if let Some((at, to)) = change {
            let at = at.index(packet.len());
            packet[at] = to;
            if let (Some((expected, _)), Ok(found)) = (oracle(&packet), Packet::ip(&packet)) {
                prop_assert_eq!(found.received(), expected);
            }
        }
    }

    #[test]
    fn never_panics(bytes in vec(any::<u8>(), 0..200), kind in 0..4u8) {
        let mut bytes = bytes;
        if let (Some(first), Some(nibble)) = (bytes.first_mut(), [0x45, 0x60, 0x4f].get(kind as usize)) {
            *first = *nibble;
        }
        if let Ok(segment) = Segment::ip(&bytes) {
            let _ = (segment.datagram(), segment.stream());
        }
        let _ = Packet::ethernet(&bytes);
        let _ = Packet::after_ether_type(0x0800, &bytes, bytes.len() / 2);
    }
}
