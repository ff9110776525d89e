//! The staging area of a group of names.

use crate::arch::lanes::WIDTH;
use crate::load::{le64, le64_to_end};

/// Words that a name in a group may have.
const WORDS: usize = 64;
/// Prefixes that a group may have.
const PREFIXES: usize = 256;

/// Up to [`NAMES`](Self::NAMES) names taken apart into words, the places where their prefixes end, and room for the
/// states and the hashes. About 28 KiB; made once and reused, nothing in it needs clearing.
///
/// Word w of name n stands at `WIDTH * w + n`: one word of every name is one vector.
#[derive(Clone, Debug)]
pub struct Group {
    pub(super) words: [u64; WORDS * WIDTH],
    /// States before each word, one array for each 64 bits of a state; a narrow state uses the first.
    pub(super) states: [[u64; WORDS * WIDTH]; 4],
    /// For each prefix, where its last word stands.
    pub(super) slots: [u64; PREFIXES],
    /// For each prefix, its length in octets.
    pub(super) ends: [u64; PREFIXES],
    pub(super) hashes: [u64; PREFIXES],
    pub(super) names: usize,
    pub(super) prefixes: usize,
    /// Whole words of the longest name: the states up to this row are needed.
    pub(super) height: usize,
}

impl Default for Group {
    fn default() -> Self {
        Self::new()
    }
}

impl Group {
    /// Names that fit into a group.
    pub const NAMES: usize = WIDTH;
    /// Octets of the longest name that fits.
    pub const OCTETS: usize = 8 * WORDS - 1;

    /// An empty group.
    pub const fn new() -> Self {
        Self {
            words: [0; WORDS * WIDTH],
            states: [[0; WORDS * WIDTH]; 4],
            slots: [0; PREFIXES],
            ends: [0; PREFIXES],
            hashes: [0; PREFIXES],
            names: 0,
            prefixes: 0,
            height: 0,
        }
    }

    /// Forgets the names.
    #[inline]
    pub fn clear(&mut self) {
        self.names = 0;
        self.prefixes = 0;
        self.height = 0;
    }

    /// Adds a name of the octets `bytes`, as yet without prefixes. `false`, and nothing is added, where the group
    /// has [`NAMES`](Self::NAMES) names or `bytes` are longer than [`OCTETS`](Self::OCTETS).
    #[inline]
    #[must_use]
    pub fn push_name(&mut self, bytes: &[u8]) -> bool {
        if self.names == Self::NAMES || bytes.len() > Self::OCTETS {
            return false;
        }
        let lane = self.names % WIDTH;
        let (rows, _) = self.words.as_chunks_mut::<WIDTH>();
        let height = bytes.len() / 8;
        for (w, row) in rows.iter_mut().take(height).enumerate() {
            row[lane] = le64(bytes, 8 * w);
        }
        if let Some(row) = rows.get_mut(height) {
            row[lane] = le64_to_end(bytes, 8 * height);
        }
        self.height = self.height.max(height);
        self.names += 1;
        true
    }

    /// Adds the prefix of `end` octets of the name added last. `false`, and nothing is added, where the group is
    /// full, has no name, or `end` is beyond [`OCTETS`](Self::OCTETS).
    #[inline]
    #[must_use]
    pub fn push_prefix(&mut self, end: usize) -> bool {
        let Some(lane) = self.names.checked_sub(1) else { return false };
        if self.prefixes == PREFIXES || end > Self::OCTETS {
            return false;
        }
        let at = self.prefixes % PREFIXES;
        self.slots[at] = ((end & !7) + lane) as u64;
        self.ends[at] = end as u64;
        self.prefixes += 1;
        true
    }

    /// Prefixes in the group.
    #[inline]
    pub fn prefixes(&self) -> usize {
        self.prefixes
    }

    /// Names in the group.
    #[inline]
    pub fn names(&self) -> usize {
        self.names
    }

    /// Drops the prefixes from the one numbered `prefixes` on, as after a name that broke off.
    #[inline]
    pub fn truncate(&mut self, prefixes: usize) {
        self.prefixes = self.prefixes.min(prefixes);
    }

    /// The hashes of the prefixes, in the order in which they were added; of meaning after
    /// [`every_prefix`](super::EveryPrefix::every_prefix).
    #[inline]
    pub fn hashes(&self) -> &[u64] {
        self.hashes.get(..self.prefixes).unwrap_or_default()
    }
}
