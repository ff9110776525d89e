//! Several differences as one (RFC 1995 §5).

use super::Delta;
use super::changes::{Changes, Place};
use super::identity::{Identity, Ttl};
use crate::records::Records;
use hashlane_hash::scheme::Key;
use std::sync::Arc;

impl Delta {
    /// One difference from the first version to the last, which leads to the same zone as all of them.
    /// Records that are added and removed again are left out. `key` should be random.
    ///
    /// Takes time of the order of the records, and memory of about 64 bytes for each. `None` without
    /// differences, or if they do not follow each other or contradict each other.
    pub fn condense(deltas: &[Arc<Self>], key: &Key) -> Option<Self> {
        let (first, last) = (deltas.first()?, deltas.last()?);
        let mut identity = Identity::new(key, Ttl::Free);
        let changes = Changes::of(first.from, deltas.iter().map(|delta| &**delta), &mut identity).ok()?;
        let removed = collect(deltas, changes.removed(), (&first.removed, Self::removed))?;
        let added = collect(deltas, changes.added(), (&last.added, Self::added))?;
        Self::new(removed, added).ok()
    }
}

/// The SOA record of `of`, and the other records at these places.
fn collect(
    deltas: &[Arc<Delta>],
    places: Vec<Place>,
    (of, part): (&Records, fn(&Delta) -> &Records),
) -> Option<Records> {
    let mut records = Records::default();
    records.push(&of.at(0)?.0);
    // Each part begins with its SOA record.
    for (number, offset) in places.into_iter().filter(|(_, offset)| *offset > 0) {
        records.push(&part(deltas.get(number)?).at(offset)?.0);
    }
    Some(records)
}
