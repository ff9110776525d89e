//! A timer wheel over the slots of a table, which polls the flows' own timestamps.
//!
//! A slot is linked at the tick when its flow may have been idle for long enough, and looked at when that
//! tick has come: if the flow was seen meanwhile, it is linked again at its later tick. So a packet writes
//! the time into its flow and nothing else, and a removal leaves the wheel alone: a slot that was freed and
//! taken again stays linked at the earlier tick, and an early look does no harm.
//!
//! Source: Varghese and Lauck, "Hashed and hierarchical timing wheels" (SOSP 1987), scheme 4 (one wheel, no
//! timer longer than its turn), with lazy restarts.

use alloc::vec;
use alloc::vec::Vec;

/// A wheel.
#[derive(Clone, Debug)]
pub(crate) struct Wheel {
    /// The first slot that is linked at a tick, modulo the length, a power of two.
    heads: Vec<u32>,
    /// The next slot of the same tick, for each slot.
    next: Vec<u32>,
    /// The last tick that was looked at.
    done: u32,
}

/// The end of a list.
const END: u32 = u32::MAX;

/// The mark of a slot that is in no list.
const OUT: u32 = u32::MAX - 1;

impl Wheel {
    /// A wheel for timers of at most `longest` ticks, at tick `now`, with memory for `slots`.
    pub(crate) fn new(longest: u32, slots: usize, now: u32) -> Self {
        let ticks = (longest as usize + 1).next_power_of_two();
        Self { heads: vec![END; ticks], next: Vec::with_capacity(slots), done: now }
    }

    /// Bytes of memory.
    pub(crate) fn memory(&self) -> usize {
        (self.heads.capacity() + self.next.capacity()) * size_of::<u32>()
    }

    /// Links `slot` at the tick `due`, unless it is linked.
    #[inline]
    pub(crate) fn watch(&mut self, slot: u32, due: u32) {
        let at = slot as usize;
        if at >= self.next.len() {
            self.next.resize(at + 1, OUT);
        }
        let head = due as usize & (self.heads.len() - 1);
        if let (Some(next), Some(head)) = (self.next.get_mut(at), self.heads.get_mut(head))
            && *next == OUT
        {
            *next = *head;
            *head = slot;
        }
    }

    /// Visits the slots of every tick up to `now`: `again` returns the later tick at which to visit a slot
    /// again, or `None`.
    pub(crate) fn advance(&mut self, now: u32, mut again: impl FnMut(u32) -> Option<u32>) {
        let passed = now.wrapping_sub(self.done);
        if passed == 0 || passed > i32::MAX as u32 {
            return;
        }
        // After a whole turn every list has been looked at.
        let ticks = (passed as usize).min(self.heads.len());
        let first = now.wrapping_sub(ticks as u32 - 1);
        self.done = now;
        for tick in 0..ticks as u32 {
            let head = first.wrapping_add(tick) as usize & (self.heads.len() - 1);
            let mut slot = self.heads.get_mut(head).map_or(END, |head| core::mem::replace(head, END));
            while let Some(next) = self.next.get_mut(slot as usize) {
                let following = core::mem::replace(next, OUT);
                if let Some(due) = again(slot) {
                    self.watch(slot, due);
                }
                slot = following;
            }
        }
    }

    /// Forgets all slots.
    pub(crate) fn clear(&mut self) {
        self.heads.fill(END);
        self.next.clear();
    }
}
