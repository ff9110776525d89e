//! Timer wheel over the slots of a table.
//!
//! Each slot has at most one timer. Setting, moving and stopping a timer takes a few writes, no matter when
//! it is due. The wheel has no clock: the caller passes the time and gets the slots that may be due.
//!
//! Source: Varghese and Lauck, "Hashed and hierarchical timing wheels" (SOSP 1987), scheme 6: one wheel; a
//! timer beyond one turn is visited once per turn.

use alloc::vec;
use alloc::vec::Vec;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::time::Time;

/// Timer wheel with ticks of one millisecond.
#[derive(Clone)]
pub struct Wheel {
    /// First slot of each list: the slots due at a tick, modulo [`LISTS`]; last, the list [`NOW`].
    heads: Vec<u32>,
    links: Vec<Link>,
    /// Last tick that was processed.
    done: u64,
    /// Number of running timers.
    len: usize,
    /// Slots visited because the tick of their list came.
    timer_visits: u64,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    next: u32,
    /// Previous slot; `END` at the head of a list.
    prev: u32,
    /// List of the slot; `OUT` if it has no timer.
    list: u32,
}

const END: u32 = u32::MAX;
const OUT: u32 = u32::MAX;

/// Lists of a wheel: one turn takes about eight seconds.
const LISTS: usize = 1 << 13;

/// List of the slots whose tick has come. A timer that is set meanwhile goes to its own list, even for the
/// same tick of a later turn.
const NOW: usize = LISTS;

/// Rule for the index of a list.
const LIST: &str = "the wheel has LISTS + 1 lists";

/// First tick at or after a time.
pub(crate) fn tick_of(time: Time) -> u64 {
    time.0.div_ceil(1_000_000)
}

impl core::fmt::Debug for Wheel {
    /// Lists that are not empty, with their slots in order, and counts. All lists would take a millisecond.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let slots = |head: u32| {
            let link = |slot: &u32| self.links.get(*slot as usize);
            let after = move |slot: &u32| link(slot).map(|link| link.next);
            core::iter::successors(Some(head), after).filter(|slot| *slot != END).collect::<Vec<_>>()
        };
        let lists = self.heads.iter().enumerate().filter(|(_, head)| **head != END);
        let lists: Vec<_> = lists.map(|(list, head)| (list, slots(*head))).collect();
        let Self { done, len, timer_visits, .. } = self;
        f.debug_struct("Wheel")
            .field("lists", &lists)
            .field("done", done)
            .field("len", len)
            .field("timer_visits", timer_visits)
            .finish()
    }
}

impl Default for Wheel {
    fn default() -> Self {
        Self { heads: vec![END; LISTS + 1], links: Vec::new(), done: 0, len: 0, timer_visits: 0 }
    }
}

impl Wheel {
    /// Sets or moves the timer of `slot` to the tick `due`. A tick that has passed means the next one.
    #[inline]
    pub fn set(&mut self, slot: u32, due: u64) {
        let at = slot as usize;
        if at >= self.links.len() {
            self.links.resize(at + 1, Link { next: END, prev: END, list: OUT });
        }
        let list = (due.max(self.done + 1) % LISTS as u64) as u32;
        if self.links.get(at).is_some_and(|link| link.list == list) {
            return;
        }
        self.stop(slot);
        let Some(head) = self.heads.get_mut(list as usize).invariant(LIST) else { return };
        let next = core::mem::replace(head, slot);
        if let Some(after) = self.links.get_mut(next as usize) {
            after.prev = slot;
        }
        if let Some(link) = self.links.get_mut(at).invariant("the links were resized") {
            *link = Link { next, prev: END, list };
            self.len += 1;
        }
    }

    /// Stops the timer of `slot`, if it has one.
    #[inline]
    pub fn stop(&mut self, slot: u32) {
        let Some(link) = self.links.get_mut(slot as usize).filter(|link| link.list != OUT) else { return };
        let Link { next, prev, list } = core::mem::replace(link, Link { next: END, prev: END, list: OUT });
        self.len -= 1;
        if let Some(after) = self.links.get_mut(next as usize) {
            after.prev = prev;
        }
        if prev == END {
            if let Some(head) = self.heads.get_mut(list as usize).invariant(LIST) {
                *head = next;
            }
        } else if let Some(before) = self.links.get_mut(prev as usize).invariant("a linked slot exists") {
            before.next = next;
        }
    }

