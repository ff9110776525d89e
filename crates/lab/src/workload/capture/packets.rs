//! The packets of a capture, one after the other, whatever is wanted of them.

use hashlane_flow::packet::{PacketError, Segment, ether_type};
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, PcapError, TsResolution};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;
use std::time::Duration;

/// Why nothing can be read of a stream.
#[derive(Debug)]
pub enum FormatError {
    /// The stream itself fails.
    Read(io::Error),
    /// It does not begin as a capture does.
    NotACapture(String),
}

/// A frame as it was captured.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The link that it was captured on, where the capture tells.
    pub link: Option<DataLink>,
    /// When, since 1970; nothing where the capture does not tell.
    pub time: Duration,
    /// Its octets, as far as they were captured.
    pub octets: &'a [u8],
    /// Whether it had more.
    pub cut: bool,
}

/// What a frame carries.
#[derive(Clone, Copy, Debug)]
pub enum Carried<'a> {
    /// A packet of IP with ports.
    Segment(Segment<'a>),
    /// A packet of another protocol.
    Other {
        /// The number of the protocol.
        ether_type: u16,
        /// What follows the link's header.
        octets: &'a [u8],
    },
}

impl<'a> Frame<'a> {
    /// What it carries, or why that is not known.
    ///
    /// # Errors
    /// What can be counted: `fragments`, `of unknown links`.
    pub fn carried(&self) -> Result<Carried<'a>, &'static str> {
        let octets = self.octets;
        let read = match self.link {
            Some(DataLink::ETHERNET) => {
                ether_type(octets).and_then(|(ether_type, at)| after(ether_type, octets, at))
            }
            Some(DataLink::RAW | DataLink::IPV4 | DataLink::IPV6) => {
                Segment::ip(octets).map(Carried::Segment)
            }
            // A family of four octets, in whichever byte order, before the packet.
            Some(DataLink::NULL | DataLink::LOOP) => {
                Segment::ip(octets.get(4..).unwrap_or_default()).map(Carried::Segment)
            }
            Some(DataLink::LINUX_SLL) => cooked(octets, 14, 16),
            Some(DataLink::LINUX_SLL2) => cooked(octets, 0, 20),
            Some(_) => return Err("of unknown links"),
            None => return Err("of unknown interfaces"),
        };
        read.map_err(|error| match error {
            PacketError::NotIp { .. } | PacketError::Version { .. } => NOT_IP,
            PacketError::Fragment { .. } => "fragments",
            PacketError::NoPorts { .. } => "without ports",
            PacketError::TooShort { .. } => "cut off before their ports",
            _ => "malformed",
        })
    }
}

const NOT_IP: &str = "not IP";

fn after(ether_type: u16, octets: &[u8], at: usize) -> Result<Carried<'_>, PacketError> {
    match Segment::after_ether_type(ether_type, octets, at) {
        Ok(segment) => Ok(Carried::Segment(segment)),
        Err(PacketError::NotIp { ether_type }) => {
            Ok(Carried::Other { ether_type, octets: octets.get(at..).unwrap_or_default() })
        }
        Err(error) => Err(error),
    }
}

/// A packet behind a header of Linux's cooked capture, whose EtherType stands at `kind`.
fn cooked(octets: &[u8], kind: usize, header: usize) -> Result<Carried<'_>, PacketError> {
    match octets.get(kind..kind + 2) {
        Some(&[a, b]) => after(u16::from_be_bytes([a, b]), octets, header),
        _ => Err(PacketError::TooShort { at: kind, needs: 2 }),
    }
}

/// What is done with a frame. It says whether to go on.
pub type TakeFrame<'a> = dyn FnMut(Frame<'_>) -> ControlFlow<()> + 'a;

/// What is done with a packet: with what it carries, or why that is not known. It says whether to go on.
pub type Take<'a> = dyn FnMut(Result<Segment<'_>, &'static str>) -> ControlFlow<()> + 'a;

/// Hands every packet of the capture to `take`, as [`frames`] does.
///
/// # Errors
/// As `frames`.
pub fn walk(from: impl Read, take: &mut Take<'_>) -> Result<Option<String>, FormatError> {
    frames(from, &mut |frame| {
        take(frame.carried().and_then(|carried| match carried {
            Carried::Segment(segment) => Ok(segment),
            Carried::Other { .. } => Err(NOT_IP),
        }))
    })
}

/// Hands every frame of the capture to `take`, until that breaks off. Where the stream ends too early, says why: the
/// frames before it have been handed over.
///
/// # Errors
/// Where the stream fails at its beginning, or is no capture.
pub fn frames(mut from: impl Read, take: &mut TakeFrame<'_>) -> Result<Option<String>, FormatError> {
    let mut magic = Vec::new();
    from.by_ref().take(4).read_to_end(&mut magic).map_err(FormatError::Read)?;
    let format = Format::of(&magic);
    let whole = Cursor::new(magic).chain(from);
    let beginning = |error: PcapError| match error {
        PcapError::IoError(error) if error.kind() != io::ErrorKind::UnexpectedEof => FormatError::Read(error),
        error => FormatError::NotACapture(told(error)),
    };
    match format {
        Some(Format::PcapNg) => {
            let mut reader = PcapNgReader::new(whole).map_err(beginning)?;
            Ok(pcapng(&mut reader, take))
        }
        Some(Format::Pcap) => {
            let mut reader = PcapReader::new(whole).map_err(beginning)?;
            Ok(pcap(&mut reader, take))
        }
        None => Err(FormatError::NotACapture("it does not begin with the number of one".to_owned())),
    }
}

