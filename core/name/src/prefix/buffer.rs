//! Buffers for the hashes of one name.

use crate::MAX_COMPONENTS;
use hashlane_hash::prefix::Group;

/// The hashes of a name's prefixes and, for some methods, the ends of the prefixes. Reusable.
#[derive(Clone, Debug)]
pub struct HashBuffer {
    /// One more than names have components: the vectors of a group write eight at a time.
    hashes: [u64; Group::PREFIXES],
    ends: [u32; MAX_COMPONENTS],
    len: usize,
}

impl Default for HashBuffer {
    fn default() -> Self {
        Self::new()
    }
}

impl HashBuffer {
    /// Room for any name.
    pub const fn new() -> Self {
        Self { hashes: [0; Group::PREFIXES], ends: [0; MAX_COMPONENTS], len: 0 }
    }

    /// The hashes, in the order of the method: shortest prefix first, or longest.
    #[inline]
    pub fn hashes(&self) -> &[u64] {
        self.hashes.get(..self.len).unwrap_or_default()
    }

    /// Room for the `len` hashes of a name.
    #[inline(always)]
    pub(super) fn room(&mut self, len: usize) -> &mut [u64] {
        self.len = len.min(MAX_COMPONENTS);
        &mut self.hashes
    }

    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Keeps the hash of the next prefix; hashes beyond the most components a name may have are dropped.
    #[inline(always)]
    pub(super) fn push_hash(&mut self, hash: u64) {
        if let Some(place) = self.hashes.get_mut(self.len) {
            *place = hash;
            self.len += 1;
        }
    }

    #[inline(always)]
    pub(super) fn reverse(&mut self) {
        self.hashes.get_mut(..self.len).unwrap_or_default().reverse();
    }

    /// Keeps the ends that `walk` yields; returns them and the places for as many hashes.
    #[inline(always)]
    pub(super) fn collect_ends<'a, W: crate::walk::Walk<'a>>(
        &mut self,
        walk: &mut W,
    ) -> Result<(&[u32], &mut [u64]), crate::error::ParseError> {
        self.len = 0;
        let mut len = 0;
        while let Some(end) = walk.next_end()? {
            let Some(place) = self.ends.get_mut(len) else { break };
            *place = end as u32;
            len += 1;
        }
        self.len = len;
        Ok((&self.ends[..len], &mut self.hashes[..len]))
    }
}
