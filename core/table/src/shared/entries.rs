//! Keys and values at numbered places, in blocks that are added while readers are there.

use super::sync::{AtomicU64, Relaxed, Release, zeros};
use alloc::boxed::Box;
use bytemuck::Pod;
use core::array;
use core::marker::PhantomData;
use once_cell::race::OnceBox;

/// Blocks after the first, each as large as all before it.
const BLOCKS: usize = 32;

/// Words of the entry that was last at each place, also where no slot names it any more.
#[derive(Debug)]
pub(super) struct Entries<const N: usize, V> {
    first: Box<[AtomicU64]>,
    more: [OnceBox<Box<[AtomicU64]>>; BLOCKS],
    /// Number of places in `first`.
    room: usize,
    /// The bound of all places' numbers.
    places: usize,
    values: PhantomData<fn() -> V>,
}

impl<const N: usize, V: Pod> Entries<N, V> {
    /// Words of an entry.
    const WORDS: usize = N + size_of::<V>().div_ceil(8);

    /// True if a value takes more than one word, so that no store changes it in one step.
    pub(super) const WIDE: bool = size_of::<V>() > 8;

    /// Memory for `room` places, at least one, of `places`.
    pub(super) fn new(room: usize, places: usize) -> Self {
        let room = room.clamp(1, places.max(1));
        let first = zeros(room.saturating_mul(Self::WORDS));
        Self { first, more: array::from_fn(|_| OnceBox::new()), room, places, values: PhantomData }
    }

    /// The bound of the places' numbers.
    pub(super) fn places(&self) -> usize {
        self.places
    }

    #[inline(always)]
    pub(super) fn words(&self, place: usize) -> Option<&[AtomicU64]> {
        let (block, at) = if place < self.room { (&*self.first, place) } else { self.beyond(place)? };
        block.get(at * Self::WORDS..(at + 1) * Self::WORDS)
    }

    /// The block of a place that is not in the first, and its number in it.
    fn beyond(&self, place: usize) -> Option<(&[AtomicU64], usize)> {
        let block = (place / self.room).ilog2() as usize;
        Some((self.more.get(block)?.get()?, place - (self.room << block)))
    }

    /// Makes memory for a place and those in its block. For the writer.
    pub(super) fn reserve(&self, place: usize) {
        if place < self.room || place >= self.places {
            return;
        }
        let block = (place / self.room).ilog2() as usize;
        if let Some(memory) = self.more.get(block) {
            let start = self.room << block;
            let places = start.min(self.places - start);
            memory.get_or_init(|| Box::new(zeros(places.saturating_mul(Self::WORDS))));
        }
    }

    /// The key at a place. For the writer.
    pub(super) fn key(&self, place: usize) -> Option<[u64; N]> {
        let (key, _) = self.words(place)?.split_at_checked(N)?;
        <&[AtomicU64; N]>::try_from(key).ok().map(|key| key.each_ref().map(|word| word.load(Relaxed)))
    }

    /// The value at a place. For the writer.
    pub(super) fn value(&self, place: usize) -> Option<V> {
        Some(load(self.words(place)?.get(N..)?))
    }

    /// The value at a place, if the key is `key`. Words of several entries may be among those read.
    #[inline(always)]
    pub(super) fn value_of(&self, place: usize, key: &[u64; N]) -> Option<V> {
        let (words, value) = self.words(place)?.split_at_checked(N)?;
        let same = words.iter().zip(key).all(|(word, other)| word.load(Relaxed) == *other);
        same.then(|| load(value))
    }

    /// Writes an entry to a place that no slot names, after a release fence. For the writer.
    pub(super) fn write(&self, place: usize, key: &[u64; N], value: &V) {
        let Some(words) = self.words(place) else {
            debug_assert!(false, "a place without memory");
            return;
        };
        words.iter().zip(key.iter().copied().chain(words_of(value))).for_each(|(to, word)| {
            to.store(word, Relaxed);
        });
    }

    /// Changes a value that is not [wide](Self::WIDE), in one step. For the writer.
    pub(super) fn change(&self, place: usize, value: &V) {
        let words = self.words(place).and_then(|words| words.get(N..));
        words.into_iter().flatten().zip(words_of(value)).for_each(|(to, word)| to.store(word, Release));
    }
}

/// The words of a value; the last may have bytes of 0 at its end.
fn words_of<V: Pod>(value: &V) -> impl Iterator<Item = u64> {
    bytemuck::bytes_of(value).chunks(8).map(|bytes| {
        let mut word = [0; 8];
        word.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte);
        u64::from_ne_bytes(word)
    })
}

#[inline(always)]
fn load<V: Pod>(words: &[AtomicU64]) -> V {
    let mut value = V::zeroed();
    for (bytes, word) in bytemuck::bytes_of_mut(&mut value).chunks_mut(8).zip(words) {
        let word = word.load(Relaxed).to_ne_bytes();
        if let Some(word) = word.get(..bytes.len()) {
            bytes.copy_from_slice(word);
        }
    }
    value
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn blocks_hold_each_place_once() {
        let entries = Entries::<1, [u8; 11]>::new(3, 40);
        assert!(entries.words(0).is_some() && entries.words(3).is_none());
        for place in 0..40 {
            entries.reserve(place);
            let value = [place as u8; 11];
            entries.write(place, &[place as u64], &value);
        }
        for place in 0..40 {
            let value = [place as u8; 11];
            assert_eq!((entries.key(place), entries.value(place)), (Some([place as u64]), Some(value)));
            assert_eq!(entries.value_of(place, &[place as u64]), Some(value));
        }
        entries.reserve(40);
        assert!(entries.words(40).is_none());
    }
}
