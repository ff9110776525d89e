//! `read_ipfix`: flows of IPFIX files.

use crate::api::{Output, Type};
use crate::files::{Flags, Format, write_addresses, write_numbers, write_texts, write_times};
use hashlane_ipfix::{Entry, FlowField, FlowRecord, IpfixReader};
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
        let flows = || {
            rows.iter().map(|entry| match entry {
                Entry::Flow(flow, _) => Some(flow),
                Entry::Skipped(_) => None,
            })
        };
        // Flows whose record has the field.
        let with = |field: FlowField| {
            rows.iter().map(move |entry| match entry {
                Entry::Flow(flow, fields) if fields.has(field) => Some(flow),
                _ => None,
            })
        };
        // ICMP has no ports; some exporters state its type in their place.
        let has_ports = |flow: &&FlowRecord| flow.icmp.is_none();
        // A direction without packets has no times.
        let time = |time: u64| Some(time).filter(|time| *time > 0);
        match column {
            0 => write_times(with(F::First).map(|flow| time(flow?.forward.first)), output),
            1 => write_times(with(F::Last).map(|flow| time(flow?.forward.last)), output),
            2 => write_addresses(flows().map(|flow| Some(flow?.source)), output),
            3 => write_numbers(
                with(F::SourcePort).map(|flow| Some(flow.filter(has_ports)?.source_port)),
                output,
            ),
            4 => write_addresses(flows().map(|flow| Some(flow?.destination)), output),
            5 => write_numbers(
                with(F::DestinationPort).map(|flow| Some(flow.filter(has_ports)?.destination_port)),
                output,
            ),
            6 => write_numbers(with(F::Protocol).map(|flow| Some(flow?.protocol)), output),
            7 => write_numbers(with(F::Packets).map(|flow| Some(flow?.forward.packets)), output),
            8 => write_numbers(with(F::Bytes).map(|flow| Some(flow?.forward.bytes)), output),
            9 => write_numbers(
                with(F::TcpFlags).map(|flow| Some(flow.filter(has_ports)?.forward.tcp_flags)),
                output,
            ),
            10 => write_times(with(F::ReverseFirst).map(|flow| time(flow?.reverse.first)), output),
            11 => write_times(with(F::ReverseLast).map(|flow| time(flow?.reverse.last)), output),
            12 => write_numbers(with(F::ReversePackets).map(|flow| Some(flow?.reverse.packets)), output),
            13 => write_numbers(with(F::ReverseBytes).map(|flow| Some(flow?.reverse.bytes)), output),
            14 => write_numbers(
                with(F::ReverseTcpFlags).map(|flow| Some(flow.filter(has_ports)?.reverse.tcp_flags)),
                output,
            ),
            15 => write_numbers(flows().map(|flow| Some(flow?.icmp?.kind)), output),
            16 => write_numbers(flows().map(|flow| Some(flow?.icmp?.code)), output),
            17 => write_numbers(flows().map(|flow| flow?.vlan), output),
            18 => write_numbers(flows().map(|flow| flow?.inner_vlan), output),
            19 => write_texts(flows().map(|flow| Some(flow?.tunnel?.kind.name())), output),
            20 => write_numbers(flows().map(|flow| Some(flow?.tunnel?.id)), output),
            21 => write_numbers(flows().map(|flow| Some(flow?.ingress).filter(|index| *index > 0)), output),
            22 => write_numbers(with(F::EndReason).map(|flow| Some(flow?.end as u8)), output),
            23 => write_numbers(flows().map(|flow| Some(flow?.domain)), output),
            _ => write_texts(rows.iter().map(reason), output),
        }
    }
}

/// The reason for leaving out an entry.
fn reason(entry: &Entry) -> Option<String> {
    match entry {
        Entry::Flow(..) => None,
        Entry::Skipped(why) => Some(why.to_string()),
    }
}