/// Whether `octets` begin as a capture does.
pub fn is_capture(octets: &[u8]) -> bool {
    Format::of(octets).is_some()
}

/// What was passed over, and why the rest was not read, for those who tell what they took from a capture.
pub(crate) fn write_rest(
    f: &mut fmt::Formatter<'_>,
    passed_over: &BTreeMap<&'static str, u64>,
    full: bool,
    broken: Option<&str>,
) -> fmt::Result {
    let sum: u64 = passed_over.values().sum();
    if sum > 0 {
        let reasons: Vec<String> = passed_over.iter().map(|(why, count)| format!("{count} {why}")).collect();
        write!(f, "; {sum} passed over: {}", reasons.join(", "))?;
    }
    if full {
        f.write_str("; the rest was not read, as no more are taken")?;
    }
    match broken {
        Some(why) => write!(f, "; the file breaks off: {why}"),
        None => Ok(()),
    }
}

enum Format {
    Pcap,
    PcapNg,
}

impl Format {
    fn of(octets: &[u8]) -> Option<Self> {
        match u32::from_be_bytes(*octets.first_chunk()?) {
            PCAPNG => Some(Self::PcapNg),
            0xa1b2_c3d4 | 0xd4c3_b2a1 | 0xa1b2_3c4d | 0x4d3c_b2a1 => Some(Self::Pcap),
            _ => None,
        }
    }
}

/// The type of a section header block, alike in both byte orders.
const PCAPNG: u32 = 0x0a0d_0d0a;

/// Interfaces of a pcapng file at the most: their descriptions are kept.
const INTERFACES: usize = 256;

fn pcap<R: Read>(reader: &mut PcapReader<R>, take: &mut TakeFrame<'_>) -> Option<String> {
    let header = reader.header();
    let fraction = match header.ts_resolution {
        TsResolution::MicroSecond => Duration::from_micros(1),
        TsResolution::NanoSecond => Duration::from_nanos(1),
    };
    while let Some(packet) = reader.next_raw_packet() {
        let packet = match packet {
            Ok(packet) => packet,
            Err(error) => return Some(told(error)),
        };
        let frame = Frame {
            link: Some(header.datalink),
            time: Duration::from_secs(packet.ts_sec.into()) + fraction * packet.ts_frac,
            octets: &packet.data,
            cut: packet.orig_len > packet.incl_len,
        };
        if take(frame).is_break() {
            return None;
        }
    }
    None
}

fn pcapng<R: Read>(reader: &mut PcapNgReader<R>, take: &mut TakeFrame<'_>) -> Option<String> {
    // The links of the interfaces, and how they count time.
    let mut links: Vec<(DataLink, Clock)> = Vec::new();
    loop {
        let interfaces = reader.interfaces();
        if interfaces.len() > INTERFACES {
            return Some(format!("it has more than {INTERFACES} interfaces"));
        }
        // A new section has interfaces of its own.
        links.truncate(interfaces.len());
        let known = links.len();
        let new = interfaces.iter().skip(known);
        links.extend(new.map(|interface| (interface.linktype, Clock::of(interface))));
        let frame = |interface: u32, ticks: u64, original: u32, octets| {
            let link = links.get(interface as usize);
            let time = link.map_or(Duration::ZERO, |(_, clock)| clock.time(ticks));
            let cut = original as usize > <[u8]>::len(octets);
            Frame { link: link.map(|(link, _)| *link), time, octets, cut }
        };
        let gone_on = match reader.next_block()? {
            Ok(Block::EnhancedPacket(packet)) => {
                // The library takes all ticks for nanoseconds.
                let ticks = u64::try_from(packet.timestamp.as_nanos()).unwrap_or(u64::MAX);
                take(frame(packet.interface_id, ticks, packet.original_len, &packet.data))
            }
            Ok(Block::SimplePacket(packet)) => take(frame(0, 0, packet.original_len, &packet.data)),
            Ok(Block::Packet(packet)) => {
                take(frame(packet.interface_id.into(), packet.timestamp, packet.original_len, &packet.data))
            }
            Ok(Block::SectionHeader(_)) => {
                links.clear();
                ControlFlow::Continue(())
            }
            Ok(_) => ControlFlow::Continue(()),
            Err(error) => return Some(told(error)),
        };
        if gone_on.is_break() {
            return None;
        }
    }
}

/// How an interface of a pcapng file counts time (`if_tsresol`, `if_tsoffset`).
struct Clock {
    /// Ticks of a second, at least one.
    rate: u64,
    /// Seconds from 1970 to the first tick.
    offset: u64,
}

impl Clock {
    fn of(interface: &InterfaceDescriptionBlock<'_>) -> Self {
        let mut clock = Self { rate: 1_000_000, offset: 0 };
        for option in &interface.options {
            match *option {
                InterfaceDescriptionOption::IfTsResol(exponent) => {
                    let base: u64 = if exponent & 0x80 == 0 { 10 } else { 2 };
                    clock.rate = base.saturating_pow(u32::from(exponent & 0x7f));
                }
                InterfaceDescriptionOption::IfTsOffset(seconds) => clock.offset = seconds,
                _ => {}
            }
        }
        clock
    }

    fn time(&self, ticks: u64) -> Duration {
        let part = u128::from(ticks % self.rate) * 1_000_000_000 / u128::from(self.rate);
        // Less than a second's nanoseconds.
        Duration::new((ticks / self.rate).saturating_add(self.offset), part as u32)
    }
}

fn told(error: PcapError) -> String {
    match error {
        PcapError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            "it ends within a packet, or a packet is longer than 8 MB".to_owned()
        }
        PcapError::IoError(error) => error.to_string(),
        error => error.to_string(),
    }
}
