//! Packets out of the pieces that a datagram link carries.

use hashlane_ndn::wire::{LpPacket, MAX_PACKET};
use std::collections::VecDeque;

/// Packets that are put together at the same time.
const MOST: usize = 16;

/// Pieces of one packet at the most.
const MOST_PIECES: u64 = 64;

/// Packets of which some pieces have come, the oldest first. One that waits too long gives way to a newer one.
#[derive(Default)]
pub(crate) struct Reassembly {
    partial: VecDeque<Partial>,
}

struct Partial {
    /// The sequence number of the first piece.
    first: u64,
    pieces: Vec<Vec<u8>>,
    missing: usize,
}

impl Reassembly {
    /// Takes a piece; the packet, where that was the last one missing.
    pub(crate) fn take(&mut self, piece: &LpPacket<'_>) -> Option<Vec<u8>> {
        let header = &piece.header;
        if header.frag_count > MOST_PIECES
            || header.frag_index >= header.frag_count
            || piece.fragment.is_empty()
        {
            return None;
        }
        let first = header.sequence?.wrapping_sub(header.frag_index);
        let count = header.frag_count as usize;
        let known =
            self.partial.iter().position(|partial| partial.first == first && partial.pieces.len() == count);
        let at = known.unwrap_or_else(|| {
            if self.partial.len() == MOST {
                self.partial.pop_front();
            }
            self.partial.push_back(Partial { first, pieces: vec![Vec::new(); count], missing: count });
            self.partial.len() - 1
        });
        let partial = self.partial.get_mut(at)?;
        let place = partial.pieces.get_mut(header.frag_index as usize)?;
        if !place.is_empty() {
            return None;
        }
        *place = piece.fragment.to_vec();
        partial.missing -= 1;
        if partial.missing > 0 {
            return None;
        }
        let whole = self.partial.remove(at)?.pieces.concat();
        Some(whole).filter(|whole| whole.len() <= MAX_PACKET)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_ndn::wire::LpHeader;

    fn piece(sequence: u64, frag_index: u64, fragment: &[u8]) -> LpPacket<'_> {
        let header = LpHeader { sequence: Some(sequence), frag_index, frag_count: 3, ..LpHeader::default() };
        LpPacket { header, fragment }
    }

    #[test]
    fn puts_pieces_together_in_any_order() {
        let mut reassembly = Reassembly::default();
        assert_eq!(reassembly.take(&piece(12, 2, b"c")), None);
        assert_eq!(reassembly.take(&piece(20, 0, b"x")), None);
        assert_eq!(reassembly.take(&piece(10, 0, b"a")), None);
        assert_eq!(reassembly.take(&piece(10, 0, b"again")), None);
        assert_eq!(reassembly.take(&piece(11, 1, b"b")).unwrap(), b"abc");
        assert_eq!(reassembly.partial.len(), 1);
    }

    #[test]
    fn holds_a_bounded_number_of_packets() {
        let mut reassembly = Reassembly::default();
        for number in 0..1000 {
            assert_eq!(reassembly.take(&piece(number * 10, 0, b"a")), None);
        }
        assert_eq!(reassembly.partial.len(), MOST);
    }
}
