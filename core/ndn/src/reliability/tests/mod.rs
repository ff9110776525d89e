mod simulation;

use super::*;
use crate::wire::MAX_PACKET;
use std::vec;

/// Link packets that an end has sent.
type Sent = Vec<Vec<u8>>;

/// One end of a link, with a place for the link packets that it sends.
struct End {
    link: Reliability,
    fragmenter: Fragmenter,
    sent: Sent,
}

const MTU: usize = 1400;

impl End {
    fn new(seed: u64) -> Self {
        Self { link: Reliability::new(seed), fragmenter: Fragmenter::new(seed ^ 7), sent: Sent::new() }
    }

    fn send(&mut self, packet: &[u8], millis: u64) {
        let Self { link, fragmenter, sent } = self;
        let header = LpHeader { pit_token: &[7; 4], non_discovery: true, ..LpHeader::default() };
        let done = link.send(fragmenter, &header, packet, MTU, Time::from_millis(millis), |head, rest| {
            sent.push([head, rest].concat());
        });
        assert!(done && sent.iter().all(|packet| packet.len() <= MTU));
    }

    fn receive(&mut self, bytes: &[u8], millis: u64) -> bool {
        let Self { link, sent, .. } = self;
        let packet = LpPacket::parse(bytes).expect("a link packet");
        link.receive(&packet, MTU, Time::from_millis(millis), |head, rest| sent.push([head, rest].concat()))
    }

    fn handle_timeout(&mut self, millis: u64) {
        let Self { link, sent, .. } = self;
        link.handle_timeout(MTU, Time::from_millis(millis), |head, rest| sent.push([head, rest].concat()));
        assert!(sent.iter().all(|packet| packet.len() <= MTU));
    }

    fn take(&mut self) -> Sent {
        core::mem::take(&mut self.sent)
    }

    /// The TxSequences of the link packets sent since the last call.
    fn take_numbers(&mut self) -> Vec<u64> {
        self.take().iter().filter_map(|bytes| LpPacket::parse(bytes).unwrap().header.tx_sequence).collect()
    }

    fn due(&self) -> Option<u64> {
        self.link.poll_timeout().map(Time::millis)
    }
}

/// A link packet with nothing but these Acks.
fn acks(numbers: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let (mut acks, mut head) = (numbers.into_iter().collect(), Vec::new());
    write_head(&mut head, &mut acks, &[], None, 0, usize::MAX).to_vec()
}

#[test]
fn link_packets_carry_both_sequences_and_keep_their_other_fields() {
    let mut end = End::new(u64::MAX);
    end.send(&[5; 100], 0);
    end.send(&[5; 3000], 0);
    let sent = end.take();
    let parsed: Vec<_> = sent.iter().map(|bytes| LpPacket::parse(bytes).unwrap()).collect();
    assert_eq!(parsed.len(), 4);
    let [first, rest @ ..] = &parsed[..] else { unreachable!() };
    assert!((first.header.pit_token, first.header.non_discovery) == (&[7; 4], true));
    assert!(!first.header.is_fragmented() && first.fragment == [5; 100]);
    assert!(rest.iter().all(|piece| piece.header.frag_count == 3));
    assert_eq!(rest.iter().map(|piece| piece.fragment.len()).sum::<usize>(), 3000);
    for pair in parsed.windows(2) {
        assert_eq!(pair[1].header.sequence, pair[0].header.sequence.map(|number| number.wrapping_add(1)));
        assert_eq!(pair[1].header.tx_sequence, pair[0].header.tx_sequence.map(|number| number + 1));
    }
}

#[test]
fn no_link_packet_is_longer_than_the_mtu() {
    // At 253 bytes, the length of a link packet takes two bytes more.
    for mtu in 240..280 {
        for len in 100..300 {
            let mut end = End::new(1);
            let bytes = vec![5; len];
            let End { link, fragmenter, .. } = &mut end;
            let done = link.send(fragmenter, &LpHeader::EMPTY, &bytes, mtu, Time::default(), |head, rest| {
                assert!(head.len() + rest.len() <= mtu, "{len} bytes in {mtu}");
            });
            assert!(done);
        }
    }
}

