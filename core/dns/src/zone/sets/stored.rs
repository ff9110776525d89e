//! The stored form of records.

use super::{HEAD, Set, Shape, split, take};
use crate::slices::Parts as _;
use crate::wire::RecordType;
use crate::zone::NameId;

impl<'z> Set<'z> {
    /// The records in stored form, without lengths.
    pub(in crate::zone) fn stored(&self) -> impl Iterator<Item = &'z [u8]> + use<'z> {
        let (shape, mut rest) = (Shape::of(self.rtype), self.body);
        (0..self.count).map_while(move |_| {
            let len = match shape.len() {
                Some(len) => len,
                None => take(&mut rest).map(u16::from_le_bytes)?.into(),
            };
            split(&mut rest, len)
        })
    }

    /// Bytes of the set, without the length of its body.
    pub(in crate::zone) fn bytes(&self) -> usize {
        HEAD + self.body.len()
    }
}

/// Gives the names in the data of a record their new numbers.
pub(in crate::zone) fn renumber(rtype: RecordType, record: &mut [u8], new: impl Fn(NameId) -> NameId) {
    let Shape::Names { before, names, .. } = Shape::of(rtype) else { return };
    let (ids, _) = record.part_mut(before..).as_chunks_mut();
    for id in ids.iter_mut().take(names) {
        *id = new(NameId(u32::from_le_bytes(*id))).0.to_le_bytes();
    }
}
