//! Answers in a form in which they can be compared.

use hashlane_dns::wire::{Class, Content, Layout, Question, RecordType, Section};
use hashlane_name::dns::Name;
use std::collections::BTreeSet;
use std::fmt;

/// A record; names in it are in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Record {
    pub(crate) owner: Vec<u8>,
    pub(crate) rtype: u16,
    pub(crate) class: u16,
    pub(crate) ttl: u32,
    pub(crate) data: Vec<u8>,
}

/// The OPT record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opt {
    pub(crate) version: u8,
    pub(crate) dnssec: bool,
    pub(crate) size: u16,
    pub(crate) options: BTreeSet<u16>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// With the bits of the OPT record.
    pub(crate) rcode: u16,
    pub(crate) opcode: u8,
    /// The second 16 bits without opcode and rcode.
    pub(crate) flags: u16,
    pub(crate) questions: Vec<(Vec<u8>, u16, u16)>,
    /// Answer, authority, additional.
    pub(crate) sections: [BTreeSet<Record>; 3],
    pub(crate) opt: Option<Opt>,
    /// A record occurs twice.
    pub(crate) repeats: bool,
    /// Bytes of the message.
    pub(crate) len: usize,
}

pub(crate) const AA: u16 = 0x0400;
pub(crate) const TC: u16 = 0x0200;

pub(crate) const CD: u16 = 0x0010;

pub(crate) const NS: u16 = 2;
pub(crate) const DNAME: u16 = 39;
pub(crate) const NSEC: u16 = 47;
pub(crate) const NSEC3: u16 = 50;
pub(crate) const RRSIG: u16 = 46;
pub(crate) const DS: u16 = 43;

impl Answer {
    /// Parses a message.
    ///
    /// # Errors
    /// The message is malformed.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let content = Content::parse(bytes).map_err(|error| error.to_string())?;
        let flags = content.header.flags;
        let mut answer = Self {
            rcode: flags.rcode().0,
            opcode: flags.opcode().0,
            flags: flags.0 & !0x780f,
            questions: Vec::new(),
            sections: Default::default(),
            opt: None,
            repeats: false,
            len: bytes.len(),
        };
        for Question { name, rtype, class } in &content.questions {
            answer.questions.push((name.as_bytes().to_vec(), rtype.0, class.0));
        }
        for record in content.records {
            if record.rtype == RecordType::OPT {
                answer.rcode |= (record.ttl >> 24 << 4) as u16;
                let opt = Opt {
                    version: (record.ttl >> 16) as u8,
                    dnssec: record.ttl & 0x8000 > 0,
                    size: record.class.0,
                    options: options(&record.data)?,
                };
                if answer.opt.replace(opt).is_some() {
                    return Err("two OPT records".to_owned());
                }
                continue;
            }
            let mut data = record.data;
            fold(record.rtype, &mut data);
            let place = match record.section {
                Section::Answer => 0,
                Section::Authority => 1,
                _ => 2,
            };
            answer.repeats |= !answer.sections[place].insert(Record {
                owner: record.owner.as_bytes().to_ascii_lowercase(),
                rtype: record.rtype.0,
                class: record.class.0,
                ttl: record.ttl,
                data,
            });
        }
        Ok(answer)
    }
}

fn options(mut data: &[u8]) -> Result<BTreeSet<u16>, String> {
    let mut codes = BTreeSet::new();
    while let [a, b, c, d, rest @ ..] = data {
        codes.insert(u16::from_be_bytes([*a, *b]));
        let len = usize::from(u16::from_be_bytes([*c, *d]));
        data = rest.get(len..).ok_or("an option of EDNS is cut off")?;
    }
    if data.is_empty() { Ok(codes) } else { Err("the options of EDNS are cut off".to_owned()) }
}

/// Brings the names in the data of a record to lower case.
fn fold(rtype: RecordType, data: &mut [u8]) {
    let (mut at, names) = match rtype.0 {
        RRSIG => (18, 1),
        NSEC | 39 => (0, 1),
        36 | 64 | 65 => (2, 1),
        _ => match rtype.layout() {
            None => return,
            Some(Layout { before, strings, names, .. }) => {
                let mut at = before;
                for _ in 0..strings {
                    at += 1 + usize::from(data.get(at).copied().unwrap_or_default());
                }
                (at, names)
            }
        },
    };
    for _ in 0..names {
        let Some(rest) = data.get_mut(at..) else { return };
        let Ok(len) = Name::parse_first(rest).map(|name| name.len()) else { return };
        rest[..len].make_ascii_lowercase();
        at += len;
    }
}

