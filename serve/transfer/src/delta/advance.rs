//! Differences applied to a copy of a zone's arrays.

use super::changes::{Changes, Place};
use super::identity::{Identity, Ttl};
use super::{ApplyError, Delta, build};
use crate::records::{Record, Records};
use hashlane_dns::zone::{Unpatched, Zone};
use hashlane_hash::scheme::Key;

/// A zone that differences have led to.
#[derive(Debug)]
pub struct Advanced {
    /// The zone.
    pub zone: Zone,
    /// Reason for which it was built anew; none if it was patched.
    pub unpatched: Option<Unpatched>,
}

impl Delta {
    /// The zone of a version, from a zone of an earlier one: by a [patch](Zone::patched) that takes about the
    /// time of a copy of the zone's memory, or as by [`apply`](Self::apply). `key` is the key of the zone's
    /// names.
    ///
    /// Beside the memory of both zones, it takes memory for the changes alone if the zone is patched.
    ///
    /// # Errors
    /// The errors of `apply`.
    pub fn advance(zone: &Zone, deltas: &[Self], key: &Key) -> Result<Advanced, ApplyError> {
        let mut identity = Identity::new(key, Ttl::Free);
        let changes = Changes::of(zone.serial(), deltas.iter(), &mut identity)?;
        let (removed, added) = (changes.removed(), changes.added());
        let removed = records(deltas, &removed, Self::removed);
        match zone.patched(key, removed, records(deltas, &added, Self::added)) {
            Ok(zone) => Ok(Advanced { zone, unpatched: None }),
            Err(why) => {
                let zone = build(zone, deltas, (&changes, &mut identity), key)?;
                Ok(Advanced { zone, unpatched: Some(why) })
            }
        }
    }
}

/// The records at these places of a part of the differences.
fn records<'d>(
    deltas: &'d [Delta],
    places: &'d [Place],
    part: fn(&Delta) -> &Records,
) -> impl Iterator<Item = Record<'d>> {
    places.iter().filter_map(move |(number, offset)| {
        let (record, _) = part(deltas.get(*number)?).at(*offset)?;
        Some(record)
    })
}
