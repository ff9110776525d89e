//! The names of a zone as one tree from the root, without an allocation for each.

mod grow;

use super::flags::Flags;
use super::room::reserve;
use crate::slices::Parts as _;
use alloc::vec::Vec;
use hashlane_name::dns::{Case, Labels, NameBuf};
use hashlane_table::{prefetch, prefetch_bytes};

/// Number of a name of a zone, an owner or a name in the data of a record.
///
/// An id is of use with the [`Zone`](super::Zone) that gave it. With another zone it is another name, or the
/// root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(pub(super) u32);

impl NameId {
    /// The root of the DNS.
    pub const ROOT: Self = Self(0);

    /// The number. Numbers of the root and of the names at or below the apex count up from 0, numbers of
    /// other names down from `u32::MAX`: so both kinds may become more, and few have the same lower bits.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The number of a name that is not below the apex.
    pub(super) const fn bare(at: u32) -> Self {
        Self(u32::MAX - at)
    }

    /// The position among the names that are not below the apex; of another name, beyond all of them.
    #[inline(always)]
    pub(super) const fn bare_index(self) -> usize {
        (u32::MAX - self.0) as usize
    }

    /// Returns true for a name that is not below the apex.
    #[inline(always)]
    pub(super) const fn is_bare(self) -> bool {
        self.0 >= LIMIT
    }
}

/// A name: 13 bytes, without padding, as a zone may have tens of millions.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Node {
    parent: u32,
    /// Offset of its label.
    label: u32,
    /// Place of its sets, or `NO_SETS`.
    sets: u32,
    flags: Flags,
}

/// A name that is not below the apex, and so never owns records: 8 bytes. Most of them are targets of NS
/// records.
#[derive(Clone, Copy)]
struct Bare {
    parent: u32,
    label: u32,
}

/// No sets.
const NO_SETS: u32 = u32::MAX;

/// Marks of an owner whose sets are not written: its records came in one run, or in several, between other
/// owners' records.
const ONE_RUN: u32 = 0;
const SEVERAL_RUNS: u32 = 1;

/// Names of each kind at most.
const LIMIT: u32 = 1 << 31;

impl Node {
    const ROOT: Self = Self { parent: 0, label: 0, sets: NO_SETS, flags: Flags::NONE };
}

/// The tree.
#[derive(Clone)]
pub(super) struct Names {
    /// The root, and the names at or below the apex; of a tree that does not tell them apart, all names.
    nodes: Vec<Node>,
    /// The others, numbered down from `u32::MAX`. Among its kind, each name comes after the one above it.
    bare: Vec<Bare>,
    /// Labels, each after its length. Names may share a label. The first is the root's.
    labels: Vec<u8>,
}

impl Names {
    /// The root alone.
    pub(super) fn new() -> Self {
        Self { nodes: [Node::ROOT].into(), bare: Vec::new(), labels: [0].into() }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len() + self.bare.len()
    }

    pub(super) fn memory(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.bare.capacity() * size_of::<Bare>()
            + self.labels.capacity()
    }

    /// Frees the room for more names.
    pub(super) fn shrink(&mut self) {
        self.nodes.shrink_to_fit();
        self.bare.shrink_to_fit();
        self.labels.shrink_to_fit();
    }

    /// All names, the root first.
    pub(super) fn ids(&self) -> impl Iterator<Item = NameId> + Clone + use<> {
        let bare = (0..self.bare.len() as u32).map(NameId::bare);
        (0..self.nodes.len() as u32).map(NameId).chain(bare)
    }

    /// The first name with sets among those numbered `from` and higher.
    pub(super) fn owner_from(&self, from: usize) -> Option<NameId> {
        let rest = self.nodes.get(from..)?;
        rest.iter().position(|node| node.sets != NO_SETS).map(|at| NameId((from + at) as u32))
    }

    #[inline(always)]
    fn node(&self, id: NameId) -> Node {
        match self.nodes.get(id.index()) {
            Some(node) => *node,
            None => self.bare_node(id),
        }
    }

    #[inline]
    fn bare_node(&self, id: NameId) -> Node {
        self.bare.get(id.bare_index()).map_or(Node::ROOT, |Bare { parent, label }| Node {
            parent: *parent,
            label: *label,
            ..Node::ROOT
        })
    }

    #[inline(always)]
    pub(super) fn parent(&self, id: NameId) -> NameId {
        NameId(self.node(id).parent)
    }

    /// The flags; none of a bare name.
    #[inline(always)]
    pub(super) fn flags(&self, id: NameId) -> Flags {
        self.node(id).flags
    }

    /// Returns true if the name is below a cut or a DNAME.
    #[inline]
    pub(super) fn is_occluded(&self, id: NameId) -> bool {
        self.flags(id).has(Flags::BELOW)
    }

