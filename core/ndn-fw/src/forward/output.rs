//! Output of a forwarder: the packets that it sends.

use crate::face::FaceId;
use crate::strategy::Decision;
use hashlane_ndn::wire::LpHeader;

/// Receiver of the packets that a forwarder sends.
pub trait Output {
    /// Sends an Interest or Data packet with these link header fields.
    fn send(&mut self, face: FaceId, header: &LpHeader<'_>, packet: &[u8]);

    /// Signals that the stage [`Act`](super::Act) starts this part of its work. Does nothing, except in
    /// studies that time the parts.
    #[inline(always)]
    fn enter(&mut self, _part: Part) {}

    /// Signals the decision about an Interest, before anything is sent; `None` if the application chose the
    /// next hop. Does nothing, except in traces.
    #[inline(always)]
    fn decided(&mut self, _decision: Option<&Decision>) {}
}

/// Part of the work of [`Act`](super::Act) on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Ingress face: lookup, counters, scope. Each decoded packet enters it first, and once.
    Face,
    /// Loop detection with the dead nonce list.
    Loop,
    /// PIT: lookup, insertion, removal, records.
    Pit,
    /// Content store: lookup, insertion, eviction.
    Store,
    /// FIB and strategy.
    Fib,
    /// Link headers, and [`Output::send`].
    Send,
}
