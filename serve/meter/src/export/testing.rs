//! Flows of all kinds for tests.

use crate::record::{Counters, EndReason, FlowRecord, Icmp, Tunnel, TunnelKind};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Time of the first packet of the samples: 2026-01-02 03:04:05 and 7 ns.
pub(crate) const START: u64 = 1_767_323_045_000_000_007;

/// A flow of each kind: TCP with two directions, UDP, both versions of ICMP, VLANs, tunnels.
pub(crate) fn samples() -> Vec<FlowRecord> {
    let (a, b) = (Ipv4Addr::new(192, 0, 2, 1).into(), Ipv4Addr::new(198, 51, 100, 7).into());
    let (c, d) = ("2001:db8::1".parse::<Ipv6Addr>().unwrap().into(), Ipv6Addr::LOCALHOST.into());
    let forward =
        Counters { packets: 12, bytes: 3_400, tcp_flags: 0x1b, first: START, last: START + 1_499_999_993 };
    let reverse = Counters {
        packets: 9,
        bytes: 12_345,
        tcp_flags: 0x13,
        first: START + 999_993,
        last: START + 1_399_999_993,
    };
    let tcp = FlowRecord {
        source: a,
        destination: b,
        source_port: 40_000,
        destination_port: 443,
        protocol: 6,
        forward,
        reverse,
        end: EndReason::EndOfFlow,
        ingress: 3,
        ..FlowRecord::EMPTY
    };
    let quiet = Counters { tcp_flags: 0, ..forward };
    let udp = FlowRecord {
        source: c,
        destination: d,
        destination_port: 53,
        protocol: 17,
        forward: quiet,
        reverse: Counters::NONE,
        end: EndReason::IdleTimeout,
        ..tcp
    };
    let icmp = FlowRecord {
        source_port: 0,
        destination_port: 0,
        protocol: 1,
        icmp: Some(Icmp { kind: 8, code: 0 }),
        forward: quiet,
        reverse: Counters { tcp_flags: 0, ..reverse },
        ..tcp
    };
    let vxlan = Some(Tunnel { kind: TunnelKind::Vxlan, id: 0xab_cdef });
    vec![
        tcp,
        udp,
        icmp,
        FlowRecord {
            source: c,
            destination: d,
            protocol: 58,
            icmp: Some(Icmp { kind: 1, code: 4 }),
            reverse: Counters::NONE,
            ..icmp
        },
        FlowRecord { vlan: Some(7), end: EndReason::ActiveTimeout, ..tcp },
        FlowRecord { vlan: Some(7), inner_vlan: Some(4_095), end: EndReason::LackOfResources, ..udp },
        FlowRecord { tunnel: vxlan, domain: 1, ..tcp },
        FlowRecord {
            tunnel: Some(Tunnel { kind: TunnelKind::GtpU, id: u32::MAX }),
            domain: 1,
            ingress: 0,
            end: EndReason::ForcedEnd,
            ..udp
        },
    ]
}