    /// The label with its length before it; the root's is a zero byte.
    #[inline(always)]
    pub(super) fn label(&self, id: NameId) -> &[u8] {
        self.label_at(self.node(id).label)
    }

    /// The label at an offset with its length before it.
    #[inline(always)]
    pub(super) fn label_at(&self, offset: u32) -> &[u8] {
        let rest = self.labels.part(offset as usize..);
        let label = rest.first().and_then(|len| rest.get(..1 + usize::from(*len)));
        debug_assert!(label.is_some(), "each offset is a label's");
        label.unwrap_or(&[0])
    }

    /// The place of the sets, if the name has any.
    #[inline(always)]
    pub(super) fn sets(&self, id: NameId) -> Option<u32> {
        Some(self.node(id).sets).filter(|sets| *sets != NO_SETS)
    }

    pub(super) fn set_flags(&mut self, id: NameId, flags: Flags) {
        if let Some(node) = self.nodes.get_mut(id.index()) {
            node.flags = flags;
        }
    }

    pub(super) fn add_flags(&mut self, id: NameId, flags: Flags) {
        self.set_flags(id, self.flags(id).with(flags));
    }

    /// Sets the place of the sets, less than `u32::MAX`.
    pub(super) fn set_sets(&mut self, id: NameId, sets: u32) {
        if let Some(node) = self.nodes.get_mut(id.index()) {
            node.sets = sets;
        }
    }

    /// Notes that records of an owner come, behind another owner's.
    pub(super) fn note_run(&mut self, id: NameId) {
        self.set_sets(id, if self.sets(id).is_none() { ONE_RUN } else { SEVERAL_RUNS });
    }

    /// Returns true if the records of an owner, whose sets are not written yet, came in several runs.
    pub(super) fn has_several_runs(&self, id: NameId) -> bool {
        self.sets(id) == Some(SEVERAL_RUNS)
    }

    pub(super) fn set_label(&mut self, id: NameId, offset: u32) {
        if let Some(node) = self.nodes.get_mut(id.index()) {
            node.label = offset;
        }
    }

    /// Adds a name at or below the apex, below `parent`, with the label at an offset. `None` if there are too
    /// many.
    pub(super) fn add(&mut self, parent: NameId, label: u32) -> Option<NameId> {
        let id = u32::try_from(self.nodes.len()).ok().filter(|id| *id < LIMIT)?;
        reserve(&mut self.nodes, 1);
        self.nodes.push(Node { parent: parent.0, label, ..Node::ROOT });
        Some(NameId(id))
    }

    /// Adds a label of 1 to 63 bytes, without its length; returns its offset. `None` if there are too many.
    pub(super) fn add_label(&mut self, label: &[u8]) -> Option<u32> {
        let offset = u32::try_from(self.labels.len()).ok()?;
        reserve(&mut self.labels, 1 + label.len());
        self.labels.push(label.len() as u8);
        self.labels.extend_from_slice(label);
        Some(offset)
    }

    /// Returns true if the first `count` labels lead from `id` to `end`, ignoring case. `end` is above all
    /// names of these labels.
    #[inline(always)]
    pub(super) fn matches(&self, id: NameId, labels: Labels<'_>, count: usize, end: NameId) -> bool {
        let mut at = id;
        for label in labels.take(count) {
            let node = self.node(at);
            let own = self.label_at(node.label).part(1..);
            if at == end || !Case::Ignored.eq(own, label) {
                return false;
            }
            at = NameId(node.parent);
        }
        at == end
    }

    /// The whole name.
    pub(super) fn name(&self, id: NameId) -> NameBuf {
        let (mut name, mut at) = (NameBuf::ROOT, id);
        while at != NameId::ROOT {
            // Names of the tree are at most 255 bytes long.
            let label = self.label(at).part(1..);
            if name.push(label).is_err() {
                break;
            }
            at = self.parent(at);
        }
        name
    }

    /// Prefetches what [`matches`](Self::matches) and [`sets`](Self::sets) read first.
    #[inline(always)]
    pub(super) fn prefetch(&self, id: NameId) {
        if let Some(node) = self.nodes.get(id.index()) {
            prefetch(node);
        }
    }

    /// Prefetches the node, also of a name that is not below the apex.
    #[inline(always)]
    pub(super) fn prefetch_any(&self, id: NameId) {
        match self.bare.get(id.bare_index()) {
            Some(bare) => prefetch(bare),
            None => self.prefetch(id),
        }
    }

    /// Prefetches the label.
    #[inline(always)]
    pub(super) fn prefetch_label(&self, id: NameId) {
        prefetch_bytes(self.label(id));
    }
}
