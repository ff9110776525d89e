//! Tuples out of captures: pcap and pcapng, as `tcpdump -w` and Wireshark write them.
//!
//! A file is read once, in a window of 8 MB; what is kept is bounded by the caller. Nothing in it is trusted.

use flow::packet::{Packet, PacketError};
use flow::tuple::Tuple;
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, PcapError};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

/// What a capture holds for studies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// The distinct tuples as the receivers of the packets see them, in the order of their first packets.
    pub tuples: Vec<Tuple>,
    /// For each packet that has a tuple, in order, its place in `tuples`.
    pub packets: Vec<u32>,
    /// Packets in the file, as far as it was read.
    pub seen: u64,
    /// How many packets were passed over, and why.
    pub passed_over: BTreeMap<&'static str, u64>,
    /// Why the file could not be read to its end, if so: what came before it stands.
    pub broken: Option<String>,
    /// Whether there were more tuples or packets than were to be kept.
    pub full: bool,
}

/// Why a capture is of no use.
#[derive(Debug)]
#[non_exhaustive]
pub enum CaptureError {
    /// The file cannot be read.
    Read(PathBuf, io::Error),
    /// It is neither pcap nor pcapng.
    NotACapture(PathBuf, String),
    /// It has no packet with a tuple: what it has.
    NoTuple(PathBuf, String),
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Self::NotACapture(path, why) => write!(
                f,
                "{} is no capture ({why}); pcap and pcapng are read, as `tcpdump -w FILE` writes them",
                path.display()
            ),
            Self::NoTuple(path, capture) => {
                write!(f, "{} has no packet of TCP, UDP or their like over IP: {capture}", path.display())
            }
        }
    }
}

impl std::error::Error for CaptureError {}

/// `12 tuples from 80 packets; 5 passed over: 3 not IP, 2 fragments`
impl fmt::Display for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tuples from {} packets", self.tuples.len(), self.seen)?;
        let passed_over: u64 = self.passed_over.values().sum();
        if passed_over > 0 {
            let reasons: Vec<String> =
                self.passed_over.iter().map(|(why, count)| format!("{count} {why}")).collect();
            write!(f, "; {passed_over} passed over: {}", reasons.join(", "))?;
        }
        if self.full {
            f.write_str("; the rest was not read, as no more are taken")?;
        }
        match &self.broken {
            Some(why) => write!(f, "; the file breaks off: {why}"),
            None => Ok(()),
        }
    }
}

/// Reads the capture at `path`, and keeps up to `most` tuples and eight times as many packets.
///
/// # Errors
/// Where it cannot be read, is no capture, or has no packet with a tuple.
pub fn read(path: &Path, most: usize) -> Result<Capture, CaptureError> {
    let file = File::open(path).map_err(|error| CaptureError::Read(path.into(), error))?;
    match read_from(file, most) {
        Ok(capture) if capture.tuples.is_empty() => {
            Err(CaptureError::NoTuple(path.into(), capture.to_string()))
        }
        Ok(capture) => Ok(capture),
        Err(FormatError::Read(error)) => Err(CaptureError::Read(path.into(), error)),
        Err(FormatError::NotACapture(why)) => Err(CaptureError::NotACapture(path.into(), why)),
    }
}

/// Why nothing can be read of a stream.
#[derive(Debug)]
pub enum FormatError {
    /// The stream itself fails.
    Read(io::Error),
    /// It does not begin as a capture does.
    NotACapture(String),
}

/// Reads a capture from a stream; see [`read`]. One without a tuple is no error here.
///
/// # Errors
/// Where the stream fails at its beginning, or is no capture.
pub fn read_from(mut from: impl Read, most: usize) -> Result<Capture, FormatError> {
    let mut magic = Vec::new();
    from.by_ref().take(4).read_to_end(&mut magic).map_err(FormatError::Read)?;
    let number = <[u8; 4]>::try_from(magic.as_slice()).map(u32::from_be_bytes);
    let whole = Cursor::new(magic).chain(from);
    let mut taker = Taker { capture: Capture::default(), places: HashMap::new(), most };
    let beginning = |error: PcapError| match error {
        PcapError::IoError(error) if error.kind() != io::ErrorKind::UnexpectedEof => FormatError::Read(error),
        error => FormatError::NotACapture(told(error)),
    };
    let broken = match number {
        Ok(PCAPNG) => {
            let mut reader = PcapNgReader::new(whole).map_err(beginning)?;
            taker.pcapng(&mut reader)
        }
        Ok(0xa1b2_c3d4 | 0xd4c3_b2a1 | 0xa1b2_3c4d | 0x4d3c_b2a1) => {
            let mut reader = PcapReader::new(whole).map_err(beginning)?;
            let link = reader.header().datalink;
            taker.pcap(&mut reader, link)
        }
        _ => return Err(FormatError::NotACapture("it does not begin with the number of one".to_owned())),
    };
    taker.capture.broken = broken;
    Ok(taker.capture)
}

