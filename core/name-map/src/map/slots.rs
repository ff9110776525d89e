//! Entries at numbered slots, each in one or more whole cache lines, with its name or the first part of it.

use super::key::Prefix;
use crate::names::{Names, Owners, Position};
use hashlane_table::Segments;

/// End of the list of free slots.
const NONE: u32 = u32::MAX;

/// Bytes of a position in an entry.
const POSITION: usize = size_of::<u32>();

/// Place of the bytes of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// All in the entry.
    Here,
    /// All but the last four bytes of the entry's room are the first part of the name; those four are the
    /// position of the rest.
    Split,
}

/// An entry.
#[derive(Clone, Debug)]
pub(crate) struct Entry<V, const N: usize> {
    pub(crate) hash: u64,
    pub(crate) value: V,
    /// Bytes of the name.
    len: u16,
    pub(crate) components: u8,
    kept: Kept,
    room: [u8; N],
}

impl<V, const N: usize> Entry<V, N> {
    /// Bytes of the first part of a name that is split.
    const HEAD: usize = {
        assert!(N >= POSITION, "the room for names holds a position");
        N - POSITION
    };

    /// Creates the entry for `slot`. `None` if `names` has no room for the rest of the name.
    pub(crate) fn new(slot: u32, prefix: &Prefix<'_>, value: V, names: &mut Names) -> Option<Self> {
        let Prefix { bytes, components, hash } = *prefix;
        let (mut room, len) = ([0; N], u16::try_from(bytes.len()).ok()?);
        let components = u8::try_from(components).ok()?;
        if let Some(place) = room.get_mut(..bytes.len()) {
            place.copy_from_slice(bytes);
            return Some(Self { hash, value, len, components, kept: Kept::Here, room });
        }
        let (head, rest) = bytes.split_at(Self::HEAD);
        let position = names.push(slot, rest)?;
        room[..Self::HEAD].copy_from_slice(head);
        let mut entry = Self { hash, value, len, components, kept: Kept::Split, room };
        entry.set_position(position);
        Some(entry)
    }

    /// The two parts of the name; the second may stand in `names`.
    #[inline(always)]
    pub(crate) fn name<'a>(&'a self, names: &'a Names) -> [&'a [u8]; 2] {
        match self.rest() {
            None => [self.room.get(..self.len.into()).unwrap_or_default(), &[]],
            Some((position, len)) => [&self.room[..Self::HEAD], names.get(position, len)],
        }
    }

    /// Position and length of the part of the name that is not in the entry.
    #[inline(always)]
    pub(crate) fn rest(&self) -> Option<(Position, usize)> {
        if self.kept == Kept::Here {
            return None;
        }
        let position = Position::from_bytes(*self.room.last_chunk()?)?;
        Some((position, usize::from(self.len) - Self::HEAD))
    }

    fn set_position(&mut self, position: Position) {
        if let Some(place) = self.room.last_chunk_mut() {
            *place = position.to_bytes();
        }
    }
}

/// A slot in whole cache lines.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Aligned<T>(T);

#[derive(Clone, Debug)]
enum Slot<V, const N: usize> {
    /// The next free slot.
    Free(u32),
    Taken(Entry<V, N>),
}

/// Entries that stay in their slots.
#[derive(Clone, Debug)]
pub(crate) struct Slots<V, const N: usize> {
    slots: Segments<Aligned<Slot<V, N>>>,
    /// The first free slot.
    free: u32,
    len: usize,
}

impl<V, const N: usize> Slots<V, N> {
    pub(crate) fn with_capacity(entries: usize) -> Self {
        Self { slots: Segments::with_capacity(entries), free: NONE, len: 0 }
    }

    /// Number of entries.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Number of slots, free ones included. All numbers of slots are below it.
    #[inline(always)]
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    #[inline(always)]
    pub(crate) fn get(&self, slot: u32) -> Option<&Entry<V, N>> {
        match &self.slots.get(slot as usize)?.0 {
            Slot::Taken(entry) => Some(entry),
            Slot::Free(_) => None,
        }
    }

    #[inline(always)]
    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut Entry<V, N>> {
        match &mut self.slots.get_mut(slot as usize)?.0 {
            Slot::Taken(entry) => Some(entry),
            Slot::Free(_) => None,
        }
    }

    /// Prefetches a slot.
    #[inline(always)]
    pub(crate) fn prefetch(&self, slot: u32) {
        if let Some(slot) = self.slots.get(slot as usize) {
            hashlane_table::prefetch(slot);
        }
    }

    /// The slot that the next entry takes; `None` if 2³² − 1 are taken.
    pub(crate) fn next(&self) -> Option<u32> {
        match self.free {
            NONE => u32::try_from(self.slots.len()).ok().filter(|slot| *slot != NONE),
            slot => Some(slot),
        }
    }

    /// Puts an entry into the [next](Self::next) slot.
    pub(crate) fn put(&mut self, entry: Entry<V, N>) {
        match self.slots.get_mut(self.free as usize) {
            Some(Aligned(slot)) => {
                if let Slot::Free(next) = *slot {
                    self.free = next;
                }
                *slot = Slot::Taken(entry);
            }
            None => self.slots.push(Aligned(Slot::Taken(entry))),
        }
        self.len += 1;
    }

    pub(crate) fn take(&mut self, slot: u32) -> Option<Entry<V, N>> {
        let Aligned(place) = self.slots.get_mut(slot as usize)?;
        let Slot::Taken(_) = place else { return None };
        let taken = core::mem::replace(place, Slot::Free(self.free));
        self.free = slot;
        self.len -= 1;
        match taken {
            Slot::Taken(entry) => Some(entry),
            Slot::Free(_) => None,
        }
    }

    /// All entries.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry<V, N>> {
        self.slots.iter().filter_map(|slot| match &slot.0 {
            Slot::Taken(entry) => Some(entry),
            Slot::Free(_) => None,
        })
    }

    /// Bytes of memory on the heap.
    pub(crate) fn memory(&self) -> usize {
        self.slots.memory()
    }
}

impl<V, const N: usize> Owners for Slots<V, N> {
    fn len_of(&self, owner: u32) -> Option<usize> {
        self.get(owner)?.rest().map(|(_, len)| len)
    }

    fn moved(&mut self, owner: u32, to: Position) {
        if let Some(entry) = self.get_mut(owner) {
            entry.set_position(to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_takes_one_line_with_a_small_value_and_a_short_name() {
        assert_eq!(size_of::<Aligned<Slot<u32, 48>>>(), 64);
        assert_eq!(size_of::<Aligned<Slot<[u64; 2], 36>>>(), 64);
        assert_eq!(size_of::<Aligned<Slot<u32, 49>>>(), 128);
    }
}
