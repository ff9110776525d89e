//! Cached packets.

use crate::hashed::components;
use alloc::boxed::Box;
use hashlane_ndn::invariant::part;
use hashlane_ndn::time::Time;

/// No slot.
pub(super) const NONE: u32 = u32::MAX;

/// Cached packet.
#[derive(Clone, Debug)]
pub(super) struct Cached {
    pub(super) packet: Box<[u8]>,
    /// Span of its name, with type and length, in the packet.
    pub(super) name: (u16, u16),
    pub(super) node: u32,
    /// Next older packet with the same name.
    pub(super) older: u32,
    pub(super) fresh_until: Time,
    pub(super) link: Link,
    pub(super) queued: Queued,
}

/// Queue of a packet, and the time at which it was appended, in one word: packets are many.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Queued(u32);

impl Queued {
    /// Bits of a time that are dropped: it counts in units of 1024 ms.
    const UNIT: u32 = 10;
    /// Bit of the queue of stale packets.
    const STALE: u32 = 1 << 31;

    /// Appended now, to the queue of stale packets or of all packets.
    #[inline(always)]
    pub(super) fn new(stale: bool, now: Time) -> Self {
        let at = (now.millis() >> Self::UNIT) as u32 & !Self::STALE;
        Self(if stale { at | Self::STALE } else { at })
    }

    /// True if it is in the queue of stale packets.
    #[inline(always)]
    pub(super) fn is_stale(self) -> bool {
        self.0 & Self::STALE != 0
    }

    /// Milliseconds since it was appended, give or take a second.
    pub(super) fn age(self, now: Time) -> u64 {
        let since = Self::new(false, now).0.wrapping_sub(self.0) & !Self::STALE;
        u64::from(since) << Self::UNIT
    }
}

/// Neighbours of a packet in its queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) next: u32,
    pub(super) prev: u32,
}

impl Default for Link {
    fn default() -> Self {
        Self { next: NONE, prev: NONE }
    }
}

impl Link {
    /// Next packet in the queue.
    pub(super) fn next(&self) -> Option<u32> {
        (self.next != NONE).then_some(self.next)
    }
}

impl Cached {
    #[inline(always)]
    pub(super) fn components(&self) -> &[u8] {
        components(part(&self.packet, usize::from(self.name.0)..usize::from(self.name.1)))
    }
}
