//! Reading flows from IPFIX messages, from a file (RFC 5655) or a connection.

use crate::fields::{FieldSet, SkipReason};
use crate::flow::{Builder, split};
use crate::record::FlowRecord;
use crate::template::Templates;
use crate::time::SECOND;
use crate::{FIRST_TEMPLATE, HEADER, OPTIONS_TEMPLATES, SET_HEADER, TEMPLATES, VERSION};
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io::{self, ErrorKind, Read};

/// Largest number of observation domains whose sequence numbers and start times are followed.
const MAX_DOMAINS: usize = 4_096;

/// Flows of a stream of IPFIX messages, as an iterator.
///
/// Records that are no flows are passed over and counted: options, records without two addresses, records
/// whose template is not known. [`next_entry`](Self::next_entry) returns them, too. Memory is bounded, whatever
/// the bytes: one message, 4,096 templates with 65,536 fields together.
#[derive(Debug)]
pub struct IpfixReader<R> {
    input: R,
    message: Vec<u8>,
    entries: Queue,
    decoder: Decoder,
    /// Offset of the next message.
    at: u64,
    ended: bool,
}

/// A data record that is a flow, or one that is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A flow, and the fields that its record has.
    Flow(FlowRecord, FieldSet),
    /// A record that is no flow, or a whole set without its template.
    Skipped(SkipReason),
}

/// Entries in their order. Runs of skipped ones are counted: a record of one byte may be no flow.
#[derive(Debug, Default)]
struct Queue(VecDeque<(Entry, u32)>);

impl Queue {
    fn push(&mut self, entry: Entry) {
        match self.0.back_mut() {
            Some((last @ Entry::Skipped(_), count)) if *last == entry => *count += 1,
            _ => self.0.push_back((entry, 1)),
        }
    }

    fn pop(&mut self) -> Option<Entry> {
        let (entry, count) = self.0.front_mut()?;
        let entry = *entry;
        *count -= 1;
        if *count == 0 {
            self.0.pop_front();
        }
        Some(entry)
    }
}

/// Counts of a reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadReport {
    /// Messages read.
    pub messages: u64,
    /// Flows found.
    pub flows: u64,
    /// Records of options templates.
    pub options: u64,
    /// Records without two addresses of one IP version.
    pub other_records: u64,
    /// Sets of data whose template is not known.
    pub sets_without_template: u64,
    /// Data records that the sequence numbers miss.
    pub missing: u64,
    /// Bytes of a last message that is cut off, as a writer leaves it that was killed.
    pub cut_off: u64,
}

/// Bytes that are not IPFIX.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The input cannot be read.
    #[error("cannot read: {0}")]
    Io(#[source] io::Error),
    /// A message of another version, at this offset.
    #[error(fmt = write_version)]
    Version {
        /// Offset in the input.
        at: u64,
        /// The version.
        version: u16,
    },
    /// A message or a set whose length is wrong.
    #[error("broken IPFIX message: length {len} at byte {at}")]
    Length {
        /// Offset in the input.
        at: u64,
        /// The length, in bytes.
        len: u16,
    },
    /// A template that cannot be read, or one too many.
    #[error("broken IPFIX message: bad template at byte {at}")]
    Template {
        /// Offset in the input.
        at: u64,
    },
}

fn write_version(at: &u64, version: &u16, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match at {
        0 => write!(f, "not an IPFIX file: version {version}, not 10"),
        _ => write!(f, "no IPFIX message at byte {at}: version {version}, not 10"),
    }
}

impl<R: Read> IpfixReader<R> {
    /// Reads messages from `input`, which should be buffered.
    pub fn new(input: R) -> Self {
        Self {
            input,
            message: Vec::new(),
            entries: Queue::default(),
            decoder: Decoder::default(),
            at: 0,
            ended: false,
        }
    }

    /// Counts so far.
    pub const fn report(&self) -> ReadReport {
        self.decoder.report
    }

    /// The next entry, `None` at the end.
    ///
    /// # Errors
    /// The bytes are not IPFIX. After an error there are no more entries.
    pub fn next_entry(&mut self) -> Option<Result<Entry, ReadError>> {
        loop {
            if let Some(entry) = self.entries.pop() {
                return Some(Ok(entry));
            }
            if self.ended {
                return None;
            }
            match self.next_message() {
                Ok(true) => {}
                Ok(false) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    // Entries of the message before the error.
                    self.entries = Queue::default();
                    return Some(Err(error));
                }
            }
        }
    }

    /// Reads a message, and keeps its entries. Returns false at the end.
    fn next_message(&mut self) -> Result<bool, ReadError> {
        self.message.clear();
        self.take(HEADER)?;
        if self.message.len() < HEADER {
            self.decoder.report.cut_off = self.message.len() as u64;
            return Ok(false);
        }
        let word = |at: usize| u16::from_be_bytes([self.message[at], self.message[at + 1]]);
        let (version, len) = (word(0), word(2));
        if version != VERSION {
            return Err(ReadError::Version { at: self.at, version });
        }
        if usize::from(len) < HEADER {
            return Err(ReadError::Length { at: self.at, len });
        }
        self.take(usize::from(len) - HEADER)?;
        if self.message.len() < usize::from(len) {
            self.decoder.report.cut_off = self.message.len() as u64;
            return Ok(false);
        }
        self.decoder.message(&self.message, self.at, &mut self.entries)?;
        self.at += u64::from(len);
        Ok(true)
    }

    /// Appends up to `count` bytes of the input to the message.
    fn take(&mut self, count: usize) -> Result<(), ReadError> {
        let mut left = count;
        let mut buffer = [0; 4_096];
        while left > 0 {
            let room = left.min(buffer.len());
            match self.input.read(&mut buffer[..room]) {
                Ok(0) => return Ok(()),
                Ok(count) => {
                    self.message.extend_from_slice(&buffer[..count]);
                    left -= count;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(ReadError::Io(error)),
            }
        }
        Ok(())
    }
}

