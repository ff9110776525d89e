//! Records in one array of bytes.

pub use hashlane_dns::zone::WholeRecord as Record;

use hashlane_dns::wire::RecordType;
use hashlane_dns::zone::{NameId, Zone};
use hashlane_name::dns::Name;

/// Records one after the other: owner, type, TTL, length of the data and data, as in a message without
/// compression, but without the class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    bytes: Vec<u8>,
    len: usize,
}

/// The bytes are no records: the place at which they end or a name is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed record at byte {at}")]
pub struct Malformed {
    /// Offset of the record.
    pub at: usize,
}

/// Bytes of a record beside its owner and data.
const FRAME: usize = 8;

impl Records {
    /// The records that `bytes` holds, each of them checked.
    ///
    /// # Errors
    /// The bytes end within a record, or a name is malformed.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, Malformed> {
        let (mut at, mut len) = (0, 0);
        while at < bytes.len() {
            let rest = bytes.get(at..).unwrap_or_default();
            let (_, size) = split(rest).ok_or(Malformed { at })?;
            (at, len) = (at + size, len + 1);
        }
        Ok(Self { bytes, len })
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True without records.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        self.bytes.capacity()
    }

    /// Adds a record. Data beyond 65,535 bytes, which no record has, are cut.
    pub fn push(&mut self, record: &Record<'_>) {
        let data = record.data.get(..usize::from(u16::MAX)).unwrap_or(record.data);
        self.bytes.extend_from_slice(record.owner.as_bytes());
        self.bytes.extend_from_slice(&record.rtype.0.to_be_bytes());
        self.bytes.extend_from_slice(&record.ttl.to_be_bytes());
        self.bytes.extend_from_slice(&(data.len() as u16).to_be_bytes());
        self.bytes.extend_from_slice(data);
        self.len += 1;
    }

    /// Removes all records, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.len = 0;
    }

    /// The records, in their order.
    pub fn iter(&self) -> Iter<'_> {
        Iter { rest: &self.bytes }
    }

    /// The record at an offset in [`as_bytes`](Self::as_bytes), and the offset after it.
    pub fn at(&self, offset: usize) -> Option<(Record<'_>, usize)> {
        let (record, len) = split(self.bytes.get(offset..)?)?;
        Some((record, offset + len))
    }
}

impl<'a> IntoIterator for &'a Records {
    type Item = Record<'a>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// The records of [`Records`].
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Iter<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        let (record, len) = split(self.rest)?;
        self.rest = self.rest.get(len..).unwrap_or_default();
        Some(record)
    }
}

/// The first record, and its length.
pub(crate) fn split(bytes: &[u8]) -> Option<(Record<'_>, usize)> {
    let owner = Name::parse_first(bytes).ok()?;
    let rest = bytes.get(owner.len()..)?;
    let ([a, b, ttl @ .., c, d], rest) = rest.split_first_chunk::<FRAME>()?;
    let data = rest.get(..usize::from(u16::from_be_bytes([*c, *d])))?;
    let (rtype, ttl) = (RecordType(u16::from_be_bytes([*a, *b])), u32::from_be_bytes(*ttl));
    Some((Record { owner, rtype, ttl, data }, owner.len() + FRAME + data.len()))
}

/// Writes the data of a record of a zone with whole names.
pub fn whole_data(zone: &Zone, record: &hashlane_dns::zone::Record<'_>, data: &mut Vec<u8>) {
    data.clear();
    data.extend_from_slice(record.before);
    for name in record.names.iter().flatten() {
        data.extend_from_slice(zone.name(*name).as_bytes());
    }
    data.extend_from_slice(record.after);
}

/// Calls `each` with all records of a zone and the number of their owners; the SOA record is among them.
/// After the first error, it stops.
///
/// # Errors
/// The error of `each`.
pub fn of_zone<E>(zone: &Zone, mut each: impl FnMut(NameId, Record<'_>) -> Result<(), E>) -> Result<(), E> {
    let mut data = Vec::new();
    for id in zone.owners() {
        let owner = zone.name(id);
        for (rtype, ttl, record) in zone.records_of(id) {
            whole_data(zone, &record, &mut data);
            each(id, Record { owner: owner.view(), rtype, ttl, data: &data })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_name::dns::text;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_come_back_as_they_were_added(all in proptest::collection::vec(("[a-z]{1,9}(\\.[a-z]{1,9}){0,3}",
            any::<u16>(), any::<u32>(), proptest::collection::vec(any::<u8>(), 0..40)), 0..20))
        {
            let mut records = Records::default();
            for (owner, rtype, ttl, data) in &all {
                let owner = text::parse(owner.as_bytes()).unwrap();
                records.push(&Record { owner: owner.view(), rtype: RecordType(*rtype), ttl: *ttl, data });
            }
            prop_assert_eq!(records.len(), all.len());
            for (record, (owner, rtype, ttl, data)) in records.iter().zip(&all) {
                let owner = text::parse(owner.as_bytes()).unwrap();
                prop_assert_eq!(record, Record { owner: owner.view(), rtype: RecordType(*rtype), ttl: *ttl, data });
            }
            let again = Records::from_bytes(records.as_bytes().to_vec()).unwrap();
            prop_assert_eq!(&again, &records);
            for end in 1..records.as_bytes().len() {
                // A cut is an error, or a shorter list.
                if let Ok(cut) = Records::from_bytes(records.as_bytes()[..end].to_vec()) {
                    prop_assert!(cut.len() < all.len());
                }
            }
        }
    }
}
