//! A record on its way to a set.

use super::names::NameId;
use crate::wire::RecordType;
use core::ops::Range;

/// A record, or the signature of records.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// Offset of the data.
    pub(super) at: u64,
    pub(super) ttl: u32,
    pub(super) owner: NameId,
    /// The type; of a signature, the type that it covers.
    pub(super) rtype: RecordType,
    pub(super) signs: bool,
    pub(super) len: u16,
}

impl Entry {
    /// The place of the data.
    pub(super) fn range(&self) -> Range<usize> {
        self.at as usize..self.at as usize + usize::from(self.len)
    }
}
