//! Output of a forwarder: the packets that it sends.

use crate::face::FaceId;
use hashlane_ndn::wire::LpHeader;

/// Where packets go.
pub trait Output {
    /// Sends a packet, an Interest or Data, with these link header fields.
    fn send(&mut self, face: FaceId, header: &LpHeader<'_>, packet: &[u8]);

    /// Notes that the stage [`Act`](super::Act) goes on with this part of its work. Does nothing, unless a study times
    /// the parts.
    #[inline(always)]
    fn enter(&mut self, _part: Part) {}
}

/// A part of the work of [`Act`](super::Act) on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The ingress face: lookup, counters, scope. Each packet that was decoded begins with it, and enters it
    /// once.
    Face,
    /// The dead nonce list, and loops.
    Loop,
    /// The PIT: lookup, insertion, removal, records.
    Pit,
    /// The content store: lookup, insertion, eviction.
    Store,
    /// The FIB, and the strategy.
    Fib,
    /// Headers, and the hand-over to the [`Output`].
    Send,
}
