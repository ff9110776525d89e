//! Bursts of packets.

use super::route::FibCandidate;
use super::visit::{Served, Visit};
use crate::drop::DropReason;
use crate::face::FaceId;
use alloc::boxed::Box;
use hashlane_name_map::map::Tagged;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::wire::{Data, Interest, LpHeader, LpPacket};
use smallvec::SmallVec;

/// Most packets of a burst: as many as one system call receives.
pub const BURST: usize = 64;

/// Burst of up to [`BURST`] link packets, in order of arrival, from any faces. `M` is the
/// [`Pit::Mark`](crate::pit::Pit::Mark) of the PIT.
///
/// Each [stage](super::Forwarder::receive_burst) adds to the packets, for the stages after it.
#[derive(Debug)]
pub struct Burst<'p, M = ()> {
    pub(super) packets: SmallVec<[Ingress<'p, M>; BURST]>,
    pub(super) headers: Headers<'p>,
    /// Packets that were handed over to other shards.
    pub(super) elsewhere: usize,
}

/// Link headers of the packets that have one: most have none, and a header is large.
#[derive(Debug)]
pub(super) struct Headers<'p>(SmallVec<[LpHeader<'p>; BURST]>);

/// Reason for not adding bytes to a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushError {
    /// Not a link packet.
    Malformed,
    /// Link packet with a fragment, which has to be reassembled first.
    Fragment,
}

/// Packet of a burst.
#[derive(Debug)]
pub(super) struct Ingress<'p, M> {
    pub(super) face: FaceId,
    /// Index of its link header; [`BARE`] if it has none.
    pub(super) header: u8,
    pub(super) fragment: &'p [u8],
    pub(super) content: Content<'p>,
    /// Index of its name among the hashed names of the burst.
    pub(super) name: u32,
    /// Hashes of the prefixes of its name, if another shard has handed the packet over with them.
    pub(super) hashes: Option<&'p [u64]>,
    /// Mark of an Interest, or the reason for dropping it. Set by the prefetch stage.
    pub(super) mark: Option<Result<M, DropReason>>,
    /// Longest length at which the FIB may have a prefix of an Interest's name. Set by the prefetch stage.
    pub(super) tagged: Option<Tagged>,
    /// Candidate of an Interest's name in the FIB. Set by the prefetch stage if the FIB is large.
    pub(super) fib: Option<FibCandidate>,
    pub(super) visit: Visit<'p>,
    /// Outcome of the visits so far, if the packet visits another shard. Set by the last stage.
    pub(super) passed: Option<Box<Served>>,
    pub(super) outcome: Result<(), DropReason>,
}

/// Index for packets without a link header.
pub(super) const BARE: u8 = u8::MAX;

/// Header of packets without a link header.
static EMPTY: LpHeader<'static> = LpHeader::EMPTY;

impl<'p, M> Ingress<'p, M> {
    /// Name of a decoded packet that came without hashes, with its type and length.
    #[inline(always)]
    pub(super) fn unhashed_name(&self) -> Option<&'p [u8]> {
        if self.hashes.is_some() { None } else { self.content.name_bytes() }
    }

    /// Mark of an Interest.
    ///
    /// # Errors
    /// The reason for dropping the Interest, if its link header contradicts it.
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
    /// Link header of a packet.
    #[inline(always)]
    pub(super) fn of<M>(&self, packet: &Ingress<'p, M>) -> &LpHeader<'p> {
        if packet.header == BARE {
            return &EMPTY;
        }
        let header = self.0.get(usize::from(packet.header));
        header.invariant("the header was added with the packet").unwrap_or(&EMPTY)
    }
}

/// Packet of a burst, with its link header.
#[derive(Debug)]
pub(super) struct Packet<'b, 'p, M> {
    pub(super) ingress: &'b Ingress<'p, M>,
    pub(super) header: &'b LpHeader<'p>,
}

/// Network packet in a link packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content<'p> {
    /// Nothing to forward: not decoded, dropped, or a link packet without a fragment.
    None,
    /// Handed over to another shard.
    Elsewhere,
    Interest(Interest<'p>),
    /// Interest of a Nack.
    Nack(Interest<'p>),
    Data(Data<'p>),
}

impl<M> Default for Burst<'_, M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'p, M> Burst<'p, M> {
    /// Creates an empty burst.
    #[inline(always)]
    pub fn new() -> Self {
        Self { packets: SmallVec::new(), headers: Headers(SmallVec::new()), elsewhere: 0 }
    }

    /// Adds a link packet, given as bytes, that arrived from `face`. A [full](Self::is_full) burst ignores
    /// it.
    ///
    /// # Errors
    /// The reason for not adding it.
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

    /// Adds a parsed link packet, not a fragment, that arrived from `face`.
    pub fn push_packet(&mut self, face: FaceId, packet: &LpPacket<'p>) {
        let header = self.headers.0.len() as u8;
        if self.add(face, header, packet.fragment) {
            self.headers.0.push(packet.header);
        }
    }

    /// Adds a packet with the header at index `header`; returns false if the burst is full.
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
            hashes: None,
            mark: None,
            tagged: None,
            fib: None,
            visit: Visit::default(),
            passed: None,
            outcome: Ok(()),
        });
        true
    }

    /// Sets the visit of the packet that was added last, which another shard has handed over with the
    /// `hashes` of its name. Other packets have one shard.
    #[inline]
    pub fn set_visit(&mut self, visit: Visit<'p>, hashes: &'p [u64]) {
        if let Some(packet) = self.packets.last_mut() {
            packet.visit = visit;
            packet.hashes = Some(hashes);
        }
    }

    /// Number of packets that were not handed over to other shards.
    #[inline(always)]
    pub fn remaining(&self) -> usize {
        self.packets.len() - self.elsewhere
    }

    /// Number of packets.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// True if the burst has no packets.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// True if the burst has no room for another packet.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.len() >= BURST
    }

    /// Removes all packets.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.packets.clear();
        self.headers.0.clear();
        self.elsewhere = 0;
    }

    /// Outcome of each packet, in order of arrival: the reason if it was dropped. Valid after the last stage.
    pub fn outcomes(&self) -> impl Iterator<Item = Result<(), DropReason>> {
        self.packets.iter().map(|packet| packet.outcome)
    }
}

impl<'p> Content<'p> {
    /// Encoded name, with its type and length.
    #[inline(always)]
    pub(super) fn name_bytes(&self) -> Option<&'p [u8]> {
        match self {
            Self::None | Self::Elsewhere => None,
            Self::Interest(interest) | Self::Nack(interest) => Some(interest.name_bytes()),
            Self::Data(data) => Some(data.name_bytes()),
        }
    }
}
