//! Fragmentation and reassembly of packets that are too long for a link.
//!
//! Each fragment carries a sequence number, its index and the number of fragments; sequence numbers of one
//! packet are consecutive. The first fragment carries the link header fields of the packet.
//!
//! Source: NDNLPv2, Indexed Fragmentation.

use crate::invariant::Invariant as _;
use crate::time::Time;
use crate::wire::{LpHeader, LpPacket, MAX_LINK_HEADER, MAX_LINK_PACKET, MAX_PACKET};
use alloc::vec::Vec;

/// Most bytes that a fragment adds: types and lengths of the link packet and its fragment, and the three
/// fields.
const FRAGMENT_COST: usize = 10 + 10 + 10 + 10;

/// Most fragments of a packet.
pub const MAX_FRAGMENTS: u64 = 400;

/// Most incomplete packets of a link, by default; one more replaces the oldest.
const WAITING: usize = 16;

/// Time that an incomplete packet waits for its next fragment, by default, in milliseconds.
const TIMEOUT: u64 = 500;

/// Most memory of a reassembler with default limits, in bytes, as [`Reassembler::memory`] counts it.
pub const MAX_MEMORY: usize = WAITING
    * (MAX_LINK_PACKET
        + MAX_PACKET
        + MAX_FRAGMENTS as usize * size_of::<Option<Vec<u8>>>()
        + size_of::<Partial>());

/// Fragments the packets of one link.
#[derive(Clone, Debug)]
pub struct Fragmenter {
    next: u64,
}

impl Fragmenter {
    /// Creates a fragmenter whose sequence numbers start at `first`, which should be drawn at random.
    pub const fn new(first: u64) -> Self {
        Self { next: first }
    }

    /// Passes to `send` the link packets that carry a packet with this header over a link with this MTU, each
    /// as its head and its fragment. A packet that fits is sent whole, and bare if the header is empty.
    /// Returns false if the packet cannot be sent: the MTU leaves no room, or there would be more than
    /// [`MAX_FRAGMENTS`].
    #[inline]
    pub fn send(
        &mut self,
        header: &LpHeader<'_>,
        packet: &[u8],
        mtu: usize,
        mut send: impl FnMut(&[u8], &[u8]),
    ) -> bool {
        let whole = header.frame(packet.len());
        if whole.as_bytes().len() + packet.len() <= mtu {
            send(whole.as_bytes(), packet);
            return true;
        }
        self.pieces(header, packet, mtu, send)
    }

    #[inline(never)]
    fn pieces(
        &mut self,
        header: &LpHeader<'_>,
        packet: &[u8],
        mtu: usize,
        mut send: impl FnMut(&[u8], &[u8]),
    ) -> bool {
        self.divide(header, packet, mtu, |header, piece| {
            send(header.wrapped(piece.len()).as_bytes(), piece);
        })
    }

    /// Divides a packet into the fragments for a link with this MTU, and passes each to `each` with its
    /// header. Every fragment gets a Sequence, also the only one of a packet that fits. A prefix announcement
    /// is left out if the first fragment has no room for it. Returns false as [`send`](Self::send) does.
    pub fn divide(
        &mut self,
        header: &LpHeader<'_>,
        packet: &[u8],
        mtu: usize,
        mut each: impl FnMut(&LpHeader<'_>, &[u8]),
    ) -> bool {
        let alone = LpHeader { sequence: Some(self.next), ..*header };
        let fits = || alone.wrapped(packet.len()).as_bytes().len() + packet.len() <= mtu;
        if MAX_LINK_HEADER + header.prefix_announcement.len() + packet.len() <= mtu || fits() {
            self.next = self.next.wrapping_add(1);
            each(&alone, packet);
            return true;
        }
        // All fragments have the size of the first one, which has the least room.
        let fields = header.wrapped(packet.len()).as_bytes().len();
        let room = mtu.checked_sub(fields + FRAGMENT_COST).filter(|room| *room > 0);
        let count = room.map_or(u64::MAX, |room| packet.len().div_ceil(room) as u64);
        let Some(room) = room.filter(|_| count <= MAX_FRAGMENTS) else {
            let plain = LpHeader { prefix_announcement: &[], ..*header };
            return plain != *header && self.divide(&plain, packet, mtu, each);
        };
        for (index, piece) in packet.chunks(room).enumerate() {
            let base = if index == 0 { *header } else { LpHeader::default() };
            let sequence = Some(self.next);
            self.next = self.next.wrapping_add(1);
            let header = LpHeader { sequence, frag_index: index as u64, frag_count: count, ..base };
            each(&header, piece);
        }
        true
    }

    /// Sequence of the next fragment.
    pub const fn next_sequence(&self) -> u64 {
        self.next
    }
}

/// Reassembles the packets of one link.
#[derive(Clone, Debug, Default)]
pub struct Reassembler {
    waiting: Vec<Partial>,
    limits: Limits,
}

/// Limits of a reassembler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most incomplete packets; one more replaces the oldest.
    pub packets: usize,
    /// Time that an incomplete packet waits for its next fragment, in milliseconds.
    pub timeout: u64,
}

