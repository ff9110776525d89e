//! Tree of names: a node for each name with packets, and for each prefix where such names branch.
//!
//! A node is found by the keyed hash of its prefix. Prefixes between a node and its parent have no node; the
//! first of them is the *edge* that leads to the node. So a name takes at most four places, no matter how
//! many components it has: its own node, the node of the prefix where it branches off, and an edge for each.
//!
//! The places depend only on the set of names, not on the order of insertion. Names whose hashes collide
//! share nodes, so the caller confirms a match by the names of the packets.
//!
//! Source of the shape: D. R. Morrison, PATRICIA, J. ACM 15 (4), 1968; here with a hash table in place of a
//! pointer for each branch.

use super::cached::NONE;
use crate::hashed::HashedName;
use alloc::boxed::Box;
use hashlane_ndn::invariant::{Invariant as _, part};
use hashlane_ndn::tlv::Elements;
use hashlane_table::Table as _;
use hashlane_table::batched::Batched;

/// Place in the tree, found by the hash of its prefix.
#[derive(Clone, Copy, Debug)]
enum TreePosition {
    Node(Node),
    /// First prefix below the parent of a node that is more than one component below that parent.
    Edge {
        /// Number of components of the prefix.
        len: u8,
        node: u32,
    },
}

/// Name with packets, or prefix where names branch.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Number of components.
    len: u8,
    parent: u32,
    /// Newest child.
    child: u32,
    /// Siblings, newest first.
    next: u32,
    prev: u32,
    /// Place of the edge that leads to this node, if there is one.
    edge: u32,
    /// Newest packet of this name.
    packet: u32,
}

impl TreePosition {
    fn len(&self) -> u8 {
        match self {
            Self::Node(node) => node.len,
            Self::Edge { len, .. } => *len,
        }
    }
}

/// Tree of names.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    places: Batched<u64, TreePosition>,
    /// Number of places of each length: a search skips lengths without places.
    lengths: Box<[u32; hashlane_name::MAX_COMPONENTS + 1]>,
}

impl Default for Tree {
    fn default() -> Self {
        Self { places: Batched::with_capacity(0), lengths: Box::new([0; hashlane_name::MAX_COMPONENTS + 1]) }
    }
}

/// Rule for the counters of lengths.
const LENGTHS: &str = "a name has at most MAX_COMPONENTS components";

/// Overhead of a place in bytes.
pub(super) const PLACE_COST: usize = size_of::<(u64, TreePosition)>() + 16;

/// Most places that an insertion adds.
pub(super) const PLACES: usize = 4;

/// End of a search.
#[derive(Clone, Copy, Debug)]
enum SearchEnd {
    /// A node and its number of components; [`NONE`] and 0 if no prefix has a place.
    Node(u32, usize),
    /// An edge with `len` components, and the node that it leads to.
    Edge { slot: u32, node: u32, len: usize },
}

impl Tree {
    /// Number of places: nodes and edges.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    #[inline(always)]
    fn node(&self, slot: u32) -> Option<&Node> {
        match self.places.entry(slot)? {
            (_, TreePosition::Node(node)) => Some(node),
            _ => None,
        }
    }

    #[inline(always)]
    fn node_mut(&mut self, slot: u32) -> Option<&mut Node> {
        match self.places.entry_mut(slot)? {
            (_, TreePosition::Node(node)) => Some(node),
            _ => None,
        }
    }

    /// Node that a link leads to; `None` at the end of the links.
    #[inline(always)]
    fn linked(&self, slot: u32) -> Option<&Node> {
        if slot == NONE { None } else { self.node(slot).invariant("a link leads to a node") }
    }

    /// As [`linked`](Self::linked), to change the node.
    #[inline(always)]
    fn linked_mut(&mut self, slot: u32) -> Option<&mut Node> {
        if slot == NONE { None } else { self.node_mut(slot).invariant("a link leads to a node") }
    }

    /// Slot of the prefix with `len` components.
    #[inline(always)]
    fn slot(&self, name: &HashedName<'_>, len: usize) -> Option<u32> {
        let hash = name.prefix(len);
        self.places.slot_by(hash, |_, other, place| *other == hash && usize::from(place.len()) == len)
    }

