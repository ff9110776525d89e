//! Records in canonical form (RFC 4034 §6.2, with the corrections of RFC 6840 §5.1).

use super::ZONEMD;
use crate::records::whole_data;
use hashlane_dns::wire::{Class, RecordType};
use hashlane_dns::zone::{NameId, Zone};
use hashlane_name::dns::Name;
use std::ops::Range;

/// An IPv6 address in parts (RFC 2874).
const A6: RecordType = RecordType(38);

/// A writer of canonical forms, which keeps its memory.
#[derive(Default)]
pub(super) struct Canonical {
    /// The records of the owner: type, TTL, and the place of their data.
    records: Vec<(RecordType, u32, Range<usize>)>,
    data: Vec<u8>,
    record: Vec<u8>,
    out: Vec<u8>,
}

impl Canonical {
    /// All records of an owner in canonical form and order, but for the ZONEMD records of the apex and their
    /// signatures.
    pub(super) fn owner(&mut self, zone: &Zone, owner: NameId) -> &[u8] {
        let Self { records, data, record, out } = self;
        records.clear();
        data.clear();
        out.clear();
        for (rtype, ttl, stored) in zone.records_of(owner) {
            whole_data(zone, &stored, record);
            if owner == zone.apex() && is_left_out(rtype, record) {
                continue;
            }
            fold(rtype, record);
            let start = data.len();
            data.extend_from_slice(record);
            records.push((rtype, ttl, start..data.len()));
        }
        let bytes = |place: &Range<usize>| data.get(place.clone()).unwrap_or_default();
        // By type; the records of a type by their data, as bytes without a sign.
        records.sort_by(|(a, _, x), (b, _, y)| a.cmp(b).then_with(|| bytes(x).cmp(bytes(y))));
        // Names that are no more than data to a zone may differ in case.
        records.dedup_by(|(a, _, x), (b, _, y)| a == b && bytes(x) == bytes(y));
        let mut name = zone.name(owner).as_bytes().to_vec();
        // The bytes of length are no letters.
        name.make_ascii_lowercase();
        for (rtype, ttl, place) in &*records {
            let data = bytes(place);
            out.extend_from_slice(&name);
            out.extend_from_slice(&rtype.0.to_be_bytes());
            out.extend_from_slice(&Class::IN.0.to_be_bytes());
            out.extend_from_slice(&ttl.to_be_bytes());
            out.extend_from_slice(&(data.len() as u16).to_be_bytes());
            out.extend_from_slice(data);
        }
        out
    }
}

/// Returns true for the records of the apex that a digest does not cover (RFC 8976 §3.3.1.1).
fn is_left_out(rtype: RecordType, data: &[u8]) -> bool {
    rtype == ZONEMD || rtype == RecordType::RRSIG && data.starts_with(&ZONEMD.0.to_be_bytes())
}

/// Writes the names in data in small letters, for the types of RFC 4034 §6.2 but HINFO and NSEC.
fn fold(rtype: RecordType, data: &mut [u8]) {
    let Some((mut at, names)) = names(rtype, data) else { return };
    for _ in 0..names {
        let rest = data.get(at..).unwrap_or_default();
        let Ok(len) = Name::parse_first(rest).map(Name::len) else { return };
        if let Some(name) = data.get_mut(at..at + len) {
            name.make_ascii_lowercase();
        }
        at += len;
    }
}

/// Offset and number of the names in data.
fn names(rtype: RecordType, data: &[u8]) -> Option<(usize, usize)> {
    match rtype {
        RecordType::DNAME => Some((0, 1)),
        RecordType::KX => Some((2, 1)),
        RecordType::RRSIG => Some((18, 1)),
        // A length in bits of the prefix that the name gives, and the rest of the address (RFC 2874 §3.1).
        A6 => {
            let prefix = usize::from(*data.first()?);
            (1..=128).contains(&prefix).then(|| (1 + (128 - prefix).div_ceil(8), 1))
        }
        _ => {
            let layout = rtype.layout()?;
            let mut before = layout.before;
            for _ in 0..layout.strings {
                before += 1 + usize::from(*data.get(before)?);
            }
            Some((before, layout.names))
        }
    }
}