impl<R: Read> Iterator for IpfixReader<R> {
    type Item = Result<FlowRecord, ReadError>;

    /// The next flow. After an error there are no more.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_entry()? {
                Ok(Entry::Flow(flow, _)) => return Some(Ok(flow)),
                Ok(Entry::Skipped(_)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[derive(Debug, Default)]
struct Decoder {
    templates: Templates,
    /// Sequence number that the next message of a domain should have, if all its records were counted.
    expected: HashMap<u32, Option<u32>>,
    /// Time at which the exporter of a domain started, in milliseconds since 1970, of its options.
    started: HashMap<u32, u64>,
    report: ReadReport,
}

impl Decoder {
    /// Decodes a whole message, which is at `offset` of the input.
    fn message(&mut self, message: &[u8], offset: u64, entries: &mut Queue) -> Result<(), ReadError> {
        let long =
            |at: usize| u32::from_be_bytes([message[at], message[at + 1], message[at + 2], message[at + 3]]);
        let (exported, sequence, domain) = (u64::from(long(4)) * SECOND, long(8), long(12));
        self.follow(domain, sequence);
        let mut counted = Some(0_u32);
        let mut at = HEADER;
        while at < message.len() {
            let here = offset + at as u64;
            let Some(header) = message.get(at..at + SET_HEADER) else {
                return Err(ReadError::Length { at: here, len: 0 });
            };
            let id = u16::from_be_bytes([header[0], header[1]]);
            let len = u16::from_be_bytes([header[2], header[3]]);
            let set = usize::from(len)
                .checked_sub(SET_HEADER)
                .and_then(|size| message.get(at + SET_HEADER..at + SET_HEADER + size))
                .ok_or(ReadError::Length { at: here, len })?;
            match id {
                TEMPLATES | OPTIONS_TEMPLATES => {
                    self.templates
                        .learn(domain, set, id == OPTIONS_TEMPLATES)
                        .map_err(|at| ReadError::Template { at: here + (SET_HEADER + at) as u64 })?
                }
                FIRST_TEMPLATE.. => {
                    let count = self.data(Builder::new(domain, exported), id, set, entries);
                    counted = counted.zip(count).map(|(sum, count)| sum.wrapping_add(count));
                }
                // Reserved.
                _ => {}
            }
            at += usize::from(len);
        }
        self.report.messages += 1;
        if let Some(expected) = self.expected.get_mut(&domain) {
            *expected = counted.map(|count| sequence.wrapping_add(count));
        }
        Ok(())
    }

    /// Compares a sequence number with the expected one.
    fn follow(&mut self, domain: u32, sequence: u32) {
        if self.expected.len() < MAX_DOMAINS {
            self.expected.entry(domain).or_insert(None);
        }
        if let Some(Some(expected)) = self.expected.get(&domain) {
            let gap = sequence.wrapping_sub(*expected);
            // A lower number is a message out of order, or an exporter that began again.
            if gap < 1 << 31 {
                self.report.missing += u64::from(gap);
            }
        }
    }

    /// Decodes the records of a set, and counts them; nothing if their template is not known. `empty` is a
    /// record without values.
    fn data(&mut self, empty: Builder, id: u16, set: &[u8], entries: &mut Queue) -> Option<u32> {
        let domain = empty.domain();
        let Some(template) = self.templates.find(domain, id) else {
            self.report.sets_without_template += 1;
            entries.push(Entry::Skipped(SkipReason::NoTemplate));
            return None;
        };
        let (mut rest, mut count) = (set, 0);
        // Whatever is shorter than a record is padding.
        while rest.len() >= template.min_len {
            let mut flow = empty;
            let Some(len) = split(template, rest, |field, bytes| flow.set(field, bytes)) else {
                break;
            };
            count += 1;
            rest = &rest[len..];
            if template.options {
                self.report.options += 1;
                entries.push(Entry::Skipped(SkipReason::Options));
                let room = self.started.len() < MAX_DOMAINS || self.started.contains_key(&domain);
                if let Some(time) = flow.started().filter(|_| room) {
                    self.started.insert(domain, time);
                }
                continue;
            }
            match flow.finish(self.started.get(&domain).copied()) {
                Ok((flow, fields)) => {
                    self.report.flows += 1;
                    entries.push(Entry::Flow(flow, fields));
                }
                Err(why) => {
                    self.report.other_records += 1;
                    entries.push(Entry::Skipped(why));
                }
            }
        }
        Some(count)
    }
}
