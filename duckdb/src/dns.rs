//! `dns_messages`: DNS messages of captures.

use crate::api::{Output, Type};
use crate::files::{Flags, Format, write_numbers, write_texts};
use crate::pcap::{CUT_OFF, Capture, Next, PACKET_COLUMNS, packet_columns, segment, write_packets};
use hashlane_dns::wire::{Content, Header};
use hashlane_flow::packet::Packet;
use hashlane_link::capture::Frame;
use hashlane_zone_file::messages::in_segment;
use std::path::Path;

/// Bytes of memory after which a chunk of rows ends: names are longer than in messages, which point to them.
const MOST_BYTES: usize = 8 << 20;

/// About the memory of a question or a record, without its data.
const ENTRY: usize = 400;

const QUESTION: Type =
    Type::Struct(&[("name", Type::Varchar), ("type", Type::Varchar), ("class", Type::Varchar)]);

const RECORD: Type = Type::Struct(&[
    ("section", Type::Varchar),
    ("owner", Type::Varchar),
    ("type", Type::Varchar),
    ("class", Type::Varchar),
    ("ttl", Type::UInteger),
    ("data", Type::Blob),
]);

/// A message of a packet, or the reason why a packet has none.
pub(crate) struct Row {
    time: u64,
    packet: Option<Packet>,
    message: Result<Content, &'static str>,
}

/// A capture of packets from or to port 53.
pub(crate) struct Messages {
    capture: Capture,
    /// Messages of the packet that was read last, which had no place in a chunk of rows.
    left: Vec<Row>,
}

impl Row {
    /// The rows of a frame, one for each of its messages.
    fn of(frame: &Frame<'_>) -> Vec<Self> {
        let time = frame.time;
        let (packet, messages) = match segment(frame) {
            Ok(segment) => (Some(segment.packet), in_segment(segment)),
            Err(why) => (None, Err(why)),
        };
        match messages {
            Ok(messages) => {
                messages.into_iter().map(|message| Self { time, packet, message: Ok(message) }).collect()
            }
            Err(why) => vec![Self { time, packet, message: Err(why) }],
        }
    }

    fn memory(&self) -> usize {
        self.message.as_ref().map_or(0, |message| {
            let data: usize = message.records.iter().map(|record| record.data.len()).sum();
            (message.questions.len() + message.records.len()) * ENTRY + data
        })
    }

    fn header(&self) -> Option<Header> {
        self.message.as_ref().ok().map(|message| message.header)
    }
}

impl Format for Messages {
    const NAME: &'static str = "dns_messages";
    const FLAGS: &'static [&'static str] = &["text", "skipped"];

    type Row = Row;

    fn columns(address: Type) -> Vec<(&'static str, Type)> {
        let own = [
            ("id", Type::USmallInt),
            ("flags", Type::USmallInt),
            ("questions", Type::List(&QUESTION)),
            ("records", Type::List(&RECORD)),
            ("skipped", Type::Varchar),
        ];
        packet_columns(address).into_iter().chain(own).collect()
    }

    fn open(path: &Path) -> Result<Self, String> {
        Ok(Self { capture: Capture::open(path)?, left: Vec::new() })
    }

    fn read(&mut self, flags: Flags, most: usize, rows: &mut Vec<Row>) -> Result<(), String> {
        let mut bytes = 0;
        // Messages stand in `left` in reverse order.
        let mut take = |left: &mut Vec<Row>, rows: &mut Vec<Row>| {
            while rows.len() < most && bytes < MOST_BYTES {
                let Some(row) = left.pop() else { return true };
                bytes += row.memory();
                if row.message.is_ok() || flags.skipped {
                    rows.push(row);
                }
            }
            false
        };
        while take(&mut self.left, rows) {
            let frames = match self.capture.next(flags)? {
                Next::Frames(frames) => frames,
                Next::CutOff => {
                    rows.push(Row { time: 0, packet: None, message: Err(CUT_OFF) });
                    break;
                }
                Next::End => break,
            };
            for frame in frames {
                self.left = Row::of(&frame);
                self.left.reverse();
                if !take(&mut self.left, rows) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn write(rows: &[Row], column: usize, output: &mut Output<'_>) -> Result<(), String> {
        match column.checked_sub(PACKET_COLUMNS) {
            None => write_packets(rows.iter().map(|row| (row.time, row.packet)), column, output),
            Some(0) => write_numbers(rows.iter().map(|row| Some(row.header()?.id)), output),
            Some(1) => write_numbers(rows.iter().map(|row| Some(row.header()?.flags.0)), output),
            Some(2) => write_questions(rows, output),
            Some(3) => write_records(rows, output),
            _ => write_texts(rows.iter().map(|row| row.message.as_ref().err().copied()), output),
        }
    }
}

fn set_nulls(rows: &[Row], output: &mut Output<'_>) {
    let without = rows.iter().enumerate().filter(|(_, row)| row.message.is_err());
    without.for_each(|(row, _)| output.set_null(row));
}

fn write_questions(rows: &[Row], output: &mut Output<'_>) -> Result<(), String> {
    set_nulls(rows, output);
    let all = || rows.iter().map(|row| row.message.as_ref().map_or(&[][..], |of| of.questions.as_slice()));
    let (mut items, places) = output.lists(0, all().map(<[_]>::len))?;
    let entries = || all().flatten().zip(places.clone());
    write_field(&mut items, 0, entries().map(|(of, at)| (at, of.name.view().to_string())))?;
    write_field(&mut items, 1, entries().map(|(of, at)| (at, of.rtype.to_string())))?;
    write_field(&mut items, 2, entries().map(|(of, at)| (at, of.class.to_string())))
}

fn write_records(rows: &[Row], output: &mut Output<'_>) -> Result<(), String> {
    set_nulls(rows, output);
    let all = || rows.iter().map(|row| row.message.as_ref().map_or(&[][..], |of| of.records.as_slice()));
    let (mut items, places) = output.lists(0, all().map(<[_]>::len))?;
    let entries = || all().flatten().zip(places.clone());
    write_field(&mut items, 0, entries().map(|(of, at)| (at, of.section.name().to_owned())))?;
    write_field(&mut items, 1, entries().map(|(of, at)| (at, of.owner.view().to_string())))?;
    write_field(&mut items, 2, entries().map(|(of, at)| (at, of.rtype.to_string())))?;
    write_field(&mut items, 3, entries().map(|(of, at)| (at, of.class.to_string())))?;
    let mut ttls = items.field(4)?;
    let ttls = ttls.numbers::<u32>()?;
    for (record, place) in entries() {
        if let Some(ttl) = ttls.get_mut(place) {
            *ttl = record.ttl;
        }
    }
    let mut data = items.field(5)?;
    entries().try_for_each(|(record, place)| data.blob(place, &record.data))
}

fn write_field(
    items: &mut Output<'_>,
    field: usize,
    mut texts: impl Iterator<Item = (usize, String)>,
) -> Result<(), String> {
    let mut column = items.field(field)?;
    texts.try_for_each(|(row, text)| column.text(row, &text))
}
