//! Names that wait to be looked up together, so that their cache misses overlap.

use super::intern::Interner;
use super::names::NameId;
use crate::slices::Parts as _;
use alloc::vec::Vec;
use hashlane_hash::prefix::Group;
use hashlane_name::dns::Name;

/// Names and their hashes.
#[derive(Default)]
pub(super) struct Queue {
    names: Vec<Queued>,
    bytes: Vec<u8>,
    suffixes: Vec<u64>,
    /// Names whose labels are prefetched.
    likely: Vec<NameId>,
}

/// A name: its place in the bytes, and the place of its hashes.
struct Queued {
    bytes: (u32, u32),
    suffixes: (u32, u32),
}

impl Queued {
    fn name<'a>(&self, bytes: &'a [u8]) -> Option<Name<'a>> {
        let (at, len) = self.bytes;
        Name::parse(bytes.get(at as usize..)?.get(..len as usize)?).ok()
    }

    /// The hashes of the name and of the one above it: one of them likely is in the tree.
    fn likely<'a>(&self, suffixes: &'a [u64]) -> &'a [u64] {
        let (first, count) = self.suffixes;
        suffixes.part(first as usize..).part(..(count as usize).min(2))
    }
}

impl Queue {
    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.bytes.clear();
        self.suffixes.clear();
    }

    /// Adds a name.
    pub(super) fn push(&mut self, name: Name<'_>) {
        let bytes = (self.bytes.len() as u32, name.len() as u32);
        self.names.push(Queued { bytes, suffixes: (0, 0) });
        self.bytes.extend_from_slice(name.as_bytes());
    }

    /// Hashes all names, and prefetches the slots of each and of the name above it while others are hashed.
    pub(super) fn hash(&mut self, interner: &mut Interner) {
        let Self { names, bytes, suffixes, .. } = self;
        for group in names.chunks_mut(Group::NAMES) {
            let mut first = suffixes.len();
            let names = group.iter_mut().filter_map(|queued| {
                let name = queued.name(bytes)?;
                let count = name.label_count() + 1;
                queued.suffixes = (first as u32, count as u32);
                first += count;
                Some(name)
            });
            interner.hash.names(names, suffixes);
            debug_assert_eq!(first, suffixes.len(), "each label has a hash, and so has the root");
            for queued in group {
                queued.likely(suffixes).iter().for_each(|suffix| interner.prefetch(*suffix));
            }
        }
    }

    /// The name of a number, in the order of addition from 0, and its hashes.
    fn get(&self, number: usize) -> Option<(Name<'_>, &[u64])> {
        let queued = self.names.get(number)?;
        let (first, count) = queued.suffixes;
        let suffixes = self.suffixes.get(first as usize..)?.get(..count as usize)?;
        Some((queued.name(&self.bytes)?, suffixes))
    }

    /// The bytes of the name of a number.
    pub(super) fn name(&self, number: usize) -> Name<'_> {
        self.get(number).map_or(Name::ROOT, |(name, _)| name)
    }

    /// Prefetches what [`intern`](Self::intern) reads: the node of each name, or of the name above it.
    pub(super) fn prefetch(&mut self, interner: &Interner) {
        self.likely.clear();
        for queued in &self.names {
            let suffixes = queued.likely(&self.suffixes);
            self.likely.extend(suffixes.iter().filter_map(|suffix| interner.prefetch_node(*suffix)));
        }
        self.likely.iter().for_each(|id| interner.names.prefetch_label(*id));
    }

    /// The id of the name of a number, which is added if it is new. `None` if there are too many names.
    pub(super) fn intern(&self, number: usize, interner: &mut Interner) -> Option<NameId> {
        let (name, suffixes) = self.get(number)?;
        interner.intern(name, suffixes)
    }
}
