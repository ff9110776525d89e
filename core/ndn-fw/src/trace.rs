//! Traces: what forwarding did with the packets below a prefix, step by step, and samples of all packets.
//!
//! A trace is off until [`Forwarder::start_trace`](crate::forward::Forwarder::start_trace). It hands each
//! [`Step`] to a sink, which must not block: the memory of a trace is the sink's. A step has at most
//! [`MAX_NAME`] bytes of a name, and [`MAX_FACES`] faces.

use crate::drop::DropReason;
use crate::face::FaceId;
use crate::fib::NextHop;
use crate::strategy::StrategyKind;
pub use crate::strategy::Verdict;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::time::Time;
use hashlane_ndn::tlv::{Elements, write_element};
use hashlane_ndn::wire::{NAME, NackReason};

/// Most traces of a forwarder at once.
pub const MAX_TRACES: usize = 4;

/// Most bytes of the components of a name in a step. Longer names lose their last components.
pub const MAX_NAME: usize = 1024;

/// Most next hops of a rule, and most packets sent, in a step.
pub const MAX_FACES: usize = 16;

/// Receiver of something that forwarding has seen. Returns false if nobody reads it any more: it then ends.
/// It runs on the forwarding thread, so it must not block.
pub type Sink<T> = Arc<dyn Fn(T) -> bool + Send + Sync>;

/// A trace of the packets below a prefix. Packets of the forwarder's management are left out.
#[derive(Clone)]
pub struct Trace {
    /// Number by which the trace is stopped.
    pub id: u64,
    /// Prefix of the names.
    pub prefix: OwnedName<Ndn>,
    /// One name in so many is traced, with all its packets. Names are drawn by their keyed hash. Valid: from
    /// 1, all names.
    pub every: u32,
    /// Time after which the trace ends by itself, in milliseconds from the first packet or timeout.
    pub lasts: u64,
    /// Receiver of the steps.
    pub sink: Sink<Step>,
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, prefix, every, lasts, .. } = self;
        write!(f, "Trace {{ id: {id}, prefix: {prefix}, every: {every}, lasts: {lasts} }}")
    }
}

/// Record of one packet, or of one timeout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Time of the packet, as the forwarder was given it.
    pub at: Time,
    /// Packet or timeout.
    pub kind: StepKind,
    /// Ingress face; [`FaceId::NONE`] at a timeout.
    pub face: FaceId,
    /// Encoded name, with its type and length.
    pub name: Vec<u8>,
    /// True if the name has lost its last components.
    pub is_cut: bool,
    /// Reason for dropping the packet.
    pub dropped: Option<DropReason>,
    /// FIB rule and strategy of an Interest; `None` if forwarding did not come so far.
    pub rule: Option<Rule>,
    /// Decision about an Interest.
    pub verdict: Option<Verdict>,
    /// Packets sent, in order. At [`StepKind::Expired`]: the upstreams that had not answered.
    pub sent: Vec<Sent>,
}

/// Kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// Interest received.
    Interest,
    /// Data received.
    Data,
    /// Nack received, with its reason.
    Nack(NackReason),
    /// Timeout of the first next hop of an Interest, which others may get now.
    Retry,
    /// PIT entry expired without Data.
    Expired,
}

/// FIB rule and strategy that applied to an Interest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Encoded prefix of the FIB entry, with its type and length; `None` if no prefix matched.
    pub prefix: Option<Vec<u8>>,
    /// Next hops of the entry, at most [`MAX_FACES`], in order of cost.
    pub hops: Vec<NextHop>,
    /// Encoded prefix for which the strategy was chosen, with its type and length.
    pub choice: Vec<u8>,
    /// The strategy.
    pub strategy: StrategyKind,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Face that it was sent to.
    pub face: FaceId,
    /// Kind of packet.
    pub kind: SentKind,
}

/// Kind of a packet that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentKind {
    /// Interest.
    Interest,
    /// Data.
    Data,
    /// Nack, with its reason.
    Nack(NackReason),
}

/// One of the packets that forwarding has seen, drawn at regular intervals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// First components of the name, encoded without type and length: at most
    /// [`SAMPLED_COMPONENTS`] and [`SAMPLED_BYTES`].
    pub prefix: Vec<u8>,
    /// True for an Interest, false for Data or a Nack.
    pub is_interest: bool,
}

/// Most components of a name in a [`Sample`].
pub const SAMPLED_COMPONENTS: usize = 2;

/// Most bytes of a name in a [`Sample`].
pub const SAMPLED_BYTES: usize = 128;

/// Samples of the packets that are forwarded, for statistics about names.
#[derive(Clone)]
pub struct Sampling {
    /// One packet in so many is a sample. Valid: from 1.
    pub every: u32,
    /// Receiver of the samples.
    pub sink: Sink<Sample>,
}

impl fmt::Debug for Sampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sampling {{ every: {} }}", self.every)
    }
}

/// The first components of a name that is encoded without type and length: at most `count`, and at most
/// `bytes` bytes.
pub(crate) fn leading(components: &[u8], count: usize, bytes: usize) -> &[u8] {
    let mut elements = Elements::new(components);
    let mut end = 0;
    for _ in 0..count {
        match elements.next() {
            Ok(Some(element)) if element.end() <= bytes => end = element.end(),
            _ => break,
        }
    }
    components.get(..end).unwrap_or_default()
}

/// A name of these encoded components, with its type and length.
pub(crate) fn encoded(components: &[u8]) -> Vec<u8> {
    let mut name = Vec::with_capacity(components.len() + 4);
    write_element(NAME, components, &mut name);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_components_of_a_name_are_whole() {
        let name = b"\x08\x01a\x08\x02bc\x08\x01d";
        assert_eq!(leading(name, 2, 100), b"\x08\x01a\x08\x02bc");
        assert_eq!(leading(name, 9, 100), name);
        assert_eq!(leading(name, 9, 6), b"\x08\x01a");
        assert_eq!(leading(name, 9, 2), b"");
        assert_eq!(leading(b"", 2, 100), b"");
        assert_eq!(encoded(b"\x08\x01a"), b"\x07\x03\x08\x01a");
    }
}
