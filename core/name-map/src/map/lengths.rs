//! Numbers of components that prefixes have, and the order in which a lookup probes them.

use alloc::boxed::Box;

/// Most components of a prefix.
pub(crate) const MAX_COMPONENTS: usize = 255;

/// Set of numbers of components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LengthSet([u64; (MAX_COMPONENTS + 1) / 64]);

impl LengthSet {
    #[inline(always)]
    pub(crate) fn insert(&mut self, length: usize) {
        if let Some(word) = self.0.get_mut(length / 64) {
            *word |= 1 << (length % 64);
        }
    }

    fn remove(&mut self, length: usize) {
        if let Some(word) = self.0.get_mut(length / 64) {
            *word &= !(1 << (length % 64));
        }
    }

    /// The members up to `most`, the largest first.
    #[inline(always)]
    pub(crate) fn descending(&self, most: usize) -> Descending<'_> {
        let most = most.min(MAX_COMPONENTS);
        let at = most / 64;
        let word = self.0.get(at).map_or(0, |word| word & (u64::MAX >> (63 - most % 64)));
        Descending { set: self, at, word }
    }
}

/// Members of a set, the largest first.
#[derive(Clone, Debug)]
pub(crate) struct Descending<'a> {
    set: &'a LengthSet,
    /// The word with the next member, and its members that are left.
    at: usize,
    word: u64,
}

impl Iterator for Descending<'_> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.word == 0 {
            self.at = self.at.checked_sub(1)?;
            self.word = self.set.0.get(self.at).copied()?;
        }
        let bit = self.word.ilog2() as usize;
        self.word &= !(1 << bit);
        Some(64 * self.at + bit)
    }
}

/// Number of prefixes of each length.
#[derive(Clone, Debug)]
pub(crate) struct Lengths {
    prefixes: Box<[u32; MAX_COMPONENTS + 1]>,
    used: LengthSet,
}

impl Lengths {
    pub(crate) fn new() -> Self {
        Self { prefixes: Box::new([0; MAX_COMPONENTS + 1]), used: LengthSet::default() }
    }

    /// Lengths that a lookup of a name with `components` components probes, in order: those that a prefix
    /// has, longest first. Each costs one bucket.
    #[inline(always)]
    pub(crate) fn probes(&self, components: usize) -> Descending<'_> {
        self.used.descending(components)
    }

    pub(crate) fn add(&mut self, length: usize) {
        if let Some(prefixes) = self.prefixes.get_mut(length) {
            *prefixes += 1;
            self.used.insert(length);
        }
    }

    pub(crate) fn remove(&mut self, length: usize) {
        if let Some(prefixes) = self.prefixes.get_mut(length) {
            *prefixes -= 1;
            if *prefixes == 0 {
                self.used.remove(length);
            }
        }
    }

    /// Bytes of memory on the heap.
    pub(crate) fn memory(&self) -> usize {
        size_of_val(&*self.prefixes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn lengths_in_use_are_probed_longest_first(
            changes in prop::collection::vec((0..=MAX_COMPONENTS, any::<bool>()), 0..200),
            most in 0..2000_usize,
        ) {
            let (mut lengths, mut plain) = (Lengths::new(), Vec::new());
            for (length, adds) in changes {
                if adds {
                    lengths.add(length);
                    plain.push(length);
                } else if let Some(at) = plain.iter().position(|other| *other == length) {
                    lengths.remove(length);
                    plain.swap_remove(at);
                }
            }
            let expected: BTreeSet<usize> = plain.into_iter().filter(|length| *length <= most).collect();
            prop_assert!(lengths.probes(most).eq(expected.iter().rev().copied()));
        }
    }
}
