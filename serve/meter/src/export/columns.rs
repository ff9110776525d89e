//! Columns of the formats for people and tables: names of the IPFIX information elements and their values.

use crate::record::{Counters, FlowRecord, TunnelKind};
use jiff::Timestamp;
use std::fmt;
use std::net::IpAddr;

/// A column of JSON lines, CSV and Parquet.
pub(crate) struct Column {
    /// Name of the information element; of a direction from destination to source, after `reverse`.
    pub(crate) name: &'static str,
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only Parquet has types of columns"))]
    pub(crate) kind: ColumnType,
    pub(crate) value: fn(&FlowRecord) -> Value,
}

/// Type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnType {
    Number,
    Text,
    Time,
}

/// A value of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// The flow has no such value: a VLAN, ports of ICMP, a reverse direction without packets.
    Absent,
    Number(u64),
    Address(IpAddr),
    Text(&'static str),
    /// Nanoseconds since 1970.
    Time(u64),
}

/// As text: addresses as in RFC 5952, times as in RFC 3339 with nanoseconds, in UTC.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => Ok(()),
            Self::Number(number) => number.fmt(f),
            Self::Address(address) => address.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::Time(time) => match Timestamp::from_nanosecond(i128::from(*time)) {
                Ok(time) => write!(f, "{time:.9}"),
                // Years up to 9999 fit; 64 bits of nanoseconds end in 2554.
                Err(_) => time.fmt(f),
            },
        }
    }
}

/// All columns, in the order of CSV.
///
/// tunnelKind and tunnelId are no elements of IANA's registry, which has none for them but layer2SegmentId.
pub(crate) const COLUMNS: [Column; 29] = [
    time("flowStartNanoseconds", |flow| start(&flow.forward)),
    time("flowEndNanoseconds", |flow| end(&flow.forward)),
    text("sourceIPv4Address", |flow| address(flow.source, true)),
    text("destinationIPv4Address", |flow| address(flow.destination, true)),
    text("sourceIPv6Address", |flow| address(flow.source, false)),
    text("destinationIPv6Address", |flow| address(flow.destination, false)),
    number("protocolIdentifier", |flow| Value::Number(flow.protocol.into())),
    number("sourceTransportPort", |flow| unless(flow.icmp.is_some(), flow.source_port)),
    number("destinationTransportPort", |flow| unless(flow.icmp.is_some(), flow.destination_port)),
    number("icmpTypeIPv4", |flow| of(flow.icmp.filter(|_| flow.source.is_ipv4()).map(|icmp| icmp.kind))),
    number("icmpCodeIPv4", |flow| of(flow.icmp.filter(|_| flow.source.is_ipv4()).map(|icmp| icmp.code))),
    number("icmpTypeIPv6", |flow| of(flow.icmp.filter(|_| flow.source.is_ipv6()).map(|icmp| icmp.kind))),
    number("icmpCodeIPv6", |flow| of(flow.icmp.filter(|_| flow.source.is_ipv6()).map(|icmp| icmp.code))),
    number("packetDeltaCount", |flow| Value::Number(flow.forward.packets)),
    number("octetDeltaCount", |flow| Value::Number(flow.forward.bytes)),
    number("tcpControlBits", |flow| unless(flow.icmp.is_some(), flow.forward.tcp_flags)),
    time("reverseFlowStartNanoseconds", |flow| start(&flow.reverse)),
    time("reverseFlowEndNanoseconds", |flow| end(&flow.reverse)),
    number("reversePacketDeltaCount", |flow| back(flow, flow.reverse.packets)),
    number("reverseOctetDeltaCount", |flow| back(flow, flow.reverse.bytes)),
    number("reverseTcpControlBits", |flow| match flow.icmp {
        None => back(flow, flow.reverse.tcp_flags.into()),
        Some(_) => Value::Absent,
    }),
    number("dot1qVlanId", |flow| of(flow.vlan)),
    number("dot1qCustomerVlanId", |flow| of(flow.inner_vlan)),
    text("tunnelKind", |flow| flow.tunnel.map_or(Value::Absent, |tunnel| Value::Text(tunnel.kind.name()))),
    number("tunnelId", |flow| {
        let tunnel = flow.tunnel.filter(|tunnel| tunnel.kind != TunnelKind::IpIp);
        of(tunnel.map(|tunnel| tunnel.id))
    }),
    number("ingressInterface", |flow| unless(flow.ingress == 0, flow.ingress)),
    number("flowEndReason", |flow| Value::Number(flow.end as u64)),
    number("ipVersion", |flow| Value::Number(if flow.source.is_ipv4() { 4 } else { 6 })),
    number("observationDomainId", |flow| Value::Number(flow.domain.into())),
];

const fn number(name: &'static str, value: fn(&FlowRecord) -> Value) -> Column {
    Column { name, kind: ColumnType::Number, value }
}

const fn text(name: &'static str, value: fn(&FlowRecord) -> Value) -> Column {
    Column { name, kind: ColumnType::Text, value }
}

const fn time(name: &'static str, value: fn(&FlowRecord) -> Value) -> Column {
    Column { name, kind: ColumnType::Time, value }
}

fn address(address: IpAddr, ipv4: bool) -> Value {
    if address.is_ipv4() == ipv4 { Value::Address(address) } else { Value::Absent }
}

fn of(number: Option<impl Into<u64>>) -> Value {
    number.map_or(Value::Absent, |number| Value::Number(number.into()))
}

fn unless(absent: bool, number: impl Into<u64>) -> Value {
    if absent { Value::Absent } else { Value::Number(number.into()) }
}

const fn back(flow: &FlowRecord, number: u64) -> Value {
    if flow.is_biflow() { Value::Number(number) } else { Value::Absent }
}

const fn start(counters: &Counters) -> Value {
    if counters.packets > 0 { Value::Time(counters.first) } else { Value::Absent }
}

const fn end(counters: &Counters) -> Value {
    if counters.packets > 0 { Value::Time(counters.last) } else { Value::Absent }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_nine_digits_in_every_case() {
        assert_eq!(Value::Time(0).to_string(), "1970-01-01T00:00:00.000000000Z");
        assert_eq!(Value::Time(1_767_323_045_000_000_007).to_string(), "2026-01-02T03:04:05.000000007Z");
        assert_eq!(Value::Time(u64::MAX).to_string(), "2554-07-21T23:34:33.709551615Z");
    }
}
