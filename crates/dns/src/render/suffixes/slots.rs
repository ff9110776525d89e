//! Hash table from the hash of a suffix to the offsets of such suffixes.

use super::super::compressor::POINTER_LIMIT;
use alloc::vec;
use alloc::vec::Vec;

/// Minimum number of slots after large messages; 5 KiB with their log.
const MIN_SLOTS: usize = 512;

/// Limit of the slots; 160 KiB with their log. A message holds at most half as many suffixes that a pointer
/// can reach.
const MOST: usize = 16_384;

/// Messages in a row that need at most [`MIN_SLOTS`] slots before a larger table is given back.
const SMALL_MESSAGES: u8 = 64;

/// Limit of the slots that a lookup reads.
const PROBES: usize = 16;

/// A suffix of a name in the message: its offset, and its length there up to a pointer.
///
/// From the top: offset (16 bits), bytes before a pointer (8), number of the message (8), hash (32).
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

/// An entry of the log: the slot, and the offset after the name that took it.
#[derive(Clone, Copy)]
struct Taken {
    slot: u16,
    end: u16,
}

impl Taken {
    const NONE: Self = Self { slot: 0, end: 0 };
}

/// The slots, probed from the low bits of the hash up to the next free one.
///
/// A log lists the taken slots in order. A rollback frees them from the last one back, which restores the
/// table of the message at that length: each slot of this message has a name that is there, and no probe
/// misses one.
#[derive(Clone)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    /// Taken slots, of which `used` are of this message. Half as many as slots.
    log: Vec<Taken>,
    used: usize,
    /// The message's number; that of a free slot is 0.
    message: u8,
    /// Messages in a row that needed at most [`MIN_SLOTS`] slots, in a larger table.
    small_messages: u8,
}

impl Slots {
    pub(super) fn new() -> Self {
        Self::with_slots(64, 1)
    }

    fn with_slots(slots: usize, message: u8) -> Self {
        let log = vec![Taken::NONE; slots / 2];
        Self { slots: vec![Slot::FREE; slots], log, used: 0, message, small_messages: 0 }
    }

    /// Bytes of memory.
    pub(super) fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>() + self.log.capacity() * size_of::<Taken>()
    }

    /// The message's number, which is another one for 255 messages.
    #[inline(always)]
    pub(super) fn message(&self) -> u8 {
        self.message
    }

    /// Begins a message; true if its number was used before, so that everything marked with it must be wiped.
    #[inline]
    pub(super) fn start(&mut self) -> bool {
        if self.used > MIN_SLOTS / 2 {
            self.small_messages = 0;
        } else if self.slots.len() > MIN_SLOTS {
            self.shrink();
        }
        self.used = 0;
        self.message = self.message.wrapping_add(1);
        let wrapped = self.message == 0;
        if wrapped {
            self.slots.fill(Slot::FREE);
            self.message = 1;
        }
        wrapped
    }

    /// Takes a smaller table after enough small messages in a row, so that large ones may alternate with
    /// small ones.
    #[cold]
    fn shrink(&mut self) {
        self.small_messages += 1;
        if self.small_messages == SMALL_MESSAGES {
            *self = Self::with_slots(MIN_SLOTS, self.message);
        }
    }

    /// Frees the slots of names that end beyond `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        while let Some(Taken { slot, end }) =
            self.used.checked_sub(1).and_then(|last| self.log.get(last).copied())
            && usize::from(end) > len
        {
            if let Some(slot) = self.slots.get_mut(usize::from(slot)) {
                *slot = Slot::FREE;
            }
            self.used -= 1;
        }
    }

    #[inline(always)]
    pub(super) fn tag(&self, hash: u32) -> u64 {
        u64::from(self.message) << 32 | u64::from(hash)
    }

    /// The content of a slot.
    #[inline(always)]
    pub(super) fn slot(&self, at: usize, literal: usize, hash: u32) -> Slot {
        Slot((at as u64) << 48 | (literal as u64) << 40 | self.tag(hash))
    }

    /// The offset of an earlier suffix with this hash for whose slot `stands` returns true.
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

    /// Remembers a suffix at offset `at` with `literal` bytes before its pointer, of a name that ends at
    /// `end`, unless no pointer can reach it.
    #[inline(always)]
    pub(super) fn insert(&mut self, at: usize, literal: usize, end: usize, hash: u32) {
        if at >= POINTER_LIMIT {
            return;
        }
        let slot = self.slot(at, literal, hash);
        if self.used * 2 >= self.slots.len() || !self.put(slot, end as u16) {
            self.put_crowded(slot, end as u16);
        }
    }

    /// Puts a slot into a larger table, unless the table is the largest.
    #[cold]
    fn put_crowded(&mut self, slot: Slot, end: u16) {
        while self.slots.len() < MOST {
            self.grow();
            if self.put(slot, end) {
                return;
            }
        }
        self.put(slot, end);
    }

    /// Puts a slot into the first free place of its probe; false if the probe or the log is full.
    #[inline(always)]
    fn put(&mut self, slot: Slot, end: u16) -> bool {
        let (hash, mask) = (slot.0 as u32, self.slots.len() - 1);
        let Some(taken) = self.log.get_mut(self.used) else { return false };
        for probe in 0..PROBES {
            let at = (hash as usize + probe) & mask;
            let Some(place) = self.slots.get_mut(at) else { return false };
            if place.message() != self.message {
                *place = slot;
                // There are at most 2¹⁴ slots.
                *taken = Taken { slot: at as u16, end };
                self.used += 1;
                return true;
            }
        }
        false
    }

    fn grow(&mut self) {
        let larger = Self::with_slots((self.slots.len() * 4).min(MOST), self.message);
        let old = core::mem::replace(self, larger);
        // In their order, so that the log stays one.
        for Taken { slot, end } in old.log.into_iter().take(old.used) {
            if let Some(slot) = old.slots.get(usize::from(slot)) {
                self.put(*slot, end);
            }
        }
    }
}
