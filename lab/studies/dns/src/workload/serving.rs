//! RRsets that a server answers with.

use super::attacks;
use hashlane_dns::wire::{Class, Content, Flags, Header, Question, Record, RecordType, Section};
use hashlane_name::dns::{Name, NameBuf};

/// The first records of a message that is as long as can be: fifteen of sixteen, as servers write them in
/// another order, in which the message may be longer.
pub(super) fn with_room(mut content: Content) -> Content {
    content.records.truncate(content.records.len() / 16 * 15);
    content
}

/// The first names of CVE-2024-8508, as many as an RRset has room for that is kept in 64 KiB without
/// compression.
pub(super) fn few_shared() -> Content {
    let mut content = attacks::shared_suffix();
    content.records.truncate(240);
    content
}

/// An ordinary answer of up to `octets` bytes: the addresses of one host of the zone `apex`.
pub(crate) fn ordinary(apex: &NameBuf, octets: usize) -> Content {
    let owner = [b"\x04host", apex.as_bytes()].concat();
    let owner = Name::parse(&owner).map_or(*apex, NameBuf::from);
    let (rtype, class) = (RecordType::A, Class::IN);
    let header = Header { id: 0x1603, flags: Flags::RESPONSE.with(Flags::AUTHORITATIVE) };
    let question = Question { name: owner, rtype, class };
    // A record takes a pointer, ten bytes and an address.
    let count = octets.saturating_sub(12 + owner.as_bytes().len() + 4) / 16;
    let record = |number: usize| {
        let data = (number as u32 + 0x0a00_0001).to_be_bytes().to_vec();
        Record { section: Section::Answer, owner, rtype, class, ttl: 3600, data }
    };
    Content { header, questions: vec![question], records: (0..count.max(1)).map(record).collect() }
}
