//! Flows written as IPFIX and read back.

use hashlane_meter::{
    Counters, EndReason, Exporter, FileOptions, FlowRecord, Icmp, IpfixExporter, IpfixOptions, IpfixReader,
    MeterStats, Rotation, Sink, Times, Tunnel, TunnelKind,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use std::fs::{self, File};
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, TcpListener, UdpSocket};
use std::time::{Duration, Instant};

const SECOND: u64 = 1_000_000_000;
const NOW: u64 = 1_767_323_045 * SECOND;

fn counters() -> impl Strategy<Value = Counters> {
    let times = (0..4_000_000_000 * SECOND, 0..4_000_000_000 * SECOND);
    (1..u64::MAX, any::<u64>(), any::<u8>(), times).prop_map(|(packets, bytes, tcp_flags, (first, last))| {
        Counters { packets, bytes, tcp_flags, first, last }
    })
}

fn flows() -> impl Strategy<Value = FlowRecord> {
    let ends = prop_oneof![
        (any::<[u8; 4]>(), any::<[u8; 4]>()).prop_map(|(a, b)| (IpAddr::from(a), IpAddr::from(b))),
        (any::<[u8; 16]>(), any::<[u8; 16]>()).prop_map(|(a, b)| (IpAddr::from(a), IpAddr::from(b))),
    ];
    let kinds = [TunnelKind::Gre, TunnelKind::Vxlan, TunnelKind::GtpU, TunnelKind::IpIp];
    let tunnel = (prop::sample::select(kinds.to_vec()), any::<u32>());
    let icmp = any::<(u8, u8)>().prop_map(|(kind, code)| Icmp { kind, code });
    let links = (option::of(0..4_096_u16), option::of(0..4_096_u16), option::of(tunnel));
    let counts = (counters(), option::of(counters()), 1..=5_u8);
    (ends, any::<(u16, u16, u8, u32)>(), option::of(icmp), links, counts, 0..3_u32).prop_map(
        |(ends, (source_port, destination_port, protocol, ingress), icmp, links, counts, domain)| {
            FlowRecord {
                domain,
                source: ends.0,
                destination: ends.1,
                source_port,
                destination_port,
                protocol,
                icmp,
                vlan: links.0,
                inner_vlan: links.1,
                tunnel: links.2.map(|(kind, id)| Tunnel { kind, id }),
                ingress,
                forward: counts.0,
                reverse: counts.1.unwrap_or(Counters::NONE),
                end: EndReason::from_number(counts.2).expect("1..=5"),
            }
        },
    )
}

/// The part of a flow that IPFIX has elements for.
fn exported(flow: &FlowRecord, times: Times) -> FlowRecord {
    let mut flow = *flow;
    flow.tunnel = flow
        .tunnel
        .filter(|tunnel| tunnel.kind == TunnelKind::Vxlan)
        .map(|tunnel| Tunnel { id: tunnel.id & 0xff_ffff, ..tunnel });
    if flow.icmp.is_some() {
        (flow.source_port, flow.destination_port) = (0, 0);
        (flow.forward.tcp_flags, flow.reverse.tcp_flags) = (0, 0);
    }
    if times == Times::Milliseconds {
        for counters in [&mut flow.forward, &mut flow.reverse] {
            counters.first -= counters.first % 1_000_000;
            counters.last -= counters.last % 1_000_000;
        }
    }
    flow
}

