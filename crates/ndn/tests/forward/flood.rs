//! One face asks for more than anyone could answer.

use crate::rig::Rig;
use crate::support::{Sent, ask, check, data};
use ndn::face::FaceId;
use ndn::forward::{Config, DropReason, Output};
use ndn::pit::Pit as _;
use ndn::wire::{LpHeader, LpPacket};

/// Sends nowhere.
struct Nowhere;

impl Output for Nowhere {
    fn send(&mut self, _: FaceId, _: &LpHeader<'_>, _: &[u8]) {}
}

/// An Interest whose name ends with a number of eight octets, which is changed in place.
struct Flood {
    packet: Vec<u8>,
    at: usize,
}

impl Flood {
    fn new() -> Self {
        let packet = ask("/flood/NNNNNNNN", 1).lives(3_600_000).build();
        let at = packet.windows(8).position(|octets| octets == b"NNNNNNNN").expect("the number");
        Self { packet, at }
    }

    fn packet(&mut self, number: u64) -> LpPacket<'_> {
        self.packet[self.at..self.at + 8].copy_from_slice(&number.to_be_bytes());
        LpPacket { header: LpHeader::default(), fragment: &self.packet }
    }
}

#[test]
fn a_flood_of_interests_leaves_room_for_others() {
    const ENTRIES: usize = 1 << 16;
    let mut rig = Rig::with(Config { pit_entries: ENTRIES, ..Config::default() });
    let [attacker, second, consumer, producer] = rig.faces();
    rig.route("/", producer, 1);
    let mut flood = Flood::new();
    let mut refused = 0;
    let mut served = 0;
    for number in 0..2_000_000 {
        match rig.forwarder.receive(attacker, &flood.packet(number), rig.now, &mut Nowhere) {
            Ok(()) => {}
            Err(reason) => {
                assert_eq!(reason, DropReason::PitFull);
                refused += 1;
            }
        }
        if number % 20_000 == 0 {
            let name = format!("/good/{number}");
            let sent: Vec<Sent> = rig.take(consumer, LpHeader::default(), &ask(&name, 1).build());
            assert_eq!(sent.len(), 1);
            served += rig.gives(producer, &data(&name, 0)).len();
        }
        if number % 1000 == 0 {
            rig.now = rig.now.after_millis(1);
            rig.forwarder.turn(rig.now);
        }
    }
    let pit = rig.forwarder.pit();
    assert_eq!((refused, served), (2_000_000 - ENTRIES / 2, 100));
    assert_eq!(pit.len(), ENTRIES / 2, "half of the table");
    assert!(pit.memory_per_entry() < 1000);
    for number in 2_000_000..2_100_000 {
        let _ = rig.forwarder.receive(second, &flood.packet(number), rig.now, &mut Nowhere);
    }
    assert_eq!(rig.forwarder.pit().len(), ENTRIES / 4 * 3, "two take three quarters, the later one less");
    assert_eq!(rig.asks(consumer, &ask("/good", 1)), [producer]);
    check(&rig.forwarder);
    rig.passes(3_600_000);
    assert!(rig.forwarder.pit().is_empty() && rig.forwarder.pending() == 0);
}

#[test]
fn a_flood_of_nonces_is_forgotten() {
    let mut rig = Rig::new();
    let [attacker, producer] = rig.faces();
    rig.route("/", producer, 1);
    for number in 0..100_000_u32 {
        let octets = ask("/a", number).lives(1).build();
        let packet = LpPacket { header: LpHeader::default(), fragment: &octets };
        let _ = rig.forwarder.receive(attacker, &packet, rig.now, &mut Nowhere);
        rig.now = rig.now.after_millis(1);
        rig.forwarder.turn(rig.now);
        assert!(rig.forwarder.dead_nonces() <= 12_001);
    }
    rig.passes(20_000);
    rig.asks(attacker, &ask("/a", 1).lives(1));
    rig.passes(1);
    assert!(rig.forwarder.dead_nonces() <= 1);
}