    /// Prefetches the bucket of a name.
    #[inline(always)]
    pub(super) fn prefetch(&self, name: &HashedName<'_>) {
        self.places.prefetch(name.hash());
    }

    /// Prefetches the place of a name; its bucket should be in the cache.
    #[inline(always)]
    pub(super) fn prefetch_entry(&self, name: &HashedName<'_>) {
        self.places.prefetch_entry(name.hash());
    }

    /// Prefetches the buckets that a search reads.
    #[inline(always)]
    pub(super) fn prefetch_search(&self, name: &HashedName<'_>) {
        self.probed(name).for_each(|len| self.places.prefetch(name.prefix(len)));
    }

    /// Prefetches the places that a search reads; their buckets should be in the cache.
    #[inline(always)]
    pub(super) fn prefetch_search_entries(&self, name: &HashedName<'_>) {
        self.probed(name).for_each(|len| self.places.prefetch_entry(name.prefix(len)));
    }

    /// Prefetches a node.
    #[inline(always)]
    pub(super) fn prefetch_node(&self, slot: u32) {
        self.places.prefetch_slot(slot);
    }

    /// Prefetches the neighbours of a node, and its bucket.
    #[inline(always)]
    pub(super) fn prefetch_around(&self, slot: u32) {
        let Some((hash, TreePosition::Node(node))) = self.places.entry(slot) else { return };
        self.places.prefetch(*hash);
        for slot in [node.parent, node.next, node.prev, node.edge] {
            self.places.prefetch_slot(slot);
        }
    }

    /// Prefetches the bucket of the edge of a node.
    #[inline(always)]
    pub(super) fn prefetch_edge(&self, slot: u32) {
        if let Some((hash, _)) = self.node(slot).and_then(|node| self.places.entry(node.edge)) {
            self.places.prefetch(*hash);
        }
    }

    /// Lengths that a search probes, longest first.
    #[inline(always)]
    fn probed(&self, name: &HashedName<'_>) -> impl Iterator<Item = usize> {
        (1..=name.len()).rev().filter(|len| self.lengths.get(*len).is_some_and(|places| *places > 0))
    }

    /// Longest prefix of a name that has a place.
    #[inline(always)]
    fn search(&self, name: &HashedName<'_>) -> SearchEnd {
        for len in self.probed(name) {
            let Some(slot) = self.slot(name, len) else { continue };
            match self.places.entry(slot).invariant("the place was found") {
                Some((_, TreePosition::Edge { node, .. })) => {
                    return SearchEnd::Edge { slot, node: *node, len };
                }
                Some((_, TreePosition::Node(_))) => return SearchEnd::Node(slot, len),
                None => continue,
            }
        }
        SearchEnd::Node(NONE, 0)
    }

    /// Node of a name.
    #[inline(always)]
    pub(super) fn exact(&self, name: &HashedName<'_>) -> Option<u32> {
        let slot = self.slot(name, name.len())?;
        self.node(slot).map(|_| slot)
    }

    /// Node of a name, or the first node below it.
    #[inline(always)]
    pub(super) fn top(&self, name: &HashedName<'_>) -> Option<u32> {
        match self.search(name) {
            SearchEnd::Node(slot, len) => (len == name.len()).then_some(slot),
            SearchEnd::Edge { node, .. } => Some(node),
        }
    }

    /// Newest packet of a node; [`NONE`] if it has none.
    #[inline(always)]
    pub(super) fn packet(&self, slot: u32) -> u32 {
        self.node(slot).invariant("a cached packet has a node").map_or(NONE, |node| node.packet)
    }

    /// Sets the newest packet of a node; returns the previous one.
    #[inline(always)]
    pub(super) fn replace(&mut self, slot: u32, packet: u32) -> u32 {
        let node = self.node_mut(slot).invariant("a cached packet has a node");
        node.map_or(NONE, |node| core::mem::replace(&mut node.packet, packet))
    }

    /// Newest packets of the nodes from `top` down, newest branch first.
    pub(super) fn below(&self, top: u32) -> impl Iterator<Item = u32> {
        core::iter::successors(Some(top), move |at| self.next_node(*at, top))
            .map(|slot| self.packet(slot))
            .filter(|packet| *packet != NONE)
    }

