//! Records out of zone files in master format (RFC 1035 §5).

use super::memory;
use domain::base::iana;
use domain::base::name::ToName as _;
use domain::base::rdata::ComposeRecordData as _;
use domain::zonefile::inplace::{Entry, ScannedRecord, Zonefile};
use hashlane_dns::wire::{
    Class, Content, Flags, Header, Question, Rdata, RdataError, Record, RecordType, Section,
};
use hashlane_name::dns::{Name, NameBuf};
use std::fmt;

/// Most memory for the records of a file in bytes, approximately: 1.5 million records and more.
const MAX_MEMORY: usize = 512 << 20;

/// Reads a zone file, and makes of it the message that transfers the zone (RFC 5936 §2.2): the question is
/// the owner of the first record with type AXFR, and the answer all records in the order of the file. It may
/// be longer than a message can be.
///
/// `origin` ends names that are not complete, until the file has its own `$ORIGIN`. The class is IN until a
/// record has one, and from there on that of the record before; a time to live that no `$TTL` and no record
/// has stated is 3,600 s. Times are numbers of seconds.
///
/// # Errors
/// The file is not a zone file, holds no record, refers to another file, or holds too many records.
pub fn read(text: &[u8], origin: Option<Name<'_>>) -> Result<Content, ZoneError> {
    let text = spaced(text)?;
    // The reader panics on some malformed files. Its records are then dropped.
    std::panic::catch_unwind(|| records(&text, origin)).unwrap_or(Err(ZoneError::Reader))
}

/// Reads the output of [`spaced`].
fn records(text: &[u8], origin: Option<Name<'_>>) -> Result<Content, ZoneError> {
    let mut zone = Zonefile::with_capacity(text.len());
    zone.extend_from_slice(text);
    // Only so does the reader take records of several classes; a missing class is set below.
    zone = zone.allow_invalid();
    zone.set_default_class(iana::Class::IN);
    if let Some(origin) = origin {
        let bytes = origin.as_bytes().to_vec();
        let name = domain::base::Name::from_octets(bytes.into());
        // A checked name is one there, too.
        zone.set_origin(name.map_err(|_| ZoneError::Name)?);
    }
    let mut records = Vec::new();
    let mut kept = 0;
    while let Some(entry) = zone.next_entry().map_err(|error| syntax_error(&error.to_string()))? {
        let record = match entry {
            Entry::Record(record) => record,
            Entry::Include { path, .. } => return Err(ZoneError::Include(path.to_string())),
        };
        zone.set_default_class(record.class());
        let record = plain(&record)?;
        kept += memory::record(&record);
        if kept > MAX_MEMORY {
            return Err(ZoneError::TooLarge { records: records.len() });
        }
        records.push(record);
    }
    let first = records.first().ok_or(ZoneError::Empty)?;
    let question = Question { name: first.owner, rtype: RecordType::AXFR, class: first.class };
    let header = Header { id: 0, flags: Flags::RESPONSE.with(Flags::AUTHORITATIVE) };
    Ok(Content { header, questions: vec![question], records })
}

/// The text as the reader can take it: it panics where a file ends within an entry and where a token follows
/// a quotation without a space, and takes a last line without its end for one that is cut off.
///
/// # Errors
/// A quote or parenthesis is opened and never closed.
fn spaced(text: &[u8]) -> Result<Vec<u8>, ZoneError> {
    let (mut line, mut quote, mut open) = (1, None, Vec::new());
    let mut spaced = Vec::with_capacity(text.len() + 1);
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        spaced.push(byte);
        match byte {
            b'\n' => line += 1,
            b'\\' => {
                let escaped = bytes.next();
                spaced.extend(escaped);
                line += usize::from(escaped == Some(&b'\n'));
            }
            b'"' => {
                quote = quote.xor(Some(line));
                if quote.is_none() && bytes.as_slice().first().is_some_and(|next| !next.is_ascii_whitespace())
                {
                    spaced.push(b' ');
                }
            }
            _ if quote.is_some() => {}
            b'(' => open.push(line),
            b')' => drop(open.pop()),
            // To the end of the line, which is not taken.
            b';' => {
                let rest = bytes.as_slice();
                let comment = rest.iter().take_while(|byte| **byte != b'\n').count();
                spaced.extend_from_slice(&rest[..comment]);
                bytes = rest[comment..].iter();
            }
            _ => {}
        }
    }
    spaced.push(b'\n');
    match (quote, open.pop()) {
        (Some(line), _) => Err(ZoneError::Syntax(format!("line {line}: unclosed quotation"))),
        (None, Some(line)) => Err(ZoneError::Syntax(format!("line {line}: unclosed parenthesis"))),
        (None, None) => Ok(spaced),
    }
}

