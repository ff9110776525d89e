//! Frames made and read by etherparse.

use super::*;
use etherparse::{NetSlice, PacketBuilder, SlicedPacket, TransportSlice, VlanId};
use proptest::prelude::*;

const CLIENT: [u8; 6] = [2, 0, 0, 0, 0, 1];
const SERVER: [u8; 6] = [2, 0, 0, 0, 0, 2];

/// A frame from 10.0.0.1 or fd00::1, port 4000, to the other end's port 53.
fn frame(ipv6: bool, tag: Option<u16>, payload: &[u8]) -> Vec<u8> {
    let (mut frame, link) = (Vec::new(), PacketBuilder::ethernet2(CLIENT, SERVER));
    let [a, b] = [1, 2].map(|last| {
        let mut address = [0; 16];
        (address[0], address[15]) = (0xfd, last);
        address
    });
    let packet = match tag {
        None if ipv6 => link.ipv6(a, b, 7),
        None => link.ipv4([10, 0, 0, 1], [10, 0, 0, 2], 7),
        Some(tag) if ipv6 => link.single_vlan(VlanId::try_new(tag).unwrap()).ipv6(a, b, 7),
        Some(tag) => link.single_vlan(VlanId::try_new(tag).unwrap()).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 7),
    };
    packet.udp(4000, 53).write(&mut frame, payload).unwrap();
    frame
}

/// Sets bytes, and the checksum of the IPv4 header again.
fn with(mut frame: Vec<u8>, at: usize, bytes: &[u8]) -> Vec<u8> {
    frame[at..at + bytes.len()].copy_from_slice(bytes);
    if frame[12..14] == [8, 0] && at < ETHERNET + IPV4 {
        frame[24..26].fill(0);
        let checksum = Sum::default().add(&frame[ETHERNET..ETHERNET + IPV4]).checksum();
        frame[24..26].copy_from_slice(&checksum);
    }
    frame
}

#[test]
fn datagrams_of_all_kinds_are_read_with_their_senders() {
    for (ipv6, from) in [(false, "10.0.0.1:4000"), (true, "[fd00::1]:4000")] {
        for tag in [None, Some(5), Some(4094)] {
            for payload in [&b""[..], b"q", b"a query", &[7; 1400]] {
                let mut frame = frame(ipv6, tag, payload);
                // Ethernet pads short frames.
                frame.resize(frame.len().max(60), 0);
                let received = Received::parse(&frame).unwrap();
                assert_eq!((received.from, received.payload(&frame)), (from.parse().unwrap(), payload));
            }
        }
    }
}

