//! Numbers of the names of changes: by the index, or by a pass over the tree.

use super::marks::{Labels, Marks};
use crate::zone::Zone;
use crate::zone::names::{NameId, Names};
use crate::zone::order::{bytes, compare};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;
use hashlane_name::dns::Case;

/// The numbers of those `names` that the zone has, by their numbers in the tree of the changes. That has
/// `hashes` and `apex`. `None` if the hashes have another key than the zone.
pub(super) fn resolve(
    zone: &Zone,
    names: &Names,
    hashes: &[u64],
    apex: NameId,
) -> Option<Vec<Option<NameId>>> {
    let own = hashes.get(apex.index())?;
    zone.index.find(*own, |place| place == zone.apex.0)?;
    let mut numbers = Numbers(vec![None; names.len()]);
    let (mut theirs, mut ours) = (apex, zone.apex);
    while theirs != NameId::ROOT {
        numbers.set(theirs, ours);
        (theirs, ours) = (names.parent(theirs), zone.parent(ours));
    }
    numbers.set(NameId::ROOT, NameId::ROOT);
    // A name comes after the one above it.
    for (id, hash) in names.ids().zip(hashes) {
        let (None, Some(parent)) = (numbers.get(id), numbers.get(names.parent(id))) else { continue };
        let label = bytes(names, id);
        let is = |place| {
            let found = NameId(place);
            zone.parent(found) == parent && Case::Ignored.eq(bytes(&zone.names, found), label)
        };
        if let Some(found) = zone.index.find(*hash, is) {
            numbers.set(id, NameId(found.place));
        }
    }
    search(zone, names, &mut numbers);
    Some(numbers.0)
}

/// Numbers of the zone by the numbers of the changes.
struct Numbers(Vec<Option<NameId>>);

impl Numbers {
    fn get(&self, id: NameId) -> Option<NameId> {
        self.0.get(id.index()).copied().flatten()
    }

    fn set(&mut self, id: NameId, number: NameId) {
        if let Some(place) = self.0.get_mut(id.index()) {
            *place = Some(number);
        }
    }
}

/// Searches the names that are not in the index, from the root down: each comes after the one above it.
fn search(zone: &Zone, names: &Names, numbers: &mut Numbers) {
    // By the name above, and label.
    let mut wanted: Vec<NameId> = names.ids().filter(|id| numbers.get(*id).is_none()).collect();
    if wanted.is_empty() {
        return;
    }
    let order = |id: NameId, parent: NameId, label: &[u8]| -> Ordering {
        names.parent(id).cmp(&parent).then_with(|| compare(bytes(names, id), label))
    };
    wanted.sort_unstable_by(|a, b| order(*a, names.parent(*b), bytes(names, *b)));
    let (mut labels, mut marks) = (Labels::new(), Marks::new(&zone.names));
    // Names above wanted ones: their number in the zone, and in the changes.
    let mut above = BTreeMap::new();
    for id in &wanted {
        labels.add(bytes(names, *id));
        let parent = names.parent(*id);
        if let Some(number) = numbers.get(parent) {
            marks.add(number);
            above.insert(number, parent);
        }
    }
    let mut left = wanted.len();
    let mut visit = |id: NameId, parent: NameId| {
        if !marks.has(parent) {
            return true;
        }
        let label = bytes(&zone.names, id);
        let Some(theirs) = above.get(&parent).filter(|_| labels.may_have(label)) else { return true };
        let found = wanted.binary_search_by(|wanted| order(*wanted, *theirs, label));
        if let Some(found) = found.ok().and_then(|at| wanted.get(at)) {
            numbers.set(*found, id);
            marks.add(id);
            above.insert(id, *found);
            left -= 1;
        }
        left > 0
    };
    let mut bare = zone.names.bare();
    if bare.all(|(id, parent)| visit(id, parent)) {
        // The index has those that are visible.
        let mut full = zone.names.full().filter(|(_, _, flags)| !flags.is_visible());
        full.all(|(id, parent, _)| id == NameId::ROOT || visit(id, parent));
    }
}
