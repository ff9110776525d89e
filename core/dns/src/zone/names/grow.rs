//! Names that are added to a copy of a tree.

use super::{Bare, LIMIT, NO_SETS, NameId, Names};
use crate::zone::flags::Flags;
use crate::zone::room::reserve;
use alloc::vec::Vec;

impl Names {
    /// A copy with room for more names, and with more labels, which begin at the offset that is returned.
    /// `None` if there are too many labels.
    pub(in crate::zone) fn grown(&self, full: usize, bare: usize, labels: &[u8]) -> Option<(Self, u32)> {
        let from = u32::try_from(self.labels.len()).ok()?;
        u32::try_from(self.labels.len() + labels.len()).ok()?;
        let mut copy = Self {
            nodes: copied(&self.nodes, full),
            bare: copied(&self.bare, bare),
            labels: copied(&self.labels, labels.len()),
        };
        copy.labels.extend_from_slice(labels);
        Some((copy, from))
    }

    /// Adds a name that is not below the apex. `None` if there are too many.
    pub(in crate::zone) fn add_bare(&mut self, parent: NameId, label: u32) -> Option<NameId> {
        let at = u32::try_from(self.bare.len()).ok().filter(|at| *at < LIMIT)?;
        reserve(&mut self.bare, 1);
        self.bare.push(Bare { parent: parent.0, label });
        Some(NameId::bare(at))
    }

    /// The bytes of all labels.
    pub(in crate::zone) fn labels(&self) -> &[u8] {
        &self.labels
    }

    /// The offset of the label.
    pub(in crate::zone) fn label_offset(&self, id: NameId) -> u32 {
        self.node(id).label
    }

    /// Removes the sets of a name.
    pub(in crate::zone) fn remove_sets(&mut self, id: NameId) {
        self.set_sets(id, NO_SETS);
    }

    /// Numbers of names of both kinds.
    pub(in crate::zone) fn counts(&self) -> (usize, usize) {
        (self.nodes.len(), self.bare.len())
    }

    /// The names at or below the apex, and the root, each with the name above it and its properties.
    pub(in crate::zone) fn full(&self) -> impl Iterator<Item = (NameId, NameId, Flags)> {
        (0..).zip(&self.nodes).map(|(id, node)| (NameId(id), NameId(node.parent), node.flags))
    }

    /// The other names, each with the name above it.
    pub(in crate::zone) fn bare(&self) -> impl Iterator<Item = (NameId, NameId)> {
        (0..).zip(&self.bare).map(|(at, bare)| (NameId::bare(at), NameId(bare.parent)))
    }
}

/// A copy with room for more, and no more room than that.
fn copied<T: Copy>(array: &[T], more: usize) -> Vec<T> {
    let mut copy = Vec::with_capacity(array.len() + more);
    copy.extend_from_slice(array);
    copy
}