proptest! {
    #[test]
    fn replies_are_valid_packets_to_the_sender(
        ipv6: bool,
        tag in prop::option::of(0_u16..4096),
        query in prop::collection::vec(any::<u8>(), 0..600),
        reply in prop::collection::vec(any::<u8>(), 0..1400),
    ) {
        let frame = frame(ipv6, tag, &query);
        let received = Received::parse(&frame).unwrap();
        let mut out = vec![0xaa; MAX_ETHERNET + IPV6 + UDP + reply.len()];
        let length = received.reply(&frame, &reply, &mut out).unwrap();
        let out = &out[..length];
        prop_assert_eq!(received.packet_headers() + received.ip + reply.len(), length);
        // It is read as a datagram to whoever sent the query.
        let back = Received::parse(out).unwrap();
        prop_assert_eq!(back.from.port(), 53);
        prop_assert_eq!(back.payload(out), &reply[..]);
        let packet = SlicedPacket::from_ethernet(out).unwrap();
        let link = packet.link.as_ref().unwrap().to_header().unwrap().ethernet2().unwrap();
        prop_assert_eq!((link.source, link.destination), (SERVER, CLIENT));
        prop_assert_eq!(&out[12..received.ip], &frame[12..received.ip], "the same virtual LAN");
        let Some(TransportSlice::Udp(udp)) = packet.transport else { panic!("no UDP") };
        prop_assert_eq!((udp.source_port(), udp.destination_port()), (53, 4000));
        let header = udp.to_header();
        let checksum = match packet.net.unwrap() {
            NetSlice::Ipv4(ip) => {
                let ip = ip.header().to_header();
                prop_assert_eq!(ip.header_checksum, ip.calc_header_checksum());
                prop_assert_eq!((ip.source, ip.destination), ([10, 0, 0, 2], [10, 0, 0, 1]));
                prop_assert!(ip.dont_fragment && !ip.more_fragments && ip.time_to_live == 64);
                header.calc_checksum_ipv4(&ip, &reply).unwrap()
            }
            NetSlice::Ipv6(ip) => {
                let ip = ip.header().to_header();
                prop_assert_eq!((ip.source[15], ip.destination[15], ip.hop_limit), (2, 1, 64));
                header.calc_checksum_ipv6(&ip, &reply).unwrap()
            }
            _ => panic!("no IP"),
        };
        prop_assert_eq!(header.checksum, checksum);
        // There is no room for it in less.
        prop_assert_eq!(received.reply(&frame, &reply, &mut vec![0; length - 1]), None);
    }

    #[test]
    fn a_changed_byte_is_found_or_changes_nothing_that_counts(
        ipv6: bool,
        at in 0_usize..100,
        change in 1_u8..=255,
    ) {
        let sound = frame(ipv6, None, &[0x5a; 60]);
        let mut broken = sound.clone();
        broken[at] ^= change;
        if let Ok(received) = Received::parse(&broken) {
            // Ethernet's addresses, and fields of IPv6 that no checksum covers.
            let is_uncovered = at < 12 || ipv6 && (14..22).contains(&at);
            let was = Received::parse(&sound).unwrap();
            prop_assert!(is_uncovered || received.payload(&broken).len() < 60, "{}: {:?}", at, received);
            prop_assert!(received.from == was.from || !is_uncovered);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(
        start in prop::sample::select(vec![frame(false, None, b"x"), frame(true, None, b"x"), frame(false, Some(3), b"x"), vec![]]),
        bytes in prop::collection::vec(any::<u8>(), 0..100),
        cut in 0_usize..70,
    ) {
        let mut frame = start;
        frame.truncate(cut);
        frame.extend(bytes);
        if let Ok(received) = Received::parse(&frame) {
            let payload = received.payload(&frame).to_vec();
            let mut out = [0; 2048];
            prop_assert!(received.reply(&frame, &payload, &mut out).is_some());
        }
    }
}

#[test]
fn every_truncated_frame_is_an_error() {
    for (ipv6, tag) in [(false, None), (true, None), (false, Some(1)), (true, Some(1))] {
        let whole = frame(ipv6, tag, b"question");
        for length in 0..whole.len() {
            assert!(Received::parse(&whole[..length]).is_err(), "{length}");
        }
    }
}

#[test]
fn wrong_lengths_are_errors() {
    let ipv4 =
        |at, length: u16| Received::parse(&with(frame(false, None, b"query"), at, &length.to_be_bytes()));
    for length in [0, 19, 34, u16::MAX] {
        assert_eq!(ipv4(16, length), Err(FrameError::Length(length)), "the packet");
    }
    assert!(matches!(ipv4(16, 27), Err(FrameError::Short(_))), "the packet ends within the UDP header");
    for length in [0, 7, 14, u16::MAX] {
        assert_eq!(ipv4(38, length), Err(FrameError::Length(length)), "the datagram");
    }
    let ipv6 =
        |at, length: u16| Received::parse(&with(frame(true, None, b"query"), at, &length.to_be_bytes()));
    assert_eq!(ipv6(18, 14), Err(FrameError::Length(14)));
    assert!(matches!(ipv6(18, 7), Err(FrameError::Short(_))));
    assert_eq!(ipv6(58, 14), Err(FrameError::Length(14)));
}

#[test]
fn other_packets_than_the_programs_are_errors() {
    let ipv4 = |at, bytes: &[u8]| Received::parse(&with(frame(false, None, b"query"), at, bytes));
    for (at, bytes) in [
        (14, &[0x46][..]),   // Options.
        (14, &[0x65]),       // Another version.
        (20, &[0x20]),       // The first fragment.
        (20, &[0x00, 0x01]), // Another one.
        (20, &[0x80]),       // A reserved flag.
        (23, &[6]),          // TCP.
        (12, &[0x08, 0x06]), // ARP.
    ] {
        assert_eq!(ipv4(at, bytes), Err(FrameError::Kind), "{at} {bytes:?}");
    }
    assert!(ipv4(20, &[0x40]).is_ok(), "don't fragment");
    let ipv6 = |at, bytes: &[u8]| Received::parse(&with(frame(true, None, b"query"), at, bytes));
    assert_eq!(ipv6(20, &[44]), Err(FrameError::Kind), "a fragment");
    assert_eq!(ipv6(20, &[0]), Err(FrameError::Kind), "options");
    assert_eq!(ipv6(14, &[0x40]), Err(FrameError::Kind), "another version");
    let twice = with(frame(false, Some(3), b"query"), 16, &[0x81, 0]);
    assert_eq!(Received::parse(&twice), Err(FrameError::Kind), "two tags");
}

#[test]
fn wrong_checksums_are_errors_and_ones_left_to_the_interface_are_not() {
    let [ipv4, ipv6] = [false, true].map(|ipv6| frame(ipv6, None, b"query"));
    let mut header = ipv4.clone();
    header[24] ^= 1;
    assert_eq!(Received::parse(&header), Err(FrameError::Checksum));
    for (frame, at) in [(&ipv4, 40), (&ipv6, 60)] {
        assert_eq!(Received::parse(&with(frame.clone(), at, &[1, 2])), Err(FrameError::Checksum));
        let (addresses, length) = (&frame[26.min(at - 14)..], frame.len() - at + 6);
        let addresses = if at == 40 { &addresses[..8] } else { &frame[22..54] };
        let partial = pseudo(addresses, length as u16).folded();
        assert!(Received::parse(&with(frame.clone(), at, &partial)).is_ok());
    }
    assert!(Received::parse(&with(ipv4, 40, &[0, 0])).is_ok(), "IPv4 needs none");
    assert_eq!(Received::parse(&with(ipv6, 60, &[0, 0])), Err(FrameError::Checksum), "IPv6 does");
}

#[test]
fn sources_that_no_host_has_are_errors() {
    let from_ipv4 = |address: [u8; 4]| {
        let frame = with(frame(false, None, b"query"), 26, &address);
        Received::parse(&with(frame, 40, &[0, 0]))
    };
    for address in [[0, 0, 0, 0], [127, 0, 0, 1], [224, 0, 0, 1], [255; 4], [240, 0, 0, 1], [10, 0, 0, 2]] {
        assert!(matches!(from_ipv4(address), Err(FrameError::Source(_))), "{address:?}");
    }
    assert!(from_ipv4([223, 255, 255, 255]).is_ok());
    let mut port = with(frame(false, None, b"query"), 34, &[0, 0]);
    port[40..42].fill(0);
    assert!(matches!(Received::parse(&port), Err(FrameError::Source(_))));
    for address in ["::", "::1", "ff02::1", "::ffff:10.0.0.1", "fd00::2"] {
        let address: Ipv6Addr = address.parse().unwrap();
        let mut frame = with(frame(true, None, b"query"), 22, &address.octets());
        let partial = pseudo(&frame[22..54], 13).folded();
        frame[60..62].copy_from_slice(&partial);
        assert!(matches!(Received::parse(&frame), Err(FrameError::Source(_))), "{address}");
    }
}
