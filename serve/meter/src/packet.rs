//! A packet of a flow.

use hashlane_flow::dissect::Dissected;

/// A packet of a flow, at its time of capture in nanoseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Its flow and length.
    pub dissected: Dissected,
    /// Time of capture in nanoseconds since 1970.
    pub time: u64,
}
