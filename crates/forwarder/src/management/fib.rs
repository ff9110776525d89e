//! Copy of the FIB of the forwarding thread.

use crate::rib::FibChange;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_name::walk::Walk;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The components of a name, encoded.
type Key = Box<[u8]>;

/// Prefixes and their next hops.
#[derive(Default)]
pub(super) struct Fib {
    entries: BTreeMap<Key, (OwnedName<Ndn>, BTreeMap<u64, u64>)>,
    faces: HashMap<u64, BTreeSet<Key>>,
    hops: usize,
}

impl Fib {
    /// Number of prefixes.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Number of next hops of all prefixes.
    pub(super) fn hops(&self) -> usize {
        self.hops
    }

    pub(super) fn insert(&mut self, name: NdnName<'_>, face: u64, cost: u64) {
        let key = name.walk().bytes();
        let entry = self.entries.entry(key.into()).or_insert_with(|| ((&name).into(), BTreeMap::new()));
        if entry.1.insert(face, cost).is_none() {
            self.hops += 1;
            self.faces.entry(face).or_default().insert(key.into());
        }
    }

    pub(super) fn contains(&self, name: NdnName<'_>, face: u64) -> bool {
        self.entries.get(name.walk().bytes()).is_some_and(|(_, hops)| hops.contains_key(&face))
    }

    /// Number of next hops that these changes add.
    pub(super) fn more(&self, changes: &[FibChange]) -> usize {
        let adds =
            |change: &&FibChange| change.cost.is_some() && !self.contains(change.name.view(), change.face);
        changes.iter().filter(adds).count()
    }

    pub(super) fn remove(&mut self, name: NdnName<'_>, face: u64) -> bool {
        let key = name.walk().bytes();
        let Some((_, hops)) = self.entries.get_mut(key) else { return false };
        if hops.remove(&face).is_none() {
            return false;
        }
        if hops.is_empty() {
            self.entries.remove(key);
        }
        self.hops -= 1;
        if let Some(keys) = self.faces.get_mut(&face) {
            keys.remove(key);
            if keys.is_empty() {
                self.faces.remove(&face);
            }
        }
        true
    }

    /// Removes a face from all entries. Returns the prefixes that it was a next hop of.
    pub(super) fn remove_face(&mut self, face: u64) -> Vec<OwnedName<Ndn>> {
        // A face without routes has no entry.
        let keys = self.faces.get(&face).cloned().unwrap_or_default();
        let entries = keys.iter().filter_map(|key| self.entries.get(key));
        let names: Vec<_> = entries.map(|(name, _)| name.clone()).collect();
        for name in &names {
            self.remove(name.view(), face);
        }
        names
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &(OwnedName<Ndn>, BTreeMap<u64, u64>)> {
        self.entries.values()
    }
}
