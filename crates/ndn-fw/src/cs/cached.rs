//! A packet of the content store.

use crate::hashed::components;
use alloc::boxed::Box;
use hashlane_ndn::invariant::part;
use hashlane_ndn::time::Time;

/// No slot.
pub(super) const NONE: u32 = u32::MAX;

/// A packet.
#[derive(Clone, Debug)]
pub(super) struct Cached {
    pub(super) packet: Box<[u8]>,
    /// Where in it the name stands, with its type and length.
    pub(super) name: (u16, u16),
    pub(super) node: u32,
    /// The packet of the same name that came before it.
    pub(super) older: u32,
    pub(super) fresh_until: Time,
    pub(super) link: Link,
    /// Which queue it is in.
    pub(super) stale: bool,
}

/// What stands before and behind a packet in its queue.
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
    /// The packet behind it.
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