#[test]
fn acks_go_with_packets_and_alone_after_5_ms() {
    let (mut a, mut b) = (End::new(1), End::new(2));
    a.send(&[5; 100], 0);
    a.send(&[5; 101], 0);
    let sent = a.take();
    assert!(b.receive(&sent[0], 10));
    assert_eq!(b.due(), Some(15));
    b.send(&[5; 10], 12);
    let [with] = &b.take()[..] else { panic!("one packet") };
    assert!(a.receive(with, 20));
    assert_eq!(a.link.unacknowledged().0, 1);
    assert!(b.receive(&sent[1], 13) && !b.receive(&sent[1], 14), "the second one is a duplicate");
    assert_eq!(b.due(), Some(18));
    b.handle_timeout(17);
    assert_eq!(b.take().len(), 0);
    b.handle_timeout(18);
    let [idle] = &b.take()[..] else { panic!("an IDLE packet") };
    let parsed = LpPacket::parse(idle).unwrap();
    assert_eq!(
        (parsed.fragment.len(), parsed.header.acks().count(), parsed.header.tx_sequence),
        (0, 2, None)
    );
    assert!(a.receive(idle, 30));
    let counts = Counts { acknowledged: 2, ..Counts::default() };
    assert_eq!((a.link.unacknowledged(), a.link.take_counts()), ((0, 0), counts));
    assert_eq!(a.due(), Some(25), "its own Ack waits");
}

#[test]
fn three_later_acks_make_a_transmission_lost_and_two_do_not() {
    let mut end = End::new(0);
    (0..5).for_each(|_| end.send(&[5; 50], 0));
    let numbers = end.take_numbers();
    end.receive(&acks([numbers[1], numbers[4], numbers[4]]), 1);
    assert_eq!(end.take_numbers(), [0; 0]);
    end.receive(&acks([numbers[2]]), 2);
    assert_eq!(end.take_numbers(), [5], "only the one before all three");
    end.receive(&acks([numbers[3]]), 3);
    assert_eq!(end.take_numbers(), [0; 0]);
    // The Ack of the first transmission is late, and the one of the second says nothing new.
    end.receive(&acks([numbers[0], 5]), 4);
    let counts = Counts { acknowledged: 5, retransmitted: 1, ..Counts::default() };
    assert_eq!((end.link.take_counts(), end.link.unacknowledged(), end.due()), (counts, (0, 0), None));
}

#[test]
fn a_packet_is_given_up_after_three_retransmissions_with_all_its_fragments() {
    let mut end = End::new(0);
    end.send(&[5; 3000], 0);
    end.send(&[5; 50], 0);
    assert_eq!(end.take_numbers(), [0, 1, 2, 3]);
    end.receive(&acks([1]), 100);
    // SRTT 100 ms, RTTVAR 50 ms; the timeout doubles as nothing else is acknowledged.
    for (due, numbers) in [(300, [4, 5, 6]), (900, [7, 8, 9]), (2100, [10, 11, 12])] {
        assert_eq!(end.due(), Some(due));
        end.handle_timeout(due - 1);
        assert_eq!(end.take_numbers(), [0; 0]);
        end.handle_timeout(due);
        assert_eq!(end.take_numbers(), numbers);
    }
    assert_eq!(end.due(), Some(4500));
    end.handle_timeout(4500);
    let counts = Counts { acknowledged: 1, retransmitted: 9, lost: 3, ..Counts::default() };
    assert_eq!((end.link.take_counts(), end.link.unacknowledged(), end.due()), (counts, (0, 0), None));
    assert_eq!(end.take(), [[0; 0]; 0]);
}

#[test]
fn an_ack_ends_the_backoff_for_those_that_wait() {
    let mut end = End::new(0);
    end.send(&[5; 50], 0);
    end.receive(&acks([0]), 1);
    end.send(&[5; 50], 10);
    end.send(&[5; 50], 20);
    end.take();
    end.handle_timeout(210);
    assert_eq!((end.take_numbers(), end.due()), (vec![3], Some(420)), "doubled");
    end.receive(&acks([3]), 230);
    assert_eq!(end.take_numbers(), [4], "overdue without the backoff");
}

