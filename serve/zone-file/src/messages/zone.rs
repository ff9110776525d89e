//! Records out of zone files in master format (RFC 1035 §5), read as the name server reads them.

use super::memory;
use crate::{Fault, FaultKind, LoadError, Options, named_zone_file, records, records_of};
use hashlane_dns::wire::{Class, Content, Flags, Header, Question, Rdata, Record, RecordType, Section};
use hashlane_dns::zone::WholeRecord;
use hashlane_name::dns::{Name, NameBuf};
use std::path::Path;

/// Most memory for the records of a file in bytes, approximately: 1.5 million records and more.
const MAX_MEMORY: usize = 512 << 20;

/// Most bytes of a zone file and the files that it includes.
const MAX_BYTES: u64 = 256 << 20;

/// Time to live in seconds of records for which no `$TTL` and no record has stated one.
const DEFAULT_TTL: u32 = 3600;

/// Reasons for which a zone file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ZoneError {
    /// The first error, with its position.
    #[error("{0}")]
    Fault(Fault),
    /// There is no record. Holds the name of the file.
    #[error("{0}: no record; name a zone file")]
    Empty(String),
}

impl ZoneError {
    /// `true` if the zone, or a file that it includes, needs an origin.
    pub fn needs_origin(&self) -> bool {
        matches!(self, Self::Fault(Fault { what: FaultKind::NoOrigin, .. }))
    }
}

/// Reads the text of a zone file, called `name` in errors, and makes of it the message that transfers the
/// zone (RFC 5936 §2.2): the question is the owner of the first record with type AXFR, and the answer all
/// records in the order of the file. It may be longer than a message can be.
///
/// `origin` ends names that are not complete, until the file has its own `$ORIGIN`. A time to live that no
/// `$TTL` and no record has stated is 3,600 s. Times are seconds, or have units: `1d`, `1w2d`.
///
/// # Errors
/// The file is not a zone file, holds no record of class IN, includes another file, or holds too many
/// records.
pub fn read(text: &[u8], name: &str, origin: Option<Name<'_>>) -> Result<Content, ZoneError> {
    collect(name, |options, sink| records_of(name, text.to_vec(), origin, options, sink))
}

/// [`read`] of the file at a path. Files that `$INCLUDE` names are read from the folder of that file. Without
/// an `origin`, relative names in a file `example.com.zone` or `example.com.db` end with `example.com.`.
///
/// # Errors
/// As [`read`]; a file cannot be read; an included file lies outside the folder, or is included in itself.
pub fn read_file(file: &Path, origin: Option<Name<'_>>) -> Result<Content, ZoneError> {
    let named = named_zone_file(file);
    let origin = origin.or(named.as_ref().map(NameBuf::view));
    collect(&file.display().to_string(), |options, sink| records(file, origin, options, sink))
}

/// Receives records.
type Sink<'s> = &'s mut dyn FnMut(WholeRecord<'_>) -> Result<(), FaultKind>;

fn collect(
    name: &str,
    read: impl FnOnce(&Options, Sink<'_>) -> Result<(), LoadError>,
) -> Result<Content, ZoneError> {
    let options =
        Options { default_ttl: Some(DEFAULT_TTL), max_bytes: MAX_BYTES, max_errors: 1, ..Options::default() };
    let (mut records, mut memory) = (Vec::new(), 0);
    let mut sink = |record: WholeRecord<'_>| {
        let record = plain(record)?;
        memory += memory::record(&record);
        if memory > MAX_MEMORY {
            let (count, most) = (records.len(), MAX_MEMORY >> 20);
            return Err(FaultKind::Zone(format!(
                "after {count} records, {most} MiB are full; split the file"
            )));
        }
        records.push(record);
        Ok(())
    };
    let outcome = read(&options, &mut sink);
    if let Err(fault) = outcome.map_err(|error| error.faults.into_iter().next()) {
        return Err(fault.map_or_else(|| ZoneError::Empty(name.to_owned()), ZoneError::Fault));
    }
    let first = records.first().ok_or_else(|| ZoneError::Empty(name.to_owned()))?;
    let question = Question { name: first.owner, rtype: RecordType::AXFR, class: first.class };
    let header = Header { id: 0, flags: Flags::RESPONSE.with(Flags::AUTHORITATIVE) };
    Ok(Content { header, questions: vec![question], records })
}

/// A record that owns its parts.
fn plain(record: WholeRecord<'_>) -> Result<Record, FaultKind> {
    let WholeRecord { owner, rtype, ttl, data } = record;
    // In the generic form of RFC 3597 §5 the data may be anything.
    Rdata::parse(rtype, data)
        .map_err(|error| FaultKind::Zone(format!("the record {owner} {rtype}: {error}")))?;
    let (owner, class, data) = (NameBuf::from(owner), Class::IN, data.to_vec());
    Ok(Record { section: Section::Answer, owner, rtype, class, ttl, data })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZONE: &str = "\
$TTL 300
@       SOA ns hostmaster 1 2 3 4 5
        NS  ns.Example.com.
ns  60  A   192.0.2.1
_sip._tcp SRV 0 0 5060 ns
*       TXT \"a b\" c
odd     TYPE65280 ( \\# 3 ; comment
        010203 )";

    fn read(text: &str, origin: Option<&str>) -> Result<Content, ZoneError> {
        let origin: Option<NameBuf> = origin.map(|origin| origin.parse().unwrap());
        super::read(text.as_bytes(), "zone", origin.as_ref().map(NameBuf::view))
    }

    #[test]
    fn reads_records_in_their_order() {
        let message = read(ZONE, Some("example.com")).unwrap();
        let name = "example.com".parse().unwrap();
        let question = Question { name, rtype: RecordType::AXFR, class: Class::IN };
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
    fn names_the_first_error_alone_and_its_place() {
        let says = |text: &str| read(text, None).unwrap_err();
        for (text, expected) in [
            ("a. A 192.0.2.1\na. MX 10\nb. A x", "zone:2:7: expected a name, found the end of the record"),
            ("; nothing\n", "zone: no record"),
            ("a. CH TXT x", "zone:1:4: class CH"),
            (
                "$INCLUDE other.zone",
                "zone:1:10: $INCLUDE of \"other.zone\": the zone is not read from a file",
            ),
        ] {
            let error = says(text);
            assert!(error.to_string().starts_with(expected), "{error}");
            assert!(!error.to_string().contains('\n') && !error.needs_origin());
        }
        assert!(says("www A 192.0.2.1").needs_origin());
    }
}
