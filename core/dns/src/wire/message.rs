//! Reading a message.

use super::{Class, Flags, HEADER_LEN, Header, RecordType, Section};
use alloc::vec::Vec;
use hashlane_name::dns::{self, NameBuf, message::Reader};

/// A received message: its header is complete, and nothing else has been checked.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    bytes: &'a [u8],
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The name of the question.
    pub name: NameBuf,
    /// The type of the question.
    pub rtype: RecordType,
    /// The class.
    pub class: Class,
}

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its section.
    pub section: Section,
    /// Its owner name.
    pub owner: NameBuf,
    /// Its type.
    pub rtype: RecordType,
    /// Its class; the size of a datagram in an OPT record.
    pub class: Class,
    /// Time to live in seconds; flags in an OPT record.
    pub ttl: u32,
    /// Its data, with all names in them whole.
    pub data: Vec<u8>,
}

impl<'a> Message<'a> {
    /// The message `bytes`.
    ///
    /// # Errors
    /// The input is shorter than a header.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        match bytes.len() {
            HEADER_LEN.. => Ok(Self { bytes }),
            len => Err(ParseError::Truncated { at: len }),
        }
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Identifier and flags.
    pub fn header(&self) -> Header {
        Header { id: self.be16(0), flags: Flags(self.be16(2)) }
    }

    /// Number of entries of a section by the header.
    pub fn count(&self, section: Section) -> usize {
        usize::from(self.be16(4 + 2 * section.index()))
    }

    /// The questions, and after them the records.
    ///
    /// The time to read them is proportional to the length of the message, also if thousands of their names
    /// point to one long name; the reader remembers such names in at most 614 KiB (see [`Reader`]).
    ///
    /// # Errors
    /// A question is malformed.
    pub fn questions(&self) -> Result<(Vec<Question>, Records<'a>), ParseError> {
        let mut cursor = Cursor { bytes: self.bytes, at: HEADER_LEN, names: Reader::new(self.bytes) };
        // A question has at least 5 bytes, whatever the header says.
        let count = self.count(Section::Question).min(self.bytes.len() / 5);
        let mut questions = Vec::with_capacity(count);
        for _ in 0..self.count(Section::Question) {
            let name = cursor.name()?;
            let (rtype, class) = (RecordType(cursor.be16()?), Class(cursor.be16()?));
            questions.push(Question { name, rtype, class });
        }
        let left = [Section::Answer, Section::Authority, Section::Additional]
            .map(|section| (section, self.count(section)));
        Ok((questions, Records { cursor, left, broken: false }))
    }

    fn be16(&self, at: usize) -> u16 {
        self.bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u16::from_be_bytes(*bytes))
    }
}

/// The records of a message from first to last; see [`Message::questions`]. Nothing follows an error.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    cursor: Cursor<'a>,
    left: [(Section, usize); 3],
    broken: bool,
}

impl Records<'_> {
    /// Offset of the next record: after the last one, the end of the message.
    pub const fn at(&self) -> usize {
        self.cursor.at
    }

    /// Labels and pointers read so far, in questions and records; see [`Reader::steps`].
    pub const fn steps(&self) -> usize {
        self.cursor.names.steps()
    }
}

impl Iterator for Records<'_> {
    type Item = Result<Record, ParseError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (section, left) = self.left.iter_mut().find(|(_, left)| *left > 0 && !self.broken)?;
        *left -= 1;
        let record = self.cursor.record(*section);
        self.broken = record.is_err();
        Some(record)
    }
}

#[derive(Clone, Debug)]
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    names: Reader<'a>,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], ParseError> {
        let bytes = self.bytes.get(self.at..).and_then(|rest| rest.get(..len));
        self.at += len;
        bytes.ok_or(ParseError::Truncated { at: self.bytes.len() })
    }

    fn be16(&mut self) -> Result<u16, ParseError> {
        self.take(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    fn name(&mut self) -> Result<NameBuf, ParseError> {
        let (name, end) = self.names.read(self.at).map_err(ParseError::Name)?;
        self.at = end;
        Ok(name)
    }

    fn record(&mut self, section: Section) -> Result<Record, ParseError> {
        let owner = self.name()?;
        let (rtype, class) = (RecordType(self.be16()?), Class(self.be16()?));
        let ttl = u32::from(self.be16()?) << 16 | u32::from(self.be16()?);
        let len = usize::from(self.be16()?);
        let at = self.at;
        let bytes = self.take(len)?;
        let data = self.data(rtype, bytes, at)?;
        Ok(Record { section, owner, rtype, class, ttl, data })
    }

    /// The data at offset `at`, with the names in them whole. Data of types without names are taken as they
    /// are.
    fn data(&mut self, rtype: RecordType, bytes: &[u8], at: usize) -> Result<Vec<u8>, ParseError> {
        let Some(layout) = rtype.layout().filter(|_| !bytes.is_empty()) else { return Ok(bytes.to_vec()) };
        let end = at + bytes.len();
        let bad = ParseError::Rdata { at, rtype };
        let before = layout.before_names(bytes).ok_or(bad)?;
        let (mut data, mut name) = (Vec::new(), NameBuf::ROOT);
        let mut next = at + before;
        for _ in 0..layout.names {
            // Names in the data may point to earlier parts of the message, and must end within the data.
            let after = self.names.read_into(next, end, &mut name).map_err(ParseError::Name)?;
            let name = name.as_bytes();
            if data.is_empty() {
                // Enough for any second name: to move two long names costs more than to read them.
                let second = (layout.names - 1) * dns::MAX_NAME_LEN;
                let after = layout.after.unwrap_or(0);
                data.reserve_exact(before + name.len() + second + after);
                data.extend_from_slice(&bytes[..before]);
            }
            data.extend_from_slice(name);
            next = after;
        }
        let after = self.bytes.get(next..end).ok_or(bad)?;
        data.extend_from_slice(after);
        match layout.after.is_none_or(|len| len == after.len()) {
            true => Ok(data),
            false => Err(bad),
        }
    }
}

/// The rule that a message breaks; offsets are from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The message ends inside its header, a question or a record.
    #[error("message cut off after {at} bytes: its header says that there is more")]
    Truncated {
        /// Offset of the end of the input.
        at: usize,
    },
    /// Bytes follow the last record that the header counts.
    #[error("trailing bytes at offset {at}, after the last record that the header counts")]
    TrailingBytes {
        /// The first byte that is not of it.
        at: usize,
    },
    /// Malformed name.
    #[error("{0}")]
    Name(dns::ParseError),
    /// The data of a record are not such as its type has.
    #[error("malformed data of a {rtype} record at offset {at}")]
    Rdata {
        /// Offset of the data.
        at: usize,
        /// The type.
        rtype: RecordType,
    },
}