    /// Removes and returns a slot that may be due at `now`; `None` if no slot is. The caller sets the timer
    /// again if the slot is not due yet.
    ///
    /// A call visits at most one turn of lists.
    #[inline]
    pub fn pop_due(&mut self, now: u64) -> Option<u32> {
        if self.len == 0 {
            self.done = self.done.max(now);
            return None;
        }
        if now.saturating_sub(self.done) > LISTS as u64 {
            // Lists repeat after one turn.
            self.done = now - LISTS as u64;
        }
        loop {
            let slot = self.heads.get(NOW).copied().invariant(LIST)?;
            if slot != END {
                self.stop(slot);
                return Some(slot);
            }
            if self.done >= now {
                return None;
            }
            self.done += 1;
            self.collect((self.done % LISTS as u64) as usize);
        }
    }

    /// Moves the slots of a list to the list [`NOW`], which is empty.
    fn collect(&mut self, list: usize) {
        let Some(head) = self.heads.get_mut(list).invariant(LIST) else { return };
        let first = core::mem::replace(head, END);
        let mut slot = first;
        while let Some(link) = self.links.get_mut(slot as usize) {
            link.list = NOW as u32;
            self.timer_visits += 1;
            slot = link.next;
        }
        if let Some(head) = self.heads.get_mut(NOW).invariant(LIST) {
            *head = first;
        }
    }

    /// Next tick at which a slot may be due, at most one turn after the last one.
    pub fn next_due(&self) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        if self.heads.get(NOW) != Some(&END) {
            return Some(self.done);
        }
        let lists = LISTS as u64;
        (self.done + 1..=self.done + lists).find(|tick| self.heads.get((tick % lists) as usize) != Some(&END))
    }

    /// Gives back the memory of the slots. No slot may have a timer.
    pub fn reset(&mut self) {
        debug_assert!(self.is_empty(), "all timers have been stopped");
        self.links = Vec::new();
    }

    /// Number of slots that have had a timer: the highest one, plus 1.
    pub fn slots(&self) -> usize {
        self.links.len()
    }

    /// Memory of the wheel in bytes.
    pub fn memory(&self) -> usize {
        self.links.capacity() * size_of::<Link>() + self.heads.capacity() * size_of::<u32>()
    }

    /// Number of slots visited because their tick came, in this turn or an earlier one: the work of the
    /// wheel.
    pub fn timer_visits(&self) -> u64 {
        self.timer_visits
    }

    /// Number of running timers.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if no timer runs.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn each_slot_comes_when_it_is_due(
            steps in vec((0..40_u32, prop_oneof![0..50_u64, 0..30_000_u64], any::<bool>(), prop_oneof![0..5_u64, 0..20_000_u64]), 1..120),
        ) {
            let (mut wheel, mut expected, mut now) = (Wheel::default(), BTreeMap::new(), 0);
            for (slot, after, stops, passes) in steps {
                if stops {
                    wheel.stop(slot);
                    expected.remove(&slot);
                } else {
                    wheel.set(slot, now + after);
                    expected.insert(slot, now + after);
                }
                now += passes;
                let mut again = Vec::new();
                while let Some(slot) = wheel.pop_due(now) {
                    match expected.get(&slot) {
                        Some(&due) if due > now => again.push((slot, due)),
                        due => prop_assert!(due.is_some()),
                    }
                    if again.last().is_none_or(|(other, _)| *other != slot) {
                        expected.remove(&slot);
                    }
                }
                for (slot, due) in again {
                    wheel.set(slot, due);
                }
                // A timer set to a tick that was processed fires at the next one.
                prop_assert!(expected.values().all(|due| *due + 1 > now || passes == 0), "{expected:?} {now}");
                prop_assert_eq!(wheel.len(), expected.len());
                let first = expected.values().min().copied();
                prop_assert!(wheel.next_due().is_some() == first.is_some());
                prop_assert!(wheel.next_due() <= first.map(|first| first.max(now + 1)).max(Some(now + 1)).filter(|_| first.is_some()));
            }
        }
    }
}
