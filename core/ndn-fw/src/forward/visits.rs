//! The shards that a packet visits.

/// Shards that a packet still visits: some in the order of their numbers, then the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visits {
    /// Bit `n` is set if shard `n` is visited before the last one.
    before: u64,
    last: u8,
}

/// The visit of the only shard.
impl Default for Visits {
    #[inline(always)]
    fn default() -> Self {
        Self::new(0, 0)
    }
}

impl Visits {
    /// Visits of shard `last`, below 64, after the shards of the bits set in
    /// `before`.
    #[inline]
    pub(crate) fn new(before: u64, last: u8) -> Self {
        Self { before: before & !(1 << (last & 63)), last }
    }

    /// The next shard.
    #[inline]
    pub fn shard(self) -> usize {
        if self.is_last() { self.last.into() } else { self.before.trailing_zeros() as usize }
    }

    /// True if the next visit is the last one.
    #[inline]
    pub fn is_last(self) -> bool {
        self.before == 0
    }

    /// The visits after the next one; `None` after the last one.
    #[inline]
    pub fn after(self) -> Option<Self> {
        (!self.is_last()).then(|| Self { before: self.before & (self.before - 1), ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn all(visits: Visits) -> Vec<usize> {
        core::iter::successors(Some(visits), |visits| visits.after()).map(Visits::shard).collect()
    }

    #[test]
    fn the_last_shard_is_visited_once() {
        assert_eq!(all(Visits::new(0, 3)), [3]);
        assert_eq!(all(Visits::new(0b1011, 1)), [0, 3, 1]);
        assert_eq!(all(Visits::new(u64::MAX, 63)).len(), 64);
    }
}
