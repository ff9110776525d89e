//! Properties of the names that change, and of names above and below them.

use super::Unpatched;
use super::changes::{Changes, FEW_CHANGES, MOST_CHANGES};
use super::children::scan;
use super::owners::{Owner, Types};
use crate::wire::RecordType;
use crate::zone::flags::Flags;
use crate::zone::names::{NameId, Names};
use crate::zone::{Rule, Zone};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// A name whose properties or records may have changed.
pub(super) struct Moved {
    pub(super) id: NameId,
    before: (Flags, Types),
    after: (Flags, Types),
}

/// A name that is or is not in a list, before and after the changes.
pub(super) type Listed = (bool, bool);

impl Moved {
    /// Exists, and is not occluded.
    pub(super) fn visible(&self) -> Listed {
        (self.before.0.is_visible(), self.after.0.is_visible())
    }

    /// Has an NSEC record of the chain.
    pub(super) fn nsec(&self) -> Listed {
        let is_listed = |(flags, types): (Flags, Types)| types.nsec && !flags.has(Flags::BELOW);
        (is_listed(self.before), is_listed(self.after))
    }

    /// Returns true if the name has existed, and does not any more.
    pub(super) fn is_lost(&self) -> bool {
        self.before.0.has(Flags::EXISTS) && !self.after.0.has(Flags::EXISTS)
    }
}

/// Sets the properties of all names that the changes concern; `owners` are in the order of their numbers.
/// Returns these names, in the same order.
pub(super) fn settle(
    zone: &Zone,
    names: &mut Names,
    owners: &[Owner],
    (changes, numbers, first_label): (&Changes, &[NameId], u32),
) -> Result<Vec<Moved>, Unpatched> {
    let mut parents = candidates(zone, owners);
    let is_flipped = |owner: &&Owner| owner.id != zone.apex && owner.before.ns != owner.after.ns;
    let cuts: Vec<NameId> = owners.iter().filter(is_flipped).map(|owner| owner.id).collect();
    let most = (zone.names.len() / MOST_CHANGES).max(FEW_CHANGES);
    let mut affected = scan(zone, &mut parents, &cuts, most)?;
    affected.extend(owners.iter().map(|owner| owner.id));
    affected.extend(lose(names, parents));
    affected.extend(gain(names, (changes, numbers, first_label)));
    // Names that records alone mention, too: they may be new.
    affected.extend(numbers.iter().take(changes.added.len()).filter(|id| !id.is_bare()));
    affected.sort_unstable();
    affected.dedup();
    affected
        .into_iter()
        .filter(|id| *id != NameId::ROOT || zone.apex == *id)
        .map(|id| derive(zone, names, owners, id))
        .collect()
}

/// The owner among those that change.
fn owner_of(owners: &[Owner], id: NameId) -> Option<&Owner> {
    owners.binary_search_by_key(&id, |owner| owner.id).ok().and_then(|at| owners.get(at))
}

/// Names that may exist no more: owners without records that stay, and names without records above them.
fn candidates(zone: &Zone, owners: &[Owner]) -> BTreeMap<NameId, usize> {
    let stays = |id| match owner_of(owners, id) {
        Some(owner) => owner.stays,
        None => Types::of(zone, id).any,
    };
    let mut candidates = BTreeMap::new();
    for owner in owners.iter().filter(|owner| owner.before.any) {
        let mut at = owner.id;
        while at != zone.apex && at != NameId::ROOT && !stays(at) && candidates.insert(at, 0).is_none() {
            at = zone.parent(at);
        }
    }
    candidates
}

/// Takes existence from the names without children. `children` has their numbers.
fn lose(names: &mut Names, mut children: BTreeMap<NameId, usize>) -> Vec<NameId> {
    let mut lost = Vec::new();
    // A name comes after the one above it.
    while let Some((id, children_left)) = children.pop_last() {
        if children_left > 0 {
            continue;
        }
        names.set_flags(id, names.flags(id).without(Flags::EXISTS));
        lost.push(id);
        if let Some(children) = children.get_mut(&names.parent(id)) {
            *children = children.saturating_sub(1);
        }
    }
    lost
}

/// Gives existence, and the spelling of the added owners, to these and to the names above them.
fn gain(names: &mut Names, (changes, numbers, first_label): (&Changes, &[NameId], u32)) -> Vec<NameId> {
    let mut gained = Vec::new();
    for (theirs, id) in changes.added.ids().zip(numbers) {
        if !changes.added.flags(theirs).has(Flags::EXISTS) || names.flags(*id).has(Flags::EXISTS) {
            continue;
        }
        names.add_flags(*id, Flags::EXISTS);
        if names.label(*id) != changes.added.label(theirs) {
            names.set_label(*id, first_label + changes.added.label_offset(theirs));
        }
        gained.push(*id);
    }
    gained
}

/// Derives the properties of a name from its records, its existence, and the properties of the name above it,
/// and marks that name for a wildcard.
fn derive(zone: &Zone, names: &mut Names, owners: &[Owner], id: NameId) -> Result<Moved, Unpatched> {
    let owner = owner_of(owners, id);
    let (types_before, types) = match owner {
        Some(owner) => (owner.before, owner.after),
        None => (Types::of(zone, id), Types::of(zone, id)),
    };
    let (before, parent) = (zone.names.flags(id), names.parent(id));
    let mut flags = names.flags(id).with(Flags::WITHIN);
    for derived in [Flags::CUT, Flags::DNAME, Flags::BELOW, Flags::BELOW_DNAME] {
        flags = flags.without(derived);
    }
    let above = names.flags(parent);
    if id == zone.apex {
        flags = if types.dname { flags.with(Flags::DNAME) } else { flags };
    } else if above.has(Flags::BELOW) || above.has(Flags::CUT) || above.has(Flags::DNAME) {
        flags = flags.with(Flags::BELOW);
        if above.has(Flags::DNAME) || above.has(Flags::BELOW_DNAME) {
            flags = flags.with(Flags::BELOW_DNAME);
        }
    } else {
        flags = if types.ns { flags.with(Flags::CUT) } else { flags };
        flags = if types.dname { flags.with(Flags::DNAME) } else { flags };
    }
    let is_new = before == Flags::NONE;
    let dname = |flags: Flags| (flags.has(Flags::DNAME), flags.has(Flags::BELOW_DNAME));
    let is_below_dname = flags.has(Flags::BELOW_DNAME);
    // A builder ignores records below a DNAME, and refuses NS records beside one.
    if is_below_dname && owner.is_some()
        || !is_new && dname(before) != dname(flags)
        || flags.has(Flags::DNAME) && flags.has(Flags::CUT)
    {
        return Err(Unpatched::Dname);
    }
    if types.break_alias() && !flags.has(Flags::BELOW) {
        return Err(zone.broken(RecordType::CNAME, Rule::BesideCname));
    }
    names.set_flags(id, flags);
    let moved = Moved { id, before: (before, types_before), after: (flags, types) };
    if id != zone.apex && names.label(id) == b"\x01*" {
        let above = names.flags(parent);
        let above = above.without(Flags::WILDCARD);
        names.set_flags(parent, if flags.is_visible() { above.with(Flags::WILDCARD) } else { above });
    }
    Ok(moved)
}