/// A record as this workspace has them.
fn plain(record: &ScannedRecord) -> Result<Record, ZoneError> {
    let owner = record.owner().to_vec();
    let owner = Name::parse(owner.as_slice()).map_err(|_| ZoneError::Name)?;
    let mut data = Vec::new();
    // Writing to a vector cannot fail.
    let Ok(()) = record.data().compose_rdata(&mut data);
    let record = Record {
        section: Section::Answer,
        owner: NameBuf::from(owner),
        rtype: RecordType(record.rtype().to_int()),
        class: Class(record.class().to_int()),
        ttl: record.ttl().as_secs(),
        data,
    };
    // In the generic form of RFC 3597 §5 the data may be anything.
    match Rdata::parse(record.rtype, &record.data) {
        Ok(_) => Ok(record),
        Err(error) => Err(ZoneError::Rdata(format!("{} {}", record.owner, record.rtype), error)),
    }
}

/// Error from the reader's message `LINE:COLUMN: WHAT`, in words that need no knowledge of the reader.
fn syntax_error(error: &str) -> ZoneError {
    let mut parts = error.splitn(3, ':');
    let number = |part: Option<&str>| part.and_then(|part| part.parse::<usize>().ok());
    let (Some(line), Some(column), Some(what)) =
        (number(parts.next()), number(parts.next()), parts.next().map(str::trim))
    else {
        return ZoneError::Syntax(error.to_owned());
    };
    let at = match what {
        // The error was noticed after the end of the line.
        what if column == 1 && line > 1 && !matches!(what, "bad symbol" | "unbalanced parens") => {
            format!("line {}", line - 1)
        }
        _ => format!("line {line}, column {column}"),
    };
    let what = match what {
        "missing origin" => return ZoneError::NoOrigin(at),
        "expected rtype" => "neither a type nor a class nor a time to live in seconds",
        "missing last owner" => "a record without an owner, and none before it",
        "unknown record type with concrete data" => {
            r"data of this type are read only in the generic form, \# LENGTH HEX (RFC 3597 §5)"
        }
        "trailing tokens" => "the record goes on after its last field",
        "unexpected end of entry" => "the record ends before its last field",
        what => what,
    };
    ZoneError::Syntax(format!("{at}: {what}"))
}

/// Reasons for which a zone file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ZoneError {
    /// Syntax error: its position and cause.
    Syntax(String),
    /// A name has no dot at its end, and there is nothing to end it: where.
    NoOrigin(String),
    /// An invalid name that the reader let pass.
    Name,
    /// The record, named with its owner, has data in generic form that its type does not allow.
    Rdata(String, RdataError),
    /// It refers to another file.
    Include(String),
    /// The reader gave up on it, and does not say where.
    Reader,
    /// There is no record.
    Empty,
    /// There are too many records.
    TooLarge {
        /// Largest number of records.
        records: usize,
    },
}

impl fmt::Display for ZoneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(what) => f.write_str(what),
            Self::NoOrigin(at) => {
                write!(f, "{at}: a relative name without a $ORIGIN before it")
            }
            Self::Name => f.write_str("a name longer than 255 bytes"),
            Self::Rdata(record, error) => write!(f, "the record {record}: {error}"),
            Self::Include(path) => {
                write!(f, "$INCLUDE of {path:?}: other files are not read; insert its lines here")
            }
            Self::Reader => {
                f.write_str("the reader of zone files gave up; leave out records until it reads the rest")
            }
            Self::Empty => f.write_str("no record"),
            Self::TooLarge { records } => {
                write!(f, "after {records} records, {} MiB of memory are full", MAX_MEMORY >> 20)
            }
        }
    }
}

impl std::error::Error for ZoneError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const ZONE: &str = "\
$TTL 300
@       SOA ns hostmaster 1 2 3 4 5
        NS  ns.Example.com.
