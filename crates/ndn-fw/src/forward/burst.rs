//! Packets that are handled together.

use crate::drop::DropReason;
use crate::face::FaceId;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::wire::{Data, Interest, LpHeader, LpPacket};
use smallvec::SmallVec;

/// Most packets of a burst: as many as one system call receives.
pub const BURST: usize = 64;

/// Up to [`BURST`] link packets, in order of arrival, from any faces. `M` is what the index of the PIT
/// derives of an Interest ([`Pit::Mark`](crate::pit::Pit::Mark)).
///
/// Each [stage](super::Forwarder::receive_burst) adds to the packets what the next one needs.
#[derive(Debug)]
pub struct Burst<'p, M = ()> {
    pub(super) packets: SmallVec<[Ingress<'p, M>; BURST]>,
    pub(super) headers: Headers<'p>,
}

/// The link headers of the packets of a burst that have one: most have none, and a header is large.
#[derive(Debug)]
pub(super) struct Headers<'p>(SmallVec<[LpHeader<'p>; BURST]>);

/// Reasons why bytes were not added to a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushError {
    /// The bytes are no link packet.
    Malformed,
    /// The link packet has one of several fragments, to be reassembled before it is forwarded.
    Fragment,
}

/// A packet of a burst.
#[derive(Debug)]
pub(super) struct Ingress<'p, M> {
    pub(super) face: FaceId,
    /// The number of its link header; [`BARE`] if it has none.
    pub(super) header: u8,
    pub(super) fragment: &'p [u8],
    pub(super) content: Content<'p>,
    /// The number of its name among the hashed names of the burst.
    pub(super) name: u32,
    /// The mark of an Interest, or why an Interest with this header is dropped. Set by the stage that
    /// prefetches.
    pub(super) mark: Option<Result<M, DropReason>>,
    pub(super) outcome: Result<(), DropReason>,
}

/// The number of no link header.
const BARE: u8 = u8::MAX;

/// The header of packets that have none.
static EMPTY: LpHeader<'static> = LpHeader::EMPTY;

impl<M> Ingress<'_, M> {
    /// The mark of an Interest.
    ///
    /// # Errors
    /// The reason why an Interest with this header is dropped.
    #[inline(always)]
    pub(super) fn mark(&self) -> Result<&M, DropReason> {
        debug_assert!(self.mark.is_some(), "the stage that derives marks runs before");
        match &self.mark {
            Some(mark) => mark.as_ref().map_err(|reason| *reason),
            None => Err(DropReason::Malformed),
        }
    }
}

impl<'p> Headers<'p> {
    /// The link header of a packet.
    #[inline(always)]
    pub(super) fn of<M>(&self, packet: &Ingress<'p, M>) -> &LpHeader<'p> {
        if packet.header == BARE {
            return &EMPTY;
        }
        let header = self.0.get(usize::from(packet.header));
        header.invariant("the header was added with the packet").unwrap_or(&EMPTY)
    }
}

/// A packet of a burst with its link header.
#[derive(Debug)]
pub(super) struct Packet<'b, 'p, M> {
    pub(super) ingress: &'b Ingress<'p, M>,
    pub(super) header: &'b LpHeader<'p>,
}

/// The network packet of a link packet.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content<'p> {
    /// Nothing to forward: not decoded, dropped, or a link packet that has only a header.
    None,
    Interest(Interest<'p>),
    /// An Interest that came back.
    Nack(Interest<'p>),
    Data(Data<'p>),
}

impl<M> Default for Burst<'_, M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'p, M> Burst<'p, M> {
    /// A burst without packets.
    #[inline(always)]
    pub fn new() -> Self {
        Self { packets: SmallVec::new(), headers: Headers(SmallVec::new()) }
    }

    /// Adds bytes that came from `face` and are to be one link packet. A [full](Self::is_full) burst takes
    /// no more.
    ///
    /// # Errors
    /// The reason why they were not added.
    #[inline(always)]
    pub fn push(&mut self, face: FaceId, bytes: &'p [u8]) -> Result<(), PushError> {
        if LpPacket::is_bare(bytes) {
            self.add(face, BARE, bytes);
            return Ok(());
        }
        self.push_wrapped(face, bytes)
    }

    #[inline(never)]
    fn push_wrapped(&mut self, face: FaceId, bytes: &'p [u8]) -> Result<(), PushError> {
        let packet = LpPacket::parse(bytes).map_err(|_| PushError::Malformed)?;
        if packet.header.is_fragmented() {
            return Err(PushError::Fragment);
        }
        self.push_packet(face, &packet);
        Ok(())
    }

    /// Adds a link packet that came from `face`, and is not a fragment of several.
    pub fn push_packet(&mut self, face: FaceId, packet: &LpPacket<'p>) {
        let header = self.headers.0.len() as u8;
        if self.add(face, header, packet.fragment) {
            self.headers.0.push(packet.header);
        }
    }

    /// Adds a packet, whose header has this number; false if the burst is full.
    #[inline(always)]
    fn add(&mut self, face: FaceId, header: u8, fragment: &'p [u8]) -> bool {
        debug_assert!(!self.is_full(), "the caller forwards a full burst first");
        if self.is_full() {
            return false;
        }
        self.packets.push(Ingress {
            face,
            header,
            fragment,
            content: Content::None,
            name: 0,
            mark: None,
            outcome: Ok(()),
        });
        true
    }

    /// Number of packets.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// True for a burst without packets.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// True where no further packet fits.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.len() >= BURST
    }

    /// Removes all packets.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.packets.clear();
        self.headers.0.clear();
    }

    /// The outcome of each packet, in order of arrival: why it was dropped, if it was. Valid after the last
    /// stage.
    pub fn outcomes(&self) -> impl Iterator<Item = Result<(), DropReason>> {
        self.packets.iter().map(|packet| packet.outcome)
    }
}

impl<'p> Content<'p> {
    /// The encoded name, with its type and length.
    #[inline(always)]
    pub(super) fn name_bytes(&self) -> Option<&'p [u8]> {
        match self {
            Self::None => None,
            Self::Interest(interest) | Self::Nack(interest) => Some(interest.name_bytes()),
            Self::Data(data) => Some(data.name_bytes()),
        }
    }
}