/// Flows of each domain, in their order.
fn by_domain(flows: impl Iterator<Item = FlowRecord>) -> [Vec<FlowRecord>; 3] {
    let mut domains = [const { Vec::new() }; 3];
    flows.for_each(|flow| domains[flow.domain as usize].push(flow));
    domains
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_file_has_the_flows_that_were_written(
        flows in vec(flows(), 0..200),
        nanoseconds: bool,
        limit in 512..4_000_usize,
    ) {
        let times = if nanoseconds { Times::Nanoseconds } else { Times::Milliseconds };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("flows.ipfix");
        let options = IpfixOptions {
            message_limit: Some(limit),
            times,
            sampling: 10,
            interfaces: vec![(1, "lo".into()), (2, "eth0".into())],
            ..IpfixOptions::default()
        };
        let mut exporter = IpfixExporter::new(Sink::file(FileOptions::new(&path)).unwrap(), options);
        for (at, flow) in flows.iter().enumerate() {
            exporter.write(flow, NOW).unwrap();
            if at % 50 == 7 {
                exporter.report(flow.domain, &MeterStats::default(), NOW).unwrap();
                exporter.tick(NOW + 2 * SECOND).unwrap();
            }
        }
        exporter.finish(NOW).unwrap();
        prop_assert_eq!(exporter.totals().flows, flows.len() as u64);
        prop_assert_eq!(exporter.totals().bytes, fs::metadata(&path).unwrap().len());

        let mut reader = IpfixReader::new(File::open(&path).unwrap());
        let read: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
        let report = reader.report();
        prop_assert_eq!(report.messages, exporter.totals().blocks);
        prop_assert_eq!((report.missing, report.sets_without_template, report.cut_off), (0, 0, 0));
        let expected = flows.iter().map(|flow| exported(flow, times));
        prop_assert_eq!(by_domain(read.into_iter()), by_domain(expected));
    }

    #[test]
    fn a_file_that_is_cut_off_has_the_messages_before(
        flows in vec(flows(), 1..60),
        cut: prop::sample::Index,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("flows.ipfix");
        let options = IpfixOptions { message_limit: Some(512), ..IpfixOptions::default() };
        let mut exporter = IpfixExporter::new(Sink::file(FileOptions::new(&path)).unwrap(), options);
        flows.iter().for_each(|flow| exporter.write(flow, NOW).unwrap());
        exporter.finish(NOW).unwrap();
        let bytes = fs::read(&path).unwrap();
        let cut = cut.index(bytes.len());
        let mut reader = IpfixReader::new(&bytes[..cut]);
        let read: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
        let mut whole = IpfixReader::new(&bytes[..cut - reader.report().cut_off as usize]);
        prop_assert_eq!(whole.by_ref().map(Result::unwrap).collect::<Vec<_>>(), read);
        prop_assert_eq!(whole.report().cut_off, 0);
    }
}

fn flow(port: u16) -> FlowRecord {
    let forward = Counters { packets: 1, bytes: 40, tcp_flags: 2, first: NOW, last: NOW };
    FlowRecord {
        source: Ipv4Addr::LOCALHOST.into(),
        destination: Ipv4Addr::BROADCAST.into(),
        source_port: port,
        destination_port: 80,
        protocol: 6,
        forward,
        ..FlowRecord::EMPTY
    }
}

#[test]
fn each_rotated_file_can_be_read_alone() {
    let dir = tempfile::tempdir().unwrap();
    let rotation = Some(Rotation { bytes: 2_000, seconds: 0 });
    let file = FileOptions { rotation, ..FileOptions::new(dir.path().join("f.ipfix")) };
    let options = IpfixOptions {
        message_limit: Some(600),
        interfaces: vec![(1, "lo".into())],
        ..IpfixOptions::default()
    };
    let mut exporter = IpfixExporter::new(Sink::file(file).unwrap(), options);
    (0..300).for_each(|port| exporter.write(&flow(port), NOW).unwrap());
    exporter.finish(NOW).unwrap();
    let mut ports = Vec::new();
    let files = fs::read_dir(dir.path()).unwrap().count();
    for number in 1..=files {
        let file = File::open(dir.path().join(format!("f-{number:04}.ipfix"))).unwrap();
        let mut reader = IpfixReader::new(file);
        ports.extend(reader.by_ref().map(|flow| flow.unwrap().source_port));
        let report = reader.report();
        assert_eq!((report.missing, report.sets_without_template, report.options), (0, 0, 1), "{number}");
    }
    assert!(files > 5, "{files} files");
    assert_eq!(ports, (0..300).collect::<Vec<_>>());
}

#[test]
fn datagrams_stay_within_their_limit_and_templates_are_repeated() {
    let collector = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    collector.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let sink = Sink::udp(collector.local_addr().unwrap()).unwrap();
    let options = IpfixOptions { template_messages: 4, ..IpfixOptions::default() };
    let mut exporter = IpfixExporter::new(sink, options);
    let (mut datagram, mut late) = ([0; 65_536], Vec::new());
    let (mut messages, mut flows) = (0, 0);
    for port in 0..500 {
        exporter.write(&flow(port), NOW).unwrap();
        if port == 499 {
            exporter.finish(NOW).unwrap();
        }
        // One by one, so that no buffer is too small.
        while messages < exporter.totals().blocks {
            let len = collector.recv(&mut datagram).unwrap();
            assert!(len <= 1_400, "{len} bytes");
            messages += 1;
            if messages > 8 {
                late.extend_from_slice(&datagram[..len]);
            }
        }
        flows += 1;
    }
    assert_eq!((exporter.totals().flows, exporter.totals().flows_lost), (flows, 0));
    // A collector that starts late gets the templates, too.
    let mut reader = IpfixReader::new(&*late);
    assert!(reader.by_ref().map(Result::unwrap).count() > 100);
    assert_eq!(reader.report().missing, 0);
    assert!(reader.report().sets_without_template <= 4);
}

