//! `read_pcap_tuples`: packets of captures.

use crate::api::{Output, Type};
use crate::files::{Flags, Format, write_addresses, write_numbers, write_texts, write_times};
use hashlane_flow::captured::{Carried, NOT_IP};
use hashlane_flow::packet::{Packet, Segment};
use hashlane_link::capture::{Batch, CaptureError, Frame, Input, Reader, open};
use std::path::Path;

/// A frame: its time, its length and its packet, or the reason why it has none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    time: u64,
    length: Option<u32>,
    packet: Result<Packet, &'static str>,
}

/// Packets of a capture, pcap or pcapng, also compressed.
pub(crate) struct Tuples(Capture);

/// Reason for a row in place of the packet within which a capture ends.
pub(crate) const CUT_OFF: &str = "cut off by the end of the file";

/// A capture that is read.
pub(crate) struct Capture {
    reader: Reader<Input<'static>>,
    ended: bool,
}

/// Frames that follow.
pub(crate) enum Next<'a> {
    Frames(Batch<'a>),
    /// The capture ends within a packet.
    CutOff,
    End,
}

impl Capture {
    /// Opens a capture.
    ///
    /// # Errors
    /// The file cannot be read, or is no capture.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        let reader = open(path).map_err(|error| error.to_string())?;
        Ok(Self { reader, ended: false })
    }

    /// The frames that follow. An end within a packet is an error unless skipped packets are rows.
    ///
    /// # Errors
    /// The capture is damaged.
    pub(crate) fn next(&mut self, flags: Flags) -> Result<Next<'_>, String> {
        if self.ended {
            return Ok(Next::End);
        }
        match self.reader.next_batch() {
            Ok(Some(frames)) => Ok(Next::Frames(frames)),
            Ok(None) => Ok(Next::End),
            Err(CaptureError::CutOff { .. }) if flags.skipped => {
                self.ended = true;
                Ok(Next::CutOff)
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The packet in a frame.
///
/// # Errors
/// The reason for leaving it out, in words that follow a count.
pub(crate) fn segment<'a>(frame: &Frame<'a>) -> Result<Segment<'a>, &'static str> {
    match Carried::of(frame.link, frame.bytes)? {
        Carried::Segment(segment) => Ok(segment),
        Carried::Other { .. } => Err(NOT_IP),
    }
}

/// Columns of a packet, which rows of captures begin with.
pub(crate) const PACKET_COLUMNS: usize = 6;

/// Names and types of the columns of a packet.
pub(crate) const fn packet_columns(address: Type) -> [(&'static str, Type); PACKET_COLUMNS] {
    [
        ("time", Type::TimestampNs),
        ("src", address),
        ("sport", Type::USmallInt),
        ("dst", address),
        ("dport", Type::USmallInt),
        ("protocol", Type::UTinyInt),
    ]
}

/// Writes one of the [columns of a packet](packet_columns) of rows with the time of a frame, where zero
/// stands for no time, and its packet.
///
/// # Errors
/// The output has another type.
pub(crate) fn write_packets(
    rows: impl Iterator<Item = (u64, Option<Packet>)>,
    column: usize,
    output: &mut Output<'_>,
) -> Result<(), String> {
    if column == 0 {
        return write_times(rows.map(|(time, _)| Some(time).filter(|time| *time > 0)), output);
    }
    let packets = rows.map(|(_, packet)| packet);
    match column {
        1 => write_addresses(packets.map(|packet| Some(packet?.addresses()[0])), output),
        2 => write_numbers(packets.map(|packet| Some(packet?.source.1)), output),
        3 => write_addresses(packets.map(|packet| Some(packet?.addresses()[1])), output),
        4 => write_numbers(packets.map(|packet| Some(packet?.destination.1)), output),
        _ => write_numbers(packets.map(|packet| Some(packet?.protocol)), output),
    }
}

impl Format for Tuples {
    const NAME: &'static str = "read_pcap_tuples";
    const FLAGS: &'static [&'static str] = &["text", "skipped"];

    type Row = Row;

    fn columns(address: Type) -> Vec<(&'static str, Type)> {
        let own = [("length", Type::UInteger), ("skipped", Type::Varchar)];
        packet_columns(address).into_iter().chain(own).collect()
    }

    fn open(path: &Path) -> Result<Self, String> {
        Capture::open(path).map(Self)
    }

    fn read(&mut self, flags: Flags, most: usize, rows: &mut Vec<Row>) -> Result<(), String> {
        while rows.len() < most {
            let frames = match self.0.next(flags)? {
                Next::Frames(frames) => frames,
                Next::CutOff => {
                    rows.push(Row { time: 0, length: None, packet: Err(CUT_OFF) });
                    break;
                }
                Next::End => break,
            };
            for frame in frames {
                let packet = segment(&frame).map(|segment| segment.packet);
                if packet.is_ok() || flags.skipped {
                    rows.push(Row { time: frame.time, length: Some(frame.original), packet });
                }
                // Frames that were not taken are in the next batch.
                if rows.len() >= most {
                    break;
                }
            }
        }
        Ok(())
    }

    fn write(rows: &[Row], column: usize, output: &mut Output<'_>) -> Result<(), String> {
        match column.checked_sub(PACKET_COLUMNS) {
            None => write_packets(rows.iter().map(|row| (row.time, row.packet.ok())), column, output),
            Some(0) => write_numbers(rows.iter().map(|row| row.length), output),
            _ => write_texts(rows.iter().map(|row| row.packet.err()), output),
        }
    }
}
