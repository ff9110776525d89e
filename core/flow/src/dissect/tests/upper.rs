//! Ports, flags, ICMP, fragments and extension headers.

use super::super::{Dissected, Fragment, Options, dissect};
use super::build::*;
use crate::captured::RAW;
use crate::packet::PacketError;
use etherparse::PacketBuilder;
use std::vec::Vec;

fn of_ip(packet: &[u8]) -> Dissected {
    dissect(RAW, packet, Options::default()).unwrap()
}

#[test]
fn reads_what_another_crate_builds() {
    let mut frame = Vec::new();
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6]).single_vlan(77.try_into().unwrap());
    let builder = builder.ipv4(B.octets(), A.octets(), 64).tcp(443, 1234, 7, 900).syn().ack(8).ece();
    builder.write(&mut frame, b"payload").unwrap();
    let read = dissect(1, &frame, Options::default()).unwrap();
    let scope = read.key.scope();
    assert_eq!((scope.protocol, scope.version, scope.vlans), (6, 4, [77, 0]));
    assert_eq!((read.tcp_flags, read.ip_bytes, read.cut), (2 | 16 | 64, 47, false));
    assert!(read.reversed);
    assert_eq!(read.key.ends(true), [(B.to_ipv6_mapped(), 443), (A.to_ipv6_mapped(), 1234)]);
    // Padding of the link does not count.
    frame.extend_from_slice(&[0; 9]);
    assert_eq!(dissect(1, &frame, Options::default()), Ok(read));
}

#[test]
fn protocols_with_ports_have_them_and_others_have_zeros() {
    for (protocol, expected) in
        [(6, [7, 9]), (17, [7, 9]), (33, [7, 9]), (132, [7, 9]), (136, [7, 9]), (2, [0; 2]), (50, [0; 2])]
    {
        for packet in [v4(protocol, &tcp(7, 9, 0)), v6(protocol, &tcp(7, 9, 0))] {
            let read = of_ip(&packet);
            assert_eq!((ports(&read), read.key.protocol()), (expected, protocol));
            assert_eq!(usize::try_from(read.ip_bytes), Ok(packet.len()));
        }
    }
}

#[test]
fn a_header_cut_off_is_said_so_and_has_zeros() {
    let packet = v4(6, &tcp(7, 9, 0x10));
    for end in 20..packet.len() {
        let read = of_ip(&packet[..end]);
        let expected = if end < 24 { [0, 0] } else { [7, 9] };
        assert_eq!((ports(&read), read.cut), (expected, end < 34), "{end}");
        assert_eq!((read.tcp_flags != 0, read.ip_bytes), (end >= 34, 40));
    }
    assert!(dissect(RAW, &packet[..19], Options::default()).is_err());
    assert!(of_ip(&v4(17, &[1, 2, 3])).cut);
    assert!(of_ip(&v4(1, &[8])).cut);
}

#[test]
fn queries_and_replies_of_icmp_are_one_biflow() {
    let v4_pairs = [(8, 0), (13, 14), (15, 16), (17, 18), (42, 43)].map(|(query, reply)| (1, query, reply));
    let v6_pairs = [(128, 129), (139, 140), (160, 161)].map(|(query, reply)| (58, query, reply));
    for (protocol, query, reply) in v4_pairs.into_iter().chain(v6_pairs) {
        let message = |kind| [kind, 3, 0, 0, 0, 1, 0, 1];
        let asked = of_ip(&v4_between(A, B, protocol, &message(query)));
        let answered = of_ip(&v4_between(B, A, protocol, &message(reply)));
        assert_eq!(asked.key, answered.key);
        assert_ne!(asked.reversed, answered.reversed);
        let number = u16::from(query) << 8 | 3;
        assert_eq!((ports(&asked), ports(&answered)), ([0, number], [number, 0]));
        assert_eq!(asked.key.icmp(), Some(number));
        // A query of the other host is another flow; a host may also ask itself.
        assert_ne!(of_ip(&v4_between(B, A, protocol, &message(query))).key, asked.key);
        let own = [query, reply].map(|kind| of_ip(&v4_between(A, A, protocol, &message(kind))));
        assert_eq!((own[0].key, own[0].reversed), (own[1].key, !own[1].reversed));
    }
    let unreachable = of_ip(&v4(1, &[3, 1, 0, 0]));
    assert_eq!((ports(&unreachable), unreachable.key.icmp()), ([0, 0x301], Some(0x301)));
    assert_eq!(of_ip(&v4(17, &udp(1, 2, b""))).key.icmp(), None);
}

