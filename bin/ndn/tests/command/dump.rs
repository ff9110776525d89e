//! Captures of NDN packets, written here, as lines; and a live exchange.

use etherparse::PacketBuilder;
use hashlane_name::ndn::Ndn;
use hashlane_name::uri::parse_uri;
use hashlane_ndn::fragment::Fragmenter;
use hashlane_ndn::wire::lp::{DigestField, INTEREST_DIGEST};
use hashlane_ndn::wire::{DataBuilder, InterestBuilder, LpHeader, NackReason};
use hashlane_rig::children::{Lines, ended, finish, start};
use hashlane_rig::command::{Folder, holds};
use pcap_file::DataLink;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use std::collections::HashMap;
use std::io::Write;
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Source and destination of the packets in these tests.
const ENDS: &str = "From: 192.0.2.1, To: 198.51.100.2, Tunnel Type:";

fn interest(name: &str) -> Vec<u8> {
    let name = parse_uri::<Ndn>(name.as_bytes()).unwrap();
    InterestBuilder {
        can_be_prefix: true,
        must_be_fresh: true,
        nonce: Some(0x0a0b_0c0d),
        lifetime: 1000,
        hop_limit: Some(9),
        ..InterestBuilder::new(name.view())
    }
    .build()
}

fn data(name: &str, content: &[u8]) -> Vec<u8> {
    let name = parse_uri::<Ndn>(name.as_bytes()).unwrap();
    DataBuilder { freshness: Some(500), ..DataBuilder::new(name.view(), content) }.build()
}

fn udp(payload: &[u8]) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4([192, 0, 2, 1], [198, 51, 100, 2], 64);
    let mut out = Vec::new();
    builder.udp(4000, 6363).write(&mut out, payload).unwrap();
    out
}

fn tcp(sequence: u32, opens: bool, payload: &[u8]) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4([192, 0, 2, 1], [198, 51, 100, 2], 64);
    let builder = builder.tcp(4000, 6363, sequence, 1000);
    let mut out = Vec::new();
    if opens { builder.syn() } else { builder }.write(&mut out, payload).unwrap();
    out
}

