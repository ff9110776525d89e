//! Verdicts of the program on frames.

use super::frames::*;
use super::*;

/// Frames that the program leaves to the kernel.
const OTHERS: &[Change] = &[
    ("ends in IP", |packet| packet.truncate(15)),
    ("options", |packet| packet[0] = 0x46),
    ("another version", |packet| packet[0] = 0x65),
    ("the first fragment", |packet| packet[6] = 0x20),
    ("a later fragment", |packet| packet[7] = 1),
    ("TCP", |packet| packet[9] = 6),
    ("ICMP", |packet| packet[9] = 1),
    ("another address", |packet| packet[19] = 3),
    ("another port", |packet| packet[23] ^= 1),
    ("longer than the memory of a frame", |packet| packet[2] = 8),
];

#[test]
fn the_program_takes_datagrams_of_ours_and_nothing_else() {
    with_cable(|namespace| {
        let ends = [namespace::within(namespace, || mac("near")), mac("far")];
        // A socket in the map, which has no frames to show.
        let map = bpf::create_map(1).unwrap();
        let lan = |tag, local| Lan { tag, local };
        let tagged = vec!["10.9.5.2:5300".parse().unwrap(), "[fd09:5::2]:5300".parse().unwrap()];
        let lans = [lan(0, local()), lan(5, tagged)];
        let code = assemble(ends[1], &lans, map.as_raw_fd()).unwrap();
        let program = bpf::load(&code, [0; 16]).unwrap();
        let parts = open::bound_for_tests("far");
        bpf::enter(map.as_fd(), 0, parts.socket.as_fd()).unwrap();
        let taken = |frame: &[u8]| match bpf::run(program.as_fd(), frame).unwrap() {
            2 => false,
            4 => true,
            verdict => panic!("verdict {verdict}"),
        };
        let sound = ipv4(SERVER_IPV4, PORT, b"query");
        assert!(taken(&ethernet(ends, IPV4, &sound)));
        assert!(taken(&ethernet(ends, IPV6, &ipv6(PORT, b"query"))));
        assert!(taken(&ethernet(ends, IPV4, &ipv4(SERVER_IPV4, PORT, &[0; 1746]))), "the longest");
        assert!(!taken(&ethernet(ends, IPV4, &ipv4(SERVER_IPV4, PORT, &[0; 1747]))));
        assert!(!taken(&ethernet(ends, IPV6, &ipv6(PORT + 1, b"query"))));
        for (text, change) in OTHERS {
            let mut packet = sound.clone();
            change(&mut packet);
            assert!(!taken(&ethernet(ends, IPV4, &packet)), "{text}");
        }
        for (text, at, byte) in [
            ("an extension header", 6, 0),
            ("a fragment", 6, 44),
            ("another version", 0, 0x40),
            ("another address", 39, 3),
            ("another network", 24, 0xfe),
            ("longer than the memory of a frame", 4, 8),
        ] {
            let mut packet = ipv6(PORT, b"query");
            packet[at] = byte;
            assert!(!taken(&ethernet(ends, IPV6, &packet)), "{text}");
        }
        let [client, server] = ends;
        for other in [[0xff; 6], client, [0x33, 0x33, 0, 0, 0, 1]] {
            assert!(!taken(&ethernet([client, other], IPV4, &sound)), "to {other:?}");
        }
        assert!(!taken(&ethernet(ends, &[0x08, 0x06], &sound)), "ARP");
        assert!(!taken(&ethernet(ends, IPV4, &ipv6(PORT, b"query"))), "IPv6 that is called IPv4");
        assert!(!taken(&[server, client, [8, 0, 0, 0, 0, 0]].concat()[..14]), "a header of Ethernet");
        // Each virtual LAN has its own addresses; the bits beside the number do not count.
        let tagged = ipv4([10, 9, 5, 2], PORT, b"query");
        for (kind, packet, is_taken) in [
            (&[0x81, 0, 0, 5, 8, 0][..], &tagged, true),
            (&[0x81, 0, 0xe0, 5, 8, 0], &tagged, true),
            (&[0x81, 0, 0, 6, 8, 0], &tagged, false),
            (&[0x81, 0, 0, 5, 8, 0], &sound, false),
            (&[0x81, 0, 0, 0, 8, 0], &sound, true),
            (IPV4, &tagged, false),
            (&[0x81, 0, 0, 5, 0x81, 0, 0, 5, 8, 0], &tagged, false),
            (&[0x88, 0xa8, 0, 5, 8, 0], &tagged, false),
        ] {
            assert_eq!(taken(&ethernet(ends, kind, packet)), is_taken, "{kind:x?}");
        }
        for length in 0..sound.len() {
            let frame = ethernet(ends, IPV4, &sound[..length]);
            assert_eq!(taken(&frame), length >= 28, "{length}");
        }
    });
}
