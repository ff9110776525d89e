//! Names below others, by a pass over the tree.

use super::Unpatched;
use super::marks::Marks;
use crate::zone::Zone;
use crate::zone::flags::Flags;
use crate::zone::names::NameId;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Counts the existing children of the names in `parents`, and returns all names below `roots`. Takes a pass
/// over the names of the zone, if there is anything to find.
///
/// # Errors
/// More than `most` names are below `roots`.
pub(super) fn scan(
    zone: &Zone,
    parents: &mut BTreeMap<NameId, usize>,
    roots: &[NameId],
    most: usize,
) -> Result<Vec<NameId>, Unpatched> {
    let mut below = Vec::new();
    if parents.is_empty() && roots.is_empty() {
        return Ok(below);
    }
    let (mut marks, mut tops) = (Marks::new(&zone.names), Marks::new(&zone.names));
    parents.keys().chain(roots).for_each(|id| marks.add(*id));
    roots.iter().for_each(|id| tops.add(*id));
    // A name comes after the one above it.
    for (id, parent, flags) in zone.names.full() {
        if !marks.has(parent) || id == NameId::ROOT {
            continue;
        }
        if flags.has(Flags::EXISTS)
            && let Some(children) = parents.get_mut(&parent)
        {
            *children += 1;
        }
        if tops.has(parent) {
            if below.len() == most {
                return Err(Unpatched::TooMany);
            }
            below.push(id);
            tops.add(id);
            marks.add(id);
        }
    }
    Ok(below)
}