impl Default for Limits {
    /// 16 packets, 500 ms.
    fn default() -> Self {
        Self { packets: WAITING, timeout: TIMEOUT }
    }
}

impl Limits {
    /// Limits of a link whose lost fragments are sent again: 256 packets, which wait for 8 seconds. With the
    /// initial timeout of 1 second, the third retransmission of a fragment leaves after 7.
    pub const RELIABLE: Self = Self { packets: 256, timeout: 8000 };
}

#[derive(Clone, Debug)]
struct Partial {
    /// Sequence number of its first fragment.
    first: u64,
    pieces: Vec<Option<Vec<u8>>>,
    missing: u64,
    bytes: usize,
    /// Link packet of the first fragment, without the fragment: the header fields.
    head: Vec<u8>,
    heard: Time,
}

/// Reassembled packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    head: Vec<u8>,
    packet: Vec<u8>,
}

impl Whole {
    /// Packet with its header, as if it had arrived in one link packet.
    pub fn packet(&self) -> LpPacket<'_> {
        let header = LpPacket::parse(&self.head).map_or_else(|_| LpHeader::default(), |head| head.header);
        LpPacket {
            header: LpHeader { sequence: None, frag_index: 0, frag_count: 0, ..header },
            fragment: &self.packet,
        }
    }
}

impl Reassembler {
    /// Replaces the limits. Packets beyond a lower one stay until the next fragment, or until they time out.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Adds a fragment, which is the link packet `bytes` and parsed as `piece`. Returns the packet if the
    /// fragment completes it.
    ///
    /// # Errors
    /// The reason for dropping the fragment, with the other fragments of its packet.
    pub fn receive(
        &mut self,
        piece: &LpPacket<'_>,
        bytes: &[u8],
        now: Time,
    ) -> Result<Option<Whole>, ReassemblyError> {
        let header = &piece.header;
        let (index, count) = (header.frag_index, header.frag_count);
        let sequence = header.sequence.ok_or(ReassemblyError::NoSequence)?;
        if count > MAX_FRAGMENTS {
            return Err(ReassemblyError::TooManyFragments);
        }
        let first = sequence.wrapping_sub(index);
        self.handle_timeout(now);
        let at = match self.waiting.iter().position(|partial| partial.first == first) {
            Some(at) => at,
            None => {
                let excess = (self.waiting.len() + 1).saturating_sub(self.limits.packets);
                self.waiting.drain(..excess.min(self.waiting.len()));
                let pieces = (0..count).map(|_| None).collect();
                let partial =
                    Partial { first, pieces, missing: count, bytes: 0, head: Vec::new(), heard: now };
                self.waiting.push(partial);
                self.waiting.len() - 1
            }
        };
        let partial = self.waiting.get_mut(at).invariant("a packet that was found or added");
        let Some(partial) = partial else { return Ok(None) };
        let known = partial.pieces.len() as u64;
        let Some(place) = partial.pieces.get_mut(index as usize).filter(|_| known == count) else {
            self.waiting.remove(at);
            return Err(ReassemblyError::CountMismatch);
        };
        // Duplicate of a fragment.
        if place.is_some() {
            return Ok(None);
        }
        partial.bytes += piece.fragment.len();
        if partial.bytes > MAX_PACKET
            || piece.fragment.is_empty()
            || index == 0 && bytes.len() > MAX_LINK_PACKET
        {
            self.waiting.remove(at);
            return Err(ReassemblyError::TooLong);
        }
        *place = Some(piece.fragment.to_vec());
        partial.missing -= 1;
        partial.heard = now;
        if index == 0 {
            partial.head = bytes.to_vec();
        }
        if partial.missing > 0 {
            return Ok(None);
        }
        let partial = self.waiting.remove(at);
        let packet = partial.pieces.into_iter().flatten().flatten().collect();
        Ok(Some(Whole { head: partial.head, packet }))
    }

