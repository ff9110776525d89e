//! A data record as a flow.

use crate::element as ie;
use crate::record::{Counters, EndReason, FlowRecord, Icmp, Tunnel, TunnelKind};
use crate::template::{Field, Template};
use crate::time::{SECOND, from_ntp};
use crate::{REVERSE, VARIABLE};
use std::net::IpAddr;

/// Splits the record at the start of `bytes`, and calls `value` for each field. Returns the length of the
/// record, or nothing if it is cut off.
pub(super) fn split(
    template: &Template,
    bytes: &[u8],
    mut value: impl FnMut(&Field, &[u8]),
) -> Option<usize> {
    let mut at = 0;
    for field in &template.fields {
        let len = if field.len == VARIABLE {
            let short = *bytes.get(at)?;
            at += 1;
            if short < 255 {
                usize::from(short)
            } else {
                let long = bytes.get(at..at + 2)?;
                at += 2;
                usize::from(u16::from_be_bytes([long[0], long[1]]))
            }
        } else {
            usize::from(field.len)
        };
        value(field, bytes.get(at..at + len)?);
        at += len;
    }
    Some(at)
}

/// Values of a record so far.
pub(super) struct Builder {
    flow: FlowRecord,
    source: Option<IpAddr>,
    destination: Option<IpAddr>,
}

impl Builder {
    pub(super) const fn new(domain: u32) -> Self {
        Self { flow: FlowRecord { domain, ..FlowRecord::EMPTY }, source: None, destination: None }
    }

    /// The flow, if the record has two addresses of one family.
    pub(super) fn finish(self) -> Option<FlowRecord> {
        let (source, destination) = (self.source?, self.destination?);
        let same = source.is_ipv4() == destination.is_ipv4();
        same.then_some(FlowRecord { source, destination, ..self.flow })
    }

    /// Sets the value of a field; values of a wrong length and unknown elements are passed over.
    pub(super) fn set(&mut self, field: &Field, bytes: &[u8]) {
        match field.enterprise {
            0 => {
                if let Some(address) = address(bytes) {
                    self.set_address(field.id, address);
                }
                if let Some(number) = number(bytes) {
                    count(&mut self.flow.forward, field.id, number);
                    self.set_number(field.id, number);
                }
            }
            REVERSE => {
                if let Some(number) = number(bytes) {
                    count(&mut self.flow.reverse, field.id, number);
                }
            }
            _ => {}
        }
    }

    const fn set_address(&mut self, id: u16, address: IpAddr) {
        match (id, address) {
            (ie::SOURCE_IPV4_ADDRESS, IpAddr::V4(_)) | (ie::SOURCE_IPV6_ADDRESS, IpAddr::V6(_)) => {
                self.source = Some(address);
            }
            (ie::DESTINATION_IPV4_ADDRESS, IpAddr::V4(_)) | (ie::DESTINATION_IPV6_ADDRESS, IpAddr::V6(_)) => {
                self.destination = Some(address)
            }
            _ => {}
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "elements are defined with these widths")]
    fn set_number(&mut self, id: u16, number: u64) {
        let flow = &mut self.flow;
        let icmp = flow.icmp.unwrap_or(Icmp { kind: 0, code: 0 });
        match id {
            ie::PROTOCOL_IDENTIFIER => flow.protocol = number as u8,
            ie::SOURCE_TRANSPORT_PORT => flow.source_port = number as u16,
            ie::DESTINATION_TRANSPORT_PORT => flow.destination_port = number as u16,
            ie::ICMP_TYPE_CODE_IPV4 | ie::ICMP_TYPE_CODE_IPV6 => {
                flow.icmp = Some(Icmp { kind: (number >> 8) as u8, code: number as u8 });
            }
            ie::ICMP_TYPE_IPV4 | ie::ICMP_TYPE_IPV6 => {
                flow.icmp = Some(Icmp { kind: number as u8, ..icmp });
            }
            ie::ICMP_CODE_IPV4 | ie::ICMP_CODE_IPV6 => {
                flow.icmp = Some(Icmp { code: number as u8, ..icmp });
            }
            ie::DOT1Q_VLAN_ID | ie::VLAN_ID => flow.vlan = Some(number as u16),
            ie::DOT1Q_CUSTOMER_VLAN_ID => flow.inner_vlan = Some(number as u16),
            ie::INGRESS_INTERFACE => flow.ingress = number as u32,
            ie::FLOW_END_REASON => flow.end = EndReason::from_number(number as u8).unwrap_or(flow.end),
            ie::LAYER2_SEGMENT_ID if number & (0xff << 56) == ie::SEGMENT_VXLAN => {
                flow.tunnel = Some(Tunnel { kind: TunnelKind::Vxlan, id: (number & 0xff_ffff) as u32 });
            }
            _ => {}
        }
    }
}

/// Sets a counter of a direction.
#[allow(clippy::cast_possible_truncation, reason = "the lowest byte of the flags has those that TCP has")]
const fn count(counters: &mut Counters, id: u16, number: u64) {
    match id {
        ie::OCTET_DELTA_COUNT | ie::OCTET_TOTAL_COUNT => counters.bytes = number,
        ie::PACKET_DELTA_COUNT | ie::PACKET_TOTAL_COUNT => counters.packets = number,
        ie::TCP_CONTROL_BITS => counters.tcp_flags = number as u8,
        ie::FLOW_START_SECONDS => counters.first = number.saturating_mul(SECOND),
        ie::FLOW_END_SECONDS => counters.last = number.saturating_mul(SECOND),
        ie::FLOW_START_MILLISECONDS => counters.first = number.saturating_mul(SECOND / 1_000),
        ie::FLOW_END_MILLISECONDS => counters.last = number.saturating_mul(SECOND / 1_000),
        ie::FLOW_START_MICROSECONDS | ie::FLOW_START_NANOSECONDS => counters.first = from_ntp(number),
        ie::FLOW_END_MICROSECONDS | ie::FLOW_END_NANOSECONDS => counters.last = from_ntp(number),
        _ => {}
    }
}

/// An unsigned number of up to eight bytes; exporters leave out leading zeros (RFC 7011 section 6.2).
fn number(bytes: &[u8]) -> Option<u64> {
    let mut word = [0; 8];
    word.get_mut(8_usize.checked_sub(bytes.len())?..)?.copy_from_slice(bytes);
    Some(u64::from_be_bytes(word))
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(bytes) = <[u8; 4]>::try_from(bytes) {
        return Some(bytes.into());
    }
    <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from)
}
