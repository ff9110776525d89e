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
use hashlane_table::Segments;

/// A wheel.
#[derive(Clone, Debug)]
pub(crate) struct Wheel {
    /// The first slot that is linked at a tick, modulo the length, a power of two.
    heads: Vec<u32>,
    /// The next slot of the same tick, for each slot.
    next: Segments<u32>,
    /// The last tick whose list was taken out.
    done: u32,
    /// The first slot of that list which is still to be looked at.
    rest: u32,
}

/// The end of a list.
const END: u32 = u32::MAX;

/// Ticks that are walked at once at most.
pub(crate) const TICKS: usize = 4096;

/// The mark of a slot that is in no list.
const OUT: u32 = u32::MAX - 1;

impl Wheel {
    /// A wheel for timers of at most `longest` ticks, at tick `now`, with memory for `slots`.
    pub(crate) fn new(longest: u32, slots: usize, now: u32) -> Self {
        let ticks = (longest as usize + 1).next_power_of_two();
        Self { heads: vec![END; ticks], next: Segments::with_capacity(slots), done: now, rest: END }
    }

    /// Bytes of memory.
    pub(crate) fn memory(&self) -> usize {
        self.heads.capacity() * size_of::<u32>() + self.next.memory()
    }

    /// Links `slot` at the tick `due`, unless it is linked.
    #[inline]
    pub(crate) fn watch(&mut self, slot: u32, due: u32) {
        let at = slot as usize;
        while at >= self.next.len() {
            self.next.push(OUT);
        }
        // A tick that was taken out would come again after a whole turn only.
        let next = self.done.wrapping_add(1);
        let due = if due.wrapping_sub(next) > i32::MAX as u32 { next } else { due };
        let head = due as usize & (self.heads.len() - 1);
        if let (Some(next), Some(head)) = (self.next.get_mut(at), self.heads.get_mut(head))
            && *next == OUT
        {
            *next = *head;
            *head = slot;
        }
    }

    /// Prefetches what [`watch`](Self::watch) of a slot reads; a hint.
    #[inline(always)]
    pub(crate) fn prefetch(&self, slot: u32) {
        if let Some(next) = self.next.get(slot as usize) {
            hashlane_table::prefetch(next);
        }
    }

    /// Takes slots that may be due at tick `now` out of the wheel, writes them to the front of `slots`, and
    /// returns their number; [`TICKS`] are walked at most. With [`is_behind`](Self::is_behind) there may be
    /// more.
    #[inline]
    pub(crate) fn due(&mut self, now: u32, slots: &mut [u32]) -> usize {
        let passed = now.wrapping_sub(self.done);
        if passed <= i32::MAX as u32 && passed as usize > self.heads.len() {
            // After a whole turn every list has been looked at.
            self.done = now.wrapping_sub(self.heads.len() as u32);
        }
        let mut ticks = 0;
        let mut taken = 0;
        while let Some(place) = slots.get_mut(taken) {
            if let Some(next) = self.next.get_mut(self.rest as usize) {
                *place = core::mem::replace(&mut self.rest, core::mem::replace(next, OUT));
                taken += 1;
            } else if ticks < TICKS && self.ticks_left(now) {
                ticks += 1;
                self.done = self.done.wrapping_add(1);
                let head = self.done as usize & (self.heads.len() - 1);
                self.rest = self.heads.get_mut(head).map_or(END, |head| core::mem::replace(head, END));
            } else {
                break;
            }
        }
        taken
    }

    fn ticks_left(&self, now: u32) -> bool {
        matches!(now.wrapping_sub(self.done), 1..=0x7fff_ffff)
    }

    /// Returns true if slots that are due at tick `now` may be left in the wheel.
    #[inline]
    pub(crate) fn is_behind(&self, now: u32) -> bool {
        self.rest != END || self.ticks_left(now)
    }

    /// Forgets all slots.
    pub(crate) fn clear(&mut self) {
        self.heads.fill(END);
        self.next.clear();
        self.rest = END;
    }
}
