//! Prefixes with routes that are to be advertised, and the shares of the parties that have made them.

use super::Key;
use hashlane_table::share::Owner;
use std::collections::BTreeMap;

/// Most prefixes, with those that are being withdrawn.
const MAX: usize = 4096;
/// Most of them for users without further rights, and neighbours.
const MAX_OWNED: usize = 3072;
/// Most of them for one user or address.
const MAX_OF_ONE: usize = 512;

/// Prefixes with routes, each with the prefix that is advertised for it.
#[derive(Debug, Default)]
pub(super) struct Sources {
    prefixes: BTreeMap<Key, Source>,
    /// Places taken by all, and by each user or address without further rights.
    places: usize,
    held: BTreeMap<Owner, usize>,
}

/// A prefix with routes.
#[derive(Debug)]
pub(super) struct Source {
    /// Party whose place it takes; `None` if it has all rights.
    pub(super) owner: Option<Owner>,
    /// Prefix that is advertised.
    pub(super) target: Key,
}

impl Sources {
    /// True if a prefix has routes.
    pub(super) fn contains(&self, key: &[u8]) -> bool {
        self.prefixes.contains_key(key)
    }

    /// Adds a prefix. Returns false if the party has no place for it.
    pub(super) fn insert(&mut self, key: Key, source: Source) -> bool {
        let is_taken = self.take_place(source.owner);
        if is_taken {
            self.prefixes.insert(key, source);
        }
        is_taken
    }

    /// Removes a prefix. Its place stays taken until [`free_place`](Self::free_place).
    pub(super) fn remove(&mut self, key: &[u8]) -> Option<Source> {
        self.prefixes.remove(key)
    }

    /// Takes a place. Returns false if the party has none.
    pub(super) fn take_place(&mut self, owner: Option<Owner>) -> bool {
        if self.places >= MAX {
            return false;
        }
        if let Some(owner) = owner {
            let owned: usize = self.held.values().sum();
            let held = self.held.entry(owner).or_default();
            if *held >= MAX_OF_ONE || owned >= MAX_OWNED {
                return false;
            }
            *held += 1;
        }
        self.places += 1;
        true
    }

    /// Frees a place.
    pub(super) fn free_place(&mut self, owner: Option<Owner>) {
        self.places -= 1;
        if let Some(owner) = owner
            && let Some(held) = self.held.get_mut(&owner)
        {
            *held -= 1;
            if *held == 0 {
                self.held.remove(&owner);
            }
        }
    }
}
