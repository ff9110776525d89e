//! A record on its way to a set.

use super::names::NameId;
use super::room::reserve;
use crate::wire::RecordType;
use alloc::vec::Vec;
use core::ops::Range;

/// Alignment of the data, so that 32 bits address 16 GiB.
const UNIT: usize = 4;

/// Bit beside the TTL, which has 31, of the signature of records.
const SIGNS: u32 = 1 << 31;

/// A record, or the signature of records: 16 bytes, as a zone may have tens of millions.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// Offset of the data in [`UNIT`]s.
    at: u32,
    ttl_signs: u32,
    pub(super) owner: NameId,
    /// The type; of a signature, the type that it covers.
    pub(super) rtype: RecordType,
    /// Bytes of the data.
    pub(super) len: u16,
}

impl Entry {
    /// A record of the root without data. A TTL has at most 31 bits.
    pub(super) const fn new(rtype: RecordType, ttl: u32, signs: bool, len: u16) -> Self {
        let ttl_signs = ttl & !SIGNS | if signs { SIGNS } else { 0 };
        Self { at: 0, ttl_signs, owner: NameId::ROOT, rtype, len }
    }

    /// Places the data after those that are there, aligned. `None` if there are too many.
    pub(super) fn place(&mut self, data: &mut Vec<u8>) -> Option<()> {
        data.resize(data.len().next_multiple_of(UNIT), 0);
        self.at = u32::try_from(data.len() / UNIT).ok()?;
        Some(())
    }

    pub(super) fn ttl(&self) -> u32 {
        self.ttl_signs & !SIGNS
    }

    /// True for a signature.
    pub(super) fn signs(&self) -> bool {
        self.ttl_signs & SIGNS != 0
    }

    /// The place of the data; later entries have later ones.
    pub(super) fn range(&self) -> Range<usize> {
        let at = self.at as usize * UNIT;
        at..at + usize::from(self.len)
    }
}

/// Entries, and their data.
#[derive(Default)]
pub(super) struct Entries {
    pub(super) list: Vec<Entry>,
    pub(super) data: Vec<u8>,
}

impl Entries {
    /// Adds an entry with its data. `None` if there are too many.
    #[inline(always)]
    pub(super) fn push(&mut self, mut entry: Entry, data: &[u8]) -> Option<()> {
        reserve(&mut self.data, UNIT + data.len());
        entry.place(&mut self.data)?;
        self.data.extend_from_slice(data);
        reserve(&mut self.list, 1);
        self.list.push(entry);
        Some(())
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.data.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_16_bytes_and_keeps_its_ttl_beside_its_signature() {
        assert_eq!(size_of::<Entry>(), 16);
        let mut data = alloc::vec![1; 5];
        for (ttl, signs) in [(0, true), (i32::MAX as u32, false), (7, true)] {
            let mut entry = Entry::new(RecordType::A, ttl, signs, 3);
            entry.place(&mut data).unwrap();
            assert_eq!((entry.ttl(), entry.signs(), entry.range()), (ttl, signs, data.len()..data.len() + 3));
            assert_eq!(data.len() % UNIT, 0);
            data.extend([2; 3]);
        }
    }
}
