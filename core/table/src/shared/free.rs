//! The queue of free places, with the ticket of each.

use super::index::TICKET_BITS;
use crate::segments::Segments;

/// Free places: those that were in use, first in, first out, and then those that never were.
#[derive(Debug)]
pub(super) struct Free {
    /// For each place that was in use: above, the count of its uses; in the bits of [`mask`](Self::mask), the
    /// next place in the queue.
    cells: Segments<u64>,
    first: usize,
    last: usize,
    len: usize,
    places: usize,
}

impl Free {
    /// All places below `places`, none used so far; memory for the first `room`.
    pub(super) fn new(room: usize, places: usize) -> Self {
        Self { cells: Segments::with_capacity(room), first: 0, last: 0, len: 0, places }
    }

    /// The bits of a ticket that are its place.
    fn mask(&self) -> u64 {
        self.places.next_power_of_two() as u64 - 1
    }

    /// Places in the queue beyond which one is reused before a new one is taken.
    ///
    /// So a ticket comes back after 2⁴³ others at the earliest, however few entries there are: of 2^p places
    /// each has 2^(48 - p) tickets, and 2^p / 32 others are used in between.
    fn spare(&self) -> usize {
        self.places.next_power_of_two() / 32
    }

    /// The next ticket.
    pub(super) fn pop(&mut self) -> Option<u64> {
        let new = self.cells.len();
        if self.len <= self.spare() && new < self.places {
            self.cells.push(0);
            return Some(new as u64);
        }
        self.len = self.len.checked_sub(1)?;
        let (mask, place) = (self.mask(), self.first);
        let cell = *self.cells.get(place)?;
        self.first = (cell & mask) as usize;
        Some(cell & !mask | place as u64)
    }

    /// Frees the place of a ticket, which gets another one.
    pub(super) fn push(&mut self, ticket: u64) {
        let mask = self.mask();
        let place = (ticket & mask) as usize;
        if self.len == 0 {
            self.first = place;
        } else if let Some(last) = self.cells.get_mut(self.last) {
            *last = *last & !mask | place as u64;
        }
        if let Some(cell) = self.cells.get_mut(place) {
            *cell = next(ticket, mask);
        }
        self.last = place;
        self.len += 1;
    }
}

/// The next ticket of the same place.
fn next(ticket: u64, mask: u64) -> u64 {
    ticket.wrapping_add(mask + 1) & ((1 << TICKET_BITS) - 1)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_comes_back_only_after_all_others_of_its_place() {
        let mut ticket = 3;
        for used in 1..1 << 20 {
            ticket = next(ticket, 15);
            assert_eq!(ticket, used << 4 | 3);
        }
        // The count has 44 bits and then starts again, at the same place and without touching the tag.
        assert_eq!(next((1 << 48) - 16 + 3, 15), 3);
    }

    #[test]
    fn a_place_is_reused_after_as_many_others_as_a_ticket_needs() {
        let mut free = Free::new(0, 1000);
        let mut uses = std::vec![0_u64; 1000];
        let mut last = std::vec![None; 1000];
        for round in 0..10_000_usize {
            let ticket = free.pop().unwrap();
            let place = (ticket & 1023) as usize;
            assert_eq!(ticket >> 10, uses[place]);
            uses[place] += 1;
            if let Some(last) = last[place].replace(round) {
                assert!(round - last >= 1024 / 32);
            }
            free.push(ticket);
        }
        // One entry at a time takes a 32nd of the places.
        assert_eq!(uses.iter().filter(|uses| **uses > 0).count(), 1024 / 32 + 1);
    }

    #[test]
    fn all_places_are_given_out() {
        let mut free = Free::new(10, 100);
        let mut tickets: std::vec::Vec<u64> = (0..100).map(|_| free.pop().unwrap()).collect();
        assert_eq!(free.pop(), None);
        tickets.drain(..50).for_each(|ticket| free.push(ticket));
        let again: std::vec::Vec<u64> = (0..50).map(|_| free.pop().unwrap()).collect();
        assert!(again.iter().copied().eq((0..50).map(|place| 1 << 7 | place)));
        assert_eq!(free.pop(), None);
    }
}
