//! Messages as plain data: what people send, out of [zone files](zone) and [captures](capture).

pub mod capture;
pub mod zone;

use dns::wire::{self, Header, ParseError, Question, Rdata, RdataError, Record};
use std::fmt;

/// A message as plain data: every name whole, as it was spelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Identifier and flags.
    pub header: Header,
    /// What is asked.
    pub questions: Vec<Question>,
    /// The records, section after section; OPT is one of them.
    pub records: Vec<Record>,
}

impl Message {
    /// Reads a message in wire form.
    ///
    /// # Errors
    /// The first rule broken, or that octets follow its end.
    pub fn parse(octets: &[u8]) -> Result<Self, MessageError> {
        let message = wire::Message::parse(octets)?;
        let (questions, mut rest) = message.questions()?;
        let records = rest.by_ref().collect::<Result<_, _>>()?;
        match rest.at() == octets.len() {
            true => Ok(Self { header: message.header(), questions, records }),
            false => Err(MessageError::TrailingOctets { at: rest.at() }),
        }
    }

    /// Octets of memory that it holds, about.
    fn memory(&self) -> usize {
        let records: usize = self.records.iter().map(memory).sum();
        size_of::<Self>() + self.questions.len() * size_of::<Question>() + records
    }
}

/// Octets of memory that a record holds, about.
fn memory(record: &Record) -> usize {
    size_of::<Record>() + record.data.len()
}

/// The data of a record as a renderer takes them. There may be none at all in any type (RFC 2136 §2.4).
///
/// # Errors
/// Where they are not such as the type has.
pub fn rdata(record: &Record) -> Result<Rdata<'_>, RdataError> {
    match record.data.is_empty() {
        true => Ok(Rdata::octets(&[])),
        false => Rdata::parse(record.rtype, &record.data),
    }
}

/// Why octets are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageError {
    /// A rule that they break.
    Parse(ParseError),
    /// They go on after the last record that the header counts.
    TrailingOctets {
        /// The first octet that is not of the message.
        at: usize,
    },
}

impl From<ParseError> for MessageError {
    fn from(error: ParseError) -> Self {
        Self::Parse(error)
    }
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parse(error) => error.fmt(f),
            Self::TrailingOctets { at } => {
                write!(f, "the message ends at offset {at} by the counts of its header, and octets follow")
            }
        }
    }
}

impl std::error::Error for MessageError {}

#[cfg(test)]
mod tests {
    use super::*;
    use dns::wire::{Class, RecordType, Section};

    /// A question and an MX record whose names are pointers.
    const MESSAGE: &[u8] = b"\x12\x34\x84\0\0\x01\0\x01\0\0\0\0\x01A\0\0\x0f\0\x01\
        \xc0\x0c\0\x0f\0\x01\0\0\0\x3c\0\x06\0\x0a\x01m\xc0\x0c";

    #[test]
    fn reads_names_whole() {
        let message = Message::parse(MESSAGE).unwrap();
        assert_eq!((message.header.id, message.questions.len()), (0x1234, 1));
        let [record] = &message.records[..] else { panic!("{message:?}") };
        assert_eq!((record.section, record.owner.as_bytes()), (Section::Answer, &b"\x01A\0"[..]));
        assert_eq!(record.data, b"\0\x0a\x01m\x01A\0");
        assert_eq!(rdata(record).unwrap().before, [0, 10]);
        assert!(message.memory() > size_of::<Record>());
    }

    #[test]
    fn refuses_what_is_no_message_or_more() {
        for end in 0..MESSAGE.len() {
            assert!(matches!(Message::parse(&MESSAGE[..end]), Err(MessageError::Parse(_))), "{end}");
        }
        let more = [MESSAGE, &[0]].concat();
        assert_eq!(Message::parse(&more), Err(MessageError::TrailingOctets { at: MESSAGE.len() }));
    }

    #[test]
    fn data_may_be_missing_in_any_type() {
        let (rtype, class) = (RecordType::MX, Class::ANY);
        let owner = name::dns::NameBuf::ROOT;
        let record = Record { section: Section::Authority, owner, rtype, class, ttl: 0, data: vec![] };
        assert!(rdata(&record).unwrap().is_empty());
        assert!(rdata(&Record { data: vec![0], ..record }).is_err());
    }
}
