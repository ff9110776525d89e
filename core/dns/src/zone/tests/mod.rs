//! Zones that are built and asked.

mod errors;
mod inspect;
mod locate;
mod memory;
mod model;
mod nsec3;
mod patch;
mod sets;

use super::{Builder, Located, NameId, Zone, ZoneError};
use crate::query::Hash;
use crate::wire::RecordType;
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{NameBuf, text};
use std::vec::Vec;

const KEY: Key = Key::VECTOR;

fn name(name: &str) -> NameBuf {
    text::parse(name.as_bytes()).unwrap()
}

/// The wire form of names and bytes in a row.
fn wire(name_: &str, bytes: &[u8]) -> Vec<u8> {
    [name(name_).as_bytes(), bytes].concat()
}

fn soa() -> Vec<u8> {
    wire("ns.example", &wire("admin.example", b"\0\0\0\x07aaaabbbbccccdddd"))
}

/// A builder with SOA and NS records at its apex.
fn builder(apex: &str) -> Builder {
    let apex = name(apex);
    let mut builder = Builder::new(apex.view(), &KEY);
    builder.add(apex.view(), RecordType::SOA, 3600, &soa()).unwrap();
    builder.add(apex.view(), RecordType::NS, 3600, name("ns.example").as_bytes()).unwrap();
    builder
}

type Added<'a> = (&'a str, RecordType, &'a [u8]);

/// A zone of these records, beside SOA and NS at the apex.
fn try_zone(apex: &str, records: &[Added<'_>]) -> Result<Zone, ZoneError> {
    let mut builder = builder(apex);
    for (owner, rtype, data) in records {
        builder.add(name(owner).view(), *rtype, 300, data)?;
    }
    builder.finish()
}

fn zone(apex: &str, records: &[Added<'_>]) -> Zone {
    try_zone(apex, records).unwrap()
}

fn locate(zone: &Zone, queried: &str) -> Located {
    let queried = name(queried);
    zone.locate(Hash::new(&KEY).name(queried.view()), queried.view())
}

fn find(zone: &Zone, existing: &str) -> NameId {
    zone.find(name(existing).view(), &mut Hash::new(&KEY)).unwrap()
}

/// Data of a signature over records of a type.
fn rrsig(covered: RecordType) -> Vec<u8> {
    [&covered.0.to_be_bytes()[..], &[13; 16], b"\x07example\0signature"].concat()
}