    /// Drops packets that timed out. [`receive`](Self::receive) does so, too; call this for links that may
    /// fall silent.
    pub fn handle_timeout(&mut self, now: Time) {
        let timeout = u128::from(self.limits.timeout);
        self.waiting.retain(|partial| now.since(partial.heard).as_millis() < timeout);
    }

    /// Drops the incomplete packet that has waited for the longest time. Returns false if no packet is
    /// incomplete.
    pub fn drop_oldest(&mut self) -> bool {
        let any = !self.waiting.is_empty();
        if any {
            self.waiting.remove(0);
        }
        any
    }

    /// Memory of the incomplete packets, in bytes.
    pub fn memory(&self) -> usize {
        let bytes = |partial: &Partial| {
            let places = partial.pieces.len() * size_of::<Option<Vec<u8>>>();
            size_of::<Partial>() + places + partial.bytes + partial.head.len()
        };
        self.waiting.iter().map(bytes).sum()
    }

    /// Number of incomplete packets.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

/// Reason for dropping a fragment, with the other fragments of its packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReassemblyError {
    /// No sequence number.
    #[error("fragment without a sequence number")]
    NoSequence,
    /// More than [`MAX_FRAGMENTS`] fragments.
    #[error("packet with too many fragments")]
    TooManyFragments,
    /// Number of fragments differs from that in earlier fragments.
    #[error("fragment count differs from earlier fragments")]
    CountMismatch,
    /// Packet longer than [`MAX_PACKET`], first fragment longer than [`MAX_LINK_PACKET`], or empty fragment.
    #[error("packet too long, or empty fragment")]
    TooLong,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::NackReason;
    use proptest::prelude::*;
    use std::vec;

    fn cut(packet: &[u8], header: &LpHeader<'_>, mtu: usize) -> Vec<Vec<u8>> {
        let mut pieces = Vec::new();
        let done = Fragmenter::new(u64::MAX - 1)
            .send(header, packet, mtu, |head, piece| pieces.push([head, piece].concat()));
        assert!(done);
        pieces
    }

    proptest! {
        #[test]
        fn what_was_cut_is_put_together(
            len in 1..MAX_PACKET, mtu in 150..2000_usize, mut order in any::<prop::sample::Index>().prop_map(|i| i.index(1000)),
        ) {
            let packet: Vec<u8> = (0..len).map(|at| if at == 0 { 5 } else { at as u8 }).collect();
            let header = LpHeader { pit_token: &[7; 32], nack: Some(NackReason::NO_ROUTE), ..LpHeader::default() };
            let mut pieces = cut(&packet, &header, mtu);
            prop_assert!(pieces.iter().all(|piece| piece.len() <= mtu));
            let mut reassembler = Reassembler::default();
            let mut whole = None;
            if pieces.len() == 1 {
                let read = LpPacket::parse(&pieces[0]).unwrap();
                prop_assert_eq!((read.header, read.fragment), (header, &packet[..]));
                return Ok(());
            }
            while !pieces.is_empty() {
                let piece = pieces.swap_remove(order % pieces.len());
                order /= 3;
                let read = LpPacket::parse(&piece).unwrap();
                prop_assert!(whole.is_none());
                whole = reassembler.receive(&read, &piece, Time::default()).unwrap();
            }
            let whole = whole.unwrap();
            prop_assert_eq!((whole.packet().header, whole.packet().fragment), (header, &packet[..]));
            prop_assert_eq!(reassembler.waiting(), 0);
        }
    }