/// The type of a section header block, alike in both byte orders.
const PCAPNG: u32 = 0x0a0d_0d0a;

/// Interfaces of a pcapng file at the most: their descriptions are kept.
const INTERFACES: usize = 256;

struct Taker {
    capture: Capture,
    places: HashMap<Tuple, u32>,
    most: usize,
}

impl Taker {
    fn pcap<R: Read>(&mut self, reader: &mut PcapReader<R>, link: DataLink) -> Option<String> {
        while let Some(packet) = reader.next_raw_packet() {
            match packet {
                Ok(packet) => self.packet(link, &packet.data),
                Err(error) => return Some(told(error)),
            }
            if self.capture.full {
                break;
            }
        }
        None
    }

    fn pcapng<R: Read>(&mut self, reader: &mut PcapNgReader<R>) -> Option<String> {
        loop {
            if reader.interfaces().len() > INTERFACES {
                return Some(format!("it has more than {INTERFACES} interfaces"));
            }
            let links: Vec<DataLink> =
                reader.interfaces().iter().map(|interface| interface.linktype).collect();
            let link = |interface: u32| links.get(interface as usize).copied();
            match reader.next_block()? {
                Ok(Block::EnhancedPacket(packet)) => {
                    self.of_interface(link(packet.interface_id), &packet.data)
                }
                Ok(Block::SimplePacket(packet)) => self.of_interface(link(0), &packet.data),
                Ok(Block::Packet(packet)) => {
                    self.of_interface(link(packet.interface_id.into()), &packet.data)
                }
                Ok(_) => {}
                Err(error) => return Some(told(error)),
            }
            if self.capture.full {
                return None;
            }
        }
    }

    fn of_interface(&mut self, link: Option<DataLink>, octets: &[u8]) {
        match link {
            Some(link) => self.packet(link, octets),
            None => {
                self.capture.seen += 1;
                self.pass_over("of unknown interfaces");
            }
        }
    }

    fn pass_over(&mut self, why: &'static str) {
        *self.capture.passed_over.entry(why).or_default() += 1;
    }

    fn packet(&mut self, link: DataLink, octets: &[u8]) {
        self.capture.seen += 1;
        let packet = match link {
            DataLink::ETHERNET => Packet::ethernet(octets),
            DataLink::RAW | DataLink::IPV4 | DataLink::IPV6 => Packet::ip(octets),
            // A family of four octets, in whichever byte order, before the packet.
            DataLink::NULL | DataLink::LOOP => Packet::ip(octets.get(4..).unwrap_or_default()),
            DataLink::LINUX_SLL => cooked(octets, 14, 16),
            DataLink::LINUX_SLL2 => cooked(octets, 0, 20),
            _ => return self.pass_over("of unknown links"),
        };
        match packet {
            Ok(packet) => self.take(packet.received()),
            Err(error) => self.pass_over(match error {
                PacketError::NotIp { .. } | PacketError::Version { .. } => "not IP",
                PacketError::Fragment { .. } => "fragments",
                PacketError::NoPorts { .. } => "without ports",
                PacketError::TooShort { .. } => "cut off before their ports",
                _ => "malformed",
            }),
        }
    }

    fn take(&mut self, tuple: Tuple) {
        let Capture { tuples, packets, full, .. } = &mut self.capture;
        if packets.len() >= 8 * self.most {
            *full = true;
            return;
        }
        let place = match self.places.get(&tuple) {
            Some(place) => *place,
            None if tuples.len() >= self.most => {
                *full = true;
                return;
            }
            None => {
                let place = tuples.len() as u32;
                self.places.insert(tuple, place);
                tuples.push(tuple);
                place
            }
        };
        packets.push(place);
    }
}

/// A packet behind a header of Linux's cooked capture, whose EtherType stands at `kind`.
fn cooked(octets: &[u8], kind: usize, header: usize) -> Result<Packet, PacketError> {
    match octets.get(kind..kind + 2) {
        Some(&[a, b]) => Packet::after_ether_type(u16::from_be_bytes([a, b]), octets, header),
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

#[cfg(test)]
mod tests;
