//! Entries at numbered places that they keep, and places that are free again.

use crate::segments::Segments;

/// An entry.
#[derive(Clone, Debug)]
pub(crate) struct Entry<K, V> {
    pub(crate) key: K,
    pub(crate) value: V,
}

/// An array of entries with holes.
#[derive(Clone, Debug)]
pub(crate) struct Places<T> {
    places: Segments<Option<T>>,
    free: Segments<u32>,
}

impl<T> Places<T> {
    /// No places, with memory for `entries` and for the list of free places.
    pub(crate) fn with_capacity(entries: usize) -> Self {
        Self { places: Segments::with_capacity(entries), free: Segments::with_capacity(entries) }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Bytes of memory that the places take, those that are free and those in reserve included.
    pub(crate) fn bytes(&self) -> usize {
        self.places.memory() + self.free.memory()
    }

    /// The bound of the places' numbers.
    pub(crate) fn bound(&self) -> usize {
        self.places.len()
    }

    #[inline(always)]
    pub(crate) fn at(&self, place: u32) -> Option<&T> {
        self.places.get(place as usize).and_then(Option::as_ref)
    }

    #[inline(always)]
    pub(crate) fn at_mut(&mut self, place: u32) -> Option<&mut T> {
        self.places.get_mut(place as usize).and_then(Option::as_mut)
    }

    /// The memory of a place, taken or free, for prefetching.
    #[inline(always)]
    pub(crate) fn memory(&self, place: u32) -> Option<&Option<T>> {
        self.places.get(place as usize)
    }

    /// The free place that is taken after `ahead` others.
    #[inline(always)]
    pub(crate) fn free(&self, ahead: usize) -> Option<u32> {
        self.free.get(self.free.len().wrapping_sub(ahead + 1)).copied()
    }

    /// Puts an entry at a free place.
    ///
    /// # Panics
    /// More than 2³² − 1 entries.
    pub(crate) fn add(&mut self, entry: T) -> u32 {
        match self.free.pop() {
            Some(place) => {
                if let Some(free) = self.places.get_mut(place as usize) {
                    *free = Some(entry);
                }
                place
            }
            None => {
                let place = self.places.len();
                assert!(place < u32::MAX as usize, "a table holds fewer than 2^32 entries");
                self.places.push(Some(entry));
                place as u32
            }
        }
    }

    pub(crate) fn take(&mut self, place: u32) -> Option<T> {
        let entry = self.places.get_mut(place as usize)?.take();
        if entry.is_some() {
            self.free.push(place);
        }
        entry
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..).zip(self.places.iter()).filter_map(|(place, entry)| Some((place, entry.as_ref()?)))
    }
}
