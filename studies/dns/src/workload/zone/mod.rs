//! Records out of zone files in master format (RFC 1035 §5).

mod error;
mod include;
mod text;

pub use error::{IncludeError, ZoneError};

use super::memory;
use domain::base::iana;
use domain::base::name::ToName as _;
use domain::base::rdata::ComposeRecordData as _;
use domain::zonefile::inplace::{Entry, ScannedRecord, Zonefile};
use hashlane_dns::wire::{Class, Content, Flags, Header, Question, Rdata, Record, RecordType, Section};
use hashlane_name::dns::{Name, NameBuf};
use include::Folder;
use std::path::Path;

/// Most memory for the records of a file in bytes, approximately: 1.5 million records and more.
const MAX_MEMORY: usize = 512 << 20;

/// Reads the text of a zone file, and makes of it the message that transfers the zone (RFC 5936 §2.2): the
/// question is the owner of the first record with type AXFR, and the answer all records in the order of the
/// file. It may be longer than a message can be.
///
/// `origin` ends names that are not complete, until the file has its own `$ORIGIN`. The class is IN until a
/// record has one, and from there on that of the record before; a time to live that no `$TTL` and no record
/// has stated is 3,600 s. Times are seconds, or have units: `1d`, `1w2d`.
///
/// # Errors
/// The file is not a zone file, holds no record, includes another file, or holds too many records.
pub fn read(text: &[u8], origin: Option<Name<'_>>) -> Result<Content, ZoneError> {
    read_from(text, None, origin)
}

/// [`read`] of the text of the file at a path. Files that `$INCLUDE` names are read from the folder of that
/// file; they begin with its `$TTL` and origin, and change neither.
///
/// # Errors
/// As [`read`]; an included file lies outside the folder, cannot be read, or is included in itself.
pub fn read_file(text: &[u8], file: &Path, origin: Option<Name<'_>>) -> Result<Content, ZoneError> {
    read_from(text, Some(file), origin)
}

fn read_from(text: &[u8], file: Option<&Path>, origin: Option<Name<'_>>) -> Result<Content, ZoneError> {
    // The reader panics on some malformed files. Its records are then dropped.
    let records = std::panic::catch_unwind(|| {
        let mut reading =
            Reading { records: Vec::new(), memory: 0, class: iana::Class::IN, folder: Folder::of(file) };
        reading.take(text, origin.map(|origin| origin.as_bytes().to_vec()), None).map(|()| reading.records)
    });
    let records = records.unwrap_or(Err(ZoneError::Reader))?;
    let first = records.first().ok_or(ZoneError::Empty)?;
    let question = Question { name: first.owner, rtype: RecordType::AXFR, class: first.class };
    let header = Header { id: 0, flags: Flags::RESPONSE.with(Flags::AUTHORITATIVE) };
    Ok(Content { header, questions: vec![question], records })
}

/// An origin in wire form.
type Origin = Vec<u8>;

/// Records so far, of a zone file and those that it includes.
struct Reading {
    records: Vec<Record>,
    /// Their memory in bytes, approximately.
    memory: usize,
    /// Class of the last record.
    class: iana::Class,
    folder: Folder,
}

