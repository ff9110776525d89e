//! The ordered set of BIND 10 before its ticket 1603.

use super::bytes::Bytes;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cmp::Ordering;
use hashlane_dns::render::{Compressor, POINTER_LIMIT, Place};
use hashlane_name::dns::{Case, Name};

/// The old renderer's set of suffixes: a balanced tree with one node for each, ordered by bytes in lower
/// case, which are read from the message at each comparison.
///
/// The original is a `std::set`, a red-black tree; this is an AA tree (Andersson, *Balanced search trees made
/// simple*, WADS 1993), whose shape is that of a red-black tree with red nodes on the right only.
#[derive(Clone, Debug, Default)]
pub struct Old {
    root: Tree,
    case: Case,
    /// Suffixes left by a cut, to be put into a tree again.
    left: Vec<u16>,
}

type Tree = Option<Box<Node>>;

#[derive(Clone, Debug)]
struct Node {
    at: u16,
    level: u8,
    below: Tree,
    above: Tree,
}

/// The input of a comparison: a message, and the name that is about to be appended.
#[derive(Clone, Copy)]
struct Names<'a> {
    written: &'a [u8],
    name: &'a [u8],
    case: Case,
}

impl Names<'_> {
    /// The order of `suffix` and the suffix at offset `at`.
    fn compare(&self, suffix: &[u8], at: u16) -> Ordering {
        let suffix = suffix.iter().map(|byte| self.case.fold(*byte));
        match usize::from(at).checked_sub(self.written.len()) {
            None => suffix.cmp(Bytes::new(self.written, usize::from(at)).map(|byte| self.case.fold(byte))),
            // A suffix of the same name, which is not written yet.
            Some(from) => suffix.cmp(self.name.iter().skip(from).map(|byte| self.case.fold(*byte))),
        }
    }

    fn find(&self, mut tree: &Tree, suffix: &[u8]) -> Option<u16> {
        while let Some(node) = tree {
            tree = match self.compare(suffix, node.at) {
                Ordering::Less => &node.below,
                Ordering::Greater => &node.above,
                Ordering::Equal => return Some(node.at),
            };
        }
        None
    }

    fn insert(&self, tree: Tree, suffix: &[u8], at: u16) -> Box<Node> {
        let Some(mut node) = tree else {
            return Box::new(Node { at, level: 1, below: None, above: None });
        };
        match self.compare(suffix, node.at) {
            Ordering::Less => node.below = Some(self.insert(node.below.take(), suffix, at)),
            Ordering::Greater => node.above = Some(self.insert(node.above.take(), suffix, at)),
            Ordering::Equal => {}
        }
        split(skew(node))
    }
}

/// Turns a tree whose left child is of its own level.
fn skew(mut node: Box<Node>) -> Box<Node> {
    match node.below.take() {
        Some(mut below) if below.level == node.level => {
            node.below = below.above.take();
            below.above = Some(node);
            below
        }
        below => {
            node.below = below;
            node
        }
    }
}

/// Turns a tree whose right grandchild is of its own level.
fn split(mut node: Box<Node>) -> Box<Node> {
    match node.above.take() {
        Some(mut above) if above.above.as_ref().is_some_and(|next| next.level == node.level) => {
            node.above = above.below.take();
            above.below = Some(node);
            above.level += 1;
            above
        }
        above => {
            node.above = above;
            node
        }
    }
}

impl Compressor for Old {
    fn start(&mut self, case: Case) {
        *self = Self { case, ..Self::default() };
    }

    fn place(&mut self, written: &[u8], name: Name<'_>) -> Place {
        let bytes = name.as_bytes();
        let names = Names { written, name: bytes, case: self.case };
        for at in core::mem::take(&mut self.left) {
            let suffix: Vec<u8> = Bytes::new(written, usize::from(at)).collect();
            self.root = Some(names.insert(self.root.take(), &suffix, at));
        }
        let mut labels = name.labels();
        let mut pointer = None;
        while labels.rest().len() > 1 {
            pointer = names.find(&self.root, labels.rest());
            if pointer.is_some() {
                break;
            }
            labels.next();
        }
        let literal = if pointer.is_some() { bytes.len() - labels.rest().len() } else { bytes.len() };
        let mut labels = name.labels();
        while bytes.len() - labels.rest().len() < literal && labels.rest().len() > 1 {
            let at = written.len() + bytes.len() - labels.rest().len();
            if at < POINTER_LIMIT {
                self.root = Some(names.insert(self.root.take(), labels.rest(), at as u16));
            }
            labels.next();
        }
        Place { literal, pointer }
    }

    fn truncate(&mut self, len: usize) {
        let mut nodes = Vec::new();
        nodes.extend(self.root.take());
        while let Some(mut node) = nodes.pop() {
            nodes.extend(node.below.take());
            nodes.extend(node.above.take());
            self.left.push(node.at);
        }
        self.left.retain(|at| usize::from(*at) < len);
    }
}
