//! Templates of flows, of IPFIX and NetFlow v9: the fields that a kind of flow has, and their values.

use crate::ipfix::time::to_ntp;
use crate::ipfix::{FIRST_TEMPLATE, REVERSE, VARIABLE, element as ie};
use crate::record::{Counters, FlowRecord, TunnelKind};
use std::net::{IpAddr, Ipv6Addr};

/// A field specifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) id: u16,
    /// Bytes, or [`VARIABLE`].
    pub(super) len: u16,
    /// Tests if it is of the reverse direction.
    pub(super) reverse: bool,
}

pub(super) const fn field(id: u16, len: u16) -> Field {
    Field { id, len, reverse: false }
}

/// Elements for times, which tell the formats apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// IPFIX, milliseconds since 1970.
    Milliseconds,
    /// IPFIX, seconds since 1900 and their fraction.
    Nanoseconds,
    /// NetFlow v9, milliseconds since this time, which is in nanoseconds since 1970.
    Uptime(u64),
}

/// Kind of a flow: one bit for each group of fields that it has or has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape(u8);

const IPV6: u8 = 1;
const ICMP: u8 = 1 << 1;
const BIFLOW: u8 = 1 << 2;
const VLAN: u8 = 1 << 3;
const INNER_VLAN: u8 = 1 << 4;
const SEGMENT: u8 = 1 << 5;

/// Nanoseconds of a millisecond.
const MILLISECOND: u64 = 1_000_000;

/// Value of biflowDirection: the source sent the first packet that the meter saw.
const INITIATOR: u8 = 1;

impl Shape {
    /// Number of kinds.
    pub(super) const COUNT: u16 = 64;

    pub(super) fn of(flow: &FlowRecord) -> Self {
        let bits = [
            (IPV6, flow.source.is_ipv6() || flow.destination.is_ipv6()),
            (ICMP, flow.icmp.is_some()),
            (BIFLOW, flow.is_biflow()),
            (VLAN, flow.vlan.is_some()),
            (INNER_VLAN, flow.inner_vlan.is_some()),
            (SEGMENT, segment(flow).is_some()),
        ];
        Self(bits.iter().filter(|(_, has)| *has).fold(0, |all, (bit, _)| all | bit))
    }

    const fn has(self, bits: u8) -> bool {
        self.0 & bits != 0
    }

    /// Bit of this kind in a set of kinds.
    pub(super) const fn bit(self) -> u64 {
        1 << self.0
    }

    pub(super) fn template_id(self) -> u16 {
        FIRST_TEMPLATE + u16::from(self.0)
    }

    pub(super) fn fields(self, clock: Clock) -> Vec<Field> {
        let uptime = matches!(clock, Clock::Uptime(_));
        let (start, end) = match clock {
            Clock::Milliseconds => (ie::FLOW_START_MILLISECONDS, ie::FLOW_END_MILLISECONDS),
            Clock::Nanoseconds => (ie::FLOW_START_NANOSECONDS, ie::FLOW_END_NANOSECONDS),
            Clock::Uptime(_) => (ie::FLOW_START_SYS_UP_TIME, ie::FLOW_END_SYS_UP_TIME),
        };
        let mut fields = if self.has(IPV6) {
            vec![field(ie::SOURCE_IPV6_ADDRESS, 16), field(ie::DESTINATION_IPV6_ADDRESS, 16)]
        } else {
            vec![field(ie::SOURCE_IPV4_ADDRESS, 4), field(ie::DESTINATION_IPV4_ADDRESS, 4)]
        };
        fields.push(field(ie::PROTOCOL_IDENTIFIER, 1));
        if self.has(ICMP) {
            // NetFlow v9 has one element for both versions.
            let ipv6 = self.has(IPV6) && !uptime;
            fields.push(field(if ipv6 { ie::ICMP_TYPE_CODE_IPV6 } else { ie::ICMP_TYPE_CODE_IPV4 }, 2));
        } else {
            fields.extend([field(ie::SOURCE_TRANSPORT_PORT, 2), field(ie::DESTINATION_TRANSPORT_PORT, 2)]);
        }
        fields.extend([field(ie::INGRESS_INTERFACE, 4), field(ie::FLOW_END_REASON, 1)]);
        if self.has(VLAN) {
            fields.push(field(if uptime { ie::VLAN_ID } else { ie::DOT1Q_VLAN_ID }, 2));
        }
        if self.has(INNER_VLAN) {
            fields.push(field(ie::DOT1Q_CUSTOMER_VLAN_ID, 2));
        }
        if self.has(SEGMENT) {
            fields.push(field(ie::LAYER2_SEGMENT_ID, 8));
        }
        if self.has(BIFLOW) {
            fields.push(field(ie::BIFLOW_DIRECTION, 1));
        }
        let mut counters = vec![field(ie::OCTET_DELTA_COUNT, 8), field(ie::PACKET_DELTA_COUNT, 8)];
        if !self.has(ICMP) {
            counters.push(field(ie::TCP_CONTROL_BITS, 1));
        }
        let len = if uptime { 4 } else { 8 };
        counters.extend([field(start, len), field(end, len)]);
        // Reverse elements first: nfdump 1.7.1 takes some of them for the forward direction's, and the last
        // one wins.
        if self.has(BIFLOW) {
            fields.extend(counters.iter().map(|field| Field { reverse: true, ..*field }));
        }
        fields.extend(counters);
        fields
    }

