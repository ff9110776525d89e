//! The hash table itself: from the hash of a suffix to where it may stand.

use super::super::compressor::POINTER_LIMIT;
use alloc::vec;
use alloc::vec::Vec;

/// Slots of a table that is kept whatever the messages are: 4 KiB.
const KEPT: usize = 512;

/// Slots at the most, 128 KiB. A message cannot hold more than half as many suffixes that a pointer reaches.
const MOST: usize = 16_384;

/// Slots that are looked at for a suffix at the most.
const PROBES: usize = 16;

/// What says that a suffix was written: its offset, and how many octets of it stand there before a pointer.
///
/// From the top: offset (16 bits), octets before a pointer (8), number of the message (8), hash (32).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(u64);

impl Slot {
    pub(super) const FREE: Self = Self(0);

    #[inline(always)]
    pub(super) fn at(self) -> usize {
        (self.0 >> 48) as usize
    }

    #[inline(always)]
    pub(super) fn literal(self) -> usize {
        (self.0 >> 40) as usize & 0xff
    }

    #[inline(always)]
    fn message(self) -> u8 {
        (self.0 >> 32) as u8
    }

    /// Message and hash.
    #[inline(always)]
    pub(super) fn tag(self) -> u64 {
        self.0 & 0xff_ffff_ffff
    }
}

/// The slots, by the low bits of the hash, from there on the next free one.
#[derive(Clone)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    /// The message's number; that of a free slot is 0.
    message: u8,
    used: usize,
}

impl Slots {
    pub(super) fn new() -> Self {
        Self { slots: vec![Slot::FREE; 64], message: 1, used: 0 }
    }

    /// Octets of memory.
    pub(super) fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
    }

    /// The message's number, which is another one for 255 messages.
    #[inline(always)]
    pub(super) fn message(&self) -> u8 {
        self.message
    }

    /// Begins a message; says whether its number has been there before, so that whatever else is marked with it must be
    /// wiped.
    #[inline]
    pub(super) fn start(&mut self) -> bool {
        if self.slots.len() > KEPT && self.used <= KEPT / 2 {
            self.slots = vec![Slot::FREE; KEPT];
        }
        self.used = 0;
        self.message = self.message.wrapping_add(1);
        let again = self.message == 0;
        if again {
            self.slots.fill(Slot::FREE);
            self.message = 1;
        }
        again
    }

    #[inline(always)]
    pub(super) fn tag(&self, hash: u32) -> u64 {
        u64::from(self.message) << 32 | u64::from(hash)
    }

    /// What is put into a slot.
    #[inline(always)]
    pub(super) fn slot(&self, at: usize, literal: usize, hash: u32) -> Slot {
        Slot((at as u64) << 48 | (literal as u64) << 40 | self.tag(hash))
    }

    /// The offset of a suffix of this hash that was written before; `stands` says of a slot whether it holds it.
    #[inline(always)]
    pub(super) fn find(&self, hash: u32, stands: impl Fn(Slot) -> bool) -> Option<u16> {
        let (tag, mask) = (self.tag(hash), self.slots.len() - 1);
        for probe in 0..PROBES {
            let slot = *self.slots.get((hash as usize + probe) & mask)?;
            if slot.tag() == tag {
                if stands(slot) {
                    return Some(slot.at() as u16);
                }
            } else if slot.message() != self.message {
                return None;
            }
        }
        None
    }

    /// Remembers a suffix at offset `at` that has `literal` octets before its pointer, unless no pointer could reach it.
    #[inline(always)]
    pub(super) fn insert(&mut self, at: usize, literal: usize, hash: u32) {
        if at >= POINTER_LIMIT {
            return;
        }
        let slot = self.slot(at, literal, hash);
        if self.used * 2 >= self.slots.len() || !self.put(slot) {
            self.put_crowded(slot);
        }
    }

    /// Puts a slot into a larger table, unless there is none.
    #[cold]
    fn put_crowded(&mut self, slot: Slot) {
        while self.slots.len() < MOST {
            self.grow();
            if self.put(slot) {
                return;
            }
        }
        self.put(slot);
    }

    /// Puts a slot where there is room for it, or where an earlier one of the same hash did not hold.
    #[inline(always)]
    fn put(&mut self, slot: Slot) -> bool {
        let (hash, mask) = (slot.0 as u32, self.slots.len() - 1);
        for probe in 0..PROBES {
            let Some(place) = self.slots.get_mut((hash as usize + probe) & mask) else { return false };
            let free = place.message() != self.message;
            if free || place.0 as u32 == hash {
                *place = slot;
                self.used += usize::from(free);
                return true;
            }
        }
        false
    }

    fn grow(&mut self) {
        let slots = vec![Slot::FREE; (self.slots.len() * 4).min(MOST)];
        let old = core::mem::replace(&mut self.slots, slots);
        self.used = 0;
        let message = self.message;
        for slot in old.into_iter().filter(|slot| slot.message() == message) {
            self.put(slot);
        }
    }
}
