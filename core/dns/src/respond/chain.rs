//! The chain of aliases that an answer follows.

use super::MAX_CHAIN;
use super::writer::Owner;
use crate::slices::Parts as _;
use crate::zone::{Located, NameId};
use hashlane_name::dns::Name;

/// The names of a chain of aliases, so that a loop ends where it closes.
#[derive(Debug)]
pub(super) struct Chain {
    names: [Visited; MAX_CHAIN + 1],
    pub(super) len: usize,
}

impl Chain {
    pub(super) const EMPTY: Self = Self { names: [Visited::Hash(0); MAX_CHAIN + 1], len: 0 };

    /// Adds a name; false if it was there or if there are too many.
    pub(super) fn visit(&mut self, name: Visited) -> bool {
        let is_new = !self.names.part(..self.len).contains(&name);
        match self.names.get_mut(self.len).filter(|_| is_new) {
            Some(place) => {
                *place = name;
                self.len += 1;
                true
            }
            None => false,
        }
    }

    /// Returns true if the DNAME of this owner has been used.
    pub(super) fn has_dname(&self, zone: usize, owner: NameId) -> bool {
        self.names.part(..self.len).contains(&Visited::Dname(zone as u32, owner))
    }
}

/// A name of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visited {
    /// A name that exists, with the number of its zone.
    Name(u32, NameId),
    /// Hash of a name that does not.
    Hash(u64),
    /// The owner of a DNAME that a name was made of.
    Dname(u32, NameId),
}

impl Visited {
    pub(super) fn of(zone: usize, located: Located, hash: u64) -> Self {
        match located.below {
            0 => Self::Name(zone as u32, located.node),
            _ => Self::Hash(hash),
        }
    }
}

/// A name of the chain of aliases.
#[derive(Clone, Copy)]
pub(super) enum Spelling<'q> {
    /// The name of the question.
    Question(Name<'q>),
    /// A name of the zone.
    Number(NameId),
    /// The name that a DNAME made last.
    Made,
}

/// The present end of the chain of aliases.
#[derive(Clone, Copy)]
pub(super) struct Link<'q> {
    pub(super) zone: usize,
    pub(super) located: Located,
    pub(super) owner: Owner<'static>,
    pub(super) spelling: Spelling<'q>,
    pub(super) visited: Visited,
}
