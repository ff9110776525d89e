//! One face asks for more than anyone could answer.

use crate::rig::Rig;
use crate::support::{Sent, ask, check, data, pick};
use hashlane_ndn::wire::{DataBuilder, Interest, LpHeader, LpPacket};
use hashlane_ndn_fw::face::{FaceId, Scope};
use hashlane_ndn_fw::forward::{Config, Output};
use hashlane_ndn_fw::pit::Pit as _;

/// Sends nowhere.
struct Nowhere;

impl Output for Nowhere {
    fn send(&mut self, _: FaceId, _: &LpHeader<'_>, _: &[u8]) {}
}

/// An Interest whose name ends with a number of eight bytes, which is changed in place.
struct Flood {
    packet: Vec<u8>,
    at: usize,
}

impl Flood {
    fn lasting(millis: u64) -> Self {
        let packet = ask("/flood/NNNNNNNN", 1).lives(millis).build();
        let at = packet.windows(8).position(|bytes| bytes == b"NNNNNNNN").expect("the number");
        Self { packet, at }
    }

    fn packet(&mut self, number: u64) -> LpPacket<'_> {
        self.packet[self.at..self.at + 8].copy_from_slice(&number.to_be_bytes());
        LpPacket { header: LpHeader::default(), fragment: &self.packet }
    }

    /// The Data that answers the last packet.
    fn answer(&self) -> Vec<u8> {
        let interest = Interest::parse(&self.packet).expect("an Interest");
        DataBuilder::new(interest.name(), b"flooded").build()
    }
}

#[test]
fn a_flood_of_interests_leaves_room_for_others() {
    let (entries, count) = pick((1 << 12, 30_000), (1 << 16, 2_000_000));
    let mut rig = Rig::with(Config { pit_entries: entries, ..Config::default() });
    let [attacker, second, consumer] = [2, 3, 4].map(|holder| rig.face_of_holder(holder, Scope::NonLocal));
    let producer = rig.face();
    rig.route("/", producer, 1);
    let mut flood = Flood::lasting(30_000);
    let mut served = 0;
    for number in 0..count {
        let taken = rig.forwarder.receive(attacker, &flood.packet(number), rig.now, &mut Nowhere);
        assert_eq!(taken, Ok(()), "the oldest one gives way");
        if number % (count / 100) == 0 {
            let name = format!("/good/{number}");
            let sent: Vec<Sent> = rig.take(consumer, LpHeader::default(), &ask(&name, 1).build());
            assert_eq!(sent.iter().filter(|sent| sent.face == producer).count(), 1);
            served += rig.gives(producer, &data(&name, 0)).len();
        }
        if number % 1000 == 0 {
            rig.now = rig.now.after_millis(1);
            rig.forwarder.handle_timeout(rig.now);
        }
    }
    let pit = rig.forwarder.pit();
    let evicted = rig.forwarder.counters().evicted.value();
    assert_eq!((evicted, served), (count - entries as u64 / 4 * 3, 100));
    assert_eq!(pit.len(), entries / 4 * 3, "what is there for other hosts");
    assert!(pit.memory() < 600 * pit.len());
    for number in count..count + 2 * entries as u64 {
        let _ = rig.forwarder.receive(second, &flood.packet(number), rig.now, &mut Nowhere);
    }
    assert_eq!(rig.forwarder.pit().len(), entries / 4 * 3);
    let held = rig.forwarder.faces().find(second).expect("a face").pending();
    assert!(
        held.abs_diff(entries / 8 * 3) <= entries / 16,
        "the second one has as much as the first: {held}"
    );
    let sent = rig.take(consumer, LpHeader::default(), &ask("/good", 1).build());
    assert_eq!(sent.last().map(|sent| sent.face), Some(producer));
    check(&rig.forwarder);
    rig.passes(30_000);
    assert!(rig.forwarder.pit().is_empty() && rig.forwarder.pending() == 0);
}

#[test]
fn a_long_flood_takes_no_more_memory_than_its_first_seconds() {
    const ENTRIES: usize = 1 << 13;
    let cs = hashlane_ndn_fw::cs::Config {
        packets: 1000,
        bytes: 1 << 20,
        ..hashlane_ndn_fw::cs::Config::default()
    };
    let mut rig = Rig::with(Config { pit_entries: ENTRIES, cs, ..Config::default() });
    let [attacker, consumer] = [2, 3].map(|holder| rig.face_of_holder(holder, Scope::NonLocal));
    let producer = rig.face();
    rig.route("/", producer, 1);
    let mut flood = Flood::lasting(4000);
    let (mut asked, mut served, mut early) = (0, 0, 0);
    let duration = pick(6000, 60_000);
    for millis in 0..duration {
        for number in 0..4 {
            // Some of them are answered, so that the store is flooded, too.
            let packet = flood.packet(4 * millis + number);
            let taken = rig.forwarder.receive(attacker, &packet, rig.now, &mut Nowhere);
            if taken.is_ok() && number == 0 {
                let bytes = flood.answer();
                let data = LpPacket { header: LpHeader::default(), fragment: &bytes };
                rig.forwarder.receive(producer, &data, rig.now, &mut Nowhere).expect("it was asked for");
            }
        }
        if millis % 50 == 0 {
            let name = format!("/good/{millis}");
            asked += 1;
            let sent = rig.take(consumer, LpHeader::default(), &ask(&name, 1).build());
            assert_eq!(sent.iter().filter(|sent| sent.face == producer).count(), 1);
            served += rig.gives(producer, &data(&name, 0)).len();
        }
        rig.now = rig.now.after_millis(1);
        rig.forwarder.handle_timeout(rig.now);
        let forwarder = &rig.forwarder;
        assert!(forwarder.pending() <= ENTRIES && forwarder.pit().len() <= ENTRIES);
        assert!(forwarder.cs().len() <= 1000 && forwarder.cs().bytes() <= 1 << 20);
        // As many as could be sent in the time that each is kept.
        assert!(forwarder.dead_nonces() <= 12_000 * 5);
        if millis == duration / 2 {
            early = forwarder.pit().memory();
        }
    }
    assert_eq!((asked, served), (duration / 50, duration as usize / 50));
    // Not all entries are there at any moment, but the table has come to its size.
    assert!(rig.forwarder.pit().memory().abs_diff(early) < early / 100);
    assert!(early < ENTRIES * 600);
    rig.passes(4000);
    assert!(rig.forwarder.pit().is_empty() && rig.forwarder.dead_nonces() > 0);
    rig.passes(9000);
    assert_eq!(rig.forwarder.dead_nonces(), 0);
}

#[test]
fn a_flood_of_nonces_is_forgotten() {
    let mut rig = Rig::new();
    let [attacker, producer] = rig.faces();
    rig.route("/", producer, 1);
    for number in 0..pick(30_000_u32, 100_000) {
        let bytes = ask("/a", number).lives(1).build();
        let packet = LpPacket { header: LpHeader::default(), fragment: &bytes };
        let _ = rig.forwarder.receive(attacker, &packet, rig.now, &mut Nowhere);
        rig.now = rig.now.after_millis(1);
        rig.forwarder.handle_timeout(rig.now);
        assert!(rig.forwarder.dead_nonces() <= 12_001);
    }
    rig.passes(20_000);
    rig.asks(attacker, &ask("/a", 1).lives(1));
    rig.passes(1);
    assert!(rig.forwarder.dead_nonces() <= 1);
}
