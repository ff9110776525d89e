//! Hash table from the hash of a suffix to the names that brought it into the message.

use crate::compressor::POINTER_LIMIT;
use alloc::vec;
use alloc::vec::Vec;

/// Number of slots of a new table; 2.5 KiB with their log.
const FEWEST: usize = 256;

/// Minimum number of slots after large messages; 5 KiB with their log.
const MIN_SLOTS: usize = 512;

/// Limit of the slots; 160 KiB with their log. Pointers reach the first 16 KiB of a message, and a name there
/// takes at least four bytes, apart from names of one letter.
const MOST: usize = 16_384;

/// Messages in a row that need at most [`MIN_SLOTS`] slots before a larger table is given back.
pub(super) const SMALL_MESSAGES: u8 = 64;

/// Limit of the slots that a lookup reads.
const PROBES: usize = 16;

/// Spreads a hash over 32 bits. The top ones are the place in a table.
///
/// [`SuffixHash`](hashlane_hash::suffix::SuffixHash) is close to linear: the hashes of one-letter names are
/// an arithmetic progression, and so are their multiples. Under one key in 64 its step is a multiple of 64,
/// and their low bits are equal. The exclusive or of two parts of a hash ends the progression.
#[inline(always)]
pub(super) const fn spread(hash: u32) -> u32 {
    (hash ^ hash >> 15).wrapping_mul(0x9e37_79b1)
}

/// A name in the message, under the hash of the shortest of its suffixes that came with it.
///
/// From the top: offset of the name (16 bits), its bytes before the suffix (8), bytes of the suffix before a
/// pointer (8), number of the message (8), hash (24).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(u64);

impl Slot {
    pub(super) const FREE: Self = Self(0);

    /// Offset of the name.
    #[inline(always)]
    pub(super) fn name(self) -> usize {
        (self.0 >> 48) as usize
    }

    /// Bytes before the suffix.
    #[inline(always)]
    pub(super) fn lead(self) -> u8 {
        (self.0 >> 40) as u8
    }

    /// Offset of the suffix.
    #[inline(always)]
    pub(super) fn at(self) -> usize {
        self.name() + ((self.0 >> 40) as usize & 0xff)
    }

    #[inline(always)]
    pub(super) fn literal(self) -> usize {
        (self.0 >> 32) as usize & 0xff
    }

    #[inline(always)]
    fn message(self) -> u8 {
        (self.0 >> 24) as u8
    }

    /// Message and hash.
    #[inline(always)]
    pub(super) fn tag(self) -> u32 {
        self.0 as u32
    }
}

/// A name to remember.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Offset.
    pub(super) at: usize,
    /// Bytes before the suffix.
    pub(super) lead: usize,
    /// Bytes of the suffix before a pointer.
    pub(super) literal: usize,
}

/// A slot that was free, in a table of that size.
#[derive(Clone, Copy)]
pub(super) struct Free {
    at: u16,
    shift: u16,
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

/// The slots, probed from the place of the hash to the next free one, in steps that grow by one slot.
///
/// A log lists the taken slots in order. A rollback frees them from the last one back, which restores the
/// table of the message at that length: each slot of this message has a name that is there, and no probe
/// misses one.
#[derive(Clone)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    /// Taken slots; the first `used` belong to this message. Half as many as slots.
    log: Vec<Taken>,
    used: usize,
    /// Bits of a spread hash below its place.
    shift: u16,
    /// The message's number; 0 in a free slot.
    message: u8,
    /// Messages in a row that needed at most [`MIN_SLOTS`] slots, in a larger table.
    small_messages: u8,
}

impl Slots {
    /// No slots, which nothing can be looked up in.
    pub(super) const NONE: Self =
        Self { slots: Vec::new(), log: Vec::new(), used: 0, shift: 0, message: 0, small_messages: 0 };

    pub(super) fn new() -> Self {
        Self::with_slots(FEWEST, 1)
    }

    fn with_slots(slots: usize, message: u8) -> Self {
        let log = vec![Taken::NONE; slots / 2];
        let shift = 32 - slots.trailing_zeros() as u16;
        Self { slots: vec![Slot::FREE; slots], log, used: 0, shift, message, small_messages: 0 }
    }