#[test]
fn a_full_window_sends_without_protection_and_is_bounded() {
    for len in [10, MAX_PACKET] {
        let mut end = End::new(3);
        for _ in 0..MAX_FRAMES + 1000 {
            end.send(&vec![5; len], 0);
            end.sent.clear();
        }
        let (frames, bytes) = end.link.unacknowledged();
        assert!(frames <= MAX_FRAMES + 10 && bytes <= MAX_BYTES + MAX_PACKET + 10 * 60, "{frames} {bytes}");
        assert!(frames >= MAX_FRAMES || bytes >= MAX_BYTES);
        let sent = end.link.take_counts().unprotected;
        assert!(sent >= 1000);
        end.send(&[5; 10], 0);
        let [last] = &end.take()[..] else { panic!("one packet") };
        let header = LpPacket::parse(last).unwrap().header;
        assert!(header.tx_sequence.is_none() && header.sequence.is_some());
    }
}

#[test]
fn lost_link_packets_are_sent_again_64_at_a_time() {
    let mut end = End::new(0);
    (0..1000).for_each(|_| end.send(&[5; 50], 0));
    end.take();
    end.receive(&acks(997..1000), 1);
    let mut rounds = vec![end.take_numbers().len()];
    while end.due().is_some_and(|due| due <= 1) {
        end.handle_timeout(1);
        rounds.push(end.take_numbers().len());
    }
    assert!(rounds.iter().all(|count| *count <= BUDGET));
    assert_eq!(rounds.iter().sum::<usize>(), 997);
}

#[test]
fn hostile_acks_change_nothing() {
    let mut end = End::new(1 << 62);
    (0..10).for_each(|_| end.send(&[5; 50], 0));
    let numbers = end.take_numbers();
    let before = (end.link.unacknowledged(), end.due());
    for wrong in [0, 1, numbers[0] - 1, numbers[9] + 1, 1 << 63, u64::MAX - 1, u64::MAX] {
        end.receive(&acks(vec![wrong; 700]), 1);
    }
    assert_eq!(((end.link.unacknowledged(), end.due()), end.take()), (before, vec![]));
    end.receive(&acks(vec![numbers[9]; 700]), 1);
    assert_eq!(end.take(), [[0; 0]; 0], "one Ack is no three");
    assert_eq!(end.link.unacknowledged().0, 9);
}

#[test]
fn a_flood_of_transmissions_queues_few_acks() {
    let mut end = End::new(1);
    let mut idle = 0;
    for number in 0..10_000_u64 {
        let tx_sequence = Some(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let header = LpHeader { tx_sequence, sequence: Some(number), ..LpHeader::default() };
        let bytes = [header.wrapped(1).as_bytes(), &[5]].concat();
        assert!(end.receive(&bytes, 1));
        assert!(end.link.acks.len() < MAX_ACKS);
        idle += end.take().iter().map(Vec::len).sum::<usize>();
    }
    // An Ack has 12 bytes, and what it answers more.
    assert!(idle <= 13 * 10_000, "{idle}");
    // Nothing that is no fragment is acknowledged.
    let header = LpHeader { tx_sequence: Some(1), ..LpHeader::default() };
    let mut quiet = End::new(1);
    assert!(quiet.receive(header.wrapped(0).as_bytes(), 1));
    assert_eq!(quiet.due(), None);
}

#[test]
fn acks_leave_at_any_mtu() {
    for mtu in [0, 16, 64, 500] {
        let mut end = End::new(1);
        for number in 0..50 {
            let header = LpHeader { tx_sequence: Some(number), ..LpHeader::default() };
            end.receive(&[header.wrapped(1).as_bytes(), &[5]].concat(), 1);
        }
        let End { link, sent, .. } = &mut end;
        link.handle_timeout(mtu, Time::from_millis(6), |head, rest| sent.push([head, rest].concat()));
        let answered = sent.iter().map(|bytes| LpPacket::parse(bytes).unwrap().header.acks().count());
        assert_eq!(answered.sum::<usize>(), 50);
        assert!(end.sent.iter().all(|bytes| bytes.len() <= mtu.max(16)) && end.due().is_none());
    }
}
