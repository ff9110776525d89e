//! Entries at numbered slots, without their names.

use crate::names::{Owners, Position};
use hashlane_table::Segments;

/// End of the list of free slots.
const NONE: u32 = u32::MAX;

/// An entry: 16 bytes and the value.
#[derive(Clone, Debug)]
pub(crate) struct Entry<V> {
    pub(crate) hash: u64,
    pub(crate) position: Position,
    /// Bytes of the name.
    pub(crate) len: u16,
    pub(crate) components: u8,
    pub(crate) value: V,
}

#[derive(Clone, Debug)]
enum Slot<V> {
    /// The next free slot.
    Free(u32),
    Taken(Entry<V>),
}

/// Entries that stay in their slots.
#[derive(Clone, Debug)]
pub(crate) struct Slots<V> {
    slots: Segments<Slot<V>>,
    /// The first free slot.
    free: u32,
    len: usize,
}

impl<V> Slots<V> {
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
    pub(crate) fn get(&self, slot: u32) -> Option<&Entry<V>> {
        match self.slots.get(slot as usize)? {
            Slot::Taken(entry) => Some(entry),
            Slot::Free(_) => None,
        }
    }

    #[inline(always)]
    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut Entry<V>> {
        match self.slots.get_mut(slot as usize)? {
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
    pub(crate) fn put(&mut self, entry: Entry<V>) {
        match self.slots.get_mut(self.free as usize) {
            Some(slot) => {
                if let Slot::Free(next) = *slot {
                    self.free = next;
                }
                *slot = Slot::Taken(entry);
            }
            None => self.slots.push(Slot::Taken(entry)),
        }
        self.len += 1;
    }

    pub(crate) fn take(&mut self, slot: u32) -> Option<Entry<V>> {
        let place = self.slots.get_mut(slot as usize)?;
        let Slot::Taken(_) = place else { return None };
        let taken = core::mem::replace(place, Slot::Free(self.free));
        self.free = slot;
        self.len -= 1;
        match taken {
            Slot::Taken(entry) => Some(entry),
            Slot::Free(_) => None,
        }
    }

    /// All entries with their slots.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Entry<V>)> {
        (0..).zip(self.slots.iter()).filter_map(|(number, slot)| match slot {
            Slot::Taken(entry) => Some((number, entry)),
            Slot::Free(_) => None,
        })
    }

    /// Bytes of memory on the heap.
    pub(crate) fn memory(&self) -> usize {
        self.slots.memory()
    }
}

impl<V> Owners for Slots<V> {
    fn len_of(&self, owner: u32) -> Option<usize> {
        self.get(owner).map(|entry| entry.len.into())
    }

    fn moved(&mut self, owner: u32, to: Position) {
        if let Some(entry) = self.get_mut(owner) {
            entry.position = to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_takes_16_bytes_and_its_value() {
        assert_eq!(
            (size_of::<Slot<u64>>(), size_of::<Slot<[u64; 2]>>(), size_of::<Slot<()>>()),
            (24, 32, 16)
        );
    }
}
