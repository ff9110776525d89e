//! Properties of the reassembly of packets, for fragments in any order, lost, twice, mixed with other
//! packets' fragments, or made up: it does what a naive model does, and its memory is bounded.

use crate::steps::Steps;
use hashlane_ndn::fragment::{Fragmenter, MAX_FRAGMENTS, MAX_MEMORY, Reassembler};
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{LpHeader, LpPacket, MAX_LINK_PACKET, MAX_PACKET, NackReason};
use std::collections::BTreeMap;

/// Most incomplete packets.
const WAITING: usize = 16;

/// Time for which an incomplete packet waits for its next fragment, in milliseconds.
const TIMEOUT: u64 = 500;

/// Packets that are sent in fragments.
const PACKETS: usize = 24;

/// An incomplete packet of the model: pieces by index.
struct Partial {
    first: u64,
    count: u64,
    pieces: BTreeMap<u64, Vec<u8>>,
    heard: u64,
}

#[derive(Default)]
struct Model(Vec<Partial>);

impl Model {
    /// The packet that a fragment completes; `Err` if it is dropped with the others of its packet.
    fn receive(&mut self, piece: &LpPacket<'_>, len: usize, now: u64) -> Result<Option<Vec<u8>>, ()> {
        let LpHeader { sequence, frag_index: index, frag_count: count, .. } = piece.header;
        let sequence = sequence.filter(|_| count <= MAX_FRAGMENTS).ok_or(())?;
        self.expire(now);
        let first = sequence.wrapping_sub(index);
        let at = self.0.iter().position(|partial| partial.first == first).unwrap_or_else(|| {
            if self.0.len() == WAITING {
                self.0.remove(0);
            }
            self.0.push(Partial { first, count, pieces: BTreeMap::new(), heard: now });
            self.0.len() - 1
        });
        let partial = &mut self.0[at];
        if partial.count != count || index >= count {
            self.0.remove(at);
            return Err(());
        }
        if partial.pieces.contains_key(&index) {
            return Ok(None);
        }
        partial.pieces.insert(index, piece.fragment.to_vec());
        partial.heard = now;
        let bytes: usize = partial.pieces.values().map(Vec::len).sum();
        if bytes > MAX_PACKET || piece.fragment.is_empty() || index == 0 && len > MAX_LINK_PACKET {
            self.0.remove(at);
            return Err(());
        }
        if (partial.pieces.len() as u64) < count {
            return Ok(None);
        }
        Ok(Some(self.0.remove(at).pieces.into_values().flatten().collect()))
    }

    fn expire(&mut self, now: u64) {
        self.0.retain(|partial| now - partial.heard < TIMEOUT);
    }
}

struct Harness {
    reassembler: Reassembler,
    model: Model,
    now: u64,
    /// Header and bytes of each packet, and its fragments.
    packets: Vec<(LpHeader<'static>, Vec<u8>, Vec<Vec<u8>>)>,
    /// Number of times that each fragment was received.
    received: BTreeMap<(usize, usize), usize>,
    /// Number of times that each packet came out.
    out: [usize; PACKETS],
    /// Sequence number after the packets' numbers; made-up fragments have later ones.
    next: u64,
    /// True while only fragments of the packets were received.
    is_honest: bool,
}

/// Runs the steps. The first byte is the length of the packets, and of the fragments.
pub fn check_reassembly(octets: &[u8]) {
    let mut steps = Steps(octets);
    let mut bench = Harness {
        reassembler: Reassembler::default(),
        model: Model::default(),
        now: 1,
        packets: Vec::new(),
        received: BTreeMap::new(),
        out: [0; PACKETS],
        // Sequence numbers wrap around.
        next: u64::MAX - 7,
        is_honest: true,
    };
    bench.cut(&mut steps);
    // A bound on the work for one input.
    for _ in 0..2000 {
        if steps.is_empty() {
            break;
        }
        bench.step(&mut steps);
        assert!(bench.reassembler.memory() <= MAX_MEMORY);
        assert_eq!(bench.reassembler.waiting(), bench.model.0.len());
    }
    bench.reassembler.handle_timeout(Time::from_millis(bench.now + TIMEOUT));
    assert_eq!((bench.reassembler.memory(), bench.reassembler.waiting()), (0, 0));
}

impl Harness {
    /// Makes the packets and their fragments.
    fn cut(&mut self, steps: &mut Steps<'_>) {
        let how = steps.octet();
        let mtu = 130 + usize::from(how >> 4) * 40;
        for number in 0..PACKETS {
            let len = 1 + (usize::from(how & 15) * 97 * (number + 1)) % 3000;
            let bytes: Vec<u8> =
                (0..len).map(|at| if at == 0 { 5 } else { (at * (number + 1)) as u8 }).collect();
            let header = LpHeader {
                pit_token: &[7; 32][..number % 5],
                nack: (number % 3 == 0).then_some(NackReason::NO_ROUTE),
                ..LpHeader::default()
            };
            let mut pieces = Vec::new();
            let mut fragmenter = Fragmenter::new(self.next);
            assert!(fragmenter.send(&header, &bytes, mtu, |head, piece| pieces.push([head, piece].concat())));
            assert!(pieces.iter().all(|piece| piece.len() <= mtu));
            self.next = self.next.wrapping_add(pieces.len() as u64);
            self.packets.push((header, bytes, pieces));
        }
    }

