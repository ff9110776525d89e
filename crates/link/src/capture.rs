//! Frames of captures: pcap and pcapng, as `tcpdump -w` and Wireshark write them.
//!
//! [`frames`] reads a file once, in a window of 8 MB. Nothing in it is trusted.

use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, PcapError, TsResolution};
use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;
use std::time::Duration;

/// Reason why a stream is not readable as a capture.
#[derive(Debug)]
pub enum FormatError {
    /// The stream itself fails.
    Read(io::Error),
    /// The stream does not begin as a capture does.
    NotACapture(String),
}

/// A captured frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Type of the link that it was captured on (LINKTYPE number of the pcap registry), if the capture states
    /// one.
    pub link: Option<u32>,
    /// Time of capture, since 1970; zero if the capture states none.
    pub time: Duration,
    /// Captured bytes.
    pub bytes: &'a [u8],
    /// `true` if the frame was longer.
    pub cut: bool,
}

/// Visitor of frames; it breaks to end the reading.
pub type TakeFrame<'a> = dyn FnMut(Frame<'_>) -> ControlFlow<()> + 'a;

/// Passes every frame of a capture to `take` until it breaks. Returns the reason if the stream ends too
/// early; the frames before were passed.
///
/// # Errors
/// The stream fails at its beginning, or is not a capture.
pub fn frames(mut from: impl Read, take: &mut TakeFrame<'_>) -> Result<Option<String>, FormatError> {
    let mut magic = Vec::new();
    from.by_ref().take(4).read_to_end(&mut magic).map_err(FormatError::Read)?;
    let format = Format::of(&magic);
    let number: String = magic.iter().map(|byte| format!("{byte:02x}")).collect();
    let whole = Cursor::new(magic).chain(from);
    let beginning = |error: PcapError| match error {
        PcapError::IoError(error) if error.kind() != io::ErrorKind::UnexpectedEof => FormatError::Read(error),
        error => FormatError::NotACapture(message(error)),
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
        None => Err(FormatError::NotACapture(match number.as_str() {
            "" => "the file is empty".to_owned(),
            number => format!("bad magic number 0x{number}"),
        })),
    }
}

/// `true` if `bytes` begin as a capture does.
pub fn is_capture(bytes: &[u8]) -> bool {
    Format::of(bytes).is_some()
}

enum Format {
    Pcap,
    PcapNg,
}

impl Format {
    fn of(bytes: &[u8]) -> Option<Self> {
        match u32::from_be_bytes(*bytes.first_chunk()?) {
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
            Err(error) => return Some(message(error)),
        };
        let frame = Frame {
            link: Some(header.datalink.into()),
            time: Duration::from_secs(packet.ts_sec.into()) + fraction * packet.ts_frac,
            bytes: &packet.data,
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
        let frame = |interface: u32, ticks: u64, original: u32, bytes| {
            let link = links.get(interface as usize);
            let time = link.map_or(Duration::ZERO, |(_, clock)| clock.time(ticks));
            let cut = original as usize > <[u8]>::len(bytes);
            Frame { link: link.map(|(link, _)| (*link).into()), time, bytes, cut }
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
            Err(error) => return Some(message(error)),
        };
        if gone_on.is_break() {
            return None;
        }
    }
}

/// Clock of an interface of a pcapng file (`if_tsresol`, `if_tsoffset`).
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

fn message(error: PcapError) -> String {
    match error {
        PcapError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            "it ends within a packet, or a packet is longer than 8 MB".to_owned()
        }
        PcapError::IoError(error) => error.to_string(),
        error => error.to_string(),
    }
}
