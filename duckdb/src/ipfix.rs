//! `read_ipfix`: flows of IPFIX files.

use crate::api::{Output, Type};
use crate::files::{Flags, Format, mapped, write_addresses, write_numbers, write_times};
use hashlane_ipfix::{Counters, FlowRecord, IpfixReader};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// A file of IPFIX messages (RFC 5655).
pub(crate) struct Flows(IpfixReader<BufReader<File>>);

impl Format for Flows {
    const NAME: &'static str = "read_ipfix";
    const FLAGS: &'static [&'static str] = &["text"];

    type Row = FlowRecord;

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
        ]
    }

    fn open(path: &Path) -> Result<Self, String> {
        let file = File::open(path).map_err(|error| error.to_string())?;
        Ok(Self(IpfixReader::new(BufReader::with_capacity(1 << 18, file))))
    }

    fn read(&mut self, _flags: Flags, most: usize, rows: &mut Vec<FlowRecord>) -> Result<(), String> {
        while rows.len() < most {
            match self.0.next() {
                Some(Ok(flow)) => rows.push(flow),
                Some(Err(error)) => return Err(error.to_string()),
                None => {
                    let cut_off = self.0.report().cut_off;
                    return match cut_off {
                        0 => Ok(()),
                        bytes => Err(format!("the file ends within a message, after {bytes} bytes of it")),
                    };
                }
            }
        }
        Ok(())
    }

    fn write(rows: &[FlowRecord], column: usize, output: &mut Output<'_>) -> Result<(), String> {
        let flows = rows.iter();
        // A direction without packets has no times.
        let first = |of: &Counters| (of.packets > 0).then_some(of.first);
        let last = |of: &Counters| (of.packets > 0).then_some(of.last);
        let has_ports = |flow: &FlowRecord| flow.icmp.is_none();
        match column {
            0 => write_times(flows.map(|flow| first(&flow.forward)), output),
            1 => write_times(flows.map(|flow| last(&flow.forward)), output),
            2 => write_addresses(flows.map(|flow| Some(mapped(flow.source))), output),
            3 => write_numbers(flows.map(|flow| has_ports(flow).then_some(flow.source_port)), output),
            4 => write_addresses(flows.map(|flow| Some(mapped(flow.destination))), output),
            5 => write_numbers(flows.map(|flow| has_ports(flow).then_some(flow.destination_port)), output),
            6 => write_numbers(flows.map(|flow| Some(flow.protocol)), output),
            7 => write_numbers(flows.map(|flow| Some(flow.forward.packets)), output),
            8 => write_numbers(flows.map(|flow| Some(flow.forward.bytes)), output),
            9 => write_numbers(flows.map(|flow| has_ports(flow).then_some(flow.forward.tcp_flags)), output),
            10 => write_times(flows.map(|flow| first(&flow.reverse)), output),
            11 => write_times(flows.map(|flow| last(&flow.reverse)), output),
            12 => write_numbers(flows.map(|flow| flow.is_biflow().then_some(flow.reverse.packets)), output),
            13 => write_numbers(flows.map(|flow| flow.is_biflow().then_some(flow.reverse.bytes)), output),
            14 => write_numbers(
                flows.map(|flow| (flow.is_biflow() && has_ports(flow)).then_some(flow.reverse.tcp_flags)),
                output,
            ),
            15 => write_numbers(flows.map(|flow| flow.icmp.map(|icmp| icmp.kind)), output),
            16 => write_numbers(flows.map(|flow| flow.icmp.map(|icmp| icmp.code)), output),
            17 => write_numbers(flows.map(|flow| flow.vlan), output),
            18 => write_numbers(flows.map(|flow| flow.inner_vlan), output),
            19 => write_tunnels(rows, output),
            20 => write_numbers(flows.map(|flow| flow.tunnel.map(|tunnel| tunnel.id)), output),
            21 => write_numbers(flows.map(|flow| Some(flow.ingress).filter(|index| *index > 0)), output),
            22 => write_numbers(flows.map(|flow| Some(flow.end as u8)), output),
            _ => write_numbers(flows.map(|flow| Some(flow.domain)), output),
        }
    }
}

fn write_tunnels(rows: &[FlowRecord], output: &mut Output<'_>) -> Result<(), String> {
    for (row, flow) in rows.iter().enumerate() {
        match flow.tunnel {
            Some(tunnel) => output.text(row, tunnel.kind.name())?,
            None => output.set_null(row),
        }
    }
    Ok(())
}
