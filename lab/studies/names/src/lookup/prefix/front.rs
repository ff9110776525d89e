//! A design behind a pointer, with the hashing of the names that it is asked for.

use super::{BURST, Hasher, LongestPrefix};
use crate::lookup::strings::Strings;
use crate::lookup::table::{Answer, Table};
use hashlane_hash::scheme::Key;
use std::hint::black_box;

pub(super) struct Front<D> {
    hasher: Hasher,
    design: D,
}

impl<D: LongestPrefix> Front<D> {
    pub(super) fn new(prefixes: &Strings, key: &Key) -> Self {
        let mut hasher = Hasher::new(key);
        let design = D::build(prefixes, &mut hasher);
        Self { hasher, design }
    }
}

impl<D: LongestPrefix> Table for Front<D> {
    #[inline(never)]
    fn find(&mut self, names: &Strings) -> Answer {
        let (mut found, mut values) = (Answer::default(), [None; BURST]);
        let mut names = names.iter();
        while names.len() > 0 {
            let hashed = self.hasher.hash(names.clone());
            let hashed = hashed.names();
            self.design.longest(hashed, &mut values);
            values.iter().take(hashed.len()).for_each(|value| found.add(*value));
            names.by_ref().take(BURST).for_each(drop);
        }
        found
    }

    #[inline(never)]
    fn replace(&mut self, prefixes: &Strings, first: u32) -> Option<u64> {
        let (mut names, mut number, mut removed) = (prefixes.iter(), first, 0);
        while names.len() > 0 {
            let hashed = self.hasher.hash(names.clone());
            for name in hashed.names() {
                removed += u64::from(self.design.remove(name).is_some());
            }
            for name in hashed.names() {
                self.design.insert(name, number);
                number += 1;
            }
            names.by_ref().take(BURST).for_each(drop);
        }
        Some(removed)
    }

    fn memory(&self) -> Option<usize> {
        Some(self.design.memory())
    }
}

/// The hashes of all prefixes without a lookup.
pub(super) struct HashingOnly(Hasher);

impl HashingOnly {
    pub(super) fn new(key: &Key) -> Self {
        Self(Hasher::new(key))
    }
}

impl Table for HashingOnly {
    #[inline(never)]
    fn find(&mut self, names: &Strings) -> Answer {
        let mut names = names.iter();
        while names.len() > 0 {
            black_box(self.0.hash(names.clone()).names());
            names.by_ref().take(BURST).for_each(drop);
        }
        Answer::default()
    }

    fn memory(&self) -> Option<usize> {
        None
    }
}