    fn step(&mut self, steps: &mut Steps<'_>) {
        let step = steps.octet();
        let number = usize::from(steps.octet()) % PACKETS;
        match step & 7 {
            0..=2 => self.fragment(number, usize::from(steps.octet()), step),
            3 => {
                // All fragments, in order or in reverse.
                for index in 0..self.packets[number].2.len() {
                    let last = self.packets[number].2.len() - 1;
                    self.fragment(number, if step & 8 == 0 { index } else { last - index }, 0);
                }
            }
            4 => {
                // The same fragment of many packets.
                (0..PACKETS).for_each(|number| self.fragment(number, usize::from(step >> 3), 0));
            }
            5 => {
                self.now += u64::from(steps.octet()) * 4;
                self.reassembler.handle_timeout(Time::from_millis(self.now));
                self.model.expire(self.now);
            }
            _ => self.made_up(steps, number as u64),
        }
    }

    /// Receives a fragment of a packet; with the highest bit of `how`, with a flipped bit.
    fn fragment(&mut self, number: usize, index: usize, how: u8) {
        let pieces = &self.packets[number].2;
        let index = index % pieces.len();
        let mut bytes = pieces[index].clone();
        if how & 128 != 0 {
            let at = usize::from(how >> 3 & 15) * bytes.len() / 16;
            bytes[at] ^= 1;
            self.is_honest = false;
        }
        *self.received.entry((number, index)).or_default() += 1;
        self.receive(&bytes, Some(number));
    }

    /// Receives a fragment with any numbers.
    fn made_up(&mut self, steps: &mut Steps<'_>, number: u64) {
        const COUNTS: [u64; 8] = [0, 1, 2, 3, 399, 400, 401, u64::MAX];
        let (how, index) = (steps.octet(), u64::from(steps.octet()));
        let len = usize::from(steps.octet()) * 64;
        let sequence = self.next.wrapping_add(number * 8).wrapping_add(index);
        let header = LpHeader {
            sequence: (how & 64 == 0).then_some(sequence),
            frag_index: if how & 128 == 0 { index } else { u64::MAX - index },
            frag_count: COUNTS[usize::from(how & 7)],
            ..LpHeader::default()
        };
        let piece = vec![5; len];
        let bytes = [header.wrapped(len).as_bytes(), &piece].concat();
        self.is_honest = false;
        self.receive(&bytes, None);
    }

    fn receive(&mut self, bytes: &[u8], number: Option<usize>) {
        let Ok(piece) = LpPacket::parse(bytes) else { return };
        if !piece.header.is_fragmented() {
            return;
        }
        let found = self.reassembler.receive(&piece, bytes, Time::from_millis(self.now));
        let expected = self.model.receive(&piece, bytes.len(), self.now);
        let whole = match (&found, &expected) {
            (Ok(Some(whole)), Ok(Some(bytes))) => {
                assert_eq!(whole.packet().fragment, bytes);
                whole
            }
            (Ok(None), Ok(None)) | (Err(_), Err(())) => return,
            _ => panic!("{found:?}, but the model says {expected:?}"),
        };
        if let Some(number) = number.filter(|_| self.is_honest) {
            let (header, bytes, pieces) = &self.packets[number];
            assert_eq!(whole.packet(), LpPacket { header: *header, fragment: bytes });
            self.out[number] += 1;
            let rounds = (0..pieces.len()).filter_map(|index| self.received.get(&(number, index))).min();
            assert!(rounds.is_some_and(|rounds| self.out[number] <= *rounds), "a packet comes out twice");
        }
    }
}
