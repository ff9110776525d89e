//! Lengths in use, the longest first.
//!
//! A probe for each length that some prefix has, until one is found: the table of the forwarder's FIB before
//! it had a name map.

use super::stored::{Counts, Stored};
use super::{HashedName, Hasher, LongestPrefix};
use crate::lookup::strings::Strings;

pub(super) struct Lengths {
    table: Stored<u32>,
    lengths: Counts,
}

impl LongestPrefix for Lengths {
    fn build(prefixes: &Strings, hasher: &mut Hasher) -> Self {
        let mut table = Self { table: Stored::with_capacity(prefixes.len()), lengths: Counts::new() };
        super::insert_all(&mut table, prefixes, hasher);
        table
    }

    fn insert(&mut self, name: &HashedName<'_>, value: u32) -> Option<u32> {
        let len = name.len();
        if let Some(old) = self.table.slot(name, len).and_then(|slot| self.table.at_mut(slot)) {
            return Some(core::mem::replace(old, value));
        }
        self.lengths.add(len);
        self.table.add(name, len, value);
        None
    }

    fn remove(&mut self, name: &HashedName<'_>) -> Option<u32> {
        let slot = self.table.slot(name, name.len())?;
        self.lengths.subtract(name.len());
        self.table.take(name.hash(), slot)
    }

    #[inline(always)]
    fn longest(&self, names: &[HashedName<'_>], found: &mut [Option<u32>]) {
        for name in names {
            self.lengths.from(name.len()).for_each(|len| self.table.prefetch(name.prefix(len)));
        }
        for name in names {
            self.lengths.from(name.len()).for_each(|len| self.table.prefetch_entry(name.prefix(len)));
        }
        for name in names {
            let mut lengths = self.lengths.from(name.len());
            lengths.find(|len| self.table.prefetch_components(name.prefix(*len)));
        }
        for (name, found) in names.iter().zip(found) {
            let mut lengths = self.lengths.from(name.len());
            *found = lengths.find_map(|len| self.table.value(name, len).copied());
        }
    }

    fn memory(&self) -> usize {
        self.table.memory()
    }
}
