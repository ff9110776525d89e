//! Timers of Interests that were sent to one next hop first.

use crate::wheel::{Wheel, tick_of};
use alloc::vec::Vec;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::time::Time;

/// Timers of PIT entries, by slot. A removed entry has none.
#[derive(Debug, Default)]
pub(super) struct Retries {
    wheel: Wheel,
    /// Due time of each slot with a timer.
    due: Vec<Option<Time>>,
}

impl Retries {
    /// Sets or moves the timer of a slot.
    pub(super) fn set(&mut self, slot: u32, due: Time) {
        let at = slot as usize;
        if at >= self.due.len() {
            self.due.resize(at + 1, None);
        }
        if let Some(place) = self.due.get_mut(at).invariant("the slots were resized") {
            *place = Some(due);
            self.wheel.set(slot, tick_of(due));
        }
    }

    /// Stops the timer of a slot; returns its due time.
    #[inline(always)]
    pub(super) fn stop(&mut self, slot: u32) -> Option<Time> {
        if self.wheel.is_empty() {
            return None;
        }
        self.wheel.stop(slot);
        self.due.get_mut(slot as usize).and_then(Option::take)
    }

    /// Removes a timer that is due, and returns its slot.
    #[inline]
    pub(super) fn pop_due(&mut self, now: Time) -> Option<u32> {
        while let Some(slot) = self.wheel.pop_due(now.millis()) {
            let due = self.due.get_mut(slot as usize).invariant("a slot with a timer has a due time")?;
            match *due {
                Some(later) if later > now => self.wheel.set(slot, tick_of(later)),
                _ => {
                    *due = None;
                    return Some(slot);
                }
            }
        }
        None
    }

    /// Time at which a timer may be due.
    pub(super) fn next_due(&self) -> Option<Time> {
        self.wheel.next_due().map(Time::from_millis)
    }

    /// Gives back the memory of the slots; no slot may have a timer.
    pub(super) fn reset(&mut self) {
        self.wheel.reset();
        self.due = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_fire_when_they_are_due_and_not_a_turn_of_the_wheel_earlier() {
        let (mut retries, at) = (Retries::default(), Time::from_millis);
        retries.set(3, at(100_000));
        retries.set(4, at(100_000 - 8192));
        while let Some(next) = retries.next_due().filter(|next| *next < at(91_000)) {
            assert_eq!(retries.pop_due(next), None);
        }
        assert_eq!(retries.pop_due(at(100_000 - 8192)), Some(4));
        assert_eq!(retries.stop(4), None);
        assert_eq!(retries.pop_due(at(99_999)), None);
        assert_eq!((retries.pop_due(at(100_000)), retries.next_due()), (Some(3), None));
        retries.set(3, at(100_500));
        assert_eq!(retries.stop(3), Some(at(100_500)));
        assert_eq!((retries.pop_due(at(200_000)), retries.next_due()), (None, None));
        retries.reset();
    }
}