#[test]
fn templates_are_repeated_by_time() {
    let collector = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    collector.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let sink = Sink::udp(collector.local_addr().unwrap()).unwrap();
    let mut exporter = IpfixExporter::new(sink, IpfixOptions::default());
    let mut datagram = [0; 65_536];
    let mut sizes = Vec::new();
    for seconds in [0, 2, 58, 61, 63, 65] {
        exporter.write(&flow(1), NOW + seconds * SECOND).unwrap();
        exporter.tick(NOW + (seconds + 1) * SECOND).unwrap();
        sizes.push(collector.recv(&mut datagram).unwrap());
    }
    assert_eq!(sizes[0], sizes[3], "{sizes:?}");
    assert!(sizes[1] < sizes[0] && sizes[1..3].iter().chain(&sizes[4..]).all(|size| *size == sizes[1]));
}

#[test]
fn templates_are_repeated_on_time_after_the_clock_was_set_back() {
    let collector = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    collector.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let sink = Sink::udp(collector.local_addr().unwrap()).unwrap();
    let mut exporter = IpfixExporter::new(sink, IpfixOptions::default());
    let mut datagram = [0; 65_536];
    let sizes = [3_600, 0, 58, 61].map(|seconds| {
        exporter.write(&flow(1), NOW + seconds * SECOND).unwrap();
        exporter.tick(NOW + (seconds + 1) * SECOND).unwrap();
        collector.recv(&mut datagram).unwrap()
    });
    assert!(sizes[0] == sizes[3] && sizes[1] == sizes[2] && sizes[1] < sizes[0], "{sizes:?}");
}

/// Calls `tick` until `done`, within a minute.
fn until(exporter: &mut IpfixExporter, now: &mut u64, mut done: impl FnMut(&IpfixExporter) -> bool) {
    let start = Instant::now();
    while !done(exporter) {
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", exporter.totals());
        *now += SECOND / 4;
        exporter.tick(*now).expect("sockets lose silently");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_collector_that_goes_away_gets_templates_again() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let mut exporter = IpfixExporter::new(Sink::tcp(address), IpfixOptions::default());
    let mut now = NOW;
    exporter.write(&flow(1), now).unwrap();
    until(&mut exporter, &mut now, |exporter| exporter.totals().flows == 1);
    let (mut first, _) = listener.accept().unwrap();
    let mut bytes = vec![0; 16];
    first.read_exact(&mut bytes).unwrap();
    drop((first, listener));

    // The broken connection is noticed without data.
    until(&mut exporter, &mut now, |exporter| exporter.totals().errors > 0);
    exporter.write(&flow(2), now).unwrap();
    let listener = TcpListener::bind(address).unwrap();
    until(&mut exporter, &mut now, |exporter| exporter.totals().flows == 2);
    exporter.finish(now).unwrap();
    let (mut second, _) = listener.accept().unwrap();
    bytes.clear();
    second.read_to_end(&mut bytes).unwrap();
    let mut reader = IpfixReader::new(&*bytes);
    let ports: Vec<_> = reader.by_ref().map(|flow| flow.unwrap().source_port).collect();
    assert_eq!(ports, [2]);
    assert_eq!((exporter.totals().connections, exporter.totals().flows_lost), (2, 0));
    assert_eq!(reader.report().sets_without_template, 0);
}

#[test]
fn a_collector_that_is_away_costs_a_bounded_queue() {
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let sink = Sink::tcp(address).with_queue_limit(100_000);
    let options = IpfixOptions { message_limit: Some(1_000), ..IpfixOptions::default() };
    let mut exporter = IpfixExporter::new(sink, options);
    for port in 0..10_000 {
        exporter.write(&flow(port), NOW).unwrap();
    }
    let lost = exporter.totals().flows_lost;
    assert!((7_000..9_900).contains(&lost), "{lost} flows lost");

    // The collector comes, late: it can read the flows that were kept, and those after the loss.
    let listener = TcpListener::bind(address).unwrap();
    let mut now = NOW;
    until(&mut exporter, &mut now, |exporter| exporter.totals().flows > 0);
    exporter.write(&flow(7), now).unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    exporter.finish(now).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let mut reader = IpfixReader::new(&*bytes);
    let read = reader.by_ref().map(Result::unwrap).count() as u64;
    let totals = exporter.totals();
    assert_eq!((read, read + totals.flows_lost), (totals.flows, 10_001));
    assert_eq!(reader.report().missing, totals.flows_lost);
}

#[test]
fn foreign_bytes_are_refused_with_their_place() {
    let error = |bytes: &[u8]| IpfixReader::new(bytes).next().unwrap().unwrap_err().to_string();
    assert_eq!(error(&[7; 20]), "not an IPFIX file: version 1799, not 10");
    let mut message = [0; 20];
    (message[1], message[3]) = (10, 15);
    assert_eq!(error(&message), "broken IPFIX message: length 15 at byte 0");
    (message[3], message[17], message[19]) = (20, 2, 5);
    assert_eq!(error(&message), "broken IPFIX message: length 5 at byte 16");
}
