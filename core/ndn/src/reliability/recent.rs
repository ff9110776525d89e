//! Sequences that a link has received recently, to detect link packets that arrive twice.

use crate::time::Time;
use alloc::vec;
use alloc::vec::Vec;

/// Sequences at first, and at most: one for each link packet that a peer sends within the time.
const FIRST: usize = 64;
const MAX: usize = 8192;

/// Recent Sequences, each in the slot of its lowest bits. Consecutive ones replace the oldest.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    sequence: u64,
    /// End of the time for which the Sequence is recent; 0 for an empty slot.
    end: Time,
}

impl Recent {
    /// Adds a Sequence, which is recent until `end`. Returns false if it is recent already.
    ///
    /// A Sequence that meets another recent one doubles the table, and replaces the other in the largest
    /// one: then a duplicate may pass, which the forwarder handles as it does on other links.
    pub(super) fn insert(&mut self, sequence: u64, now: Time, end: Time) -> bool {
        if self.slots.is_empty() {
            self.slots = vec![Slot::default(); FIRST];
        }
        loop {
            let at = self.at(sequence);
            let grows = self.slots.len() < MAX;
            let Some(slot) = self.slots.get_mut(at) else { return true };
            let is_recent = now < slot.end;
            if is_recent && slot.sequence == sequence {
                slot.end = end;
                return false;
            }
            if !(is_recent && grows) {
                *slot = Slot { sequence, end };
                return true;
            }
            self.double();
        }
    }

    fn double(&mut self) {
        let empty = vec![Slot::default(); 2 * self.slots.len()];
        for old in core::mem::replace(&mut self.slots, empty) {
            let at = self.at(old.sequence);
            if let Some(slot) = self.slots.get_mut(at).filter(|_| old.end > Time::default()) {
                *slot = old;
            }
        }
    }

    fn at(&self, sequence: u64) -> usize {
        sequence as usize & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_is_recent_until_its_time_is_over() {
        let mut recent = Recent::default();
        let at = Time::from_millis;
        assert!(recent.insert(7, at(0), at(10)) && !recent.insert(7, at(9), at(20)));
        assert!(!recent.insert(7, at(19), at(20)) && recent.insert(7, at(20), at(30)));
    }

    #[test]
    fn as_many_consecutive_sequences_as_there_is_room_for_are_recent() {
        let mut recent = Recent::default();
        let (now, end) = (Time::from_millis(1), Time::from_millis(100));
        let first = u64::MAX - 100;
        let all = || (0..MAX as u64).map(|number| first.wrapping_add(number));
        assert!(all().all(|sequence| recent.insert(sequence, now, end)));
        assert!(all().all(|sequence| !recent.insert(sequence, now, end)));
        assert!(recent.insert(first.wrapping_add(MAX as u64), now, end) && recent.insert(first, now, end));
    }

    #[test]
    fn chosen_sequences_take_bounded_memory() {
        let mut recent = Recent::default();
        for number in 0..100_000 {
            recent.insert(number << 32, Time::default(), Time::from_millis(1));
        }
        assert_eq!(recent.slots.len(), MAX);
    }
}
