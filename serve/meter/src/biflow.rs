//! Flows in the table of a meter: counters of both directions, and the record made of them.

use crate::record::{Counters, EndReason, FlowRecord, Icmp, Tunnel, TunnelKind};
use hashlane_flow::dissect::Dissected;
use hashlane_flow::key::{self, MeterKey};
use std::net::{IpAddr, Ipv6Addr};

/// Properties of a packet that count in its flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observed {
    /// Nanoseconds since 1970.
    pub(crate) time: u64,
    /// Bytes of the IP packet.
    bytes: u32,
    tcp_flags: u8,
    /// True if it runs from the second end of the key to the first.
    reversed: bool,
}

impl Observed {
    pub(crate) const NONE: Self = Self { time: 0, bytes: 0, tcp_flags: 0, reversed: false };

    pub(crate) const fn new(packet: &Dissected, time: u64) -> Self {
        Self { time, bytes: packet.ip_bytes, tcp_flags: packet.tcp_flags, reversed: packet.reversed }
    }
}

/// TCP flags, RFC 9293 §3.1.
const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

/// One direction of a flow.
#[derive(Clone, Copy, Debug)]
struct Half {
    bytes: u64,
    first: u64,
    last: u64,
    packets: u32,
    tcp_flags: u8,
    /// In the first half of a flow: its first packet ran from the second end of the key to the first.
    reversed: bool,
}

impl Half {
    const NONE: Self = Self { bytes: 0, first: 0, last: 0, packets: 0, tcp_flags: 0, reversed: false };

    #[inline(always)]
    fn add(&mut self, packet: &Observed) {
        if self.packets == 0 {
            (self.first, self.last) = (packet.time, packet.time);
        }
        // Packets may arrive out of order.
        self.first = self.first.min(packet.time);
        self.last = self.last.max(packet.time);
        self.packets += 1;
        self.bytes += u64::from(packet.bytes);
        self.tcp_flags |= packet.tcp_flags;
    }

    const fn counters(&self) -> Counters {
        let Self { bytes, first, last, packets, tcp_flags, .. } = *self;
        Counters { packets: packets as u64, bytes, tcp_flags, first, last }
    }
}

/// A flow: the direction of its first packet, and the other one. 64 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Biflow([Half; 2]);

impl Biflow {
    /// The flow that begins with this packet.
    #[inline(always)]
    pub(crate) fn begin(packet: &Observed) -> Self {
        let mut forward = Half { reversed: packet.reversed, ..Half::NONE };
        forward.add(packet);
        Self([forward, Half::NONE])
    }

    /// Counts a packet.
    #[inline(always)]
    pub(crate) fn add(&mut self, packet: &Observed) {
        let [forward, reverse] = &mut self.0;
        if forward.reversed == packet.reversed { forward.add(packet) } else { reverse.add(packet) }
    }

    /// Bytes of both directions.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.iter().fold(0, |sum, half| sum.saturating_add(half.bytes))
    }

    /// Time of the first packet.
    #[inline(always)]
    pub(crate) fn first(&self) -> u64 {
        let [forward, reverse] = &self.0;
        if reverse.packets == 0 { forward.first } else { forward.first.min(reverse.first) }
    }

    /// Time of the last packet.
    #[inline(always)]
    fn last(&self) -> u64 {
        let [forward, reverse] = &self.0;
        forward.last.max(reverse.last)
    }

    /// Packets of both directions.
    pub(crate) fn packets(&self) -> u64 {
        self.0.iter().map(|half| u64::from(half.packets)).sum()
    }

    /// Tests if packets ran in both directions.
    pub(crate) const fn is_answered(&self) -> bool {
        self.0[1].packets > 0
    }

    /// Tests if the TCP connection is over: an RST, or a FIN in each direction.
    #[inline(always)]
    fn is_closed(&self) -> bool {
        let [forward, reverse] = &self.0;
        (forward.tcp_flags | reverse.tcp_flags) & RST != 0 || forward.tcp_flags & reverse.tcp_flags & FIN != 0
    }

    /// The reason for which the flow ends before this packet, which then begins another.
    #[inline(always)]
    pub(crate) fn ends_before(&self, packet: &Observed, idle: u64, active: u64) -> Option<EndReason> {
        if packet.time.saturating_sub(self.last()) >= idle {
            return Some(self.end(EndReason::IdleTimeout));
        }
        // Also if the clock was set back by that time.
        if packet.time.abs_diff(self.first()) >= active {
            return Some(EndReason::ActiveTimeout);
        }
        let reopens = packet.tcp_flags & (SYN | ACK) == SYN && self.is_closed();
        let full = self.0.iter().any(|half| half.packets == u32::MAX);
        (reopens || full).then_some(if reopens { EndReason::EndOfFlow } else { EndReason::ActiveTimeout })
    }

    /// The reason of an end: that the connection was closed, or this one.
    pub(crate) fn end(&self, reason: EndReason) -> EndReason {
        if self.is_closed() { EndReason::EndOfFlow } else { reason }
    }

    /// The record of the flow with this key.
    pub(crate) fn record(&self, key: &MeterKey, end: EndReason, base: &FlowRecord) -> FlowRecord {
        let [forward, reverse] = &self.0;
        let [source, destination] = key.ends(forward.reversed);
        let scope = key.scope();
        let ports = [source.1, destination.1];
        let is_icmp = matches!((scope.protocol, scope.version), (1, 4) | (58, 6));
        // The type and code stand in the port of the end that the query goes to.
        let [kind, code] = (ports[0] | ports[1]).to_be_bytes();
        let vlan = |id: u16| (id != 0).then_some(id);
        FlowRecord {
            source: address(source.0, scope.version),
            destination: address(destination.0, scope.version),
            source_port: if is_icmp { 0 } else { ports[0] },
            destination_port: if is_icmp { 0 } else { ports[1] },
            protocol: scope.protocol,
            icmp: is_icmp.then_some(Icmp { kind, code }),
            vlan: vlan(scope.vlans[0]),
            inner_vlan: vlan(scope.vlans[1]),
            tunnel: tunnel(scope.tunnel).map(|kind| Tunnel { kind, id: scope.tunnel_id }),
            forward: forward.counters(),
            reverse: reverse.counters(),
            end,
            ..*base
        }
    }
}

fn address(address: Ipv6Addr, version: u8) -> IpAddr {
    match address.to_ipv4_mapped() {
        Some(v4) if version == 4 => v4.into(),
        _ => address.into(),
    }
}

const fn tunnel(kind: key::TunnelKind) -> Option<TunnelKind> {
    match kind {
        key::TunnelKind::Ip => Some(TunnelKind::IpIp),
        key::TunnelKind::Gre => Some(TunnelKind::Gre),
        key::TunnelKind::Vxlan => Some(TunnelKind::Vxlan),
        key::TunnelKind::Gtpu => Some(TunnelKind::GtpU),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_ends_before_the_packets_of_a_direction_overflow() {
        for reversed in [false, true] {
            let packet = Observed { reversed, ..Observed::NONE };
            let mut flow = Biflow::begin(&Observed::NONE);
            flow.0[usize::from(reversed)].packets = u32::MAX - 1;
            assert_eq!(flow.ends_before(&packet, 1, 1), None);
            flow.add(&packet);
            assert_eq!(flow.ends_before(&packet, 1, 1), Some(EndReason::ActiveTimeout));
        }
    }
}
