//! Lists of names in some order: copied in parts, between the places of the changes.

use super::Unpatched;
use super::state::{Listed, Moved};
use crate::query::Hash;
use crate::slices::own_hash;
use crate::zone::Zone;
use crate::zone::names::{NameId, Names};
use crate::zone::order::{compare_names, sort};
use crate::zone::splice::spliced;
use alloc::vec::Vec;
use core::cmp::Ordering;
use hashlane_hash::scheme::Key;
use hashlane_table::index::Index;

/// The names that come to a list, and the names that go.
fn changes(moved: &[Moved], listed: impl Fn(&Moved) -> Listed) -> (Vec<NameId>, Vec<NameId>) {
    let those = |change: Listed| {
        let those = moved.iter().filter(|moved| listed(moved) == change).map(|moved| moved.id);
        those.collect()
    };
    (those((false, true)), those((true, false)))
}

/// The names of the zone after the changes.
pub(super) struct NamesIn<'a> {
    pub(super) names: &'a Names,
    pub(super) apex: NameId,
}

impl NamesIn<'_> {
    /// The owners of NSEC records, in canonical order.
    pub(super) fn nsec(&self, old: &[NameId], moved: &[Moved]) -> Vec<NameId> {
        let (mut come, mut gone) = changes(moved, Moved::nsec);
        let Self { names, apex } = *self;
        sort(names, apex, &mut come);
        sort(names, apex, &mut gone);
        let place = |id: NameId| {
            old.partition_point(|other| compare_names(names, apex, *other, id) == Ordering::Less)
        };
        let removed: Vec<usize> = gone.into_iter().map(place).collect();
        let added: Vec<(usize, NameId)> = come.into_iter().map(|id| (place(id), id)).collect();
        spliced(old, &removed, &added)
    }

    /// The wildcards, each after the name above it, in the order of numbers.
    pub(super) fn wildcards(&self, old: &[(NameId, NameId)], moved: &[Moved]) -> Vec<(NameId, NameId)> {
        let Self { names, apex } = *self;
        let is_wildcard = |moved: &Moved| moved.id != apex && names.label(moved.id) == b"\x01*";
        let listed = |moved: &Moved| if is_wildcard(moved) { moved.visible() } else { (false, false) };
        let (come, gone) = changes(moved, listed);
        let pairs = |ids: Vec<NameId>| {
            let mut pairs: Vec<_> = ids.into_iter().map(|id| (names.parent(id), id)).collect();
            pairs.sort_unstable();
            pairs
        };
        let place = |pair: (NameId, NameId)| old.partition_point(|other| *other < pair);
        let removed: Vec<usize> = pairs(gone).into_iter().map(place).collect();
        let added: Vec<_> = pairs(come).into_iter().map(|pair| (place(pair), pair)).collect();
        spliced(old, &removed, &added)
    }
}

/// The index of the visible names, and their number.
pub(super) fn index(
    zone: &Zone,
    names: &Names,
    moved: &[Moved],
    key: &Key,
) -> Result<(Index, usize), Unpatched> {
    let (come, gone) = changes(moved, Moved::visible);
    let count = zone.visible_names + come.len() - gone.len();
    if count > zone.index.capacity() {
        return Err(Unpatched::IndexFull);
    }
    let (mut index, mut hash) = (zone.index.clone(), Hash::new(key));
    let mut own = |id| own_hash(hash.name(names.name(id).view()));
    for id in gone {
        let hash = own(id);
        let found = index.find(hash, |place| place == id.0);
        debug_assert!(found.is_some(), "the index has each visible name");
        if let Some(found) = found {
            index.remove(hash, found);
        }
    }
    for id in come {
        index.enter(own(id), id.0);
    }
    Ok((index, count))
}
