//! Packets that one forwarding thread hands over to another one.

use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::forward::{BURST, HandOver};
use hashlane_ndn_fw::shard::{Served, Visit, Visits};

/// Bytes of packets and hashes from which a batch is full: the last packet may exceed them.
const FULL: usize = 32 << 10;

/// Bytes of memory that an empty batch keeps for packets, and for hashes.
const KEPT: usize = 64 << 10;

/// Link packets, at most [`BURST`], each with what is to be done with it.
///
/// Another thread reads what is written here, line by line from the cache of this one: entries are small, and
/// what few packets have is apart.
#[derive(Debug)]
pub struct Batch {
    /// Shard whose thread fills the batch, and gets it back when it is empty.
    owner: usize,
    bytes: Vec<u8>,
    /// Hashes of names.
    hashes: Vec<u64>,
    items: Vec<Item>,
    /// Visits of the packets that visit several shards, in their order, with the outcome so far.
    several: Vec<(Visits, Option<Box<Served>>)>,
}

#[derive(Debug)]
struct Item {
    face: FaceId,
    /// End of the packet in the bytes.
    end: u32,
    /// End of its hashes.
    hashes: u32,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Visits this shard alone.
    Forward,
    /// Visits several shards.
    ForwardSeveral,
    Send,
}

/// Action on a packet that is handed over.
#[derive(Clone, Copy, Debug)]
pub enum Action<'a> {
    /// Forwards a packet that a face has received.
    Forward {
        /// This visit, and those after it.
        visit: Visit<'a>,
        /// Hashes of the prefixes of its name.
        hashes: &'a [u64],
    },
    /// Sends a packet to a face.
    Send,
}

impl Batch {
    /// An empty batch, which the thread of shard `owner` fills.
    pub(super) fn new(owner: usize) -> Self {
        Self { owner, bytes: Vec::new(), hashes: Vec::new(), items: Vec::new(), several: Vec::new() }
    }

    /// The empty batch, which the thread of shard `owner` fills from now on.
    pub(super) fn of(self, owner: usize) -> Self {
        Self { owner, ..self }
    }

    /// Shard whose thread gets the batch back.
    pub(super) fn owner(&self) -> usize {
        self.owner
    }

    /// Adds a packet that the shard of the thread forwards.
    #[inline]
    pub(super) fn push(&mut self, packet: HandOver<'_>) {
        let HandOver { face, visits, served, hashes, parts } = packet;
        self.hashes.extend_from_slice(hashes);
        let kind = if visits.is_last() && served.is_none() {
            Kind::Forward
        } else {
            self.several.push((visits, served));
            Kind::ForwardSeveral
        };
        self.add(face, kind, parts);
    }

    /// Adds a packet that the thread sends. Its bytes are given in parts.
    #[inline]
    pub(super) fn push_send(&mut self, face: FaceId, parts: [&[u8]; 2]) {
        self.add(face, Kind::Send, parts);
    }

    #[inline]
    fn add(&mut self, face: FaceId, kind: Kind, parts: [&[u8]; 2]) {
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        // A full batch takes no packet, and a packet is far shorter than 4 GB.
        let (end, hashes) = (self.bytes.len() as u32, self.hashes.len() as u32);
        self.items.push(Item { face, end, hashes, kind });
    }

    /// The packets: the face of each, and what is to be done with its bytes.
    pub fn iter(&self) -> impl Iterator<Item = (FaceId, Action<'_>, &[u8])> {
        let (mut start, mut hashed, mut several) = (0, 0, self.several.iter());
        self.items.iter().map(move |item| {
            let bytes = self.bytes.get(start..item.end as usize).unwrap_or_default();
            let hashes = self.hashes.get(hashed..item.hashes as usize).unwrap_or_default();
            (start, hashed) = (item.end as usize, item.hashes as usize);
            let visit = match item.kind {
                Kind::Send => return (item.face, Action::Send, bytes),
                Kind::Forward => Visit::default(),
                Kind::ForwardSeveral => several.next().map_or(Visit::default(), |(visits, served)| Visit {
                    visits: *visits,
                    served: served.as_deref(),
                }),
            };
            (item.face, Action::Forward { visit, hashes }, bytes)
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
        self.items.len() >= BURST || self.bytes.len() + 8 * self.hashes.len() >= FULL
    }

    /// Removes all packets.
    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
        self.hashes.clear();
        self.hashes.shrink_to(KEPT / 8);
        self.several.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_keeps_packets_apart_and_little_memory() {
        let mut batch = Batch::new(0);
        for number in 0..5u8 {
            batch.push_send(FaceId(number.into()), [&[number; 3], &vec![number; number.into()]]);
        }
        let lens: Vec<_> = batch.iter().map(|(face, _, bytes)| (face.0, bytes.len())).collect();
        assert_eq!(lens, [(0, 3), (1, 4), (2, 5), (3, 6), (4, 7)]);
        assert!(batch.iter().all(|(face, _, bytes)| bytes.iter().all(|byte| u32::from(*byte) == face.0)));
        assert!(!batch.is_full());
        batch.push_send(FaceId(9), [&vec![0; 1 << 20], &[]]);
        assert!(batch.is_full());
        batch.clear();
        assert!(batch.is_empty() && batch.bytes.capacity() <= 2 * KEPT);
    }

    #[test]
    fn each_packet_has_its_own_hashes_and_visits() {
        let mut batch = Batch::new(0);
        let served = || Some(Box::new(Served { solicited: true, ..Served::default() }));
        for number in 0..6_u32 {
            let hashes = vec![u64::from(number); number as usize];
            let served = (number % 3 == 1).then(served).flatten();
            let (face, visits) = (FaceId(number), Visits::default());
            batch.push(HandOver { face, visits, served, hashes: &hashes, parts: [&[1], &[]] });
            batch.push_send(face, [&[2], &[3]]);
        }
        for (at, (face, action, bytes)) in batch.iter().enumerate() {
            assert_eq!(face, FaceId(at as u32 / 2));
            match action {
                Action::Send => assert_eq!((at % 2, bytes), (1, &[2, 3][..])),
                Action::Forward { visit, hashes } => {
                    assert_eq!(
                        (at % 2, bytes, hashes),
                        (0, &[1][..], &vec![face.0.into(); face.0 as usize][..])
                    );
                    assert_eq!(visit.served.is_some_and(|served| served.solicited), face.0 % 3 == 1);
                }
            }
        }
        // Names of many components have more hashes than bytes.
        let hashes = vec![0; 4400];
        let packet = |hashes| HandOver {
            face: FaceId(1),
            visits: Visits::default(),
            served: None,
            hashes,
            parts: [&[], &[]],
        };
        batch.push(packet(&hashes));
        assert!(batch.is_full());
        batch.clear();
        assert!(batch.hashes.capacity() <= 2 * KEPT / 8);
    }
}
