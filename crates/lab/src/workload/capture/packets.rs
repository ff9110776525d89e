//! The packets of a capture, one after the other, whatever is wanted of them.

use flow::packet::{PacketError, Segment};
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, PcapError};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;

/// Why nothing can be read of a stream.
#[derive(Debug)]
pub enum FormatError {
    /// The stream itself fails.
    Read(io::Error),
    /// It does not begin as a capture does.
    NotACapture(String),
}

/// What is done with a packet: with what it carries, or why that is not known. It says whether to go on.
pub type Take<'a> = dyn FnMut(Result<Segment<'_>, &'static str>) -> ControlFlow<()> + 'a;

/// Hands every packet of the capture to `take`, until that breaks off. Where the stream ends too early, says why: the
/// packets before it have been handed over.
///
/// # Errors
/// Where the stream fails at its beginning, or is no capture.
pub fn walk(mut from: impl Read, take: &mut Take<'_>) -> Result<Option<String>, FormatError> {
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
            let link = reader.header().datalink;
            Ok(pcap(&mut reader, link, take))
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

fn pcap<R: Read>(reader: &mut PcapReader<R>, link: DataLink, take: &mut Take<'_>) -> Option<String> {
    while let Some(packet) = reader.next_raw_packet() {
        match packet {
            Ok(packet) if take(segment(Some(link), &packet.data)).is_break() => return None,
            Ok(_) => {}
            Err(error) => return Some(told(error)),
        }
    }
    None
}

fn pcapng<R: Read>(reader: &mut PcapNgReader<R>, take: &mut Take<'_>) -> Option<String> {
    loop {
        if reader.interfaces().len() > INTERFACES {
            return Some(format!("it has more than {INTERFACES} interfaces"));
        }
        let links: Vec<DataLink> = reader.interfaces().iter().map(|interface| interface.linktype).collect();
        let link = |interface: u32| links.get(interface as usize).copied();
        let gone_on = match reader.next_block()? {
            Ok(Block::EnhancedPacket(packet)) => take(segment(link(packet.interface_id), &packet.data)),
            Ok(Block::SimplePacket(packet)) => take(segment(link(0), &packet.data)),
            Ok(Block::Packet(packet)) => take(segment(link(packet.interface_id.into()), &packet.data)),
            Ok(_) => ControlFlow::Continue(()),
            Err(error) => return Some(told(error)),
        };
        if gone_on.is_break() {
            return None;
        }
    }
}

/// What a frame of this link carries, or why that is not known.
fn segment(link: Option<DataLink>, octets: &[u8]) -> Result<Segment<'_>, &'static str> {
    let segment = match link {
        Some(DataLink::ETHERNET) => Segment::ethernet(octets),
        Some(DataLink::RAW | DataLink::IPV4 | DataLink::IPV6) => Segment::ip(octets),
        // A family of four octets, in whichever byte order, before the packet.
        Some(DataLink::NULL | DataLink::LOOP) => Segment::ip(octets.get(4..).unwrap_or_default()),
        Some(DataLink::LINUX_SLL) => cooked(octets, 14, 16),
        Some(DataLink::LINUX_SLL2) => cooked(octets, 0, 20),
        Some(_) => return Err("of unknown links"),
        None => return Err("of unknown interfaces"),
    };
    segment.map_err(|error| match error {
        PacketError::NotIp { .. } | PacketError::Version { .. } => "not IP",
        PacketError::Fragment { .. } => "fragments",
        PacketError::NoPorts { .. } => "without ports",
        PacketError::TooShort { .. } => "cut off before their ports",
        _ => "malformed",
    })
}

/// A packet behind a header of Linux's cooked capture, whose EtherType stands at `kind`.
fn cooked(octets: &[u8], kind: usize, header: usize) -> Result<Segment<'_>, PacketError> {
    match octets.get(kind..kind + 2) {
        Some(&[a, b]) => Segment::after_ether_type(u16::from_be_bytes([a, b]), octets, header),
        _ => Err(PacketError::TooShort { at: kind, needs: 2 }),
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
