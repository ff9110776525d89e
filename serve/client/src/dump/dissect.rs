//! Dissection of frames into lines of text.

use super::packet;
use super::stream::{Found, Streams};
use hashlane_flow::captured::{Carried, ETHERNET};
use hashlane_flow::packet::Segment;
use hashlane_link::capture::Frame;
use hashlane_ndn::fragment::Reassembler;
use hashlane_ndn::time::Time;
use hashlane_ndn::tlv::{WireError, frame};
use hashlane_ndn::wire::LpPacket;
use lru::LruCache;
use std::collections::BTreeMap;
use std::fmt;
use std::net::Ipv6Addr;
use std::num::NonZeroUsize;
use std::time::Duration;

/// The EtherType of NDN.
const ETHER_TYPE: u16 = 0x8624;

const UDP: u8 = 17;
const TCP: u8 = 6;

/// Links with reassembly in progress. A new link evicts the least recently used one.
const LINKS: NonZeroUsize = NonZeroUsize::new(256).expect("not zero");

/// Selection of packets, and the detail of their lines.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// UDP and TCP ports of NDN.
    pub ports: Vec<u16>,
    /// TLV value of the name prefix to select.
    pub prefix: Option<Vec<u8>>,
    /// TLV type of the InterestDigest field.
    pub digest: u32,
    /// Adds lines for all elements.
    pub verbose: bool,
}

/// Turns frames into lines, and counts the frames that it skips.
#[derive(Debug)]
pub struct Dissector {
    wanted: Wanted,
    /// Frames seen.
    pub frames: u64,
    /// Skipped frames by reason: without NDN, or unreadable.
    pub passed_over: BTreeMap<&'static str, u64>,
    streams: Streams<Ends>,
    pieces: LruCache<Ends, Reassembler>,
    time: Duration,
}

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum End {
    Ip(Ipv6Addr, u16),
    Ethernet([u8; 6]),
    Unknown,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Ip(address, _) => address.to_canonical().fmt(f),
            Self::Ethernet([a, b, c, d, e, g]) => {
                write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
            }
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

/// Both ends of a link, and its tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Ends {
    from: End,
    to: End,
    tunnel: &'static str,
}

impl fmt::Display for Ends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "From: {}, To: {}, Tunnel Type: {}", self.from, self.to, self.tunnel)
    }
}

