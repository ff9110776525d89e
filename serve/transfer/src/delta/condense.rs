//! Several differences as one (RFC 1995 §5).

use super::{Delta, Identity, Place, Ttl};
use crate::records::{Record, Records};
use hashlane_hash::scheme::Key;
use std::collections::HashMap;
use std::sync::Arc;

/// Fate of a record by all differences.
enum Net {
    Removed(Place),
    Added(Place),
    /// Both have it, perhaps with another TTL: that of a removed record is not to be relied on.
    Changed {
        removed: Place,
        added: Place,
    },
}

impl Delta {
    /// One difference from the first version to the last, which leads to the same zone as all of them.
    /// Records that are added and removed again are left out. `key` should be random.
    ///
    /// Takes time of the order of the records, and memory of about 64 bytes for each. `None` without
    /// differences, or if they do not follow each other or contradict each other.
    pub fn condense(deltas: &[Arc<Self>], key: &Key) -> Option<Self> {
        let (first, last) = (deltas.first()?, deltas.last()?);
        let mut identity = Identity::new(key, Ttl::Free);
        let (mut net, mut serial) = (HashMap::new(), first.from);
        for (number, delta) in deltas.iter().enumerate() {
            if delta.from != serial {
                return None;
            }
            serial = delta.to;
            for (offset, record) in others(&delta.removed) {
                let id = identity.of(&record);
                match net.remove(&id) {
                    None => drop(net.insert(id, Net::Removed((number, offset)))),
                    Some(Net::Added(_)) => {}
                    Some(Net::Changed { removed, .. }) => drop(net.insert(id, Net::Removed(removed))),
                    Some(Net::Removed(_)) => return None,
                }
            }
            for (offset, record) in others(&delta.added) {
                let (id, added) = (identity.of(&record), (number, offset));
                match net.remove(&id) {
                    None => drop(net.insert(id, Net::Added(added))),
                    Some(Net::Removed(removed)) => drop(net.insert(id, Net::Changed { removed, added })),
                    Some(Net::Added(_) | Net::Changed { .. }) => return None,
                }
            }
        }
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for change in net.into_values() {
            match change {
                Net::Removed(place) => removed.push(place),
                Net::Added(place) => added.push(place),
                Net::Changed { removed: before, added: after } => {
                    removed.push(before);
                    added.push(after);
                }
            }
        }
        let removed = collect(deltas, removed, (&first.removed, Self::removed))?;
        let added = collect(deltas, added, (&last.added, Self::added))?;
        Self::new(removed, added).ok()
    }
}

/// The records after the SOA record that a part begins with, with their offsets.
fn others(records: &Records) -> impl Iterator<Item = (usize, Record<'_>)> {
    let mut offset = records.at(0).map_or(0, |(_, next)| next);
    std::iter::from_fn(move || {
        let (record, next) = records.at(offset)?;
        Some((std::mem::replace(&mut offset, next), record))
    })
}

fn record_at<'d>(
    deltas: &'d [Arc<Delta>],
    (number, offset): Place,
    part: fn(&Delta) -> &Records,
) -> Option<Record<'d>> {
    Some(part(deltas.get(number)?).at(offset)?.0)
}

/// The SOA record of `of` and the records at these places, in the order of the differences.
fn collect(
    deltas: &[Arc<Delta>],
    mut places: Vec<Place>,
    (of, part): (&Records, fn(&Delta) -> &Records),
) -> Option<Records> {
    places.sort_unstable();
    let mut records = Records::default();
    records.push(&of.at(0)?.0);
    for place in places {
        records.push(&record_at(deltas, place, part)?);
    }
    Some(records)
}