    /// Appends the values of the fields, in their order.
    pub(super) fn put(self, flow: &FlowRecord, clock: Clock, out: &mut Vec<u8>) {
        if self.has(IPV6) {
            out.extend_from_slice(&ipv6(flow.source).octets());
            out.extend_from_slice(&ipv6(flow.destination).octets());
        } else if let (IpAddr::V4(source), IpAddr::V4(destination)) = (flow.source, flow.destination) {
            out.extend_from_slice(&source.octets());
            out.extend_from_slice(&destination.octets());
        }
        out.push(flow.protocol);
        if let Some(icmp) = flow.icmp {
            out.extend_from_slice(&[icmp.kind, icmp.code]);
        } else {
            out.extend_from_slice(&flow.source_port.to_be_bytes());
            out.extend_from_slice(&flow.destination_port.to_be_bytes());
        }
        out.extend_from_slice(&flow.ingress.to_be_bytes());
        out.push(flow.end as u8);
        for vlan in [flow.vlan, flow.inner_vlan].into_iter().flatten() {
            out.extend_from_slice(&vlan.to_be_bytes());
        }
        if let Some(segment) = segment(flow) {
            out.extend_from_slice(&segment.to_be_bytes());
        }
        if self.has(BIFLOW) {
            out.push(INITIATOR);
        }
        if self.has(BIFLOW) {
            put_counters(&flow.reverse, flow.icmp.is_none(), clock, out);
        }
        put_counters(&flow.forward, flow.icmp.is_none(), clock, out);
    }
}

fn put_counters(counters: &Counters, flags: bool, clock: Clock, out: &mut Vec<u8>) {
    out.extend_from_slice(&counters.bytes.to_be_bytes());
    out.extend_from_slice(&counters.packets.to_be_bytes());
    if flags {
        out.push(counters.tcp_flags);
    }
    for time in [counters.first, counters.last] {
        match clock {
            Clock::Milliseconds => out.extend_from_slice(&(time / MILLISECOND).to_be_bytes()),
            Clock::Nanoseconds => out.extend_from_slice(&to_ntp(time).to_be_bytes()),
            Clock::Uptime(boot) => {
                let passed = u32::try_from(time.saturating_sub(boot) / MILLISECOND).unwrap_or(u32::MAX);
                out.extend_from_slice(&passed.to_be_bytes());
            }
        }
    }
}

/// Value of layer2SegmentId.
fn segment(flow: &FlowRecord) -> Option<u64> {
    let tunnel = flow.tunnel.filter(|tunnel| tunnel.kind == TunnelKind::Vxlan)?;
    Some(ie::SEGMENT_VXLAN | u64::from(tunnel.id & 0xff_ffff))
}

const fn ipv6(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

/// A template record, or an options template record whose first `scope` fields are its scope.
pub(super) fn template(id: u16, scope: Option<u16>, fields: &[Field]) -> Vec<u8> {
    debug_assert!(fields.iter().all(|field| field.len > 0 || field.len == VARIABLE));
    let count = u16::try_from(fields.len()).unwrap_or(u16::MAX);
    let mut record = Vec::with_capacity(6 + 8 * fields.len());
    record.extend_from_slice(&id.to_be_bytes());
    record.extend_from_slice(&count.to_be_bytes());
    if let Some(scope) = scope {
        record.extend_from_slice(&scope.to_be_bytes());
    }
    for field in fields {
        let id = if field.reverse { field.id | 0x8000 } else { field.id };
        record.extend_from_slice(&id.to_be_bytes());
        record.extend_from_slice(&field.len.to_be_bytes());
        if field.reverse {
            record.extend_from_slice(&REVERSE.to_be_bytes());
        }
    }
    record
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::testing::samples;

    #[test]
    fn records_have_the_lengths_of_their_templates() {
        for flow in samples() {
            for clock in [Clock::Milliseconds, Clock::Nanoseconds, Clock::Uptime(0)] {
                let shape = Shape::of(&flow);
                let mut record = Vec::new();
                shape.put(&flow, clock, &mut record);
                let fields = shape.fields(clock);
                assert_eq!(record.len(), fields.iter().map(|field| usize::from(field.len)).sum::<usize>());
                assert!(
                    record.len() + template(256, None, &fields).len() + 24
                        <= crate::export::ipfix::MIN_MESSAGE
                );
            }
        }
    }
}
