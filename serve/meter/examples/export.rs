//! Exports made-up flows of every kind, for a look at a format and for tests of collectors.
//!
//! ```text
//! cargo run -p hashlane-meter --example export -- FORMAT TARGET [COUNT]
//!     FORMAT  ipfix, ipfix-nanoseconds, netflow9, json, csv, or parquet, to a file only
//!     TARGET  udp:ADDRESS:PORT, tcp:ADDRESS:PORT, a new file, or - for the standard output
//!     COUNT   number of flows; default: 1000
//! ```

use hashlane_meter::{
    Counters, CsvExporter, Dropped, EndReason, Exporter, FileOptions, FlowRecord, Icmp, IpfixExporter,
    IpfixOptions, JsonExporter, MeterStats, Netflow9Exporter, Netflow9Options, ParquetExporter, Sink, Times,
    Tunnel, TunnelKind,
};
use std::error::Error;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{Duration, SystemTime};

const MILLISECOND: u64 = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (format, target, count) = match &words[..] {
        [format, target] => (format, target, 1_000),
        [format, target, count] => (format, target, count.parse()?),
        _ => return Err("usage: export FORMAT TARGET [COUNT]".into()),
    };
    let mut exporter = exporter(format, target)?;
    for number in 0..count {
        exporter.write(&flow(number), now()?)?;
        if number % 256 == 255 {
            // Collectors lose datagrams that come all at once.
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let dropped = Dropped { malformed: 3, ..Dropped::default() };
    exporter.report(0, &MeterStats { dropped, ..MeterStats::default() }, now()?)?;
    exporter.finish(now()?)?;
    eprintln!("{:?}", exporter.totals());
    Ok(())
}

fn exporter(format: &str, target: &str) -> Result<Box<dyn Exporter>, Box<dyn Error>> {
    if format == "parquet" {
        return Ok(Box::new(ParquetExporter::create(FileOptions::new(target))?));
    }
    let sink = if let Some(address) = target.strip_prefix("udp:") {
        Sink::udp(address.parse()?)?
    } else if let Some(address) = target.strip_prefix("tcp:") {
        Sink::tcp(address.parse()?)
    } else if target == "-" {
        Sink::writer("standard output", Box::new(io::stdout()))
    } else {
        Sink::file(FileOptions::new(target))?
    };
    let times = if format == "ipfix-nanoseconds" { Times::Nanoseconds } else { Times::Milliseconds };
    let interfaces = vec![(3, "eth0".to_owned())];
    Ok(match format {
        "ipfix" | "ipfix-nanoseconds" => Box::new(IpfixExporter::new(
            sink,
            IpfixOptions { times, interfaces, sampling: 10, ..IpfixOptions::default() },
        )),
        "netflow9" => {
            Box::new(Netflow9Exporter::new(sink, Netflow9Options { sampling: 10, ..Default::default() }))
        }
        "json" => Box::new(JsonExporter::new(sink)),
        "csv" => Box::new(CsvExporter::new(sink)),
        _ => return Err(format!("no format {format}").into()),
    })
}

fn now() -> Result<u64, Box<dyn Error>> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    Ok(u64::try_from(since.as_nanos())?)
}

/// The flow with this number: TCP, UDP, both versions of ICMP, of either version of IP, with VLANs, and from
/// inside VXLAN.
fn flow(number: u32) -> FlowRecord {
    // 2026-01-02 03:04:05.006 UTC.
    let first = 1_767_323_045_006 * MILLISECOND + u64::from(number) * 1_234_567;
    let forward = Counters {
        packets: 1 + u64::from(number),
        bytes: 1_000 + 40 * u64::from(number),
        tcp_flags: 0x1b,
        first,
        last: first + 1_500 * MILLISECOND,
    };
    let reverse = Counters {
        packets: 2 + u64::from(number),
        bytes: (1 << 33) + u64::from(number),
        tcp_flags: 0x13,
        first: first + MILLISECOND,
        last: first + 1_250 * MILLISECOND,
    };
    let udp = |counters: Counters| Counters { tcp_flags: 0, ..counters };
    let ipv4: (IpAddr, IpAddr) =
        (Ipv4Addr::from_bits(0x0a00_0000 | number).into(), Ipv4Addr::new(192, 0, 2, 1).into());
    let ipv6: (IpAddr, IpAddr) = (
        Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, (number & 0xffff) as u16).into(),
        Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 1).into(),
    );
    let tcp = FlowRecord {
        source: ipv4.0,
        destination: ipv4.1,
        source_port: 1_024 + (number & 0x7fff) as u16,
        destination_port: 443,
        protocol: 6,
        forward,
        reverse,
        ingress: 3,
        end: EndReason::EndOfFlow,
        ..FlowRecord::EMPTY
    };
    let (udp, over_ipv6) = (
        FlowRecord {
            protocol: 17,
            destination_port: 53,
            forward: udp(forward),
            reverse: Counters::NONE,
            end: EndReason::IdleTimeout,
            ..tcp
        },
        FlowRecord { source: ipv6.0, destination: ipv6.1, ..tcp },
    );
    let ping = FlowRecord {
        protocol: 1,
        source_port: 0,
        destination_port: 0,
        icmp: Some(Icmp { kind: 8, code: 0 }),
        ..udp
    };
    match number % 8 {
        0 | 1 => tcp,
        2 => udp,
        3 => over_ipv6,
        4 => ping,
        5 => FlowRecord {
            source: ipv6.0,
            destination: ipv6.1,
            protocol: 58,
            icmp: Some(Icmp { kind: 1, code: 4 }),
            ..ping
        },
        6 => FlowRecord { vlan: Some(7), end: EndReason::ActiveTimeout, ..tcp },
        _ => FlowRecord {
            tunnel: Some(Tunnel { kind: TunnelKind::Vxlan, id: 5_000 }),
            inner_vlan: Some(9),
            vlan: Some(8),
            end: EndReason::ForcedEnd,
            ..udp
        },
    }
}
