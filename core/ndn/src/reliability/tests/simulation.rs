//! Two ends of a link that loses, repeats and reorders link packets.

use super::End;
use crate::fragment::{Limits, Reassembler};
use crate::reliability::Counts;
use crate::time::Time;
use crate::wire::LpPacket;
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::vec::Vec;

/// Faults of a link: probabilities in thousandths, and times in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Faults {
    loss: u64,
    repetition: u64,
    delay: u64,
    /// Further delay, drawn for each link packet, so that they arrive in another order.
    jitter: u64,
}

/// Numbers drawn from a seed (xorshift64*).
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % end.max(1)
    }
}

/// A link packet on its way: time of arrival, order, and the end that it arrives at.
type Flying = (u64, u64, usize, Vec<u8>);

struct Link {
    faults: Faults,
    draw: Draw,
    ends: [End; 2],
    reassemblers: [Reassembler; 2],
    /// Link packets on their way.
    flying: BinaryHeap<Reverse<Flying>>,
    /// Arrivals of each packet, by the end that has sent it.
    arrived: [Vec<u32>; 2],
    counts: [Counts; 2],
    transmissions: u64,
    now: u64,
}

/// Outcome of a run.
#[derive(Debug)]
struct Outcome {
    packets: usize,
    delivered: usize,
    counts: Counts,
    /// Link packets sent, with IDLE packets.
    transmissions: u64,
}

impl Link {
    fn new(faults: Faults, seed: u64) -> Self {
        let mut reassemblers = [Reassembler::default(), Reassembler::default()];
        reassemblers.iter_mut().for_each(|each| each.set_limits(Limits::RELIABLE));
        Self {
            faults,
            draw: Draw(seed | 1),
            ends: [End::new(seed), End::new(!seed)],
            reassemblers,
            flying: BinaryHeap::new(),
            arrived: [Vec::new(), Vec::new()],
            counts: [Counts::default(); 2],
            transmissions: 0,
            now: 1000,
        }
    }

    /// Sends the next packet of an end, which begins with its number.
    fn send(&mut self, from: usize) {
        let number = self.arrived[from].len() as u32;
        self.arrived[from].push(0);
        let most = if self.draw.below(4) == 0 { 3000 } else { 300 };
        let len = 4 + self.draw.below(most) as usize;
        let packet: Vec<u8> = number.to_be_bytes().into_iter().cycle().take(len).collect();
        self.ends[from].send(&packet, self.now);
        self.fly(from);
    }

    /// Puts what an end has sent on its way.
    fn fly(&mut self, from: usize) {
        for bytes in self.ends[from].take() {
            self.transmissions += 1;
            let copies = match self.draw.below(1000) < self.faults.loss {
                true => 0,
                false => 1 + u64::from(self.draw.below(1000) < self.faults.repetition),
            };
            for _ in 0..copies {
                let at = self.now + self.faults.delay + self.draw.below(self.faults.jitter + 1);
                let order = self.draw.below(u64::MAX);
                self.flying.push(Reverse((at, order, 1 - from, bytes.clone())));
            }
        }
    }

    fn arrive(&mut self, at: usize, bytes: &[u8]) {
        let is_new = self.ends[at].receive(bytes, self.now);
        self.fly(at);
        let packet = LpPacket::parse(bytes).unwrap();
        if !is_new || packet.fragment.is_empty() {
            return;
        }
        let reassembled;
        let whole = if packet.header.is_fragmented() {
            reassembled = self.reassemblers[at].receive(&packet, bytes, Time::from_millis(self.now)).unwrap();
            match &reassembled {
                Some(whole) => whole.packet().fragment,
                None => return,
            }
        } else {
            packet.fragment
        };
        let number = u32::from_be_bytes(*whole.first_chunk().unwrap());
        assert!(whole.iter().copied().eq(number.to_be_bytes().into_iter().cycle().take(whole.len())));
        self.arrived[1 - at][number as usize] += 1;
    }