    #[test]
    fn an_announcement_without_room_is_left_out() {
        let (announced, packet) = (vec![6; 500], vec![5; 3000]);
        let header = LpHeader { prefix_announcement: &announced, ..LpHeader::default() };
        for (mtu, is_there) in [(9000, true), (1400, true), (600, true), (500, false), (100, false)] {
            let pieces = cut(&packet, &header, mtu);
            assert!(pieces.iter().all(|piece| piece.len() <= mtu), "{mtu}");
            let first = LpPacket::parse(&pieces[0]).unwrap().header;
            assert_eq!(!first.prefix_announcement.is_empty(), is_there, "{mtu}");
        }
        assert!(!Fragmenter::new(0).send(&header, &packet, 40, |_, _| {}));
    }

    #[test]
    fn waits_for_few_and_not_for_long() {
        let packet = vec![5; 3000];
        let mut reassembler = Reassembler::default();
        for number in 0..100 {
            let piece = LpHeader { sequence: Some(number * 10), frag_count: 3, ..LpHeader::default() };
            let bytes = [piece.wrapped(1000).as_bytes(), &packet[..1000]].concat();
            let read = LpPacket::parse(&bytes).unwrap();
            assert_eq!(reassembler.receive(&read, &bytes, Time::default()), Ok(None));
        }
        assert_eq!(reassembler.waiting(), WAITING);
        assert!((WAITING * 2000..MAX_MEMORY).contains(&reassembler.memory()));
        let piece = LpHeader { sequence: Some(5), frag_count: 2, ..LpHeader::default() };
        let bytes = [piece.wrapped(1).as_bytes(), &[5]].concat();
        let read = LpPacket::parse(&bytes).unwrap();
        assert_eq!(reassembler.receive(&read, &bytes, Time::from_millis(600)), Ok(None));
        assert_eq!(reassembler.waiting(), 1);
        reassembler.handle_timeout(Time::from_millis(1099));
        assert_eq!(reassembler.waiting(), 1);
        assert!(reassembler.clone().drop_oldest() && !Reassembler::default().drop_oldest());
        reassembler.handle_timeout(Time::from_millis(1100));
        assert_eq!((reassembler.waiting(), reassembler.memory()), (0, 0));
    }

    #[test]
    fn refuses_pieces_that_contradict_others() {
        let mut reassembler = Reassembler::default();
        let mut receive = |header: LpHeader<'_>, len: usize| {
            let bytes = [header.wrapped(len).as_bytes(), &vec![5; len]].concat();
            reassembler.receive(&LpPacket::parse(&bytes).unwrap(), &bytes, Time::default())
        };
        let piece = |sequence, frag_index, frag_count| LpHeader {
            sequence: Some(sequence),
            frag_index,
            frag_count,
            ..LpHeader::default()
        };
        assert_eq!(receive(piece(1, 0, 401), 1), Err(ReassemblyError::TooManyFragments));
        assert_eq!(receive(piece(1, 0, 2), 1), Ok(None));
        assert_eq!(receive(piece(2, 1, 3), 1), Err(ReassemblyError::CountMismatch));
        assert_eq!(receive(piece(11, 0, 2), 8000), Ok(None));
        assert_eq!(receive(piece(12, 1, 2), 801), Err(ReassemblyError::TooLong));
    }

    #[test]
    fn a_header_that_is_longer_than_packets_are_is_not_kept() {
        // An unknown field that may be ignored.
        let long = vec![0; 10_000];
        let fields = [
            &[81, 8, 0, 0, 0, 0, 0, 0, 0, 1, 82, 1, 0, 83, 1, 2][..],
            &[253, 3, 188, 253, 0x27, 0x10],
            &long,
        ];
        let body = [&fields.concat()[..], &[80, 1, 5]].concat();
        let bytes = [&[100, 253][..], &(body.len() as u16).to_be_bytes(), &body].concat();
        let piece = LpPacket::parse(&bytes).unwrap();
        let mut reassembler = Reassembler::default();
        assert_eq!(reassembler.receive(&piece, &bytes, Time::default()), Err(ReassemblyError::TooLong));
        assert_eq!(reassembler.memory(), 0);
    }
}
