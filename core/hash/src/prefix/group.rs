//! The staging area of a group of names.

use super::EveryPrefix;
use crate::arch::lanes::WIDTH;
use crate::arch::stage::STRIDE;

/// Words of 8 bytes in the room of a name.
pub(super) const WORDS: usize = STRIDE / 8;
/// Prefixes that a name may have.
const PREFIXES: usize = 256;

/// Up to [`NAMES`](Self::NAMES) names, the ends of their prefixes, and room for the states. It takes about 28
/// KiB; names of common length touch a few of them. Reusable; nothing in it needs clearing.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Group {
    /// Name n starts at `STRIDE * n`; the bytes after its end are left over from earlier names.
    pub(super) bytes: [u8; STRIDE * WIDTH],
    /// Keeps a word and its state at different offsets in their pages: a CPU takes a load for dependent on a
    /// store before it where the low 12 bits of their addresses agree, and would stall the chain at every
    /// word.
    _apart: [u64; 32],
    /// States before each word, and registers for hashes with a state of one word. Each hash has its own
    /// layout.
    pub(super) states: [[u64; 4]; WORDS * WIDTH],
    pub(super) registers: [u64; WORDS * WIDTH],
    /// The end of each prefix in `bytes`.
    pub(super) ends: [u16; PREFIXES * WIDTH],
    /// The number of prefixes of each name.
    counts: [u16; WIDTH],
    pub(super) names: usize,
    pub(super) prefixes: usize,
    /// Whole words of the longest name.
    pub(super) height: usize,
}

impl Default for Group {
    fn default() -> Self {
        Self::new()
    }
}

impl Group {
    /// Most prefixes of one name.
    pub const PREFIXES: usize = PREFIXES;
    /// Names that fit into a group.
    pub const NAMES: usize = WIDTH;
    /// Bytes of the longest name that fits: one word less than is set aside, for the state after its last
    /// word.
    pub const MAX_LEN: usize = STRIDE - 8;

    /// An empty group.
    pub const fn new() -> Self {
        Self {
            bytes: [0; STRIDE * WIDTH],
            _apart: [0; 32],
            states: [[0; 4]; WORDS * WIDTH],
            registers: [0; WORDS * WIDTH],
            ends: [0; PREFIXES * WIDTH],
            counts: [0; WIDTH],
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

    /// Returns true if no further name fits.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.names >= Self::NAMES
    }

    /// Names in the group.
    #[inline]
    pub fn names(&self) -> usize {
        self.names
    }

    /// Adds the name `bytes`, to be hashed by `hash`. The result takes the ends of the name's prefixes and
    /// [adds](Prefixes::add) the name with them. Returns `None` if the group [is full](Self::is_full) or the
    /// name longer than [`MAX_LEN`](Self::MAX_LEN).
    #[inline(always)]
    pub fn push(&mut self, hash: &impl EveryPrefix, bytes: &[u8]) -> Option<Prefixes<'_>> {
        let name = self.names;
        if bytes.len() > Self::MAX_LEN {
            return None;
        }
        let place = self.bytes.as_chunks_mut::<STRIDE>().0.get_mut(name)?;
        hash.stage(place, bytes);
        Some(Prefixes {
            ends: &mut self.ends,
            at: self.prefixes,
            first: self.prefixes,
            base: STRIDE * name,
            count: self.counts.get_mut(name)?,
            names: &mut self.names,
            prefixes: &mut self.prefixes,
            height: &mut self.height,
            words: bytes.len() / 8,
        })
    }

    /// Places that [`every_prefix`](super::EveryPrefix::every_prefix) needs: the prefixes of all names,
    /// rounded up to whole vectors.
    #[inline]
    pub fn room(&self) -> usize {
        self.prefixes.next_multiple_of(WIDTH)
    }

    /// Prefixes of each name, in the order in which the names were added.
    #[inline]
    pub fn counts(&self) -> impl Iterator<Item = usize> {
        self.counts.iter().take(self.names).map(|count| usize::from(*count))
    }
}

/// The prefixes of a name to add to a [`Group`].
#[derive(Debug)]
#[must_use = "the name is not in the group before `add`"]
pub struct Prefixes<'g> {
    ends: &'g mut [u16; PREFIXES * WIDTH],
    /// The place of the next end.
    at: usize,
    first: usize,
    base: usize,
    count: &'g mut u16,
    names: &'g mut usize,
    prefixes: &'g mut usize,
    height: &'g mut usize,
    words: usize,
}

impl Prefixes<'_> {
    /// Takes the prefix of `end` bytes, in any order; beyond the name's bytes its hash is of no meaning.
    #[inline(always)]
    pub fn push(&mut self, end: usize) {
        // The remainder by a power of two keeps the place inside; `add` takes no place twice.
        self.ends[self.at % (PREFIXES * WIDTH)] = (self.base + end) as u16;
        self.at += 1;
    }

    /// Adds the name and its prefixes to the group. Returns `false`, and adds nothing, if there are more than
    /// 256.
    #[inline(always)]
    #[must_use]
    pub fn add(self) -> bool {
        let count = self.at - self.first;
        if count > PREFIXES {
            return false;
        }
        *self.prefixes = self.at;
        *self.count = count as u16;
        *self.names += 1;
        *self.height = (*self.height).max(self.words);
        true
    }
}
