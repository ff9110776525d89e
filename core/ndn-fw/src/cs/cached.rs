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
    /// True if it is in the queue of stale packets.
    pub(super) stale: bool,
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
