//! Blocks of names: in the first-level cache together, and timed for one scheme after the other.

use crate::packed::{ENCODINGS, Names, Packed};
use std::hint::black_box;
use std::ops::Range;

/// Names of a block: as many as stay in the first-level cache together, timed for one scheme after the other.
pub(crate) const BLOCK: usize = 256;

/// Names that warm a scheme before each block: those before the block, so that the branch predictors learn
/// nothing of the timed names.
const WARM: usize = 128;

/// One block in each encoding.
pub(crate) struct Blocks<'n>(Vec<(&'static str, Block<'n>)>);

/// Names of one encoding: those to be timed, and those before them, to warm up with.
pub(crate) struct Block<'n> {
    pub(crate) names: Part<'n>,
    pub(crate) warm: Part<'n>,
}

/// Names of one encoding that follow one another in a workload.
#[derive(Clone)]
pub(crate) struct Part<'n> {
    /// Place of the first.
    pub(crate) first: usize,
    pub(crate) names: Vec<&'n [u8]>,
}

impl<'n> Part<'n> {
    /// The names of the range, as far as they exist.
    pub(crate) fn new(names: &'n Packed, range: Range<usize>) -> Self {
        let (first, end) = (range.start, range.end.min(names.len()));
        Self { first, names: (first..end).map(|at| names.name(at)).collect() }
    }
}

impl<'n> Blocks<'n> {
    pub(crate) fn new(names: &'n Names, first: usize) -> Self {
        let end = (first + BLOCK).min(names.len());
        // The last block precedes the first.
        let warm =
            if first == 0 { names.len().saturating_sub(WARM)..names.len() } else { first - WARM..first };
        let block = |&encoding: &&'static str| {
            let packed = names.packed(encoding)?;
            let (names, warm) = (Part::new(packed, first..end), Part::new(packed, warm.clone()));
            Some((encoding, Block { names, warm }))
        };
        Self(ENCODINGS.iter().filter_map(block).collect())
    }

    pub(crate) fn of(&self, encoding: &str) -> &Block<'n> {
        self.0.iter().find(|(id, _)| *id == encoding).map_or(&self.0[0].1, |(_, block)| block)
    }
}

impl<'n> Block<'n> {
    /// The names before the block alone, to be timed once they are warm.
    pub(crate) fn warm_twice(&self) -> Self {
        Self { names: self.warm.clone(), warm: self.warm.clone() }
    }

    /// Brings the names into the first-level cache: the hashing is timed, not the memory.
    pub(crate) fn touch(&self) {
        for name in &self.names.names {
            black_box(name.iter().step_by(64).fold(0, |sum: u8, byte| sum.wrapping_add(*byte)));
            black_box(name.last());
        }
    }
}
