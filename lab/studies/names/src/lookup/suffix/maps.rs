//! A hash set of the rules, asked for each suffix of a name, the longest first: what most programs do.

use super::text::{Text, labels, suffixes};
use crate::lookup::strings::Strings;
use crate::lookup::table::{Answer, Table};
use hashlane_hash::scheme::Key;
use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, RandomState};

/// The set of Rust's standard library, which is hashbrown's table, under a hash.
pub(super) struct Map<S> {
    rules: HashSet<Box<[u8]>, S>,
    text: usize,
}

/// FxHash as rustc used it, without a key: anyone can compute names that collide.
pub(super) type FxHash = BuildHasherDefault<rustc_hash_1::FxHasher>;

/// SipHash-1-3 under a random key.
pub(super) fn std_hash() -> RandomState {
    RandomState::new()
}

pub(super) fn foldhash(key: &Key) -> foldhash::fast::FixedState {
    foldhash::fast::FixedState::with_seed(key.halves().0)
}

pub(super) fn ahash(key: &Key) -> ahash::RandomState {
    let (low, high) = key.halves();
    ahash::RandomState::with_seeds(low, high, !low, !high)
}

impl<S: BuildHasher> Map<S> {
    pub(super) fn new(rules: &Strings, hash: S) -> Self {
        let mut set = HashSet::with_capacity_and_hasher(rules.len(), hash);
        set.extend(rules.iter().map(Box::<[u8]>::from));
        Self { rules: set, text: rules.bytes().len() }
    }
}

impl<S: BuildHasher> Table for Map<S> {
    #[inline(never)]
    fn find(&mut self, names: &Strings) -> Answer {
        let (mut answer, mut text) = (Answer::default(), Text::new());
        for name in names.iter() {
            let found = suffixes(text.lower(name)).find(|suffix| self.rules.contains(*suffix));
            answer.add_labels(found.map_or(0, labels));
        }
        answer
    }

    /// The table of 8/7 slots for its capacity, a control byte and a pointer with a length for each; and the
    /// text, without the allocator's share.
    fn memory(&self) -> Option<usize> {
        let slots = (self.rules.capacity() * 8).div_ceil(7).next_power_of_two();
        Some(slots * (size_of::<Box<[u8]>>() + 1) + self.text)
    }
}
