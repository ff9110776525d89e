//! Properties of link reliability, for a peer that acknowledges anything: the link packets that are sent
//! again are those that a naive model allows, and nothing is left in the end.

use crate::steps::Steps;
use hashlane_ndn::fragment::Fragmenter;
use hashlane_ndn::reliability::{MAX_ACKS, MAX_FRAMES, MAX_RETRANSMISSIONS, Reliability};
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{LpHeader, LpPacket};
use std::collections::{BTreeMap, VecDeque};

/// Steps of one input.
const STEPS: usize = 300;

/// A link packet that was sent, by its Sequence.
struct Frame {
    fragment: Vec<u8>,
    /// First Sequence of its packet.
    packet: u64,
    transmissions: u8,
    is_acknowledged: bool,
}

struct Harness {
    link: Reliability,
    fragmenter: Fragmenter,
    mtu: usize,
    now: Time,
    frames: BTreeMap<u64, Frame>,
    /// Sequence of each transmission; the first has the TxSequence `first`.
    transmissions: Vec<u64>,
    first: Option<u64>,
    /// Packet that is being sent.
    packet: Option<u64>,
    acknowledged: u64,
    lost: u64,
    /// TxSequences of the peer that wait for their Acks.
    acks: VecDeque<u64>,
    /// Sequences that the peer has sent, with the time of the last one.
    received: BTreeMap<u64, Time>,
}

/// Runs the steps. The first byte is the MTU.
pub fn check_reliability(octets: &[u8]) {
    let mut steps = Steps(octets);
    let how = usize::from(steps.octet());
    let mut bench = Harness {
        link: Reliability::new(u64::MAX - (how as u64 & 1)),
        // Sequences wrap around.
        fragmenter: Fragmenter::new(u64::MAX - 7),
        mtu: 80 + how * 20,
        now: Time::from_millis(1),
        frames: BTreeMap::new(),
        transmissions: Vec::new(),
        first: None,
        packet: None,
        acknowledged: 0,
        lost: 0,
        acks: VecDeque::new(),
        received: BTreeMap::new(),
    };
    for number in 0..STEPS {
        if steps.is_empty() {
            break;
        }
        bench.step(&mut steps);
        bench.check();
        // It counts all frames.
        if bench.frames.len() < 200 || number % 32 == 0 {
            bench.check_counts();
        }
    }
    bench.check_counts();
    bench.end();
}

impl Harness {
    fn step(&mut self, steps: &mut Steps<'_>) {
        let step = steps.octet();
        match step & 7 {
            0 | 1 => self.send(usize::from(steps.octet()) * if step & 8 == 0 { 1 } else { 12 }),
            2 => (0..=step >> 3).for_each(|_| self.send(40)),
            3 | 4 => self.receive(step, steps),
            5 => self.now = self.now.after_millis(u64::from(steps.octet()) << (step >> 5)),
            6 => self.now = self.link.poll_timeout().map_or(self.now, |due| due.max(self.now)),
            _ => {}
        }
        if step & 7 >= 5 {
            let (mut sent, now, mtu) = (Vec::new(), self.now, self.mtu);
            self.link.handle_timeout(mtu, now, |head, rest| sent.push([head, rest].concat()));
            self.note(&sent);
        }
    }

    fn send(&mut self, len: usize) {
        let packet: Vec<u8> = (0..=len).map(|at| (at * 7 + self.frames.len()) as u8).collect();
        let header = LpHeader { pit_token: &[7; 3], ..LpHeader::default() };
        let (mut sent, now, mtu) = (Vec::new(), self.now, self.mtu);
        self.packet = Some(self.fragmenter.next_sequence());
        let done = self.link.send(&mut self.fragmenter, &header, &packet, mtu, now, |head, rest| {
            sent.push([head, rest].concat());
        });
        // Small MTUs leave no room, or would need too many fragments.
        assert!(done || mtu < 160);
        assert_eq!(done, !sent.is_empty());
        self.note(&sent);
        self.packet = None;
    }

    /// Receives a link packet with Acks of any transmissions, and perhaps a TxSequence.
    fn receive(&mut self, step: u8, steps: &mut Steps<'_>) {
        let first = self.first.unwrap_or(0);
        let mut acks = Vec::new();
        for _ in 0..step >> 5 {
            let number = u64::from(steps.octet());
            acks.push(match step & 8 {
                // The latest transmissions, and some that there were not.
                0 => first.wrapping_add(self.transmissions.len() as u64).wrapping_sub(number),
                _ => number.wrapping_mul(0x0101_0101_0101_0101),
            });
        }
        let has_fragment = step & 16 != 0;
        let tx_sequence = has_fragment.then(|| u64::from(steps.octet()) << 40);
        let sequence = has_fragment.then(|| u64::from(steps.octet()) * 0x1_0000_0001);
        let fragment: &[u8] = if has_fragment { &[5, 0] } else { &[] };
        let bytes = link_packet(sequence, &acks, tx_sequence, fragment);
        let packet = LpPacket::parse(&bytes).expect("a link packet");
        assert!(packet.header.acks().eq(acks.iter().copied()));
        for ack in acks {
            self.acknowledge(ack.wrapping_sub(first));
        }
        let (mut sent, now, mtu) = (Vec::new(), self.now, self.mtu);
        let is_new = self.link.receive(&packet, mtu, now, |head, rest| sent.push([head, rest].concat()));
        self.acks.extend(tx_sequence);
        if let Some(sequence) = sequence {
            let before = self.received.insert(sequence, now);
            // It may forget a Sequence before that, if others take its place.
            let is_old = before.is_none_or(|before| now.since(before).as_secs() >= 60);
            assert!(is_new || !is_old, "a new link packet is dropped");
            let is_recent = before.is_some_and(|before| now.since(before).as_secs() < 5);
            assert!(!is_new || !is_recent, "a link packet comes twice");
        }
        self.note(&sent);
        assert!(self.acks.len() < MAX_ACKS);
    }

