//! Progress of the sweep, which removes the PIT records of closed faces.
//!
//! A face that closes may have records in every PIT entry, so they are not removed at once: each timeout
//! visits a bounded number of slots and records, until all slots have been visited. One pass removes the
//! records of every face that closed before it began. There is no list of the records of a face, so the
//! packet path does no work for this. A record counts as used until it is removed, which keeps the table
//! within its limit; it has no other effect, as nothing is sent to a closed face.

/// Pass over all slots of the PIT.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sweep {
    /// Next slot.
    next: usize,
    /// Slots left to visit.
    left: usize,
    /// Slots of the PIT at the last timeout.
    slots: usize,
}

impl Sweep {
    /// Starts a pass over a PIT with this many slots. A pass under way continues for one more round.
    pub(super) fn start(&mut self, slots: usize) {
        (self.left, self.slots) = (slots, slots);
    }

    /// Adds the slots that the PIT has grown by; they are visited before the pass wraps around.
    pub(super) fn grow(&mut self, slots: usize) {
        self.left += slots.saturating_sub(self.slots);
        self.slots = slots.max(self.slots);
    }

    /// Next slot; `None` if all have been visited.
    pub(super) fn step(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        let slot = if self.next < self.slots { self.next } else { 0 };
        self.next = slot + 1;
        u32::try_from(slot).ok()
    }

    /// True while slots are left to visit.
    pub(super) fn is_due(&self) -> bool {
        self.left > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_pass_visits_every_slot_if_it_restarts_and_the_table_grows() {
        for (restart_at, grow_at, grown) in [(0, 0, 0), (3, 5, 7), (9, 2, 100), (9, 9, 1)] {
            let mut sweep = Sweep::default();
            sweep.start(10);
            for step in 0..10 {
                if step == grow_at {
                    sweep.grow(10 + grown);
                }
                if step == restart_at {
                    sweep.start(sweep.slots);
                }
                assert!(sweep.step().is_some());
            }
            sweep.start(sweep.slots);
            let seen: BTreeSet<u32> = core::iter::from_fn(|| sweep.step()).collect();
            assert!(seen.len() == 10 + grown && !sweep.is_due());
        }
        let mut sweep = Sweep::default();
        sweep.start(10);
        assert!((0..6).all(|_| sweep.step().is_some()));
        sweep.start(10);
        let mut seen: BTreeSet<u32> = (0..3).filter_map(|_| sweep.step()).collect();
        sweep.grow(20);
        seen.extend(core::iter::from_fn(|| sweep.step()));
        assert_eq!(seen.len(), 20);
    }
}
