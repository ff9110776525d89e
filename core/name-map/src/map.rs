//! Mutable map from prefixes of names to values: longest match, all matches, exact match.
//!
//! An entry is a cache line: a hash, the value, and the name. The rest of longer names is in an arena.
//! Entries are found through an index of buckets whose tags of 16 bits are apart from the places: a lookup of
//! a length at which the name has no prefix reads 16 bytes of tags, which take 4 MB for a million prefixes; a
//! length with a prefix costs a line of places and the entry. Lookups probe the lengths that prefixes have,
//! longest first, and compare the bytes of the name, so that no wrong prefix matches whatever the hashes.
//!
//! The caller hashes. Under a secret key, names that were chosen to collide cost no more than others, and a
//! deep name costs at most one bucket for each length in use.

mod burst;
mod key;
mod lengths;
mod slots;

pub use burst::{BURST, Candidate, Tagged};
pub use key::{Delimited, Ended, HashedPrefixes, Prefix};

use crate::names::Names;
use alloc::vec::Vec;
use hashlane_table::growing::Growing;
use hashlane_table::index::Apart;
use lengths::{Lengths, MAX_COMPONENTS};
use slots::{Entry, Slots};

/// Slots up to which a map keeps its memory.
const KEPT_SLOTS: usize = 4096;

/// Slots for each entry from which a map is rebuilt with less memory. Few entries are moved then, so that a
/// removal takes a moment.
const SPARSE: usize = 16;

/// Prefix that a map does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InsertError {
    /// Too many bytes.
    #[error("a prefix of {len} bytes; a map takes at most 65,535")]
    TooLong {
        /// Bytes of the prefix.
        len: usize,
    },
    /// Too many components.
    #[error("a prefix of {components} components; a map takes at most 255")]
    TooDeep {
        /// Components of the prefix.
        components: usize,
    },
    /// No room for another prefix.
    #[error("a map takes 16 GiB of prefixes, and fewer than 2^32")]
    Full,
}

/// A prefix that a lookup has found.
#[derive(Debug)]
pub struct Match<'m, V> {
    /// Number of components.
    pub components: usize,
    /// Slot of the prefix, valid until the map changes.
    pub slot: u32,
    /// The value.
    pub value: &'m V,
}

impl<V> Clone for Match<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Match<'_, V> {}

/// Map from prefixes to values.
///
/// An entry takes whole cache lines: one, if `N` and the size of a value are at most 52 together. It has the
/// bytes of its name, up to `N`; of longer names the first `N - 4`, and the others stand in the arena with 4
/// to 7 bytes more. The index takes 10 to 20 bytes a prefix.
///
/// ```
/// use hashlane_name_map::map::{Ended, NameMap, Prefix};
///
/// // The caller's hash; here a weak one.
/// let add = |hash: u64, byte: &u8| hash.wrapping_mul(257).wrapping_add((*byte).into());
/// let hash = |bytes: &[u8]| bytes.iter().fold(7, add);
/// let mut map = NameMap::new();
/// for (bytes, components, value) in [(&b"/video"[..], 1, 1), (b"/video/live", 2, 2)] {
///     map.insert(Prefix { bytes, components, hash: hash(bytes) }, value)?;
/// }
///
/// let (bytes, ends) = (&b"/video/live/4"[..], [6, 11, 13]);
/// let hashes = ends.map(|end| hash(&bytes[..end]));
/// let name = Ended { bytes, ends: &ends, root: hash(b""), hashes: &hashes };
/// let found = map.longest(&name).map(|found| (found.components, *found.value));
/// assert_eq!(found, Some((2, 2)));
/// # Ok::<(), hashlane_name_map::map::InsertError>(())
/// ```
#[derive(Clone, Debug)]
pub struct NameMap<V, const N: usize = 48> {
    index: Growing<Apart>,
    slots: Slots<V, N>,
    names: Names,
    lengths: Lengths,
}

impl<V> NameMap<V> {
    /// Creates an empty map. A map with another `N` is created by [`Default`].
    pub fn new() -> Self {
        Self::default()
    }
}

impl<V, const N: usize> Default for NameMap<V, N> {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl<V, const N: usize> NameMap<V, N> {
    /// Creates an empty map with room for `prefixes`.
    fn with_capacity(prefixes: usize) -> Self {
        Self {
            index: Growing::with_capacity(prefixes),
            slots: Slots::with_capacity(prefixes),
            names: Names::new(),
            lengths: Lengths::new(),
        }
    }

    /// Number of prefixes.
    #[inline]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// True if there are no prefixes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Finds the longest prefix of a name.
    #[inline(always)]
    pub fn longest(&self, name: &impl HashedPrefixes) -> Option<Match<'_, V>> {
        self.longest_up_to(name, name.components())
    }

