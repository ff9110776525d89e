//! The staging area of a group of names.

use crate::arch::lanes::WIDTH;

/// Octets set aside for each name.
pub(super) const STRIDE: usize = 512;
/// Words of 8 octets in them.
pub(super) const WORDS: usize = STRIDE / 8;
/// Prefixes that a name may have.
const PREFIXES: usize = 256;

/// Up to [`NAMES`](Self::NAMES) names side by side, the places where their prefixes end, and room for the states and
/// the hashes. About 40 KiB, of which names of common length touch a few; made once and reused, nothing in it needs
/// clearing.
#[derive(Clone, Debug)]
pub struct Group {
    /// Name n stands at `STRIDE * n`; what stands behind its end is left from names before.
    pub(super) octets: [u8; STRIDE * WIDTH],
    /// States before each word, an array for each 64 bits of a state; how they are laid out is the hash's affair.
    pub(super) states: [[u64; WORDS * WIDTH]; 4],
    /// Where each prefix ends in `octets`.
    pub(super) ends: [u16; PREFIXES * WIDTH],
    pub(super) hashes: [u64; PREFIXES * WIDTH],
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
    /// Names that fit into a group.
    pub const NAMES: usize = WIDTH;
    /// Octets of the longest name that fits: one word less than is set aside, for the state after its last word.
    pub const OCTETS: usize = STRIDE - 8;

    /// An empty group.
    pub const fn new() -> Self {
        Self {
            octets: [0; STRIDE * WIDTH],
            states: [[0; WORDS * WIDTH]; 4],
            ends: [0; PREFIXES * WIDTH],
            hashes: [0; PREFIXES * WIDTH],
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

    /// Whether no further name fits.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.names >= Self::NAMES
    }

    /// Names in the group.
    #[inline]
    pub fn names(&self) -> usize {
        self.names
    }

    /// Adds the name of the octets `bytes` and of the prefixes whose ends `next_end` yields, 255 at the most, in any
    /// order; returns the numbers of its prefixes. Where the group [is full](Self::is_full) or the name longer than
    /// [`OCTETS`](Self::OCTETS), nothing is added and nothing returned; an end beyond `bytes` gives a hash of no
    /// meaning.
    ///
    /// # Errors
    /// The error of `next_end`; the name is then not added.
    #[inline(always)]
    pub fn push<E>(
        &mut self,
        bytes: &[u8],
        mut next_end: impl FnMut() -> Result<Option<usize>, E>,
    ) -> Result<Option<core::ops::Range<usize>>, E> {
        let Some(place) = self.octets.as_chunks_mut::<STRIDE>().0.get_mut(self.names) else {
            return Ok(None);
        };
        if bytes.len() > Self::OCTETS {
            return Ok(None);
        }
        copy(place, bytes);
        let base = STRIDE * self.names;
        let first = self.prefixes;
        let mut prefixes = first;
        for place in self.ends.get_mut(first..first + PREFIXES).unwrap_or_default() {
            let Some(end) = next_end()? else { break };
            *place = (base + end) as u16;
            prefixes += 1;
        }
        self.prefixes = prefixes;
        self.names += 1;
        self.height = self.height.max(bytes.len() / 8);
        Ok(Some(first..prefixes))
    }

    /// The hashes of the prefixes, in the order in which they were added; of meaning after
    /// [`every_prefix`](super::EveryPrefix::every_prefix).
    #[inline]
    pub fn hashes(&self) -> &[u64] {
        self.hashes.get(..self.prefixes).unwrap_or_default()
    }
}

/// Copies `bytes` to the start of `place` by two copies of fixed size that overlap: names of one class of lengths take
/// the same path, whatever their length.
#[inline(always)]
fn copy(place: &mut [u8; STRIDE], bytes: &[u8]) {
    if bytes.len() > 128 {
        place[..bytes.len()].copy_from_slice(bytes);
    } else if !(overlapping::<64>(place, bytes)
        || overlapping::<32>(place, bytes)
        || overlapping::<16>(place, bytes))
    {
        for (to, from) in place.iter_mut().zip(bytes) {
            *to = *from;
        }
    }
}

/// Copies `N` to `2 * N` octets; does nothing, and says so, where there are fewer.
#[inline(always)]
fn overlapping<const N: usize>(place: &mut [u8; STRIDE], bytes: &[u8]) -> bool {
    let (Some(first), Some(last)) = (bytes.first_chunk::<N>(), bytes.last_chunk::<N>()) else { return false };
    place[..N].copy_from_slice(first);
    match place.get_mut(bytes.len() - N..bytes.len()) {
        Some(end) => end.copy_from_slice(last),
        None => return false,
    }
    true
}
