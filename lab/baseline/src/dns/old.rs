//! The ordered set of BIND 10 before its ticket 1603.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::hint::black_box;
use hashlane_dns::render::{CompressedName, Compressor, POINTER_LIMIT};
use hashlane_name::dns::{Case, Name};

/// The old renderer's set of suffixes: a balanced tree with one node for each, ordered by length and then by
/// bytes in lower case.
///
/// It does the work of the original: each name is copied into a buffer first; a comparison reads both names
/// byte by byte through their pointers, checks each index, and calls `tolower`; a search goes down to a leaf,
/// as in `std::set`, which only knows "less"; each node is an allocation, and all are freed with the message.
/// The original's tree is a red-black tree; this is an AA tree (Andersson, *Balanced search trees made
/// simple*, WADS 1993), which has the shape of a red-black tree with red nodes on the right only.
#[derive(Clone, Debug, Default)]
pub struct Old {
    root: Tree,
    case: Case,
    /// The name in hand.
    copy: Vec<u8>,
    /// Suffixes left by a cut, to be put into a tree again.
    left: Vec<Suffix>,
}

type Tree = Option<Box<Node>>;

/// A suffix in the message: its offset and its length without pointers.
#[derive(Clone, Copy, Debug)]
struct Suffix {
    at: u16,
    len: u16,
}

#[derive(Clone, Debug)]
struct Node {
    suffix: Suffix,
    level: u8,
    below: Tree,
    above: Tree,
}

/// A suffix as a comparison reads it: a message or a name, and the suffix there.
#[derive(Clone, Copy)]
struct Bytes<'a> {
    bytes: &'a [u8],
    at: usize,
    len: u16,
    /// Bytes of the label that are still to come.
    label: u8,
}

impl<'a> Bytes<'a> {
    const fn new(bytes: &'a [u8], at: usize, len: u16) -> Self {
        Self { bytes, at, len, label: 0 }
    }

    /// Goes to the next byte, through a pointer before a label; the message is the renderer's own, so that
    /// pointers lead backward.
    #[inline(always)]
    fn enter(&mut self) {
        if self.label > 0 {
            self.label -= 1;
            return;
        }
        while self.bytes[self.at] & 0xc0 == 0xc0 {
            let target = usize::from(self.bytes[self.at] & 0x3f) << 8 | usize::from(self.bytes[self.at + 1]);
            assert!(target < self.at, "a pointer leads forward");
            self.at = target;
        }
        self.label = self.bytes[self.at];
    }
}

/// The C library's `tolower`: a call for each byte, which reads the table of the locale.
#[inline(never)]
fn lower(locale: &[u8; 256], byte: u8) -> u8 {
    locale[usize::from(byte)]
}

/// The table of the C locale.
const LOWER: [u8; 256] = {
    let mut lower = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        lower[byte] = (byte as u8).to_ascii_lowercase();
        byte += 1;
    }
    lower
};

/// True if `a` comes before `b`.
fn less(case: Case, mut a: Bytes<'_>, mut b: Bytes<'_>) -> bool {
    if a.len != b.len {
        return a.len < b.len;
    }
    // The compiler does not know which locale it is.
    let locale = black_box(&LOWER);
    for _ in 0..a.len {
        a.enter();
        b.enter();
        match case {
            Case::Sensitive if a.bytes[a.at] < b.bytes[b.at] => return true,
            Case::Sensitive if a.bytes[a.at] > b.bytes[b.at] => return false,
            Case::Ignored if lower(locale, a.bytes[a.at]) < lower(locale, b.bytes[b.at]) => return true,
            Case::Ignored if lower(locale, a.bytes[a.at]) > lower(locale, b.bytes[b.at]) => return false,
            _ => {}
        }
        a.at += 1;
        b.at += 1;
    }
    false
}

/// The input of comparisons: a message, and the name that is about to be appended.
#[derive(Clone, Copy)]
struct Names<'a> {
    written: &'a [u8],
    name: &'a [u8],
    case: Case,
}

impl<'a> Names<'a> {
    /// The suffix of a node.
    fn bytes(&self, Suffix { at, len }: Suffix) -> Bytes<'a> {
        match usize::from(at).checked_sub(self.written.len()) {
            None => Bytes::new(self.written, usize::from(at), len),
            // A suffix of the same name, which is not written yet.
            Some(from) => Bytes::new(self.name, from, len),
        }
    }

    fn find(&self, mut tree: &Tree, suffix: Bytes<'_>) -> Option<u16> {
        let mut found = None;
        while let Some(node) = tree {
            tree = if less(self.case, self.bytes(node.suffix), suffix) {
                &node.above
            } else {
                found = Some(node.suffix);
                &node.below
            };
        }
        found.filter(|found| !less(self.case, suffix, self.bytes(*found))).map(|found| found.at)
    }

    /// Adds a suffix that the tree does not have. `before` is the last one on the way that comes before it,
    /// with which a set compares it once more.
    fn insert(&self, tree: Tree, suffix: Suffix, before: Option<Suffix>) -> Option<Box<Node>> {
        let Some(mut node) = tree else {
            let is_new = before.is_none_or(|before| less(self.case, self.bytes(before), self.bytes(suffix)));
            return is_new.then(|| Box::new(Node { suffix, level: 1, below: None, above: None }));
        };
        if less(self.case, self.bytes(suffix), self.bytes(node.suffix)) {
            node.below = self.insert(node.below.take(), suffix, before);
        } else {
            node.above = self.insert(node.above.take(), suffix, Some(node.suffix));
        }
        Some(split(skew(node)))
    }
}

/// Turns a tree whose left child is on the same level.
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

/// Turns a tree whose right grandchild is on the same level.
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
        self.root = None;
        self.left.clear();
        self.case = case;
    }

    fn place(&mut self, written: &[u8], name: Name<'_>) -> CompressedName {
        self.copy.clear();
        self.copy.extend_from_slice(name.as_bytes());
        let bytes = self.copy.as_slice();
        let names = Names { written, name: bytes, case: self.case };
        for suffix in self.left.drain(..) {
            self.root = names.insert(self.root.take(), suffix, None);
        }
        let mut labels = name.labels();
        let mut pointer = None;
        while labels.rest().len() > 1 {
            let len = labels.rest().len();
            pointer = names.find(&self.root, Bytes::new(bytes, bytes.len() - len, len as u16));
            if pointer.is_some() {
                break;
            }
            labels.next();
        }
        let literal = if pointer.is_some() { bytes.len() - labels.rest().len() } else { bytes.len() };
        let mut labels = name.labels();
        while bytes.len() - labels.rest().len() < literal && labels.rest().len() > 1 {
            let len = labels.rest().len();
            let at = written.len() + bytes.len() - len;
            if at >= POINTER_LIMIT {
                break;
            }
            let suffix = Suffix { at: at as u16, len: len as u16 };
            self.root = names.insert(self.root.take(), suffix, None);
            labels.next();
        }
        CompressedName::new(literal, pointer)
    }

    fn truncate(&mut self, len: usize) {
        let mut nodes = Vec::new();
        nodes.extend(self.root.take());
        while let Some(mut node) = nodes.pop() {
            nodes.extend(node.below.take());
            nodes.extend(node.above.take());
            self.left.push(node.suffix);
        }
        self.left.retain(|suffix| usize::from(suffix.at) < len);
    }
}