    /// Finds the longest prefix of a name among those with at most `most` components.
    #[inline(always)]
    fn longest_up_to(&self, name: &impl HashedPrefixes, most: usize) -> Option<Match<'_, V>> {
        // Not `find_map`, whose closure is not inlined.
        for components in self.lengths.probes(most) {
            let found = self.at_length(name, components);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Finds all prefixes of a name, the longest first.
    #[inline]
    pub fn matches<'m>(&'m self, name: &impl HashedPrefixes) -> impl Iterator<Item = Match<'m, V>> {
        let probes = self.lengths.probes(name.components());
        probes.filter_map(|components| self.at_length(name, components))
    }

    /// Finds the prefix of a name with so many components.
    #[inline(always)]
    fn at_length(&self, name: &impl HashedPrefixes, components: usize) -> Option<Match<'_, V>> {
        let hash = name.hash(components);
        let slot = self.index.find(hash, |slot| self.is_prefix(slot, name, components, hash))?;
        Some(Match { components, slot, value: &self.slots.get(slot)?.value })
    }

    /// True if the entry in `slot` is the prefix of a name with so many components.
    #[inline(always)]
    fn is_prefix(&self, slot: u32, name: &impl HashedPrefixes, components: usize, hash: u64) -> bool {
        self.slots.get(slot).is_some_and(|entry| {
            entry.hash == hash
                && usize::from(entry.components) == components
                && name.starts_with(components, entry.name(&self.names))
        })
    }

    /// The slot of a prefix.
    #[inline(always)]
    fn slot(&self, prefix: &Prefix<'_>) -> Option<u32> {
        self.index.prefetch_both(prefix.hash);
        self.index.find(prefix.hash, |slot| {
            self.slots.get(slot).is_some_and(|entry| {
                entry.hash == prefix.hash
                    && usize::from(entry.components) == prefix.components
                    && prefix.is(entry.name(&self.names))
            })
        })
    }

    /// Finds the value of a prefix.
    #[inline]
    pub fn find(&self, prefix: &Prefix<'_>) -> Option<&V> {
        self.at(self.slot(prefix)?)
    }

    /// Finds the value of a prefix, to change it.
    #[inline]
    pub fn find_mut(&mut self, prefix: &Prefix<'_>) -> Option<&mut V> {
        self.at_mut(self.slot(prefix)?)
    }

    /// Value in a slot.
    #[inline(always)]
    pub fn at(&self, slot: u32) -> Option<&V> {
        self.slots.get(slot).map(|entry| &entry.value)
    }

    /// Value in a slot, to change it.
    #[inline(always)]
    pub fn at_mut(&mut self, slot: u32) -> Option<&mut V> {
        self.slots.get_mut(slot).map(|entry| &mut entry.value)
    }

    /// Inserts the value of a prefix; returns the previous one.
    ///
    /// # Errors
    /// The limit that the prefix exceeds; the map is as before.
    pub fn insert(&mut self, prefix: Prefix<'_>, value: V) -> Result<Option<V>, InsertError> {
        if let Some(old) = self.find_mut(&prefix) {
            return Ok(Some(core::mem::replace(old, value)));
        }
        let Prefix { bytes, components, hash } = prefix;
        if bytes.len() > Names::MAX_LEN {
            return Err(InsertError::TooLong { len: bytes.len() });
        }
        if components > MAX_COMPONENTS {
            return Err(InsertError::TooDeep { components });
        }
        let slot = self.slots.next().ok_or(InsertError::Full)?;
        let entry = Entry::new(slot, &prefix, value, &mut self.names).ok_or(InsertError::Full)?;
        self.slots.put(entry);
        let Self { index, slots, .. } = self;
        let hash_at = |slot| slots.get(slot).map(|entry| entry.hash);
        index.enter(hash, slot, slots.len(), slots.slots(), hash_at);
        self.lengths.add(components);
        Ok(None)
    }

    /// Removes a prefix; returns its value.
    pub fn remove(&mut self, prefix: &Prefix<'_>) -> Option<V> {
        let slot = self.slot(prefix)?;
        let entry = self.slots.take(slot)?;
        let known = self.index.remove(entry.hash, slot);
        debug_assert!(known, "the index has each entry");
        if let Some((position, len)) = entry.rest() {
            self.names.remove(position, len, &mut self.slots);
        }
        self.lengths.remove(entry.components.into());
        if self.slots.slots() > KEPT_SLOTS && self.len() * SPARSE <= self.slots.slots() {
            self.rebuild();
        }
        Some(entry.value)
    }

    /// Moves the entries to a map of their number, so that the memory of removed ones is freed.
    #[cold]
    fn rebuild(&mut self) {
        let fitting = Self::with_capacity(self.len());
        let mut old = core::mem::replace(self, fitting);
        let mut bytes = Vec::new();
        for slot in 0..old.slots.slots() as u32 {
            let Some(entry) = old.slots.take(slot) else { continue };
            bytes.clear();
            entry.name(&old.names).iter().for_each(|part| bytes.extend_from_slice(part));
            let (hash, components) = (entry.hash, entry.components.into());
            let inserted = self.insert(Prefix { bytes: &bytes, components, hash }, entry.value);
            debug_assert!(inserted.is_ok(), "the entries were in a map before");
        }
    }

    /// All values, in any order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.slots.iter().map(|entry| &entry.value)
    }

    /// All prefixes and their values, in any order: the bytes of a prefix in two parts, and its components.
    pub fn iter(&self) -> impl Iterator<Item = ([&[u8]; 2], usize, &V)> {
        self.slots.iter().map(|entry| (entry.name(&self.names), entry.components.into(), &entry.value))
    }

    /// Bytes of memory on the heap, reserve included, without memory that the values own.
    pub fn memory(&self) -> usize {
        self.index.memory() + self.slots.memory() + self.names.memory() + self.lengths.memory()
    }
}
