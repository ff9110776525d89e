//! Owners of the records that prove a negative answer.

use crate::slices::Parts as _;
use crate::zone::NameId;

/// Records of proofs at most: three for each of a few names of a chain.
const MAX: usize = 24;

/// Owners of the NSEC or NSEC3 records of a response, with the numbers of their zones.
#[derive(Debug)]
pub(super) struct Proofs {
    pub(super) owners: [(u32, NameId); MAX],
    pub(super) len: usize,
}

impl Default for Proofs {
    fn default() -> Self {
        Self { owners: [(0, NameId::ROOT); MAX], len: 0 }
    }
}

impl Proofs {
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    pub(super) fn add(&mut self, zone: usize, owner: Option<NameId>) {
        let Some(owner) = owner.map(|owner| (zone as u32, owner)) else { return };
        if self.owners.part(..self.len).contains(&owner) {
            return;
        }
        debug_assert!(self.len < MAX, "a chain has a proof for each of its aliases, and three at its end");
        if let Some(place) = self.owners.get_mut(self.len) {
            *place = owner;
            self.len += 1;
        }
    }
}
