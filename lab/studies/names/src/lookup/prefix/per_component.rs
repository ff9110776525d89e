//! A tree with a node for each component: name trees as in NFD and ndnd.
//!
//! Every prefix of a prefix has a node, found by its hash and its parent. A lookup goes from the root to the
//! first component that has none; each step waits for the one before. The nodes are in one hash table, as in
//! NFD's name tree (`daemon/table/name-tree-hashtable`); a map of children in each node is the other usual
//! form.

use super::{BURST, HashedName, Hasher, LongestPrefix};
use crate::lookup::strings::Strings;
use hashlane_table::Table as _;
use hashlane_table::batched::Batched;

/// Parent of nodes with one component.
const ROOT: u32 = u32::MAX;

/// Key of a node.
#[derive(PartialEq, Eq)]
struct Node {
    hash: u64,
    parent: u32,
    component: Box<[u8]>,
}

struct Entry {
    value: Option<u32>,
    children: u32,
}

pub(super) struct PerComponent {
    nodes: Batched<Node, Entry>,
    root: Option<u32>,
    /// Bytes of all components.
    bytes: usize,
}

impl PerComponent {
    /// The child of a node, by the components that follow it.
    #[inline(always)]
    fn child(&self, hash: u64, parent: u32, rest: &[u8]) -> Option<u32> {
        self.nodes.slot_by(hash, |_, node, _| {
            node.hash == hash && node.parent == parent && rest.starts_with(&node.component)
        })
    }

    fn entry(&mut self, slot: u32) -> Option<&mut Entry> {
        self.nodes.entry_mut(slot).map(|(_, entry)| entry)
    }

    /// Slots of the nodes of a name, as far as there are any.
    fn path(&self, name: &HashedName<'_>) -> Vec<u32> {
        let (mut path, mut rest) = (Vec::new(), name.components);
        for hash in name.hashes {
            let Some(slot) = self.child(*hash, path.last().copied().unwrap_or(ROOT), rest) else { break };
            let Some((node, _)) = self.nodes.entry(slot) else { break };
            rest = rest.get(node.component.len()..).unwrap_or_default();
            path.push(slot);
        }
        path
    }
}

impl LongestPrefix for PerComponent {
    fn build(prefixes: &Strings, hasher: &mut Hasher) -> Self {
        let mut table = Self { nodes: Batched::with_capacity(prefixes.len()), root: None, bytes: 0 };
        super::insert_all(&mut table, prefixes, hasher);
        table
    }

    fn insert(&mut self, name: &HashedName<'_>, value: u32) -> Option<u32> {
        if name.len() == 0 {
            return self.root.replace(value);
        }
        let (mut parent, mut from) = (ROOT, 0);
        for (len, hash) in (1..).zip(name.hashes) {
            let end = name.end(len);
            let component = name.components.get(from..end).unwrap_or_default();
            parent = match self.child(*hash, parent, component) {
                Some(slot) => slot,
                None => {
                    if let Some(parent) = self.entry(parent) {
                        parent.children += 1;
                    }
                    self.bytes += component.len();
                    let node = Node { hash: *hash, parent, component: component.into() };
                    let entry = Entry { value: None, children: 0 };
                    self.nodes.insert(*hash, node, entry, |node| node.hash).slot
                }
            };
            from = end;
        }
        self.entry(parent).and_then(|entry| entry.value.replace(value))
    }

    fn remove(&mut self, name: &HashedName<'_>) -> Option<u32> {
        if name.len() == 0 {
            return self.root.take();
        }
        let path = self.path(name);
        let last = path.last().filter(|_| path.len() == name.len())?;
        let old = self.entry(*last)?.value.take()?;
        for (slot, hash) in path.iter().zip(name.hashes).rev() {
            if !self.entry(*slot).is_some_and(|entry| entry.value.is_none() && entry.children == 0) {
                break;
            }
            let (node, _) = self.nodes.remove_slot(*hash, *slot)?;
            self.bytes -= node.component.len();
            if let Some(parent) = self.entry(node.parent) {
                parent.children -= 1;
            }
        }
        Some(old)
    }

    #[inline(always)]
    fn longest(&self, names: &[HashedName<'_>], found: &mut [Option<u32>]) {
        let mut nodes = [Some(ROOT); BURST];
        let mut rests = [&[][..]; BURST];
        for ((name, rest), found) in names.iter().zip(&mut rests).zip(found.iter_mut()) {
            (*rest, *found) = (name.components, self.root);
        }
        let deepest = names.iter().map(HashedName::len).max().unwrap_or(0);
        for len in 1..=deepest {
            let walking = |node: &Option<u32>, name: &HashedName<'_>| node.is_some() && name.len() >= len;
            for (name, node) in names.iter().zip(&nodes).filter(|(name, node)| walking(node, name)) {
                let _ = node;
                self.nodes.prefetch(name.prefix(len));
            }
            for (name, node) in names.iter().zip(&nodes).filter(|(name, node)| walking(node, name)) {
                let _ = node;
                self.nodes.prefetch_entry(name.prefix(len));
            }
            let mut any = false;
            let places = nodes.iter_mut().zip(&mut rests).zip(found.iter_mut());
            for (name, ((node, rest), found)) in names.iter().zip(places) {
                let Some(parent) = node.filter(|_| name.len() >= len) else { continue };
                *node = self.child(name.prefix(len), parent, rest);
                let Some((key, entry)) = node.and_then(|slot| self.nodes.entry(slot)) else { continue };
                *rest = rest.get(key.component.len()..).unwrap_or_default();
                *found = entry.value.or(*found);
                any = true;
            }
            if !any {
                break;
            }
        }
    }

    fn memory(&self) -> usize {
        self.nodes.memory() + self.bytes
    }
}