impl Record {
    /// Type that a signature covers.
    pub(crate) fn covered(&self) -> Option<u16> {
        (self.rtype == RRSIG)
            .then(|| self.data.first_chunk().map_or(0, |covered| u16::from_be_bytes(*covered)))
    }

    /// Its type, or the one that it signs.
    pub(crate) fn about(&self) -> u16 {
        self.covered().unwrap_or(self.rtype)
    }
}

fn name(bytes: &[u8]) -> String {
    Name::parse_first(bytes).map_or_else(|_| format!("{bytes:02x?}"), |name| name.to_string())
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {} ", name(&self.owner), self.ttl, Class(self.class), RecordType(self.rtype))?;
        let data = &self.data;
        match (self.rtype, data.len()) {
            (1, 4) => write!(f, "{}.{}.{}.{}", data[0], data[1], data[2], data[3]),
            (2 | 5 | 12 | 39 | NSEC, _) => f.write_str(&name(data)),
            (6, _) => write!(f, "{} …", name(data)),
            (15, 3..) => write!(f, "{} {}", u16::from_be_bytes([data[0], data[1]]), name(&data[2..])),
            (RRSIG, 18..) => write!(f, "{} {} …", RecordType(self.about()), name(&data[18..])),
            (NSEC3, 5..) => {
                let at = 5 + usize::from(data[4]);
                let next: String =
                    data.iter().skip(at + 1).take(20).map(|byte| format!("{byte:02x}")).collect();
                write!(f, "flags {} next {next}", data[1])
            }
            _ if data.len() > 24 => write!(f, "{} bytes, {:02x?}…", data.len(), &data[..24]),
            _ => write!(f, "{data:02x?}"),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rcode {} opcode {} flags", self.rcode, self.opcode)?;
        let bits = [
            (0x8000, "qr"),
            (AA, "aa"),
            (TC, "tc"),
            (0x0100, "rd"),
            (0x0080, "ra"),
            (0x40, "z"),
            (0x20, "ad"),
            (0x10, "cd"),
        ];
        for (bit, name) in bits {
            if self.flags & bit > 0 {
                write!(f, " {name}")?;
            }
        }
        match &self.opt {
            Some(opt) => writeln!(f, ", {opt:?}")?,
            None => writeln!(f, ", no OPT")?,
        }
        for (question, rtype, class) in &self.questions {
            writeln!(f, "    question {} {} {}", name(question), Class(*class), RecordType(*rtype))?;
        }
        for (records, section) in self.sections.iter().zip(["answer", "authority", "additional"]) {
            for record in records.iter().take(12) {
                writeln!(f, "    {section} {record}")?;
            }
            if records.len() > 12 {
                writeln!(f, "    {section} … {} records", records.len())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A response with a question for `a.` and an MX record whose names have upper case.
    fn message(more: &[u8]) -> Vec<u8> {
        let head = b"\x12\x34\x84\0\0\x01\0\x01\0\0\0\0\x01A\0\0\x0f\0\x01";
        [&head[..], b"\xc0\x0c\0\x0f\0\x01\0\0\0\x3c\0\x06\0\x0a\x01M\xc0\x0c", more].concat()
    }

    #[test]
    fn names_of_records_are_in_lower_case() {
        let answer = Answer::parse(&message(&[])).unwrap();
        assert_eq!((answer.flags, answer.rcode), (0x8400, 0));
        assert_eq!(answer.questions, [(b"\x01A\0".to_vec(), 15, 1)]);
        let record = answer.sections[0].first().unwrap();
        assert_eq!((&record.owner[..], &record.data[..]), (&b"\x01a\0"[..], &b"\0\x0a\x01m\x01a\0"[..]));
    }

    #[test]
    fn bytes_after_the_last_record_are_an_error() {
        assert!(Answer::parse(&message(&[0])).is_err());
    }
}
