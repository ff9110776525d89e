//! Names that wait to be looked up together, so that their cache misses overlap.

use super::intern::Interner;
use super::names::NameId;
use crate::slices::Parts as _;
use alloc::vec::Vec;
use hashlane_name::dns::Name;

/// Names and their hashes.
#[derive(Default)]
pub(super) struct Queue {
    names: Vec<Queued>,
    bytes: Vec<u8>,
    suffixes: Vec<u64>,
}

/// A name: its place in the bytes, and the place of its hashes.
struct Queued {
    bytes: (u32, u32),
    suffixes: (u32, u32),
}

impl Queue {
    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.bytes.clear();
        self.suffixes.clear();
    }

    /// Adds a name, with the hashes of its suffixes.
    pub(super) fn push(&mut self, name: Name<'_>, suffixes: &[u64]) {
        let bytes = (self.bytes.len() as u32, name.len() as u32);
        self.names.push(Queued { bytes, suffixes: (self.suffixes.len() as u32, suffixes.len() as u32) });
        self.bytes.extend_from_slice(name.as_bytes());
        self.suffixes.extend_from_slice(suffixes);
    }

    /// The name of a number, in the order of addition from 0, and its hashes.
    fn get(&self, number: usize) -> Option<(Name<'_>, &[u64])> {
        let Queued { bytes: (at, len), suffixes: (first, count) } = self.names.get(number)?;
        let suffixes = self.suffixes.get(*first as usize..)?.get(..*count as usize)?;
        let bytes = self.bytes.get(*at as usize..)?.get(..*len as usize)?;
        Some((Name::parse(bytes).ok()?, suffixes))
    }

    /// The bytes of the name of a number.
    pub(super) fn name(&self, number: usize) -> Name<'_> {
        self.get(number).map_or(Name::ROOT, |(name, _)| name)
    }

    /// Prefetches what [`intern`](Self::intern) reads: the node of each name, or of the name above it.
    pub(super) fn prefetch(&self, interner: &Interner) {
        let each = |prefetch: fn(&Interner, u64)| {
            for Queued { suffixes: (first, count), .. } in &self.names {
                let suffixes = self.suffixes.part(*first as usize..);
                let suffixes = suffixes.part(..(*count as usize).min(2));
                suffixes.iter().for_each(|suffix| prefetch(interner, *suffix));
            }
        };
        each(Interner::prefetch_node);
        each(Interner::prefetch_label);
    }

    /// The id of the name of a number, which is added if it is new. `None` if there are too many names.
    pub(super) fn intern(&self, number: usize, interner: &mut Interner) -> Option<NameId> {
        let (name, suffixes) = self.get(number)?;
        interner.intern(name, suffixes)
    }
}
