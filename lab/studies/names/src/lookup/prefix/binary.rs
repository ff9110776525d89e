//! Binary search of lengths: markers tell that a longer prefix may follow.
//!
//! Lengths 1 to 2ᵏ − 1 are searched from the middle one. A prefix leaves a marker at each shorter length on
//! the path to its own, with the best prefix so far, so that no search goes back. A lookup of k steps finds
//! the answer, whatever the names. An insertion or a removal corrects the markers that begin with it, for
//! which it visits all entries unless no marker is longer.
//!
//! Source: M. Waldvogel, G. Varghese, J. Turner, B. Plattner, "Scalable high speed IP routing lookups",
//! SIGCOMM 1997.

use super::stored::{Counts, Stored};
use super::{BURST, HashedName, Hasher, LongestPrefix};
use crate::lookup::strings::Strings;

/// The longest prefix of a marker: length and value.
type Best = Option<(u8, u32)>;

/// A prefix, a marker, or both.
struct Entry {
    value: Option<u32>,
    /// Prefixes that have left a marker here.
    marks: u32,
    /// The longest shorter prefix.
    best: Best,
}

pub(super) struct Binary {
    table: Stored<Entry>,
    root: Option<u32>,
    /// Prefixes of each length.
    lengths: Counts,
    /// Markers of each length.
    markers: [u32; 256],
    /// Lengths are below 2 to the power of this.
    bits: u32,
}

/// Lengths of the markers of a prefix: the sums of its highest bits.
fn marked(len: usize) -> impl Iterator<Item = usize> {
    (0..usize::BITS)
        .rev()
        .map(move |bit| len >> bit << bit)
        .scan(0, |before, sum| {
            let is_new = sum != *before;
            *before = sum;
            Some((sum, is_new))
        })
        .filter(move |(sum, is_new)| *is_new && *sum < len)
        .map(|(sum, _)| sum)
}

impl Binary {
    /// The longest prefix that is shorter than `len`, length by length.
    fn best(&self, name: &HashedName<'_>, len: usize) -> Best {
        let lengths = self.lengths.from(len.checked_sub(1)?);
        let mut values = lengths.map(|len| match len {
            0 => self.root.map(|value| (0, value)),
            len => Some((len as u8, self.table.value(name, len)?.value?)),
        });
        values.find_map(|value| value)
    }

    /// Adds the markers of a prefix.
    fn mark(&mut self, name: &HashedName<'_>) {
        for len in marked(name.len()) {
            let best = self.best(name, len);
            match self.table.slot(name, len).and_then(|slot| self.table.at_mut(slot)) {
                Some(entry) => {
                    // Corrections may have passed a prefix that was no marker.
                    if entry.marks == 0 {
                        entry.best = best;
                    }
                    entry.marks += 1;
                }
                None => self.table.add(name, len, Entry { value: None, marks: 1, best }),
            }
            self.markers[len] += 1;
        }
    }

    /// Gives all longer entries that begin with a name another best prefix, if theirs is no longer than it.
    fn correct(&mut self, name: &HashedName<'_>, best: Best) {
        let len = name.len();
        let longer = self.markers.get(len + 1..).unwrap_or_default().iter().any(|markers| *markers > 0);
        if !longer {
            return;
        }
        for slot in 0..self.table.slots() {
            let Some((prefix, entry)) = self.table.entry_mut(slot) else { continue };
            if usize::from(prefix.len) > len
                && entry.best.is_none_or(|(other, _)| usize::from(other) <= len)
                && prefix.components.starts_with(name.components)
            {
                entry.best = best;
            }
        }
    }
}

impl LongestPrefix for Binary {
    /// The markers come after all prefixes, so that each has its best prefix at once.
    fn build(prefixes: &Strings, hasher: &mut Hasher) -> Self {
        let table = Stored::with_capacity(prefixes.len());
        let mut table = Self { table, root: None, lengths: Counts::new(), markers: [0; 256], bits: 1 };
        super::each(prefixes, hasher, |name, value| {
            table.lengths.add(name.len());
            if name.len() == 0 {
                table.root = Some(value);
            } else {
                table.table.add(name, name.len(), Entry { value: Some(value), marks: 0, best: None });
            }
            table.bits = table.bits.max(usize::BITS - name.len().leading_zeros());
        });
        super::each(prefixes, hasher, |name, _| table.mark(name));
        table
    }

    fn insert(&mut self, name: &HashedName<'_>, value: u32) -> Option<u32> {
        let len = name.len();
        self.bits = self.bits.max(usize::BITS - len.leading_zeros());
        let old = if len == 0 {
            self.root.replace(value)
        } else {
            match self.table.slot(name, len).and_then(|slot| self.table.at_mut(slot)) {
                Some(entry) => entry.value.replace(value),
                None => {
                    let best = self.best(name, len);
                    self.table.add(name, len, Entry { value: Some(value), marks: 0, best });
                    None
                }
            }
        };
        if old.is_none() {
            self.lengths.add(len);
            self.mark(name);
        }
        self.correct(name, Some((len as u8, value)));
        old
    }

    fn remove(&mut self, name: &HashedName<'_>) -> Option<u32> {
        let len = name.len();
        let old = if len == 0 {
            self.root.take()?
        } else {
            let slot = self.table.slot(name, len)?;
            let entry = self.table.at_mut(slot)?;
            let old = entry.value.take()?;
            if entry.marks == 0 {
                self.table.take(name.hash(), slot);
            }
            old
        };
        self.lengths.subtract(len);
        for len in marked(len) {
            self.markers[len] -= 1;
            let Some(slot) = self.table.slot(name, len) else { continue };
            let Some(entry) = self.table.at_mut(slot) else { continue };
            entry.marks -= 1;
            if entry.marks == 0 && entry.value.is_none() {
                self.table.take(name.prefix(len), slot);
            }
        }
        let best = self.best(name, len);
        self.correct(name, best);
        Some(old)
    }

    #[inline(always)]
    fn longest(&self, names: &[HashedName<'_>], found: &mut [Option<u32>]) {
        let mut at = [0_usize; BURST];
        found.iter_mut().zip(names).for_each(|(found, _)| *found = self.root);
        for bit in (0..self.bits).rev() {
            let step = 1_usize << bit;
            let tried =
                |name: &HashedName<'_>, at: usize| (at + step <= name.len()).then(|| name.prefix(at + step));
            for (name, at) in names.iter().zip(at) {
                tried(name, at).into_iter().for_each(|hash| self.table.prefetch(hash));
            }
            for (name, at) in names.iter().zip(at) {
                tried(name, at).into_iter().for_each(|hash| self.table.prefetch_entry(hash));
            }
            for (name, at) in names.iter().zip(at) {
                tried(name, at).map(|hash| self.table.prefetch_components(hash));
            }
            for ((name, at), found) in names.iter().zip(&mut at).zip(found.iter_mut()) {
                if tried(name, *at).is_some()
                    && let Some(entry) = self.table.value(name, *at + step)
                {
                    *at += step;
                    *found = entry.value.or(entry.best.map(|(_, value)| value)).or(*found);
                }
            }
        }
    }

    fn memory(&self) -> usize {
        self.table.memory()
    }
}