/// A capture, its frames a second apart from 100 on.
fn capture(link: DataLink, frames: &[Vec<u8>]) -> Vec<u8> {
    let header = PcapHeader { datalink: link, ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
    for (at, frame) in frames.iter().enumerate() {
        let time = Duration::new(100 + at as u64, 7000);
        writer.write_packet(&PcapPacket::new(time, frame.len() as u32, frame)).unwrap();
    }
    writer.into_writer()
}

/// The lines of a capture of Ethernet frames.
fn dumped(frames: &[Vec<u8>], options: &[&str]) -> Vec<String> {
    let folder = Folder::new();
    folder.write("a.pcap", capture(DataLink::ETHERNET, frames));
    let out = folder.run(&[&["ndn", "dump", "a.pcap"], options].concat()).ok();
    out.lines().map(str::to_owned).collect()
}

fn wrapped(header: &LpHeader<'_>, packet: &[u8]) -> Vec<u8> {
    [header.wrapped(packet.len()).as_bytes(), packet].concat()
}

const INTEREST: &str = "INTEREST: /a/b?CanBePrefix&MustBeFresh&Nonce=0a0b0c0d&Lifetime=1000&HopLimit=9";

#[test]
fn shows_packets_and_what_the_link_says_of_them() {
    let nack = LpHeader { nack: Some(NackReason::NO_ROUTE), ..LpHeader::default() };
    let token = LpHeader { pit_token: &[0xa0, 0xa1], congestion_mark: 1, ..LpHeader::default() };
    let packet = interest("/a/b");
    // An unassigned header field, of type 860.
    let mut digest = vec![100, 10 + packet.len() as u8, 253, 3, 92, 4, 1, 2, 3, 4, 80, packet.len() as u8];
    digest[1] = (digest.len() - 2 + packet.len()) as u8;
    digest.extend_from_slice(&packet);
    let frames = [
        udp(&packet),
        udp(&data("/a/b/c", b"hello")),
        udp(&wrapped(&nack, &packet)),
        udp(&wrapped(&token, &packet)),
        udp(&digest),
        udp(&[100, 0]),
        udp(&[9, 1, 2]),
    ];
    let line = |at: u32, text: &str| format!("10{at}.000007 {ENDS} UDP, {text}");
    let expected = [
        line(0, INTEREST),
        line(1, "DATA: /a/b/c (Blob, 5 bytes, FreshnessPeriod=500, DigestSha256)"),
        line(2, &format!("NDNLPv2, {}", INTEREST.replace("INTEREST: ", "NACK: NoRoute, "))),
        line(3, &format!("NDNLPv2 PitToken=a0a1 CongestionMark=1, {INTEREST}")),
        line(4, &format!("NDNLPv2 860=01020304, {INTEREST}")),
        line(5, "NDNLPv2, IDLE"),
        line(6, "malformed: unexpected packet type 9"),
    ];
    assert_eq!(dumped(&frames, &[]), expected);
    // The default type is the forwarder's, also in a Nack.
    let own = LpHeader { digest: DigestField::new(INTEREST_DIGEST, &[1, 2, 0xff]), ..nack };
    let line_of_own = dumped(&[udp(&wrapped(&own, &packet))], &[]);
    let message = INTEREST.replace("INTEREST: ", "NACK: NoRoute, ");
    assert_eq!(line_of_own, [line(0, &format!("NDNLPv2 InterestDigest=0102ff, {message}"))]);
    let named = dumped(&frames, &["--digest-type", "860"]);
    assert_eq!(named[4], line(4, &format!("NDNLPv2 InterestDigest=01020304, {INTEREST}")));
    assert_eq!(dumped(&frames, &["--prefix", "/a/b/c"]), expected[1..2]);
    assert_eq!(dumped(&frames, &["--count", "3"]), expected[..3]);
    assert!(dumped(&frames, &["--port", "4001"]).is_empty());
    assert_eq!(dumped(&frames, &["--port", "1", "--port", "4000"]), expected);
}

#[test]
fn shows_every_element_where_that_is_wanted() {
    let token = LpHeader { pit_token: &[0xa0, 0xa1], ..LpHeader::default() };
    let lines = dumped(&[udp(&wrapped(&token, &interest("/a")))], &["-v"]);
    assert_eq!(
        lines[1..],
        [
            "    ports 4000 to 6363, 32 bytes",
            "    LpPacket (100) at 0, 30 bytes",
            "      PitToken (98) at 2, 2 bytes: a0a1",
            "      Fragment (80) at 6, 24 bytes",
            "        Interest (5) at 8, 22 bytes",
            "          Name (7) at 10, 3 bytes: /a",
            "          CanBePrefix (33) at 15, 0 bytes",
            "          MustBeFresh (18) at 17, 0 bytes",
            "          Nonce (10) at 19, 4 bytes: 0a0b0c0d",
            "          InterestLifetime (12) at 25, 2 bytes: 1000",
            "          HopLimit (34) at 29, 1 bytes: 9",
        ]
    );
}

#[test]
fn puts_pieces_together() {
    let mut frames = Vec::new();
    let token = LpHeader { pit_token: &[7], ..LpHeader::default() };
    let sent = Fragmenter::new(5).send(&token, &data("/a", &[1; 900]), 600, |head, piece| {
        frames.push(udp(&[head, piece].concat()));
    });
    assert!(sent && frames.len() == 2);
    // Fragments wait half a second for each other; these are one second apart.
    assert_eq!(dumped(&frames, &[]).len(), 2);
    let folder = Folder::new();
    let header = PcapHeader { datalink: DataLink::ETHERNET, ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
    for frame in frames.iter().rev() {
        writer.write_packet(&PcapPacket::new(Duration::from_secs(1), frame.len() as u32, frame)).unwrap();
    }
    folder.write("a.pcap", writer.into_writer());
    let out = folder.run(&["ndn", "dump", "a.pcap"]).ok();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 3, "{out}");
    holds(lines[0], &["UDP, NDNLPv2 Sequence=6 FragIndex=1 FragCount=2, FRAGMENT: "]);
    holds(lines[1], &["UDP, NDNLPv2 Sequence=5 FragIndex=0 FragCount=2 PitToken=07, FRAGMENT: "]);
    holds(lines[2], &["UDP, NDNLPv2 Reassembled=2, DATA: /a (Blob, 900 bytes, "]);
}

#[test]
fn follows_tcp_connections() {
    let stream = [interest("/a/b"), data("/a/b/c", &[1; 100]), interest("/a/b")].concat();
    let frames = [
        tcp(999, true, &[]),
        tcp(1000, false, &stream[..10]),
        tcp(1050, false, &stream[50..]),
        tcp(1010, false, &stream[10..50]),
        tcp(1000 + stream.len() as u32, false, b"GET"),
    ];
    let lines = dumped(&frames, &[]);
    assert_eq!(lines.len(), 5, "{lines:#?}");
    assert_eq!(lines[0], format!("103.000007 {ENDS} TCP, {INTEREST}"));
    holds(&lines[1], &["103.000007", "DATA: /a/b/c (Blob, 100 bytes"]);
    assert_eq!(lines[2], lines[0]);
    holds(&lines[3], &[&format!("malformed: unexpected packet type 71, at byte {} of", stream.len())]);
    holds(&lines[4], &["skipped: 3 bytes"]);
    let lost = dumped(&[frames[0].clone(), frames[1].clone(), frames[2].clone()], &[]);
    assert_eq!(lost.len(), 3, "{lost:#?}");
    holds(&lost[0], &["lost: 40 bytes of the stream were not captured"]);
    holds(&lost[1], &["skipped: "]);
    holds(&lost[2], &[INTEREST]);
}

#[test]
fn reads_ethernet_and_other_links() {
    let packet = interest("/a/b");
    let tagged = [&[1; 6][..], &[2; 6], &[0x81, 0, 0, 5, 0x86, 0x24], &packet, &[0; 9]].concat();
    let lines = dumped(&[tagged], &[]);
    let ends = "From: 02:02:02:02:02:02, To: 01:01:01:01:01:01, Tunnel Type: Ethernet";
    assert_eq!(lines, [format!("100.000007 {ends}, {INTEREST}")]);

    let folder = Folder::new();
    let ip = &udp(&packet)[14..];
    for (link, head) in [
        (DataLink::RAW, &[][..]),
        (DataLink::NULL, &[2, 0, 0, 0]),
        (DataLink::LINUX_SLL, &[0, 0, 3, 4, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0]),
        (DataLink::LINUX_SLL2, &[8, 0, 0, 0, 0, 0, 0, 1, 3, 4, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0]),
    ] {
        folder.write("a.pcap", capture(link, &[[head, ip].concat()]));
        let out = folder.run(&["ndn", "dump", "a.pcap"]).ok();
        assert_eq!(out, format!("100.000007 {ENDS} UDP, {INTEREST}\n"), "{link:?}");
    }
}

#[test]
fn reads_the_time_of_pcapng_as_its_interface_counts_it() {
    let folder = Folder::new();
    let frame = udp(&interest("/a/b"));
    for (options, ticks) in [
        (vec![], 100_000_007),
        (vec![InterfaceDescriptionOption::IfTsResol(9)], 100_000_007_000),
        (
            vec![InterfaceDescriptionOption::IfTsResol(9), InterfaceDescriptionOption::IfTsOffset(99)],
            1_000_007_000,
        ),
    ] {
        let mut writer = PcapNgWriter::new(Vec::new()).unwrap();
        let interface = InterfaceDescriptionBlock { linktype: DataLink::ETHERNET, snaplen: 0, options };
        writer.write_pcapng_block(interface).unwrap();
        let block = EnhancedPacketBlock {
            interface_id: 0,
            // The library writes nanoseconds as ticks.
            timestamp: Duration::from_nanos(ticks),
            original_len: frame.len() as u32,
            data: frame.as_slice().into(),
            options: vec![],
        };
        writer.write_pcapng_block(block).unwrap();
        folder.write("a.pcapng", writer.into_inner());
        let out = folder.run(&["ndn", "dump", "a.pcapng"]).ok();
        assert_eq!(out, format!("100.000007 {ENDS} UDP, {INTEREST}\n"));
    }
}

#[test]
fn reads_standard_input_and_sums_up() {
    let folder = Folder::new();
    let mut command = folder.command(&["ndn", "dump", "-"]);
    let mut child = start(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut octets = capture(DataLink::ETHERNET, &[udp(&interest("/a")), vec![0; 60]]);
    octets.extend_from_slice(&[0; 5]);
    child.stdin.take().unwrap().write_all(&octets).unwrap();
    let output = finish(child);
    assert!(output.status.success());
    let message = String::from_utf8(output.stderr).unwrap();
    holds(&message, &["1 line from 2 frames; 1 skipped: 1 of other protocols; the file is truncated: "]);
}

#[test]
fn refuses_what_it_cannot_read() {
    let folder = Folder::new();
    holds(&folder.run(&["ndn", "dump", "missing.pcap"]).failed(), &["cannot read missing.pcap"]);
    folder.write("text", "no capture");
    holds(&folder.run(&["ndn", "dump", "text"]).failed(), &["text: not a pcap or pcapng file", "tcpdump -w"]);
    for wrong in [
        &["ndn", "dump"][..],
        &["ndn", "dump", "a.pcap", "--interface", "lo"],
        &["ndn", "dump", "a.pcap", "--digest-type", "861"],
        &["ndn", "dump", "a.pcap", "--count", "0"],
    ] {
        assert_eq!(folder.run(wrong).code, Some(2), "{wrong:?}");
    }
    let unknown = folder.run(&["ndn", "dump", "-i", "nothing0"]).failed();
    holds(&unknown, &["cannot listen to nothing0: no such interface; this host has "]);
}

/// A process, stopped when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port that was free a moment ago.
fn port() -> String {
    UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}

/// Starts a dump of the loopback interface. Returns it and the lines of its standard error; `None` if
/// listening is not permitted.
fn listen(folder: &Folder, more: &[&str]) -> Option<(Running, Lines)> {
    let mut command = folder.command(&[&["ndn", "dump", "-i", "lo"], more].concat());
    let mut dump = Running(start(command.stdout(Stdio::piped()).stderr(Stdio::piped())));
    let mut log = Lines::of(dump.0.stderr.take());
    let first = log.line();
    if first.contains("CAP_NET_RAW") {
        holds(&first, &["cannot listen to lo", "sudo", "AmbientCapabilities=CAP_NET_RAW"]);
        println!("skipped: {first}");
        return None;
    }
    assert_eq!(first, "listening to lo");
    Some((dump, log))
}

fn spawn(folder: &Folder, arguments: &[&str]) -> Running {
    let mut command = folder.command(arguments);
    Running(start(command.stdout(Stdio::null()).stderr(Stdio::null())))
}

/// A forwarder that listens on a socket of this name and a UDP port.
fn forwarder(folder: &Folder, socket: &str, port: &str, more: &[&str]) -> Running {
    let udp = format!("127.0.0.1:{port}");
    let run = ["ndn", "run", "--unix", socket, "--udp", &udp, "--tcp", "none", "--ws", "none"];
    let forwarder = spawn(folder, &[&run, more].concat());
    let begun = Instant::now();
    while !folder.path(socket).exists() {
        assert!(begun.elapsed() < Duration::from_secs(15), "the forwarder did not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    forwarder
}

#[test]
fn listens_to_an_exchange_and_ends_at_ctrl_c() {
    let folder = Folder::new();
    let port = port();
    let Some((mut dump, mut log)) = listen(&folder, &["--port", &port, "-f", "/live"]) else { return };
    let _forwarder = forwarder(&folder, "nfd.sock", &port, &[]);
    let unix = format!("unix://{}", folder.path("nfd.sock").display());
    let _server = spawn(&folder, &["ndn", "ping-server", "/live", "--connect", &unix]);
    // Until the server has registered its prefix, Interests return as Nacks.
    let udp = format!("udp://127.0.0.1:{port}");
    let _ping = spawn(&folder, &["ndn", "ping", "/live", "-i", "50", "--connect", &udp]);
    let mut lines = Lines::of(dump.0.stdout.take());
    let mut asked = 0;
    let answered = loop {
        let line = lines.line();
        holds(&line, &[" From: 127.0.0.1, To: 127.0.0.1, Tunnel Type: UDP, ", ": "]);
        asked += u32::from(line.contains("INTEREST: /live/ping/"));
        if line.contains("DATA: /live/ping/") {
            break line;
        }
    };
    assert!(asked > 0, "{answered}");
    assert!(Command::new("kill").args(["-INT", &dump.0.id().to_string()]).status().unwrap().success());
    assert!(lines.rest().len() < 10_000);
    assert_eq!(ended(&mut dump.0).code(), Some(0));
    holds(&log.line(), &[" from ", " frame"]);
}

#[test]
fn hears_the_digests_of_two_forwarders() {
    let folder = Folder::new();
    let ports = [port(), port()];
    let Some((mut dump, _told)) = listen(&folder, &["--port", &ports[1], "-f", "/live"]) else { return };
    let [_near, _far] = [("a.sock", 0), ("b.sock", 1)]
        .map(|(socket, at)| forwarder(&folder, socket, &ports[at], &["--pit-index", "digest"]));
    let [near, far] = ["a.sock", "b.sock"].map(|socket| format!("unix://{}", folder.path(socket).display()));
    let uri = format!("udp4://127.0.0.1:{}", ports[1]);
    folder.run(&["ndn", "route", "add", "/live", &uri, "--connect", &near]).ok();
    let _server = spawn(&folder, &["ndn", "ping-server", "/live", "--connect", &far]);
    let _ping = spawn(&folder, &["ndn", "ping", "/live", "-i", "50", "--connect", &near]);
    let mut lines = Lines::of(dump.0.stdout.take());
    let mut asked = HashMap::new();
    loop {
        let line = lines.line();
        let (_, rest) = line.split_once("UDP, NDNLPv2 InterestDigest=").expect("all have a digest");
        let (digest, packet) = rest.split_once(", ").unwrap();
        // The SHA-1 of the Interest.
        assert_eq!(digest.len(), 40, "{line}");
        let name = packet.split([' ', '?']).find(|word| word.starts_with("/live")).unwrap();
        if packet.starts_with("INTEREST: ") {
            asked.insert(name.to_owned(), digest.to_owned());
        } else {
            // A Nack, until the server has registered its prefix.
            assert_eq!(asked[name], digest, "it comes back: {line}");
        }
        if packet.starts_with("DATA: ") {
            break;
        }
    }
    assert!(Command::new("kill").args(["-INT", &dump.0.id().to_string()]).status().unwrap().success());
    assert!(lines.rest().len() < 10_000);
    assert_eq!(ended(&mut dump.0).code(), Some(0));
}
