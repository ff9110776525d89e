//! The offsets at which the names of a message were written.

use crate::zone::NameId;
use alloc::boxed::Box;
use alloc::vec;

/// Number of slots, a power of two.
const SLOTS: usize = 2048;
/// Slots that a lookup reads at most. A name without a free slot is not pointed to.
const PROBES: usize = 8;
/// Offsets that a pointer can hold (RFC 1035 §4.1.4).
const POINTER_LIMIT: usize = 0x4000;

/// A name of the message: its number, the message's stamp and the offset.
#[derive(Clone, Copy, Default)]
struct Slot {
    name: u32,
    stamp: u16,
    at: u16,
}

/// A map from the numbers of names to their offsets in the message, cleared in constant time.
pub(super) struct Offsets {
    slots: Box<[Slot]>,
    /// Slots in use, in the order in which they were taken.
    log: Box<[u16]>,
    used: usize,
    /// Stamp of the present message, not 0.
    stamp: u16,
}

impl Offsets {
    pub(super) fn new() -> Self {
        Self { slots: vec![Slot::default(); SLOTS].into(), log: vec![0; SLOTS / 2].into(), used: 0, stamp: 1 }
    }

    /// Removes all names.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.used = 0;
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.slots.fill(Slot::default());
            self.stamp = 1;
        }
    }

    #[inline(always)]
    fn probe(name: NameId) -> impl Iterator<Item = usize> {
        let first = name.index();
        (first..first + PROBES).map(|slot| slot % SLOTS)
    }

    /// The offset of a name.
    #[inline(always)]
    pub(super) fn get(&self, name: NameId) -> Option<u16> {
        for slot in Self::probe(name) {
            let slot = self.slots.get(slot)?;
            if slot.stamp != self.stamp {
                return None;
            }
            if slot.name as usize == name.index() {
                return Some(slot.at);
            }
        }
        None
    }

    /// Adds a name that is not there, at offset `at`; nothing is added if no pointer reaches it or if the
    /// table is full.
    #[inline(always)]
    pub(super) fn insert(&mut self, name: NameId, at: usize) {
        if at >= POINTER_LIMIT {
            return;
        }
        for place in Self::probe(name) {
            if let (Some(slot), Some(log)) = (self.slots.get_mut(place), self.log.get_mut(self.used))
                && slot.stamp != self.stamp
            {
                *slot = Slot { name: name.index() as u32, stamp: self.stamp, at: at as u16 };
                *log = place as u16;
                self.used += 1;
                return;
            }
        }
    }

    /// Removes the names at offset `len` and later. Frees slots from the last taken back, so no probe misses
    /// an earlier one.
    pub(super) fn truncate(&mut self, len: usize) {
        while let Some(last) = self.used.checked_sub(1)
            && let Some(slot) = self.log.get(last).and_then(|place| self.slots.get_mut(usize::from(*place)))
            && usize::from(slot.at) >= len
        {
            slot.stamp = 0;
            self.used = last;
        }
    }
}
