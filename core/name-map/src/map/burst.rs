//! Lookups of many names together: their cache misses overlap.
//!
//! The stages are [prefetch](NameMap::prefetch), [tagged](NameMap::tagged), [candidate](NameMap::candidate),
//! [prefetch_name](NameMap::prefetch_name) and [longest_from](NameMap::longest_from), each for all names
//! before the next. A data plane with its own stages calls them one by one; the methods with `burst` in their
//! names run them in turn.

use super::key::{HashedPrefixes, Prefix};
use super::lengths::LengthSet;
use super::slots::Entry;
use super::{Match, NameMap};
use crate::names::Names;

/// Names whose stages overlap.
pub const BURST: usize = 32;

/// The longest length of a name at which the index has its tag. Valid until the map changes.
#[derive(Clone, Copy, Debug)]
pub struct Tagged {
    components: u8,
}

/// The longest prefix of a name by its tag alone. Valid until the map changes.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    slot: u32,
    components: u8,
}

impl<V, const N: usize> NameMap<V, N> {
    /// Prefetches the tags that a lookup of a name may read.
    #[inline(always)]
    pub fn prefetch(&self, name: &impl HashedPrefixes) {
        for length in self.lengths.probes(name.components()) {
            self.index.prefetch(name.hash(length));
        }
    }

    /// Finds the longest length at which the index has the tag of a name, and prefetches the place. The tags
    /// should be in the cache. No prefix of the name is longer, and none is there without one.
    #[inline(always)]
    pub fn tagged(&self, name: &impl HashedPrefixes) -> Option<Tagged> {
        for length in self.lengths.probes(name.components()) {
            if self.index.prefetch_place(name.hash(length)) {
                return Some(Tagged { components: length as u8 });
            }
        }
        None
    }

    /// Finds the candidate of a name with this tag, and prefetches its entry. The place should be in the
    /// cache. No prefix of the name is longer than the candidate, and none is there without one.
    #[inline(always)]
    pub fn candidate(&self, name: &impl HashedPrefixes, tagged: Tagged) -> Option<Candidate> {
        for length in self.lengths.probes(tagged.components.into()) {
            if let Some(slot) = self.index.find(name.hash(length), |_| true) {
                self.slots.prefetch(slot);
                return Some(Candidate { slot, components: length as u8 });
            }
        }
        None
    }

    /// Prefetches what the candidate's name has beyond its entry, which should be in the cache.
    #[inline(always)]
    pub fn prefetch_name(&self, name: &impl HashedPrefixes, candidate: Candidate) {
        if let Some(entry) = self.slots.get(candidate.slot)
            && entry.hash == name.hash(candidate.components.into())
        {
            prefetch_rest(entry, &self.names);
        }
    }

    /// Finds the longest prefix of a name that has this candidate.
    #[inline(always)]
    pub fn longest_from(&self, name: &impl HashedPrefixes, candidate: Candidate) -> Option<Match<'_, V>> {
        let Candidate { slot, components } = candidate;
        let components = usize::from(components);
        if self.is_prefix(slot, name, components, name.hash(components)) {
            return Some(Match { components, slot, value: self.at(slot)? });
        }
        self.longest_up_to(name, components)
    }

    /// Finds the longest prefix of each of many names, and calls `each` with the number of the name and the
    /// match.
    #[inline(always)]
    pub fn longest_burst<'m>(
        &'m self,
        names: &[impl HashedPrefixes],
        mut each: impl FnMut(usize, Option<Match<'m, V>>),
    ) {
        let (mut tagged, mut candidates) = ([None; BURST], [None; BURST]);
        for (chunk, names) in names.chunks(BURST).enumerate() {
            names.iter().for_each(|name| self.prefetch(name));
            for (name, tagged) in names.iter().zip(&mut tagged) {
                *tagged = self.tagged(name);
            }
            for ((name, tagged), candidate) in names.iter().zip(tagged).zip(&mut candidates) {
                *candidate = tagged.and_then(|tagged| self.candidate(name, tagged));
            }
            for (name, candidate) in names.iter().zip(candidates) {
                if let Some(candidate) = candidate {
                    self.prefetch_name(name, candidate);
                }
            }
            for (number, (name, candidate)) in (BURST * chunk..).zip(names.iter().zip(candidates)) {
                each(number, candidate.and_then(|candidate| self.longest_from(name, candidate)));
            }
        }
    }

    /// Finds all prefixes of each of many names, and calls `each` with the number of the name and each match,
    /// the longest first.
    #[inline(always)]
    pub fn matches_burst<'m>(
        &'m self,
        names: &[impl HashedPrefixes],
        mut each: impl FnMut(usize, Match<'m, V>),
    ) {
        let mut tagged = [LengthSet::default(); BURST];
        for (chunk, names) in names.chunks(BURST).enumerate() {
            names.iter().for_each(|name| self.prefetch(name));
            for (name, tagged) in names.iter().zip(&mut tagged) {
                *tagged = LengthSet::default();
                for length in self.lengths.probes(name.components()) {
                    if self.index.prefetch_place(name.hash(length)) {
                        tagged.insert(length);
                    }
                }
            }
            for (name, tagged) in names.iter().zip(&tagged) {
                for length in tagged.descending(name.components()) {
                    if let Some(slot) = self.index.find(name.hash(length), |_| true) {
                        self.slots.prefetch(slot);
                    }
                }
            }
            for (name, tagged) in names.iter().zip(tagged) {
                for length in tagged.descending(name.components()) {
                    self.prefetch_exact_name(name.hash(length));
                }
            }
            for (number, (name, tagged)) in (BURST * chunk..).zip(names.iter().zip(tagged)) {
                let lengths = tagged.descending(name.components());
                lengths
                    .filter_map(|length| self.at_length(name, length))
                    .for_each(|found| each(number, found));
            }
        }
    }

    /// Finds the value of each of many prefixes, and calls `each` with the number of the prefix and the
    /// value.
    #[inline(always)]
    pub fn find_burst<'m>(&'m self, prefixes: &[Prefix<'_>], mut each: impl FnMut(usize, Option<&'m V>)) {
        for (chunk, prefixes) in prefixes.chunks(BURST).enumerate() {
            prefixes.iter().for_each(|prefix| self.index.prefetch(prefix.hash));
            for prefix in prefixes {
                self.index.prefetch_place(prefix.hash);
            }
            for prefix in prefixes {
                if let Some(slot) = self.index.first_place(prefix.hash) {
                    self.slots.prefetch(slot);
                }
            }
            prefixes.iter().for_each(|prefix| self.prefetch_exact_name(prefix.hash));
            for (number, prefix) in (BURST * chunk..).zip(prefixes) {
                each(number, self.find(prefix));
            }
        }
    }

    /// Prefetches the name of the first entry with the tag of a hash.
    #[inline(always)]
    fn prefetch_exact_name(&self, hash: u64) {
        if let Some(slot) = self.index.first_place(hash)
            && let Some(entry) = self.slots.get(slot).filter(|entry| entry.hash == hash)
        {
            prefetch_rest(entry, &self.names);
        }
    }
}

/// Prefetches the part of a name that is not in its entry: all of it, if it is as short as most are.
#[inline(always)]
fn prefetch_rest<V, const N: usize>(entry: &Entry<V, N>, names: &Names) {
    if let Some((position, len)) = entry.rest()
        && let [first, .., last] = names.get(position, len)
    {
        hashlane_table::prefetch(first);
        hashlane_table::prefetch(last);
    }
}
