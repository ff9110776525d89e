//! A message as its parts.

use super::{Header, Message, ParseError, Question, Rdata, RdataError, Record, Section};
use alloc::vec::Vec;

/// The content of a message, independent of compression.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Identifier and flags.
    pub header: Header,
    /// The questions.
    pub questions: Vec<Question>,
    /// The records of all sections, in their order.
    pub records: Vec<Record>,
}

impl Content {
    /// Parses the message `bytes`.
    ///
    /// # Errors
    /// Not a message, or bytes follow its last record.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let message = Message::parse(bytes)?;
        let (questions, mut rest) = message.questions()?;
        let records = rest.by_ref().collect::<Result<_, _>>()?;
        if rest.at() < bytes.len() {
            return Err(ParseError::TrailingBytes { at: rest.at() });
        }
        Ok(Self { header: message.header(), questions, records })
    }

    /// The message in wire form without pointers, of any length; `None` if a section has more entries than a
    /// header can count.
    pub fn uncompressed(&self) -> Option<Vec<u8>> {
        let mut bytes = self.header.to_bytes().to_vec();
        for section in Section::ALL {
            let count = match section {
                Section::Question => self.questions.len(),
                _ => self.records.iter().filter(|record| record.section == section).count(),
            };
            bytes.extend_from_slice(&u16::try_from(count).ok()?.to_be_bytes());
        }
        for Question { name, rtype, class } in &self.questions {
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice([rtype.0.to_be_bytes(), class.0.to_be_bytes()].as_flattened());
        }
        for Record { owner, rtype, class, ttl, data, .. } in &self.records {
            bytes.extend_from_slice(owner.as_bytes());
            bytes.extend_from_slice([rtype.0.to_be_bytes(), class.0.to_be_bytes()].as_flattened());
            bytes.extend_from_slice(&ttl.to_be_bytes());
            bytes.extend_from_slice(&u16::try_from(data.len()).ok()?.to_be_bytes());
            bytes.extend_from_slice(data);
        }
        Some(bytes)
    }

    /// The data of each record, with its names.
    ///
    /// # Errors
    /// The data do not fit the type of a record.
    pub fn rdata(&self) -> Result<Vec<Rdata<'_>>, ContentError> {
        let mut all = Vec::with_capacity(self.records.len());
        for (number, record) in self.records.iter().enumerate() {
            all.push(
                Rdata::parse(record.rtype, &record.data).map_err(|error| ContentError { number, error })?,
            );
        }
        Ok(all)
    }
}

/// The data of a record are not such as its type has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("record {number}: {error}")]
pub struct ContentError {
    /// The record's number, from 0.
    pub number: usize,
    /// The rule broken.
    pub error: RdataError,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::RecordType;

    /// A question and an MX record whose names are pointers.
    const MESSAGE: &[u8] = b"\x12\x34\x84\0\0\x01\0\x01\0\0\0\0\x01A\0\0\x0f\0\x01\
        \xc0\x0c\0\x0f\0\x01\0\0\0\x3c\0\x06\0\x0a\x01m\xc0\x0c";

    #[test]
    fn reads_names_whole_and_writes_them_so() {
        let content = Content::parse(MESSAGE).unwrap();
        assert_eq!((content.header.id, content.questions.len()), (0x1234, 1));
        let [record] = &content.records[..] else { panic!("{content:?}") };
        assert_eq!((record.section, record.owner.as_bytes()), (Section::Answer, &b"\x01A\0"[..]));
        assert_eq!(record.data, b"\0\x0a\x01m\x01A\0");
        let whole = content.uncompressed().unwrap();
        assert_eq!(whole.len(), MESSAGE.len() + 2);
        assert_eq!(Content::parse(&whole), Ok(content));
    }

    #[test]
    fn refuses_what_is_no_message_or_more() {
        for end in 0..MESSAGE.len() {
            assert!(Content::parse(&MESSAGE[..end]).is_err(), "{end}");
        }
        let more = [MESSAGE, &[0]].concat();
        assert_eq!(Content::parse(&more), Err(ParseError::TrailingBytes { at: MESSAGE.len() }));
    }

    #[test]
    fn says_which_record_s_data_are_none() {
        let mut content = Content::parse(MESSAGE).unwrap();
        content.records[0].rtype = RecordType::SOA;
        assert_eq!(content.rdata().unwrap_err().number, 0);
        content.records[0].data.clear();
        assert!(content.rdata().unwrap()[0].is_empty());
    }
}