    /// Goes on to the next event at or before `end`. Returns false without such an event.
    fn step(&mut self, end: u64) -> bool {
        let due = |end: &End| end.link.poll_timeout().map(|due| due.0.div_ceil(1_000_000));
        let arrival = self.flying.peek().map(|Reverse((at, ..))| *at);
        let events = [arrival, due(&self.ends[0]), due(&self.ends[1])];
        let Some(next) = events.into_iter().flatten().min().filter(|next| *next <= end) else {
            return false;
        };
        self.now = self.now.max(next);
        if arrival == Some(next)
            && let Some(Reverse((_, _, at, bytes))) = self.flying.pop()
        {
            self.arrive(at, &bytes);
        }
        for at in 0..2 {
            if due(&self.ends[at]).is_some_and(|due| due <= self.now) {
                self.ends[at].handle_timeout(self.now);
                self.fly(at);
            }
            let counts = self.ends[at].link.take_counts();
            let all = &mut self.counts[at];
            all.acknowledged += counts.acknowledged;
            all.retransmitted += counts.retransmitted;
            all.lost += counts.lost;
            all.unprotected += counts.unprotected;
            all.duplicates += counts.duplicates;
        }
        true
    }

    /// Sends packets both ways, one in `pause` milliseconds on average, and waits until all is quiet.
    fn run(mut self, packets: usize, pause: u64) -> Outcome {
        for _ in 0..packets {
            let from = self.draw.below(2) as usize;
            self.send(from);
            let end = self.now + self.draw.below(2 * pause + 1);
            while self.step(end) {}
            self.now = end;
        }
        let last = self.now;
        while self.step(u64::MAX) {}
        assert!(self.now - last < 60_000, "quiet after the last timeouts");
        for end in &self.ends {
            assert_eq!((end.link.unacknowledged(), end.due()), ((0, 0), None));
        }
        let arrived = || self.arrived.iter().flatten();
        assert!(arrived().all(|count| *count <= 1), "no packet arrives twice");
        let delivered = arrived().filter(|count| **count == 1).count();
        let [a, b] = self.counts;
        let sum = |of: fn(&Counts) -> u64| of(&a) + of(&b);
        let counts = Counts {
            acknowledged: sum(|all| all.acknowledged),
            retransmitted: sum(|all| all.retransmitted),
            lost: sum(|all| all.lost),
            unprotected: sum(|all| all.unprotected),
            duplicates: sum(|all| all.duplicates),
        };
        assert!((packets - delivered) as u64 <= counts.lost, "a packet is missing that was not given up");
        Outcome { packets, delivered, counts, transmissions: self.transmissions }
    }
}

#[test]
fn a_lossy_link_delivers_what_three_retransmissions_allow() {
    // Loss in thousandths, and the least share of packets delivered, in 100,000ths: 1 − p⁴ is lost of each
    // link packet, and a packet has up to three.
    for (loss, least) in [(0, 100_000), (1, 100_000), (10, 100_000), (100, 99_900), (300, 98_000)] {
        let faults = Faults { loss, repetition: 10, delay: 20, jitter: 3 };
        let outcome = Link::new(faults, 0x5eed).run(5000, 4);
        let Outcome { packets, delivered, counts, transmissions } = outcome;
        std::println!("{loss:>4}/1000: {delivered} of {packets}, {transmissions} transmissions, {counts:?}");
        assert!(delivered * 100_000 >= packets * least, "{loss}/1000: {delivered} of {packets}");
        assert_eq!(counts.unprotected, 0);
        if loss == 0 {
            assert!(counts.retransmitted < 200, "little is sent again in vain: {counts:?}");
        }
    }
}

proptest! {
    #[test]
    fn any_link_delivers_once_or_gives_up_and_ends_empty(
        loss in 0..400_u64, repetition in 0..300_u64, delay in 0..300_u64, jitter in 0..100_u64,
        pause in 0..20_u64, seed in any::<u64>(),
    ) {
        let faults = Faults { loss, repetition, delay, jitter };
        Link::new(faults, seed).run(200, pause);
    }
}
