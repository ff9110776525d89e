//! A data record as a flow.

use crate::element as ie;
use crate::fields::{FieldSet, FlowField, SkipReason};
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
#[derive(Clone, Copy)]
pub(super) struct Builder {
    flow: FlowRecord,
    fields: FieldSet,
    source: Option<IpAddr>,
    destination: Option<IpAddr>,
    /// Export time of the message, in nanoseconds since 1970.
    exported: u64,
    /// systemInitTimeMilliseconds.
    started: Option<u64>,
    /// flowStartSysUpTime and flowEndSysUpTime, in milliseconds, of the forward and the reverse direction.
    uptimes: [[Option<u64>; 2]; 2],
}

impl Builder {
    pub(super) fn new(domain: u32, exported: u64) -> Self {
        Self {
            flow: FlowRecord { domain, ..FlowRecord::EMPTY },
            fields: FieldSet::default(),
            source: None,
            destination: None,
            exported,
            started: None,
            uptimes: [[None; 2]; 2],
        }
    }

    pub(super) const fn domain(&self) -> u32 {
        self.flow.domain
    }

    /// Time at which the exporter started, in milliseconds since 1970, if the record has it.
    pub(super) const fn started(&self) -> Option<u64> {
        self.started
    }

    /// The flow and its fields. `started` is [`started`](Self::started) of the exporter's options.
    ///
    /// # Errors
    /// The record has not two addresses of one family.
    pub(super) fn finish(mut self, started: Option<u64>) -> Result<(FlowRecord, FieldSet), SkipReason> {
        let (Some(source), Some(destination)) = (self.source, self.destination) else {
            return Err(SkipReason::NoAddresses);
        };
        if source.is_ipv4() != destination.is_ipv4() {
            return Err(SkipReason::MixedVersions);
        }
        if let Some(started) = self.started.or(started) {
            for (direction, uptimes) in self.uptimes.into_iter().enumerate() {
                let fields = &DIRECTIONS[direction];
                let [first, last] = uptimes
                    .map(|uptime| Some(started.saturating_add(uptime?).saturating_mul(SECOND / 1_000)));
                // Times since 1970 in the record come first.
                if let Some(first) = first.filter(|_| !self.fields.has(fields.first)) {
                    self.counters(direction).first = first;
                    self.fields.insert(fields.first);
                }
                if let Some(last) = last.filter(|_| !self.fields.has(fields.last)) {
                    self.counters(direction).last = last;
                    self.fields.insert(fields.last);
                }
            }
        }
        Ok((FlowRecord { source, destination, ..self.flow }, self.fields))
    }

    const fn counters(&mut self, direction: usize) -> &mut Counters {
        if direction == FORWARD { &mut self.flow.forward } else { &mut self.flow.reverse }
    }

    /// Sets the value of a field; values of a wrong length and unknown elements are passed over.
    pub(super) fn set(&mut self, field: &Field, bytes: &[u8]) {
        match field.enterprise {
            0 => {
                if let Some(address) = address(bytes) {
                    self.set_address(field.id, address);
                }
                if let Some(number) = number(bytes) {
                    self.count(FORWARD, field.id, number);
                    self.set_number(field.id, number);
                }
            }
            REVERSE => {
                if let Some(number) = number(bytes) {
                    self.count(BACK, field.id, number);
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
            ie::PROTOCOL_IDENTIFIER => {
                flow.protocol = number as u8;
                self.fields.insert(FlowField::Protocol);
            }
            ie::SOURCE_TRANSPORT_PORT => {
                flow.source_port = number as u16;
                self.fields.insert(FlowField::SourcePort);
            }
            ie::DESTINATION_TRANSPORT_PORT => {
                flow.destination_port = number as u16;
                self.fields.insert(FlowField::DestinationPort);
            }
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
            ie::FLOW_END_REASON => {
                if let Some(end) = EndReason::from_number(number as u8) {
                    flow.end = end;
                    self.fields.insert(FlowField::EndReason);
                }
            }
            ie::SYSTEM_INIT_TIME_MILLISECONDS => self.started = Some(number),
            ie::LAYER2_SEGMENT_ID if number & (0xff << 56) == ie::SEGMENT_VXLAN => {
                flow.tunnel = Some(Tunnel { kind: TunnelKind::Vxlan, id: (number & 0xff_ffff) as u32 });
            }
            _ => {}
        }
    }

    /// Sets a counter of a direction.
    #[allow(clippy::cast_possible_truncation, reason = "the lowest byte of the flags has those that TCP has")]
    fn count(&mut self, direction: usize, id: u16, number: u64) {
        let fields = &DIRECTIONS[direction];
        let milliseconds = |count: u64| count.saturating_mul(SECOND / 1_000);
        let before_export = self.exported.saturating_sub(number.saturating_mul(SECOND / 1_000_000));
        let (field, value) = match id {
            ie::OCTET_DELTA_COUNT | ie::OCTET_TOTAL_COUNT => (fields.bytes, number),
            ie::PACKET_DELTA_COUNT | ie::PACKET_TOTAL_COUNT => (fields.packets, number),
            ie::TCP_CONTROL_BITS => (fields.tcp_flags, number),
            ie::FLOW_START_SECONDS => (fields.first, number.saturating_mul(SECOND)),
            ie::FLOW_END_SECONDS => (fields.last, number.saturating_mul(SECOND)),
            ie::FLOW_START_MILLISECONDS => (fields.first, milliseconds(number)),
            ie::FLOW_END_MILLISECONDS => (fields.last, milliseconds(number)),
            ie::FLOW_START_MICROSECONDS | ie::FLOW_START_NANOSECONDS => (fields.first, from_ntp(number)),
            ie::FLOW_END_MICROSECONDS | ie::FLOW_END_NANOSECONDS => (fields.last, from_ntp(number)),
            ie::FLOW_START_DELTA_MICROSECONDS => (fields.first, before_export),
            ie::FLOW_END_DELTA_MICROSECONDS => (fields.last, before_export),
            ie::FLOW_START_SYS_UP_TIME => return self.uptimes[direction][0] = Some(number),
            ie::FLOW_END_SYS_UP_TIME => return self.uptimes[direction][1] = Some(number),
            _ => return,
        };
        let counters = self.counters(direction);
        match field {
            field if field == fields.bytes => counters.bytes = value,
            field if field == fields.packets => counters.packets = value,
            field if field == fields.tcp_flags => counters.tcp_flags = value as u8,
            field if field == fields.first => counters.first = value,
            _ => counters.last = value,
        }
        self.fields.insert(field);
    }
}

/// Fields of the counters of a direction.
struct Direction {
    packets: FlowField,
    bytes: FlowField,
    tcp_flags: FlowField,
    first: FlowField,
    last: FlowField,
}

const FORWARD: usize = 0;
const BACK: usize = 1;

const DIRECTIONS: [Direction; 2] = [
    Direction {
        packets: FlowField::Packets,
        bytes: FlowField::Bytes,
        tcp_flags: FlowField::TcpFlags,
        first: FlowField::First,
        last: FlowField::Last,
    },
    Direction {
        packets: FlowField::ReversePackets,
        bytes: FlowField::ReverseBytes,
        tcp_flags: FlowField::ReverseTcpFlags,
        first: FlowField::ReverseFirst,
        last: FlowField::ReverseLast,
    },
];

/// An unsigned number of one to eight bytes; exporters leave out leading zeros (RFC 7011 section 6.2).
fn number(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() {
        return None;
    }
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