    /// The model of an Ack for the transmission of this index.
    fn acknowledge(&mut self, index: u64) {
        let sequence = usize::try_from(index).ok().and_then(|index| self.transmissions.get(index));
        let Some(frame) = sequence.and_then(|sequence| self.frames.get_mut(sequence)) else { return };
        self.acknowledged += u64::from(!frame.is_acknowledged);
        frame.is_acknowledged = true;
    }

    /// Checks what was sent.
    fn note(&mut self, sent: &[Vec<u8>]) {
        for bytes in sent {
            assert!(bytes.len() <= self.mtu);
            let LpPacket { header, fragment } = LpPacket::parse(bytes).expect("a link packet");
            for ack in header.acks() {
                assert_eq!(Some(ack), self.acks.pop_front(), "Acks are of what was received, in order");
            }
            let Some(tx) = header.tx_sequence else {
                assert!(fragment.is_empty() || self.transmissions.len() >= MAX_FRAMES, "there was room");
                continue;
            };
            let first = *self.first.get_or_insert(tx);
            assert_eq!(tx - first, self.transmissions.len() as u64);
            let sequence = header.sequence.expect("a Sequence");
            self.transmissions.push(sequence);
            let frame = match self.packet {
                Some(packet) => self.frames.entry(sequence).or_insert_with(|| Frame {
                    fragment: fragment.to_vec(),
                    packet,
                    transmissions: 0,
                    is_acknowledged: false,
                }),
                None => self.frames.get_mut(&sequence).expect("a frame that was sent before"),
            };
            assert!(frame.fragment == fragment && !frame.is_acknowledged);
            frame.transmissions += 1;
            assert!(frame.transmissions <= 1 + MAX_RETRANSMISSIONS);
        }
        self.lost += self.link.take_counts().lost;
    }

    /// Checks the number of acknowledged link packets.
    fn check_counts(&self) {
        // Acks of link packets that were given up are ignored; the model cannot tell which these are.
        let possible = self.frames.values().filter(|frame| frame.is_acknowledged).count() as u64;
        let mut given_up = BTreeMap::new();
        for frame in self.frames.values() {
            *given_up.entry(frame.packet).or_insert(false) |= frame.transmissions > MAX_RETRANSMISSIONS;
        }
        let certain = self.frames.values().filter(|frame| frame.is_acknowledged && !given_up[&frame.packet]);
        // Transmissions beyond a bound are forgotten, and Acks of them.
        let certain = if self.transmissions.len() > 4 * MAX_FRAMES { 0 } else { certain.count() as u64 };
        let waiting = self.link.unacknowledged().0 as u64;
        let acknowledged = self.frames.len() as u64 - waiting - self.lost;
        assert!((certain..=possible).contains(&acknowledged), "{acknowledged} of {certain} to {possible}");
        assert_eq!(possible, self.acknowledged);
    }

    fn check(&self) {
        let due = self.link.poll_timeout();
        assert_eq!(due.is_some(), self.link.unacknowledged().0 > 0 || !self.acks.is_empty());
        if !self.acks.is_empty() {
            assert!(due.is_some_and(|due| due <= self.now.after_millis(5)));
        }
    }

    /// Lets all timers expire.
    fn end(mut self) {
        for _ in 0..100_000 {
            let Some(due) = self.link.poll_timeout() else {
                assert_eq!(self.link.unacknowledged(), (0, 0));
                return;
            };
            self.now = self.now.max(due);
            let (mut sent, now, mtu) = (Vec::new(), self.now, self.mtu);
            self.link.handle_timeout(mtu, now, |head, rest| sent.push([head, rest].concat()));
            for bytes in &sent {
                let header = LpPacket::parse(bytes).expect("a link packet").header;
                header.acks().for_each(|ack| assert_eq!(Some(ack), self.acks.pop_front()));
            }
        }
        panic!("it does not end");
    }
}

/// A link packet with these fields.
fn link_packet(sequence: Option<u64>, acks: &[u64], tx_sequence: Option<u64>, fragment: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    if let Some(sequence) = sequence {
        body.extend([&[81, 8][..], &sequence.to_be_bytes()].concat());
    }
    for ack in acks {
        body.extend([&[253, 3, 68, 8][..], &ack.to_be_bytes()].concat());
    }
    if let Some(tx) = tx_sequence {
        body.extend([&[253, 3, 72, 8][..], &tx.to_be_bytes()].concat());
    }
    if !fragment.is_empty() {
        body.extend([&[80, fragment.len() as u8][..], fragment].concat());
    }
    assert!(body.len() < 253);
    [&[100, body.len() as u8][..], &body].concat()
}
