//! Packets inside tunnels, and what is no tunnel.

use super::super::{Options, dissect};
use super::build::*;
use crate::captured::RAW;
use crate::key::TunnelKind;
use std::vec::Vec;

fn packet() -> Vec<u8> {
    v6(6, &tcp(1234, 443, 2))
}

/// Expects the flow of [`packet`], in this tunnel.
fn expect_inside(outer: &[u8], tunnel: TunnelKind, id: u32, vlans: [u16; 2]) {
    let read = inside(outer);
    let plain = inside(&packet());
    let scope = read.key.scope();
    assert_eq!((scope.tunnel, scope.tunnel_id, scope.vlans), (tunnel, id, vlans));
    assert_eq!(read.key.ends(read.reversed), plain.key.ends(plain.reversed));
    assert_eq!((read.ip_bytes, read.tcp_flags, read.fragment), (60, 2, None));
    // On request only.
    let around = dissect(RAW, outer, Options::default()).unwrap();
    assert_eq!((around.key.scope().tunnel, around.ip_bytes as usize), (TunnelKind::None, outer.len()));
}

#[test]
fn enters_ip_in_ip() {
    expect_inside(&v4(41, &packet()), TunnelKind::Ip, 0, [0, 0]);
    expect_inside(&v6(41, &packet()), TunnelKind::Ip, 0, [0, 0]);
    let read = inside(&v4(4, &v4_between(B, A, 17, &udp(5, 6, b""))));
    assert_eq!((read.key.scope().tunnel, ports(&read)), (TunnelKind::Ip, [5, 6]));
}

#[test]
fn enters_gre_with_its_fields() {
    let options: [(&[u8], u32); 5] = [
        (&[0, 0, 0x86, 0xdd], 0),
        (&[0x20, 0, 0x86, 0xdd, 1, 2, 3, 4], 0x0102_0304),
        (&[0x80, 0, 0x86, 0xdd, 0, 0, 0, 0], 0),
        (&[0x10, 0, 0x86, 0xdd, 0, 0, 0, 9], 0),
        (&[0xb0, 0, 0x86, 0xdd, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 9], 5),
    ];
    for (header, key) in options {
        expect_inside(&v4(47, &[header, &packet()].concat()), TunnelKind::Gre, key, [0, 0]);
    }
    let bridged = ethernet(0x8100, &[&[0, 8, 0x86, 0xdd], &packet()[..]].concat());
    expect_inside(&v4(47, &[&[0, 0, 0x65, 0x58], &bridged[..]].concat()), TunnelKind::Gre, 0, [8, 0]);
    let labelled = [&[0, 0, 0x88, 0x47, 0, 1, 1, 64], &packet()[..]].concat();
    expect_inside(&v4(47, &labelled), TunnelKind::Gre, 0, [0, 0]);
}

#[test]
fn enters_vxlan() {
    let frame = ethernet(0x86dd, &packet());
    let payload = [&[8, 0, 0, 0, 0x01, 0x02, 0x03, 0], &frame[..]].concat();
    expect_inside(&v4(17, &udp(50_000, 4789, &payload)), TunnelKind::Vxlan, 0x01_02_03, [0, 0]);
}

#[test]
fn enters_gtpu_with_its_options_and_extensions() {
    let plain = [&[0x30, 255, 0, 60, 0, 0, 0, 7], &packet()[..]].concat();
    let numbered = [&[0x32, 255, 0, 64, 0, 0, 0, 7, 0, 1, 0, 0x85], &packet()[..]].concat();
    let container: [u8; 20] = [0x34, 255, 0, 72, 0, 0, 0, 7, 0, 0, 0, 0x85, 1, 0, 9, 0xc0, 1, 0, 0, 0];
    let extended = [&container, &packet()[..]].concat();
    for payload in [plain, numbered, extended] {
        // Each direction has its own TEID; the key has none.
        expect_inside(&v4(17, &udp(2152, 2152, &payload)), TunnelKind::Gtpu, 0, [0, 0]);
    }
}

#[test]
fn a_tunnel_whose_packet_is_not_readable_is_the_flow_itself() {
    let tunnels = [
        // Another version of IP, a GRE of PPTP, source routes, ARP.
        v4(4, &[0x50; 40]),
        v4(47, &[0x30, 1, 0x88, 0x0b, 0, 0, 0, 0]),
        v4(47, &[&[0x40, 0, 0x86, 0xdd], &packet()[..]].concat()),
        v4(47, &[&[0, 0, 0x08, 0x06], &packet()[..]].concat()),
        // VXLAN without a VNI; a port alone is no tunnel.
        v4(17, &udp(1, 4789, &[&[0; 8], &ethernet(0x86dd, &packet())[..]].concat())),
        v4(17, &udp(1, 4789, b"text")),
        // GTP-U: an echo request, version 2, an extension of length 0.
        v4(17, &udp(1, 2152, &[&[0x30, 1, 0, 60, 0, 0, 0, 7], &packet()[..]].concat())),
        v4(17, &udp(1, 2152, &[&[0x50, 255, 0, 60, 0, 0, 0, 7], &packet()[..]].concat())),
        v4(17, &udp(1, 2152, &[0x34, 255, 0, 8, 0, 0, 0, 7, 0, 0, 0, 0x85, 0, 0, 0, 0])),
        // A fragment of a tunnel's packet.
        v4_part(1, 0, true, 41, &packet()),
    ];
    for outer in tunnels {
        let expected = dissect(RAW, &outer, Options::default());
        assert_eq!(dissect(RAW, &outer, Options { tunnels: true }), expected);
        assert!(expected.is_ok());
    }
}

#[test]
fn tunnels_in_tunnels_end_after_four_layers() {
    let mut packet = packet();
    for layers in 1..=6 {
        packet = v6(41, &packet);
        let read = inside(&packet);
        let expected = if layers <= 4 { 6 } else { 41 };
        assert_eq!(read.key.protocol(), expected, "{layers}");
    }
}