ns  60  A   192.0.2.1
_sip._tcp SRV 0 0 5060 ns
*       TXT \"a b\" c
odd     TYPE65280 ( \\# 3 ; comment
        010203 )";

    fn origin() -> NameBuf {
        "example.com".parse().unwrap()
    }

    #[test]
    fn reads_records_in_their_order() {
        let message = read(ZONE.as_bytes(), Some(origin().view())).unwrap();
        let question = Question { name: origin(), rtype: RecordType::AXFR, class: Class::IN };
        assert_eq!(message.questions, [question]);
        let shown: Vec<String> = message
            .records
            .iter()
            .map(|record| {
                let Record { owner, rtype, class, ttl, data, .. } = record;
                format!("{owner} {ttl} {class} {rtype} {}", data.escape_ascii())
            })
            .collect();
        assert_eq!(
            shown[1..],
            [
                r"example.com. 300 IN NS \x02ns\x07Example\x03com\x00",
                r"ns.example.com. 60 IN A \xc0\x00\x02\x01",
                r"_sip._tcp.example.com. 300 IN SRV \x00\x00\x00\x00\x13\xc4\x02ns\x07example\x03com\x00",
                r"*.example.com. 300 IN TXT \x03a b\x01c",
                r"odd.example.com. 300 IN TYPE65280 \x01\x02\x03",
            ]
        );
        assert_eq!(
            (message.records[0].rtype, message.records[0].data.len()),
            (RecordType::SOA, 16 + 24 + 20)
        );
    }

    #[test]
    fn a_class_holds_until_the_next() {
        let message = read(b"a. A 192.0.2.1\nb. CH TXT x\nc. TXT y\n", None).unwrap();
        let classes: Vec<Class> = message.records.iter().map(|record| record.class).collect();
        assert_eq!(classes, [Class::IN, Class::CH, Class::CH]);
    }

    #[test]
    fn a_quotation_needs_no_space_after_it() {
        let message = read(b"a. TXT \"b c\"d\"e\"\n", None).unwrap();
        assert_eq!(message.records[0].data, b"\x03b c\x01d\x01e");
        assert!(read(b"$INCLUDE \"b\"a\x01   c\n", None).is_err());
    }

    #[test]
    fn locates_syntax_errors() {
        let says = |text: &str| read(text.as_bytes(), None).unwrap_err().to_string();
        for (text, expected) in [
            ("a. A 192.0.2.1\na. 1h A 192.0.2.1", "line 2, column 6: neither a type nor a class nor a time"),
            ("a. A 192.0.2.1\na. MX 10\nb. A 192.0.2.1", "line 2: the record ends before its last field"),
            ("a. A 192.0.2\n\n", "line 1: expected IPv4 address"),
            ("www A 192.0.2.1", "line 1, column 5: a relative name without a $ORIGIN"),
            ("  A 192.0.2.1", "line 1, column 3: a record without an owner, and none before it"),
            ("a. A 192.0.2.1 2", "line 1, column 16: the record goes on after its last field"),
            ("$TTL 1\n$UNKNOWN x", "line 2, column 10: unknown control: $UNKNOWN"),
            ("a. TXT \"b\\\"\na. TXT c", "line 1: unclosed quotation"),
            ("a. TXT ( a ; )\n(b)", "line 1: unclosed parenthesis"),
            ("a. LOC 1 N 1 E 0m", "line 1, column 8: data of this type are read only in the generic"),
            (")", "line 1, column 1: unbalanced parens"),
        ] {
            assert!(says(text).starts_with(expected), "{}", says(text));
        }
        assert_eq!(says("a. MX \\# 1 00"), "the record a. MX: record data cut off at byte 1");
        assert_eq!(says("; nothing\n"), "no record");
        assert!(says("$INCLUDE other.zone").contains("\"other.zone\": other files are not read"));
    }

    proptest! {
        #[test]
        fn a_changed_file_is_no_disaster(
            changes in vec((any::<prop::sample::Index>(), 0..6_usize, "[ -~\\n]{0,3}|[()\"\\\\;@$.\\n #0-9]{0,4}|.{0,3}"), 1..6),
        ) {
            let mut text = ZONE.as_bytes().to_vec();
            for (at, cut, to) in changes {
                let at = at.index(text.len() + 1);
                text.splice(at..(at + cut).min(text.len()), to.into_bytes());
            }
            if let Ok(message) = read(&text, Some(origin().view())) {
                prop_assert!(message.records.len() <= 32);
            }
        }
    }
}
