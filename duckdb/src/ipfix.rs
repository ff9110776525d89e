//! `read_ipfix`: flows of IPFIX files.

use crate::api::{Output, Type};
use crate::files::{Flags, Format, write_addresses, write_numbers, write_texts, write_times};
use hashlane_ipfix::{Entry, FieldSet, FlowField, FlowRecord, IpfixReader};
use hashlane_link::capture::{Input, open_stream};
use std::io::BufReader;
use std::path::Path;

/// A file of IPFIX messages (RFC 5655), also compressed.
pub(crate) struct Flows(IpfixReader<BufReader<Input<'static>>>);

impl Format for Flows {
    const NAME: &'static str = "read_ipfix";
    const FLAGS: &'static [&'static str] = &["text", "skipped"];

    type Row = Entry;

    fn columns(address: Type) -> Vec<(&'static str, Type)> {
        vec![
            ("first", Type::TimestampNs),
            ("last", Type::TimestampNs),
            ("src", address),
            ("sport", Type::USmallInt),
            ("dst", address),
            ("dport", Type::USmallInt),
            ("protocol", Type::UTinyInt),
            ("packets", Type::UBigInt),
            ("bytes", Type::UBigInt),
            ("tcp_flags", Type::UTinyInt),
            ("reverse_first", Type::TimestampNs),
            ("reverse_last", Type::TimestampNs),
            ("reverse_packets", Type::UBigInt),
            ("reverse_bytes", Type::UBigInt),
            ("reverse_tcp_flags", Type::UTinyInt),
            ("icmp_type", Type::UTinyInt),
            ("icmp_code", Type::UTinyInt),
            ("vlan", Type::USmallInt),
            ("inner_vlan", Type::USmallInt),
            ("tunnel", Type::Varchar),
            ("tunnel_id", Type::UInteger),
            ("interface", Type::UInteger),
            ("end_reason", Type::UTinyInt),
            ("domain", Type::UInteger),
            ("skipped", Type::Varchar),
        ]
    }

    fn open(path: &Path) -> Result<Self, String> {
        let file = open_stream(path).map_err(|error| error.to_string())?;
        Ok(Self(IpfixReader::new(BufReader::with_capacity(1 << 18, file))))
    }

    fn read(&mut self, flags: Flags, most: usize, rows: &mut Vec<Entry>) -> Result<(), String> {
        while rows.len() < most {
            match self.0.next_entry() {
                Some(Ok(Entry::Skipped(_))) if !flags.skipped => {}
                Some(Ok(entry)) => rows.push(entry),
                Some(Err(error)) => return Err(error.to_string()),
                None => {
                    let report = self.0.report();
                    return match report.cut_off {
                        0 if report.messages == 0 => Err("not an IPFIX file: it is empty".to_owned()),
                        0 => Ok(()),
                        bytes => Err(format!("the file ends within a message, after {bytes} bytes of it")),
                    };
                }
            }
        }
        Ok(())
    }

    fn write(rows: &[Entry], column: usize, output: &mut Output<'_>) -> Result<(), String> {
        use FlowField as F;
        let flows = || rows.iter().map(known);
        // The value of a field that the record has.
        macro_rules! fields {
            ($($pattern:pat => $write:ident, $field:expr, $value:expr;)*; $($rest:tt)*) => {
                match column {
                    $($pattern => $write(
                        flows().map(|flow| {
                            let (flow, fields) = flow.filter(|(_, fields)| fields.has($field))?;
                            let value: fn(&FlowRecord, FieldSet) -> Option<_> = $value;
                            value(flow, fields)
                        }),
                        output,
                    ),)*
                    $($rest)*
                }
            };
        }
        // ICMP has no ports; some exporters state its type in their place.
        const fn has_ports(flow: &FlowRecord) -> bool {
            flow.icmp.is_none()
        }
        // A direction without packets has no times.
        const fn has_packets(fields: FieldSet, field: FlowField, packets: u64) -> bool {
            packets > 0 || !fields.has(field)
        }
        fields! {
            0 => write_times, F::First, |flow, fields|
                has_packets(fields, F::Packets, flow.forward.packets).then_some(flow.forward.first);
            1 => write_times, F::Last, |flow, fields|
                has_packets(fields, F::Packets, flow.forward.packets).then_some(flow.forward.last);
            3 => write_numbers, F::SourcePort, |flow, _| has_ports(flow).then_some(flow.source_port);
            5 => write_numbers, F::DestinationPort, |flow, _| has_ports(flow).then_some(flow.destination_port);
            6 => write_numbers, F::Protocol, |flow, _| Some(flow.protocol);
            7 => write_numbers, F::Packets, |flow, _| Some(flow.forward.packets);
            8 => write_numbers, F::Bytes, |flow, _| Some(flow.forward.bytes);
            9 => write_numbers, F::TcpFlags, |flow, _| has_ports(flow).then_some(flow.forward.tcp_flags);
            10 => write_times, F::ReverseFirst, |flow, fields|
                has_packets(fields, F::ReversePackets, flow.reverse.packets).then_some(flow.reverse.first);
            11 => write_times, F::ReverseLast, |flow, fields|
                has_packets(fields, F::ReversePackets, flow.reverse.packets).then_some(flow.reverse.last);
            12 => write_numbers, F::ReversePackets, |flow, _| Some(flow.reverse.packets);
            13 => write_numbers, F::ReverseBytes, |flow, _| Some(flow.reverse.bytes);
            14 => write_numbers, F::ReverseTcpFlags, |flow, _|
                has_ports(flow).then_some(flow.reverse.tcp_flags);
            22 => write_numbers, F::EndReason, |flow, _| Some(flow.end as u8);;
            2 => write_addresses(flows().map(|flow| Some(flow?.0.source)), output),
            4 => write_addresses(flows().map(|flow| Some(flow?.0.destination)), output),
            15 => write_numbers(flows().map(|flow| Some(flow?.0.icmp?.kind)), output),
            16 => write_numbers(flows().map(|flow| Some(flow?.0.icmp?.code)), output),
            17 => write_numbers(flows().map(|flow| flow?.0.vlan), output),
            18 => write_numbers(flows().map(|flow| flow?.0.inner_vlan), output),
            19 => write_texts(flows().map(|flow| Some(flow?.0.tunnel?.kind.name())), output),
            20 => write_numbers(flows().map(|flow| Some(flow?.0.tunnel?.id)), output),
            21 => write_numbers(
                flows().map(|flow| Some(flow?.0.ingress).filter(|index| *index > 0)),
                output,
            ),
            23 => write_numbers(flows().map(|flow| Some(flow?.0.domain)), output),
            _ => write_texts(rows.iter().map(reason), output),
        }
    }
}

/// The flow of an entry, and the fields of its record.
const fn known(entry: &Entry) -> Option<(&FlowRecord, FieldSet)> {
    match entry {
        Entry::Flow(flow, fields) => Some((flow, *fields)),
        Entry::Skipped(_) => None,
    }
}

/// The reason for leaving out an entry.
fn reason(entry: &Entry) -> Option<String> {
    match entry {
        Entry::Flow(..) => None,
        Entry::Skipped(why) => Some(why.to_string()),
    }
}
