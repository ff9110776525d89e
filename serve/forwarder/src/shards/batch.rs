//! Packets that one forwarding thread hands over to another one.

use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::forward::BURST;
use hashlane_ndn_fw::shard::{Served, Visits};

/// Bytes from which a batch is full: the last packet may exceed them.
const FULL: usize = 32 << 10;

/// Bytes of memory that an empty batch keeps.
const KEPT: usize = 64 << 10;

/// Link packets, at most [`BURST`], each with what is to be done with it.
#[derive(Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    face: FaceId,
    /// End of the packet in the bytes.
    end: usize,
    action: Action,
}

/// Action on a packet that is handed over.
#[derive(Debug)]
pub enum Action {
    /// Forwards a packet that a face has received.
    Forward {
        /// This visit, and those after it.
        visits: Visits,
        /// Outcome of the visits before.
        served: Option<Box<Served>>,
    },
    /// Sends a packet to a face.
    Send,
}

impl Batch {
    /// Adds a packet, whose bytes are given in parts.
    #[inline]
    pub(super) fn push(&mut self, face: FaceId, action: Action, parts: [&[u8]; 2]) {
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.items.push(Item { face, end: self.bytes.len(), action });
    }

    /// The packets: the face of each, and what is to be done with its bytes.
    pub fn iter(&self) -> impl Iterator<Item = (FaceId, &Action, &[u8])> {
        let mut start = 0;
        self.items.iter().map(move |item| {
            let bytes = self.bytes.get(start..item.end).unwrap_or_default();
            start = item.end;
            (item.face, &item.action, bytes)
        })
    }

    /// Number of packets.
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.items.len() >= BURST || self.bytes.len() >= FULL
    }

    /// Removes all packets.
    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_keeps_packets_apart_and_little_memory() {
        let mut batch = Batch::default();
        for number in 0..5u8 {
            batch.push(FaceId(number.into()), Action::Send, [&[number; 3], &vec![number; number.into()]]);
        }
        let lens: Vec<_> = batch.iter().map(|(face, _, bytes)| (face.0, bytes.len())).collect();
        assert_eq!(lens, [(0, 3), (1, 4), (2, 5), (3, 6), (4, 7)]);
        assert!(batch.iter().all(|(face, _, bytes)| bytes.iter().all(|byte| u32::from(*byte) == face.0)));
        assert!(!batch.is_full());
        batch.push(FaceId(9), Action::Send, [&vec![0; 1 << 20], &[]]);
        assert!(batch.is_full());
        batch.clear();
        assert!(batch.is_empty() && batch.bytes.capacity() <= 2 * KEPT);
    }
}