    /// Next node in a walk of the tree below `top`, parents before children.
    fn next_node(&self, mut at: u32, top: u32) -> Option<u32> {
        let node = self.node(at).invariant("a link leads to a node")?;
        if node.child != NONE {
            return Some(node.child);
        }
        while at != top {
            let node = self.node(at).invariant("a link leads to a node")?;
            if node.next != NONE {
                return Some(node.next);
            }
            at = node.parent;
        }
        None
    }

    fn add(&mut self, hash: u64, place: TreePosition) -> u32 {
        if let Some(places) = self.lengths.get_mut(usize::from(place.len())).invariant(LENGTHS) {
            *places += 1;
        }
        self.places.insert(hash, hash, place, |hash| *hash).slot
    }

    fn remove_place(&mut self, slot: u32) {
        if slot == NONE {
            return;
        }
        let Some((&hash, place)) = self.places.entry(slot).invariant("the place exists") else { return };
        if let Some(places) = self.lengths.get_mut(usize::from(place.len())).invariant(LENGTHS) {
            *places -= 1;
        }
        self.places.remove_slot(hash, slot);
    }

    /// Finds or inserts the node of a name. `components` returns the components of a packet, `hash` the keyed
    /// hash of components. `None` if an invariant of the tree is broken.
    #[inline(always)]
    pub(super) fn insert<'a>(
        &mut self,
        name: &HashedName<'_>,
        components: impl Fn(u32) -> &'a [u8],
        hash: impl Fn(&[u8]) -> u64,
    ) -> Option<u32> {
        match self.search(name) {
            SearchEnd::Node(slot, len) if len == name.len() => Some(slot),
            SearchEnd::Node(parent, len) => Some(self.insert_leaf(name, parent, len)),
            SearchEnd::Edge { slot, node, len } => self.split(name, slot, node, len, components, hash),
        }
    }

    /// Inserts the node of `name` below the node of its first `len` components.
    #[inline(always)]
    fn insert_leaf(&mut self, name: &HashedName<'_>, parent: u32, len: usize) -> u32 {
        let leaf = self.add_node(name.hash(), name.len());
        self.insert_child(parent, leaf);
        if name.len() > len + 1 {
            self.add_edge(name.prefix(len + 1), len + 1, leaf);
        }
        leaf
    }

    /// Inserts the node of `name` where it branches off between `edge`, with `from` components, and the node
    /// `below`.
    #[inline(never)]
    fn split<'a>(
        &mut self,
        name: &HashedName<'_>,
        edge: u32,
        below: u32,
        from: usize,
        components: impl Fn(u32) -> &'a [u8],
        hash: impl Fn(&[u8]) -> u64,
    ) -> Option<u32> {
        let &lower = self.node(below).invariant("an edge leads to a node")?;
        let packet = self.below(below).next().invariant("a node has packets, or a node below it has")?;
        let other = components(packet);
        let (common, next_end) = common_components(name.components, other);
        // Fewer components are shared if hashes collide.
        let at = common.min(usize::from(lower.len) - 1).max(from).min(name.len());
        let branch = if at == from {
            // The place of the edge becomes the node.
            let node = Node { len: from as u8, ..Node::EMPTY };
            if let Some((_, place)) = self.places.entry_mut(edge).invariant("the edge was found") {
                *place = TreePosition::Node(node);
            }
            edge
        } else {
            let branch = self.add_node(name.prefix(at), at);
            self.set_edge(edge, branch);
            branch
        };
        // The new node takes the place of the lower one, which becomes its child.
        if let Some(node) = self.node_mut(branch).invariant("the node was added") {
            (node.parent, node.next, node.prev) = (lower.parent, lower.next, lower.prev);
        }
        self.relink_around(&lower, branch, branch);
        if let Some(node) = self.node_mut(branch).invariant("the node was added") {
            node.child = below;
        }
        if let Some(node) = self.node_mut(below).invariant("an edge leads to a node") {
            (node.parent, node.next, node.prev, node.edge) = (branch, NONE, NONE, NONE);
        }
        if usize::from(lower.len) > at + 1 {
            self.add_edge(hash(part(other, ..next_end)), at + 1, below);
        }
        Some(if at == name.len() { branch } else { self.insert_leaf(name, branch, at) })
    }

    fn add_node(&mut self, hash: u64, len: usize) -> u32 {
        self.add(hash, TreePosition::Node(Node { len: len as u8, ..Node::EMPTY }))
    }

    fn add_edge(&mut self, hash: u64, len: usize, node: u32) {
        let slot = self.add(hash, TreePosition::Edge { len: len as u8, node });
        self.set_edge(slot, node);
    }

    /// Sets the node that an edge leads to.
    fn set_edge(&mut self, edge: u32, to: u32) {
        if let Some((_, TreePosition::Edge { node, .. })) =
            self.places.entry_mut(edge).invariant("the edge exists")
        {
            *node = to;
        }
        if let Some(node) = self.node_mut(to).invariant("the node exists") {
            node.edge = edge;
        }
    }

    /// Inserts `child` before the other children of `parent`.
    #[inline(always)]
    fn insert_child(&mut self, parent: u32, child: u32) {
        // A node at the top has no parent.
        let Some(above) = self.linked_mut(parent) else { return };
        let next = core::mem::replace(&mut above.child, child);
        if let Some(sibling) = self.linked_mut(next) {
            sibling.prev = child;
        }
        if let Some(node) = self.node_mut(child).invariant("the node was added") {
            (node.parent, node.next, node.prev) = (parent, next, NONE);
        }
    }

    /// Points the neighbours of `node` elsewhere: the previous one at `before`, the next one at `behind`.
    fn relink_around(&mut self, node: &Node, before: u32, behind: u32) {
        if let Some(next) = self.linked_mut(node.next) {
            next.prev = behind;
        }
        if let Some(prev) = self.linked_mut(node.prev) {
            prev.next = before;
        } else if let Some(parent) = self.linked_mut(node.parent) {
            parent.child = before;
        }
    }

    /// Removes a node without packets, unless names branch there. Removes its parent, too, if no names branch
    /// there any more.
    #[inline(always)]
    pub(super) fn prune(&mut self, slot: u32) {
        let Some(&node) = self.node(slot).invariant("a cached packet has a node") else { return };
        if node.packet != NONE {
            return;
        }
        if node.child != NONE {
            return self.merge(slot);
        }
        self.relink_around(&node, node.next, node.prev);
        self.remove_place(node.edge);
        self.remove_place(slot);
        self.merge(node.parent);
    }

    /// Removes a node with one child and without packets: the child takes its place.
    #[inline(always)]
    fn merge(&mut self, slot: u32) {
        // A node at the top has no parent, and a node may have no child.
        let Some(&node) = self.linked(slot) else { return };
        let Some(&child) = self.linked(node.child) else { return };
        if node.packet != NONE || child.next != NONE {
            return;
        }
        self.remove_place(child.edge);
        if let Some(place) = self.linked_mut(node.child) {
            (place.parent, place.next, place.prev) = (node.parent, node.next, node.prev);
        }
        self.relink_around(&node, node.child, node.child);
        if node.edge == NONE {
            // The node's own prefix becomes the edge of the child.
            if let Some((_, place)) = self.places.entry_mut(slot).invariant("the node exists") {
                *place = TreePosition::Edge { len: node.len, node: node.child };
            }
            self.set_edge(slot, node.child);
        } else {
            self.set_edge(node.edge, node.child);
            self.remove_place(slot);
        }
    }
}

impl Node {
    const EMPTY: Self =
        Self { len: 0, parent: NONE, child: NONE, next: NONE, prev: NONE, edge: NONE, packet: NONE };
}

/// Number of components that two names share, and the offset in `other` after one component more.
fn common_components(name: &[u8], other: &[u8]) -> (usize, usize) {
    let (mut name, mut others) = (Elements::new(name), Elements::new(other));
    let mut common = 0;
    while let Ok(Some(next)) = others.next() {
        if !matches!(name.next(), Ok(Some(own)) if (own.typ, own.value) == (next.typ, next.value)) {
            return (common, next.end());
        }
        common += 1;
    }
    (common, other.len())
}