#[test]
fn fragments_have_an_identity_and_only_the_first_has_ports() {
    let datagram = udp(5, 6, &[0; 16]);
    let packets = [
        (v4_part(0x1234, 0, true, 17, &datagram), v4_part(0x1234, 3, false, 17, &datagram), 0x1234),
        (
            v6_part(0x1234_5678, 0, true, 17, &datagram),
            v6_part(0x1234_5678, 3, false, 17, &datagram),
            0x1234_5678,
        ),
    ];
    for (first, later, id) in packets {
        let (first, later) = (of_ip(&first), of_ip(&later));
        assert_eq!(first.fragment, Some(Fragment { id, protocol: 17, first: true }));
        assert_eq!(later.fragment, Some(Fragment { id, protocol: 17, first: false }));
        assert_eq!((ports(&first), ports(&later), later.cut), ([5, 6], [0, 0], false));
        assert_eq!(later.key.protocol(), 17);
    }
    // An atomic fragment (RFC 6946), and the flag that forbids to fragment.
    let atomic = of_ip(&v6_part(1, 0, false, 17, &datagram));
    assert_eq!((atomic.fragment, ports(&atomic)), (None, [5, 6]));
    let mut whole = v4(17, &datagram);
    whole[6] = 0x40;
    assert_eq!(of_ip(&whole).fragment, None);
    // The protocol of the fragmented bytes may be an extension header.
    let options = [&[17, 0, 1, 4, 0, 0, 0, 0][..], &datagram].concat();
    let first = of_ip(&v6_part(9, 0, true, 60, &options));
    assert_eq!(first.fragment, Some(Fragment { id: 9, protocol: 60, first: true }));
    assert_eq!((first.key.protocol(), ports(&first)), (17, [5, 6]));
}

#[test]
fn passes_options_and_extension_headers() {
    let mut options = v4(17, &[&[1; 12][..], &udp(5, 6, b"")].concat());
    options[0] = 0x48;
    options[1] = 0xb8;
    let read = of_ip(&options);
    assert_eq!((ports(&read), read.class), ([5, 6], 0xb8));
    let chain: [&[u8]; 4] = [
        &[43, 0, 1, 4, 0, 0, 0, 0],
        &[51, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[60, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2],
        &[17, 0, 1, 4, 0, 0, 0, 0],
    ];
    let mut walked = v6(0, &[&chain.concat()[..], &udp(5, 6, b"")].concat());
    walked[0..2].copy_from_slice(&[0x6b, 0x80]);
    let read = of_ip(&walked);
    assert_eq!((ports(&read), read.key.protocol(), read.class), ([5, 6], 17, 0xb8));
}

#[test]
fn a_length_of_zero_is_that_of_the_captured_bytes() {
    let (mut offloaded, mut jumbo) = (v4(6, &tcp(7, 9, 16)), v6(6, &tcp(7, 9, 16)));
    offloaded[2..4].fill(0);
    jumbo[4..6].fill(0);
    for packet in [offloaded, jumbo] {
        let read = of_ip(&packet);
        assert_eq!((ports(&read), read.ip_bytes as usize), ([7, 9], packet.len()));
    }
}

#[test]
fn names_the_rule_that_garbage_breaks() {
    let changed = |at: usize, to: u8| {
        let mut packet = v4(6, &tcp(7, 9, 16));
        packet[at] = to;
        dissect(RAW, &packet, Options::default())
    };
    assert_eq!(changed(0, 0x55), Err(PacketError::Version { at: 0, version: 5 }.into()));
    assert_eq!(changed(0, 0x44), Err(PacketError::HeaderLength { at: 0 }.into()));
    assert_eq!(changed(3, 19), Err(PacketError::HeaderLength { at: 2 }.into()));
    let headers = v6(60, &[60, 0, 0, 0, 0, 0, 0, 0].repeat(17));
    let read = dissect(RAW, &headers, Options::default());
    assert_eq!(read, Err(PacketError::TooManyHeaders { at: 40 + 17 * 8 }.into()));
}
