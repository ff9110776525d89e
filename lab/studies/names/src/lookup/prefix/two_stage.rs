//! Two stages: the length at which most names part first, then the longer or the shorter ones.
//!
//! A prefix longer than the first length M has an entry at M, a virtual one if no prefix of that length is
//! there; it tells the deepest length below it. A name without an entry at M has no longer prefix, so that it
//! costs at most M probes; others go on from the deepest length.
//!
//! Source of the design: W. So, A. Narayanan, D. Oran, "Named data networking on a router: fast and
//! DoS-resistant forwarding with hash tables", ANCS 2013, doi:10.1109/ANCS.2013.6665203; NDN-DPDK's FIB
//! (`container/fib`) is built so.

use super::stored::{Counts, Stored};
use super::{BURST, HashedName, Hasher, LongestPrefix};
use crate::lookup::strings::Strings;

/// An entry; a virtual one has no value.
struct Entry {
    value: Option<u32>,
    /// Longer prefixes that begin with this one; counted at length M alone.
    below: u32,
    /// Length of the longest that was among them; it stays until the last of them is removed.
    deepest: u8,
}

pub(super) struct TwoStage {
    table: Stored<Entry>,
    lengths: Counts,
    /// M, the length that is looked up first.
    first: usize,
}

impl TwoStage {
    /// Lengths to look up after the first stage, longest first: the end of the longer ones and of the
    /// shorter.
    #[inline(always)]
    fn deepest(&self, name: &HashedName<'_>) -> usize {
        let entry = (name.len() >= self.first).then(|| self.table.value(name, self.first)).flatten();
        entry.map_or((self.first.saturating_sub(1)).min(name.len()), |entry| {
            name.len().min(entry.deepest.into())
        })
    }
}

impl LongestPrefix for TwoStage {
    /// M is the median length of the prefixes.
    fn build(prefixes: &Strings, hasher: &mut Hasher) -> Self {
        let mut lengths = Counts::new();
        super::each(prefixes, hasher, |name, _| lengths.add(name.len()));
        let first = lengths.median();
        let mut table = Self { table: Stored::with_capacity(prefixes.len()), lengths: Counts::new(), first };
        super::insert_all(&mut table, prefixes, hasher);
        table
    }

    fn insert(&mut self, name: &HashedName<'_>, value: u32) -> Option<u32> {
        let len = name.len();
        let old = match self.table.slot(name, len).and_then(|slot| self.table.at_mut(slot)) {
            Some(entry) => entry.value.replace(value),
            None => {
                self.table.add(name, len, Entry { value: Some(value), below: 0, deepest: len as u8 });
                None
            }
        };
        if old.is_some() {
            return old;
        }
        self.lengths.add(len);
        if len > self.first {
            match self.table.slot(name, self.first).and_then(|slot| self.table.at_mut(slot)) {
                Some(entry) => {
                    entry.below += 1;
                    entry.deepest = entry.deepest.max(len as u8);
                }
                None => {
                    let entry = Entry { value: None, below: 1, deepest: len as u8 };
                    self.table.add(name, self.first, entry);
                }
            }
        }
        None
    }

    fn remove(&mut self, name: &HashedName<'_>) -> Option<u32> {
        let len = name.len();
        let slot = self.table.slot(name, len)?;
        let entry = self.table.at_mut(slot)?;
        let old = entry.value.take()?;
        if entry.below == 0 {
            self.table.take(name.hash(), slot);
        }
        self.lengths.subtract(len);
        if len > self.first
            && let Some(slot) = self.table.slot(name, self.first)
            && let Some(entry) = self.table.at_mut(slot)
        {
            entry.below -= 1;
            if entry.below == 0 {
                entry.deepest = self.first as u8;
                if entry.value.is_none() {
                    self.table.take(name.prefix(self.first), slot);
                }
            }
        }
        Some(old)
    }

    #[inline(always)]
    fn longest(&self, names: &[HashedName<'_>], found: &mut [Option<u32>]) {
        let start = |name: &HashedName<'_>| name.prefix(self.first.min(name.len()));
        names.iter().for_each(|name| self.table.prefetch(start(name)));
        names.iter().for_each(|name| self.table.prefetch_entry(start(name)));
        for name in names {
            self.table.prefetch_components(start(name));
        }
        let mut deepest = [0; BURST];
        for (name, deepest) in names.iter().zip(&mut deepest) {
            *deepest = self.deepest(name);
            self.lengths.from(*deepest).for_each(|len| self.table.prefetch(name.prefix(len)));
        }
        for (name, deepest) in names.iter().zip(deepest) {
            self.lengths.from(deepest).for_each(|len| self.table.prefetch_entry(name.prefix(len)));
        }
        for ((name, deepest), found) in names.iter().zip(deepest).zip(found) {
            *found = self.lengths.from(deepest).find_map(|len| self.table.value(name, len)?.value);
        }
    }

    fn memory(&self) -> usize {
        self.table.memory()
    }
}
