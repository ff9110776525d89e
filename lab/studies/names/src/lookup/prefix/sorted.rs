//! One sorted array of prefixes, with an index of their first bytes.
//!
//! A prefix sorts directly before the names that begin with it. A lookup finds the last prefix that is not
//! behind the name, and goes from there to the prefix that contains it, until one is a prefix of the name.
//! The array is built once: an insertion or a removal moves half of it.

use super::{HashedName, Hasher, LongestPrefix};
use crate::lookup::strings::Strings;

/// No prefix contains this one.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Entry {
    /// Of its components in the bytes of all.
    at: u32,
    len: u32,
    /// The longest other prefix that is a prefix of this one.
    within: u32,
    value: u32,
}

pub(super) struct Sorted {
    /// First eight bytes of each, the first one highest.
    heads: Vec<u64>,
    entries: Vec<Entry>,
    bytes: Vec<u8>,
}

/// The first eight bytes, of shorter ones with zeros behind them.
fn head(components: &[u8]) -> u64 {
    let mut head = [0; 8];
    head.iter_mut().zip(components).for_each(|(to, byte)| *to = *byte);
    u64::from_be_bytes(head)
}

impl Sorted {
    #[inline(always)]
    fn components(&self, entry: &Entry) -> &[u8] {
        let at = entry.at as usize;
        self.bytes.get(at..at + entry.len as usize).unwrap_or_default()
    }

    /// Entries that do not sort behind these components.
    #[inline(always)]
    fn up_to(&self, components: &[u8]) -> usize {
        let head = head(components);
        let from = self.heads.partition_point(|other| *other < head);
        let alike = self.heads.get(from..).unwrap_or_default().partition_point(|other| *other == head);
        let entries = self.entries.get(from..from + alike).unwrap_or_default();
        from + entries.partition_point(|entry| self.components(entry) <= components)
    }

    /// Place of the entry with exactly these components, or the place for it.
    fn place(&self, components: &[u8]) -> Result<usize, usize> {
        let after = self.up_to(components);
        let at = after.checked_sub(1);
        let is = at.and_then(|at| self.entries.get(at)).is_some_and(|e| self.components(e) == components);
        if is { Ok(after - 1) } else { Err(after) }
    }

    /// Sets the prefix that contains each.
    fn link(&mut self) {
        let mut around: Vec<u32> = Vec::new();
        for at in 0..self.entries.len() {
            let Some(entry) = self.entries.get(at) else { break };
            let components = self.components(entry);
            while let Some(outer) = around.last().and_then(|outer| self.entries.get(*outer as usize)) {
                if components.starts_with(self.components(outer)) {
                    break;
                }
                around.pop();
            }
            let within = around.last().copied().unwrap_or(NONE);
            around.push(at as u32);
            self.entries[at].within = within;
        }
    }

    fn push(&mut self, components: &[u8], value: u32) -> Entry {
        let (at, len) = (self.bytes.len() as u32, components.len() as u32);
        self.bytes.extend_from_slice(components);
        Entry { at, len, within: NONE, value }
    }
}

impl LongestPrefix for Sorted {
    fn build(prefixes: &Strings, hasher: &mut Hasher) -> Self {
        let mut table = Self { heads: Vec::new(), entries: Vec::new(), bytes: Vec::new() };
        let mut all: Vec<(Vec<u8>, u32)> = Vec::with_capacity(prefixes.len());
        super::each(prefixes, hasher, |name, value| all.push((name.components.to_vec(), value)));
        all.sort_unstable();
        table.bytes.reserve_exact(all.iter().map(|(components, _)| components.len()).sum());
        for (components, value) in &all {
            let entry = table.push(components, *value);
            table.entries.push(entry);
        }
        table.heads = all.iter().map(|(components, _)| head(components)).collect();
        table.entries.shrink_to_fit();
        table.link();
        table
    }

    fn insert(&mut self, name: &HashedName<'_>, value: u32) -> Option<u32> {
        match self.place(name.components) {
            Ok(at) => Some(core::mem::replace(&mut self.entries[at].value, value)),
            Err(at) => {
                let entry = self.push(name.components, value);
                self.entries.insert(at, entry);
                self.heads.insert(at, head(name.components));
                self.link();
                None
            }
        }
    }

    fn remove(&mut self, name: &HashedName<'_>) -> Option<u32> {
        let at = self.place(name.components).ok()?;
        self.heads.remove(at);
        let entry = self.entries.remove(at);
        self.link();
        Some(entry.value)
    }

    #[inline(always)]
    fn longest(&self, names: &[HashedName<'_>], found: &mut [Option<u32>]) {
        for (name, found) in names.iter().zip(found) {
            let mut at = self.up_to(name.components).checked_sub(1);
            *found = loop {
                let Some(entry) = at.and_then(|at| self.entries.get(at)) else { break None };
                if name.components.starts_with(self.components(entry)) {
                    break Some(entry.value);
                }
                at = (entry.within != NONE).then_some(entry.within as usize);
            };
        }
    }

    fn memory(&self) -> usize {
        8 * self.heads.capacity() + size_of::<Entry>() * self.entries.capacity() + self.bytes.capacity()
    }
}
