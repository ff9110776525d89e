//! Blocks of names: in the first-level cache together, and timed for one scheme after the other.

use crate::packed::{ENCODINGS, Names};
use std::hint::black_box;

/// Names of a block: as many as stay in the first-level cache together, timed for one scheme after the other.
pub(super) const BLOCK: usize = 256;

/// Names that warm a scheme before each block: those before the block, so that the branch predictors learn
/// nothing of the timed names.
const WARM: usize = 128;

/// One block in each encoding.
pub(super) struct Blocks<'n>(Vec<(&'static str, Block<'n>)>);

/// Names of one encoding: those to be timed, and those before them, to warm up with.
pub(super) struct Block<'n> {
    pub(super) names: Vec<&'n [u8]>,
    pub(super) warm: Vec<&'n [u8]>,
}

impl<'n> Blocks<'n> {
    pub(super) fn new(names: &'n Names, first: usize) -> Self {
        let end = (first + BLOCK).min(names.len());
        // The last block precedes the first.
        let warm =
            if first == 0 { names.len().saturating_sub(WARM)..names.len() } else { first - WARM..first };
        let block = |&encoding: &&'static str| {
            let of = |range: std::ops::Range<usize>| match names.packed(encoding) {
                Some(packed) => range.map(|at| packed.name(at)).collect(),
                None => Vec::new(),
            };
            (encoding, Block { names: of(first..end), warm: of(warm.clone()) })
        };
        Self(ENCODINGS.iter().map(block).collect())
    }

    pub(super) fn of(&self, encoding: &str) -> &Block<'n> {
        self.0.iter().find(|(id, _)| *id == encoding).map_or(&self.0[0].1, |(_, block)| block)
    }
}

impl Block<'_> {
    /// Brings the names into the first-level cache: the hashing is timed, not the memory.
    pub(super) fn touch(&self) {
        for name in &self.names {
            black_box(name.iter().step_by(64).fold(0, |sum: u8, byte| sum.wrapping_add(*byte)));
            black_box(name.last());
        }
    }
}
