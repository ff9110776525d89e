//! The changes that differences make together.

use super::identity::Identity;
use super::{ApplyError, Delta};
use std::collections::HashMap;

/// The place of a record: the number of its difference, and its offset in a part of it.
pub(super) type Place = (usize, usize);

/// The fate of a record by all differences together.
pub(super) enum Change {
    /// The zone has it, and loses it.
    Remove(Place),
    /// The zone has it, and gets it anew, as with another TTL: a removed record's is not to be relied on.
    Replace { removed: Place, added: Place },
    /// The zone does not have it.
    Add(Place),
}

/// The changes of a zone, by the identity of the record.
pub(super) struct Changes(pub(super) HashMap<u128, Change>);

impl Changes {
    /// The changes of a version with a serial number.
    pub(super) fn of<'d>(
        mut serial: u32,
        deltas: impl Iterator<Item = &'d Delta>,
        identity: &mut Identity,
    ) -> Result<Self, ApplyError> {
        let mut changes = HashMap::new();
        let (mut missing, mut present) = (0, 0);
        for (number, delta) in deltas.enumerate() {
            if delta.from != serial {
                return Err(ApplyError::Serial { from: delta.from, serial });
            }
            serial = delta.to;
            let mut offset = 0;
            while let Some((record, next)) = delta.removed.at(offset) {
                let id = identity.of(&record);
                match changes.get(&id) {
                    None => drop(changes.insert(id, Change::Remove((number, offset)))),
                    Some(Change::Replace { removed, .. }) => {
                        let removed = *removed;
                        changes.insert(id, Change::Remove(removed));
                    }
                    Some(Change::Add(_)) => drop(changes.remove(&id)),
                    Some(Change::Remove(_)) => missing += 1,
                }
                offset = next;
            }
            let mut offset = 0;
            while let Some((record, next)) = delta.added.at(offset) {
                let (id, added) = (identity.of(&record), (number, offset));
                match changes.get(&id) {
                    None => drop(changes.insert(id, Change::Add(added))),
                    Some(Change::Remove(removed)) => {
                        let removed = *removed;
                        changes.insert(id, Change::Replace { removed, added });
                    }
                    Some(Change::Add(_) | Change::Replace { .. }) => present += 1,
                }
                offset = next;
            }
        }
        match (missing, present) {
            (0, 0) => Ok(Self(changes)),
            (0, present) => Err(ApplyError::Present(present)),
            (missing, _) => Err(ApplyError::Missing(missing)),
        }
    }

    /// Places of the records that the new version has, in the order of the differences.
    pub(super) fn added(&self) -> Vec<Place> {
        self.places(|change| match change {
            Change::Remove(_) => None,
            Change::Replace { added, .. } | Change::Add(added) => Some(*added),
        })
    }

    /// Places of the records that the old version has, in the order of the differences.
    pub(super) fn removed(&self) -> Vec<Place> {
        self.places(|change| match change {
            Change::Add(_) => None,
            Change::Replace { removed, .. } | Change::Remove(removed) => Some(*removed),
        })
    }

    fn places(&self, of: impl Fn(&Change) -> Option<Place>) -> Vec<Place> {
        let mut places: Vec<Place> = self.0.values().filter_map(of).collect();
        places.sort_unstable();
        places
    }
}
