//! An array that grows without moving its elements, and a stack on top of it.

use alloc::vec::Vec;

/// Elements of a segment.
const SEGMENT: usize = 1 << SEGMENT_BITS;
const SEGMENT_BITS: u32 = 12;

/// An array that grows at its end.
///
/// Its first elements, as many as were given room and at least 4,096, stand in one block; all others in
/// blocks of 4,096. So a [`push`](Self::push) copies at most 4,095 elements, however many there are, and none
/// within the room.
#[derive(Clone, Debug)]
pub struct Segments<T> {
    first: Vec<T>,
    /// The limit of the elements in `first`.
    room: usize,
    /// Blocks that are full, up to one that is not, and then empty ones.
    more: Vec<Vec<T>>,
    len: usize,
}

impl<T> Segments<T> {
    /// An empty array with room for `room` elements.
    pub fn with_capacity(room: usize) -> Self {
        Self { first: Vec::with_capacity(room), room: room.max(SEGMENT), more: Vec::new(), len: 0 }
    }

    /// Number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of memory, free room included, without the heap memory of elements.
    pub fn memory(&self) -> usize {
        let segments = self.more.iter().map(Vec::capacity).sum::<usize>();
        (self.first.capacity() + segments) * size_of::<T>() + self.more.capacity() * size_of::<Vec<T>>()
    }

    /// The element at a position.
    #[inline(always)]
    pub fn get(&self, at: usize) -> Option<&T> {
        match self.first.get(at) {
            Some(element) => Some(element),
            None if self.more.is_empty() => None,
            None => {
                let at = at.checked_sub(self.room)?;
                self.more.get(at >> SEGMENT_BITS)?.get(at & (SEGMENT - 1))
            }
        }
    }

    /// The element at a position, to change it.
    #[inline(always)]
    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        match self.first.get_mut(at) {
            Some(element) => Some(element),
            None if self.more.is_empty() => None,
            None => {
                let at = at.checked_sub(self.room)?;
                self.more.get_mut(at >> SEGMENT_BITS)?.get_mut(at & (SEGMENT - 1))
            }
        }
    }

    /// Adds an element at the end.
    #[inline]
    pub fn push(&mut self, element: T) {
        if self.len < self.room {
            self.first.push(element);
        } else {
            self.push_beyond(element);
        }
        self.len += 1;
    }

    fn push_beyond(&mut self, element: T) {
        let segment = (self.len - self.room) >> SEGMENT_BITS;
        if let Some(segment) = self.more.get_mut(segment) {
            segment.push(element);
        } else {
            let mut segment = Vec::with_capacity(SEGMENT);
            segment.push(element);
            self.more.push(segment);
        }
    }

    /// Removes the element at the end.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let last = self.len.checked_sub(1)?;
        self.len = last;
        match last.checked_sub(self.room) {
            None => self.first.pop(),
            Some(at) => self.more.get_mut(at >> SEGMENT_BITS)?.pop(),
        }
    }

    /// Removes all elements, and keeps the memory.
    pub fn clear(&mut self) {
        self.first.clear();
        self.more.iter_mut().for_each(Vec::clear);
        self.len = 0;
    }

    /// Drops the last block with its elements, so that freeing a large array can be spread over many calls.
    /// Returns false if none was left.
    pub fn drop_block(&mut self) -> bool {
        match self.more.pop() {
            Some(block) => self.len -= block.len(),
            None if self.first.capacity() == 0 => return false,
            None => {
                self.first = Vec::new();
                self.len = 0;
            }
        }
        true
    }

    /// All elements, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(self.more.iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_elements_at_their_addresses_beyond_the_first_block() {
        let mut array = Segments::with_capacity(5000);
        let mut addresses = Vec::new();
        for at in 0..20_000_usize {
            array.push(at);
            addresses.push(core::ptr::from_ref(array.get(at).unwrap()));
        }
        assert_eq!(array.len(), 20_000);
        assert!(array.iter().copied().eq(0..20_000));
        for (at, address) in addresses.into_iter().enumerate() {
            assert_eq!(core::ptr::from_ref(array.get(at).unwrap()), address);
        }
        assert!(array.get(20_000).is_none() && array.get_mut(20_000).is_none());
        assert!((160_000..160_000 + 8 * SEGMENT + 1024).contains(&array.memory()), "{}", array.memory());
    }

    #[test]
    fn drops_its_blocks_from_the_end() {
        let mut array = Segments::with_capacity(0);
        (0..9000_usize).for_each(|at| array.push(at));
        for len in [8192, 4096, 0] {
            assert!(array.drop_block());
            assert_eq!((array.len(), array.iter().count(), array.get(len)), (len, len, None));
        }
        assert!(!array.drop_block());
        array.push(7);
        assert_eq!((array.len(), array.get(0)), (1, Some(&7)));
    }

    #[test]
    fn is_a_stack() {
        let mut stack = Segments::with_capacity(0);
        for round in 0..3 {
            (0..9000_usize).for_each(|at| stack.push(at + round));
            for at in (3000..9000).rev() {
                assert_eq!(stack.pop(), Some(at + round));
            }
            (3000..9000).for_each(|at| stack.push(at + round));
            *stack.get_mut(8999).unwrap() += 1;
            assert_eq!(stack.pop(), Some(9000 + round));
            (0..8999).rev().for_each(|at| assert_eq!(stack.pop(), Some(at + round)));
            assert_eq!((stack.pop(), stack.is_empty()), (None, true));
        }
        stack.push(1);
        stack.clear();
        assert_eq!((stack.len(), stack.get(0)), (0, None));
    }
}
