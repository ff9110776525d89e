//! The differences of two versions of a catalog.

use super::{Catalog, Member};
use std::cmp::Ordering;

/// Members by what has become of them. All are of the newer version, but for `removed`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes<'a> {
    /// Members of the newer version alone.
    pub added: Vec<&'a Member>,
    /// Members of the older version alone.
    pub removed: Vec<&'a Member>,
    /// Members with another label: their zones' data are to be dropped and transferred anew.
    pub reset: Vec<&'a Member>,
    /// Members with the same label, and with other groups or another next owner.
    pub regrouped: Vec<&'a Member>,
}

impl Changes<'_> {
    /// Returns true if both versions are the same.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.reset.is_empty() && self.regrouped.is_empty()
    }
}

/// The members that differ between two versions of a catalog, in linear time.
pub fn changes<'a>(old: &'a Catalog, new: &'a Catalog) -> Changes<'a> {
    let mut changes = Changes::default();
    let (mut before, mut after) = (old.members.iter().peekable(), new.members.iter().peekable());
    loop {
        let order = match (before.peek(), after.peek()) {
            (None, None) => return changes,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => old.name.cmp(&new.name),
        };
        match order {
            Ordering::Less => changes.removed.extend(before.next()),
            Ordering::Greater => changes.added.extend(after.next()),
            Ordering::Equal => {
                let (old, new) = (before.next(), after.next());
                let is_same_id = old.map(|member| &member.id) == new.map(|member| &member.id);
                if !is_same_id {
                    changes.reset.extend(new);
                } else if old != new {
                    changes.regrouped.extend(new);
                }
            }
        }
    }
}
