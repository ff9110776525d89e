//! A bit for each name.

use crate::zone::NameId;
use crate::zone::names::Names;
use alloc::vec;
use alloc::vec::Vec;

/// A set of names of a tree.
pub(super) struct Marks {
    full: Vec<u64>,
    bare: Vec<u64>,
}

impl Marks {
    /// No names of a tree.
    pub(super) fn new(names: &Names) -> Self {
        let (full, bare) = names.counts();
        Self { full: vec![0; full.div_ceil(64)], bare: vec![0; bare.div_ceil(64)] }
    }

    pub(super) fn add(&mut self, id: NameId) {
        let (bits, at) = match id.is_bare() {
            true => (&mut self.bare, id.bare_index()),
            false => (&mut self.full, id.index()),
        };
        if let Some(word) = bits.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    #[inline(always)]
    pub(super) fn has(&self, id: NameId) -> bool {
        let (bits, at) = match id.is_bare() {
            true => (&self.bare, id.bare_index()),
            false => (&self.full, id.index()),
        };
        bits.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 != 0)
    }
}

/// A set of labels that may have others, too.
pub(super) struct Labels(Vec<u64>);

/// Bits of [`Labels`].
const BITS: usize = 1 << 16;

impl Labels {
    pub(super) fn new() -> Self {
        Self(vec![0; BITS / 64])
    }

    pub(super) fn add(&mut self, label: &[u8]) {
        let at = Self::place(label);
        if let Some(word) = self.0.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    pub(super) fn may_have(&self, label: &[u8]) -> bool {
        let at = Self::place(label);
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 != 0)
    }

    /// A hash without a key: labels that share a place on purpose cost what all labels cost without it.
    fn place(label: &[u8]) -> usize {
        let fold =
            |hash: u32, byte: &u8| (hash ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x9e37_79b1);
        let hash = label.iter().fold(label.len() as u32, fold);
        (hash ^ hash >> 16) as usize % BITS
    }
}