impl Dissector {
    /// A dissector that has seen no frame.
    pub fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            frames: 0,
            passed_over: BTreeMap::new(),
            streams: Streams::new(),
            pieces: LruCache::new(LINKS),
            time: Duration::ZERO,
        }
    }

    /// Passes the lines of a frame to `show`: one for each packet, followed by the lines of its elements if
    /// selected.
    pub fn take(&mut self, frame: &Frame<'_>, show: &mut dyn FnMut(String)) {
        self.frames += 1;
        self.time = frame.since_epoch();
        match Carried::of(frame.link, frame.bytes) {
            Ok(Carried::Segment(segment)) => self.segment(&segment, frame.is_cut(), show),
            Ok(Carried::Other { ether_type: ETHER_TYPE, bytes: octets }) => {
                let address = |at: usize| match frame.bytes.get(at..).and_then(<[u8]>::first_chunk) {
                    Some(address) if frame.link == Some(ETHERNET) => End::Ethernet(*address),
                    _ => End::Unknown,
                };
                let ends = Ends { from: address(6), to: address(0), tunnel: "Ethernet" };
                // Ethernet pads short frames after the packet.
                let len = length(octets).unwrap_or(octets.len());
                self.packet(ends, octets.get(..len).unwrap_or(octets), show);
            }
            Ok(Carried::Other { .. }) => self.pass_over("of other protocols"),
            Err(why) => self.pass_over(why),
        }
    }

    /// Passes the lines of incomplete packets to `show`.
    pub fn close(&mut self, show: &mut dyn FnMut(String)) {
        let mut found = Vec::new();
        self.streams.close(&mut |ends, what| found.push((ends, Kept::of(what))));
        self.found(found, show);
    }

    fn pass_over(&mut self, why: &'static str) {
        *self.passed_over.entry(why).or_default() += 1;
    }

    fn segment(&mut self, segment: &Segment<'_>, cut: bool, show: &mut dyn FnMut(String)) {
        let packet = segment.packet;
        let ports = &self.wanted.ports;
        if !ports.contains(&packet.source.1) && !ports.contains(&packet.destination.1) {
            return self.pass_over("of other ports");
        }
        let [from, to] = [packet.source, packet.destination].map(|(address, port)| End::Ip(address, port));
        match packet.protocol {
            UDP => {
                let ends = Ends { from, to, tunnel: "UDP" };
                match segment.datagram() {
                    Some(datagram) => self.datagram(ends, datagram, show),
                    None => self.problem(ends, "malformed: the datagram is truncated in the capture", show),
                }
            }
            TCP => {
                let ends = Ends { from, to, tunnel: "TCP" };
                let Some(part) = segment.stream() else {
                    return self.pass_over("truncated before their payload");
                };
                let mut found = Vec::new();
                self.streams.take(ends, &part, cut, &mut |ends, what| found.push((ends, Kept::of(what))));
                self.found(found, show);
                if cut {
                    self.problem(ends, "malformed: the segment is truncated in the capture", show);
                }
            }
            _ => self.pass_over("of other protocols"),
        }
    }

    /// Reads all packets of a datagram. One is normal; with segmentation offload a capture shows several
    /// datagrams as one.
    fn datagram(&mut self, ends: Ends, datagram: &[u8], show: &mut dyn FnMut(String)) {
        let mut rest = datagram;
        loop {
            let len = length(rest).unwrap_or(rest.len());
            let (packet, after) = rest.split_at_checked(len).unwrap_or((rest, &[]));
            self.packet(ends, packet, show);
            rest = after;
            if rest.is_empty() {
                return;
            }
        }
    }

    fn found(&mut self, found: Vec<(Ends, Kept)>, show: &mut dyn FnMut(String)) {
        for (ends, what) in found {
            match what {
                Kept::Packet(octets) => self.packet(ends, &octets, show),
                Kept::Problem(text) => self.problem(ends, &text, show),
            }
        }
    }

    /// Shows a problem. Its packet has no known name, so a selection by prefix hides it.
    fn problem(&self, ends: Ends, text: &str, show: &mut dyn FnMut(String)) {
        if self.wanted.prefix.is_none() {
            show(format!("{} {ends}, {text}\n", self.stamp()));
        }
    }

    fn stamp(&self) -> String {
        format!("{}.{:06}", self.time.as_secs(), self.time.subsec_micros())
    }

    fn packet(&mut self, ends: Ends, octets: &[u8], show: &mut dyn FnMut(String)) {
        let packet = match LpPacket::parse(octets) {
            Ok(packet) => packet,
            Err(error) => {
                return self.line(ends, "", Err(error), octets, show);
            }
        };
        let header = packet::header(octets, self.wanted.digest);
        let header = if header.is_empty() { header } else { format!("{header}, ") };
        if packet.header.is_fragmented() {
            self.piece(ends, octets, &packet, &header, show);
        } else if packet.fragment.is_empty() {
            self.line(ends, &header, Ok(("IDLE".to_owned(), &[])), octets, show);
        } else {
            self.line(ends, &header, packet::content(&packet), octets, show);
        }
    }

    fn piece(
        &mut self,
        ends: Ends,
        octets: &[u8],
        packet: &LpPacket<'_>,
        header: &str,
        show: &mut dyn FnMut(String),
    ) {
        let text = format!("FRAGMENT: {} bytes", packet.fragment.len());
        self.line(ends, header, Ok((text, &[])), octets, show);
        let now = Time::default() + self.time;
        match self.pieces.get_or_insert_mut(ends, Reassembler::default).receive(packet, octets, now) {
            Ok(None) => {}
            Ok(Some(whole)) => {
                let whole = whole.packet();
                let header = format!("NDNLPv2 Reassembled={}, ", packet.header.frag_count);
                self.line(ends, &header, packet::content(&whole), whole.fragment, show);
            }
            Err(error) => self.problem(ends, &format!("malformed: {error}"), show),
        }
    }

    /// Shows a line if its name is selected. A line without a name is hidden by a selection.
    fn line(
        &self,
        ends: Ends,
        header: &str,
        content: Result<(String, &[u8]), WireError>,
        octets: &[u8],
        show: &mut dyn FnMut(String),
    ) {
        let (text, name) = content.unwrap_or_else(|error| (format!("malformed: {error}"), &[]));
        if let Some(prefix) = &self.wanted.prefix {
            let name = hashlane_ndn::tlv::single(name).map(|name| name.value);
            if !name.is_ok_and(|name| name.starts_with(prefix)) {
                return;
            }
        }
        let mut line = format!("{} {ends}, {header}{text}\n", self.stamp());
        if self.wanted.verbose {
            if let (End::Ip(_, from), End::Ip(_, to)) = (ends.from, ends.to) {
                line.push_str(&format!("    ports {from} to {to}, {} bytes\n", octets.len()));
            }
            line.push_str(&packet::tree(octets, self.wanted.digest));
        }
        show(line);
    }
}

/// An owned copy of [`Found`].
enum Kept {
    Packet(Vec<u8>),
    Problem(String),
}

impl Kept {
    fn of(found: Found<'_>) -> Self {
        match found {
            Found::Packet(octets) => Self::Packet(octets.to_vec()),
            Found::OutOfStep(error, at) => {
                Self::Problem(format!("malformed: {error}, at byte {at} of the stream"))
            }
            Found::PassedOver(octets) => {
                Self::Problem(format!("skipped: {octets} bytes without the beginning of a packet"))
            }
            Found::Lost(octets) => {
                Self::Problem(format!("lost: {octets} bytes of the stream were not captured"))
            }
        }
    }
}

/// The length of the packet at the start of `octets`; `None` if it is malformed or incomplete.
fn length(octets: &[u8]) -> Option<usize> {
    let len = usize::try_from(frame(octets).ok()??).ok()?;
    (len <= octets.len()).then_some(len)
}