impl Reading {
    /// Adds the records of a file. `ttl` is the `$TTL` of the file that includes it.
    fn take(&mut self, file: &[u8], origin: Option<Origin>, ttl: Option<u32>) -> Result<(), ZoneError> {
        let shown = origin.as_deref().and_then(|name| Name::parse(name).ok()).map(|name| name.to_string());
        let text = text::prepare(file, shown.map(String::into_bytes))?;
        // The reader has no other way to be given a default.
        let default = ttl.map_or_else(String::new, |ttl| format!("$TTL {ttl}\n"));
        let mut zone = Zonefile::with_capacity(default.len() + text.bytes.len());
        zone.extend_from_slice(default.as_bytes());
        zone.extend_from_slice(&text.bytes);
        // Only so does the reader take records of several classes; a missing class is set below.
        zone = zone.allow_invalid();
        zone.set_default_class(self.class);
        if let Some(origin) = origin {
            // A checked name is one there, too.
            let origin = domain::base::Name::from_octets(origin.into()).map_err(|_| ZoneError::Name)?;
            zone.set_origin(origin);
        }
        let lines = Lines { before: usize::from(ttl.is_some()), replaced: &text.replaced };
        while let Some(entry) = zone.next_entry().map_err(|error| lines.syntax_error(&error.to_string()))? {
            match entry {
                Entry::Record(record) => {
                    self.class = record.class();
                    self.add(&record)?;
                }
                Entry::Include { path, origin } => {
                    let read = zone.current_offset().saturating_sub(default.len());
                    let stated = text.ttls.iter().rev().find(|(end, _)| *end <= read).map(|(_, ttl)| *ttl);
                    let origin = origin.or_else(|| zone.origin().ok()).map(|name| name.as_slice().to_vec());
                    // The reader keeps the quote at the end of a path.
                    let path = path.to_string();
                    self.include(path.strip_suffix('"').unwrap_or(&path), origin, stated.or(ttl))?;
                }
            }
            zone.set_default_class(self.class);
        }
        Ok(())
    }

    /// Adds the records of an included file.
    fn include(&mut self, path: &str, origin: Option<Origin>, ttl: Option<u32>) -> Result<(), ZoneError> {
        let refused = |why| ZoneError::Include { path: path.to_owned(), why };
        let text = self.folder.open(path).map_err(refused)?;
        let within = |error| ZoneError::Within { path: path.to_owned(), error: Box::new(error) };
        self.take(&text, origin, ttl).map_err(within)?;
        self.folder.close();
        Ok(())
    }

    fn add(&mut self, record: &ScannedRecord) -> Result<(), ZoneError> {
        let record = plain(record)?;
        self.memory += memory::record(&record);
        if self.memory > MAX_MEMORY {
            return Err(ZoneError::TooLarge { records: self.records.len(), mebibytes: MAX_MEMORY >> 20 });
        }
        self.records.push(record);
        Ok(())
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

/// Lines of the reader, as lines of the file.
struct Lines<'a> {
    /// Lines before the file's first.
    before: usize,
    /// Lines whose columns are not those of the file.
    replaced: &'a [usize],
}

impl Lines<'_> {
    /// Error from the reader's message `LINE:COLUMN: WHAT`, in words that need no knowledge of the reader.
    fn syntax_error(&self, error: &str) -> ZoneError {
        let mut parts = error.splitn(3, ':');
        let number = |part: Option<&str>| part.and_then(|part| part.parse::<usize>().ok());
        let (Some(line), Some(column), Some(what)) =
            (number(parts.next()), number(parts.next()), parts.next().map(str::trim))
        else {
            return ZoneError::Syntax(error.to_owned());
        };
        let line = line.saturating_sub(self.before);
        let at = match what {
            // The error was noticed after the end of the line.
            what if column == 1 && line > 1 && !matches!(what, "bad symbol" | "unbalanced parens") => {
                format!("line {}", line - 1)
            }
            _ if self.replaced.contains(&line) => format!("line {line}"),
            _ => format!("line {line}, column {column}"),
        };
        let what = match what {
            "missing origin" => return ZoneError::NoOrigin(at),
            "expected rtype" => "neither a type nor a class nor a time to live",
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
}

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
            ("a. A 192.0.2.1\na. 1x A 192.0.2.1", "line 2, column 6: neither a type nor a class nor a time"),
            ("a. 1h A 192.0.2.1 b", "line 1: the record goes on after its last field"),
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
        let included = says("$INCLUDE other.zone");
        assert!(
            included.starts_with("$INCLUDE of \"other.zone\": the zone is not read from a file"),
            "{included}"
        );
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