    /// True of [`NONE`](Self::NONE).
    #[inline(always)]
    pub(super) fn is_none(&self) -> bool {
        self.slots.is_empty()
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

    /// Slots that names of this message have.
    #[inline(always)]
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Begins a message; true if its number was used before, so that everything marked with it must be wiped.
    #[inline]
    pub(super) fn start(&mut self) -> bool {
        if self.used > MIN_SLOTS / 4 {
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

    /// Passes over a message that needed no slots.
    #[inline(always)]
    pub(super) fn pass(&mut self) {
        if self.slots.len() > MIN_SLOTS {
            self.shrink();
        }
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

    /// Message and hash, as slots have them.
    #[inline(always)]
    pub(super) fn tag(&self, hash: u32) -> u32 {
        u32::from(self.message) << 24 | spread(hash) >> 8
    }

    /// The content of a slot.
    #[inline(always)]
    pub(super) fn slot(&self, Entry { at, lead, literal }: Entry, hash: u32) -> Slot {
        let entry = (at as u64) << 16 | (lead as u64) << 8 | literal as u64;
        Slot(entry << 32 | u64::from(self.tag(hash)))
    }

    /// The first place of a tag.
    #[inline(always)]
    fn place(&self, tag: u32) -> usize {
        // The shift is at most 26.
        ((tag << 8) >> (self.shift & 31)) as usize
    }

    /// The slot of an earlier name with this hash for which `stands` returns true.
    ///
    /// # Errors
    /// The name is not in the table; the error is the free slot that ended the probe, or the last one probed.
    #[inline(always)]
    pub(super) fn find(&self, hash: u32, stands: impl Fn(Slot) -> bool) -> Result<Slot, Free> {
        let (tag, mask) = (self.tag(hash), self.slots.len() - 1);
        let (mut at, mut step) = (self.place(tag), 0);
        loop {
            at = (at + step) & mask;
            step += 1;
            // There are at most 2¹⁴ slots.
            let free = Free { at: at as u16, shift: self.shift };
            let Some(&slot) = self.slots.get(at) else { return Err(free) };
            if slot.tag() == tag {
                if stands(slot) {
                    return Ok(slot);
                }
            } else if slot.message() != self.message {
                return Err(free);
            }
            if step == PROBES {
                return Err(free);
            }
        }
    }

    /// Remembers a name that ends at `end`, unless no pointer can reach it. `free` is the slot that
    /// [`find`](Self::find) returned.
    #[inline(always)]
    pub(super) fn insert(&mut self, entry: Entry, end: usize, hash: u32, free: Free) {
        if entry.at < POINTER_LIMIT {
            self.insert_any(entry, end, hash, free);
        }
    }

    /// As [`insert`](Self::insert), also of a name that no pointer can reach.
    #[inline(always)]
    pub(super) fn insert_any(&mut self, entry: Entry, end: usize, hash: u32, free: Free) {
        let slot = self.slot(entry, hash);
        if free.shift == self.shift
            && self.used * 4 < self.slots.len()
            && let Some(place) = self.slots.get_mut(usize::from(free.at))
            && place.message() != self.message
            && let Some(taken) = self.log.get_mut(self.used)
        {
            *place = slot;
            *taken = Taken { slot: free.at, end: end as u16 };
            self.used += 1;
        } else {
            self.put_crowded(slot, end as u16);
        }
    }

    /// Puts a slot into a larger table, unless the table is the largest.
    #[cold]
    fn put_crowded(&mut self, slot: Slot, end: u16) {
        while self.slots.len() < MOST {
            self.grow();
            if self.used * 4 < self.slots.len() && self.put(slot, end) {
                return;
            }
        }
        self.put(slot, end);
    }

    /// Puts a slot into the first free place of its probe; false if the probe or the log is full.
    fn put(&mut self, slot: Slot, end: u16) -> bool {
        let (mask, mut at) = (self.slots.len() - 1, self.place(slot.tag()));
        let Some(taken) = self.log.get_mut(self.used) else { return false };
        for step in 0..PROBES {
            at = (at + step) & mask;
            let Some(place) = self.slots.get_mut(at) else { return false };
            if place.message() != self.message {
                *place = slot;
                *taken = Taken { slot: at as u16, end };
                self.used += 1;
                return true;
            }
        }
        false
    }

    /// Number of slots.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Slots that lookups of all names of this message read.
    #[cfg(test)]
    pub(super) fn probes(&self) -> usize {
        let taken = self.log.iter().take(self.used).map(|taken| usize::from(taken.slot));
        let probes = taken.map(|slot| {
            let mut at = self.place(self.slots[slot].tag());
            let mut probes = 1;
            while at != slot {
                at = (at + probes) % self.slots.len();
                probes += 1;
            }
            probes
        });
        probes.sum()
    }

    fn grow(&mut self) {
        let larger = Self::with_slots((self.slots.len() * 2).min(MOST), self.message);
        let old = core::mem::replace(self, larger);
        // In their order, so that the log stays one.
        for Taken { slot, end } in old.log.into_iter().take(old.used) {
            if let Some(slot) = old.slots.get(usize::from(slot)) {
                self.put(*slot, end);
            }
        }
    }
}
