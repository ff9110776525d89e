//! Shares of the PIT: a holder that takes too much loses its own records, in entries and in bytes.

use crate::rig::Rig;
use crate::support::{Ask, ask, check, data, pick};
use hashlane_ndn::wire::{LpHeader, NackReason};
use hashlane_ndn_fw::face::{FaceId, Scope};
use hashlane_ndn_fw::forward::{Config, DropReason};
use hashlane_ndn_fw::pit::Pit as _;

/// Faces that got a Nack because of congestion, and those that got an Interest.
fn outcome(rig: &mut Rig, face: FaceId, ask: &Ask) -> (Vec<FaceId>, Vec<FaceId>) {
    let sent = rig.take(face, LpHeader::default(), &ask.build());
    let (nacks, interests): (Vec<_>, Vec<_>) = sent.iter().partition(|sent| sent.nack.is_some());
    assert!(nacks.iter().all(|sent| sent.nack == Some(NackReason::CONGESTION)));
    let faces = |sent: Vec<&crate::support::Sent>| sent.iter().map(|sent| sent.face).collect();
    (faces(nacks), faces(interests))
}

#[test]
fn long_interests_take_no_more_than_the_bytes_of_the_pit() {
    let config = Config { pit_entries: 1 << 20, pit_bytes: 2 << 20, ..Config::default() };
    let mut rig = Rig::with(config);
    let [attacker, consumer] = [2, 3].map(|holder| rig.face_of_holder(holder, Scope::NonLocal));
    let producer = rig.face();
    rig.route("/", producer, 1);
    let long = "x".repeat(8000);
    for number in 0..pick(400, 1500) {
        outcome(&mut rig, attacker, &ask(&format!("/{number}/{long}"), 1).lives(30_000));
        if number % 100 == 0 {
            let (name, forwarder) = (format!("/good/{number}"), &rig.forwarder);
            assert!(forwarder.pit().memory() <= 2 << 20, "{} bytes", forwarder.pit().memory());
            let (_, interests) = outcome(&mut rig, consumer, &ask(&name, 1));
            assert_eq!(interests, [producer]);
            assert_eq!(rig.gives(producer, &data(&name, 0)), [(consumer, vec![])]);
        }
    }
    assert!(rig.forwarder.pit().len() < 250);
    rig.passes(30_001);
    assert!(rig.forwarder.pit().is_empty() && rig.forwarder.pending() == 0);
}

#[test]
fn the_weight_of_an_entry_stays_when_its_first_downstream_leaves() {
    let unit = 10_000;
    let config = Config { pit_entries: 100, pit_bytes: 100 * unit, ..Config::default() };
    let mut rig = Rig::with(config);
    let [first, second, third] = [2, 3, 4].map(|holder| rig.face_of_holder(holder, Scope::NonLocal));
    let producer = rig.face();
    rig.route("/", producer, 1);
    let long = format!("/{}", "x".repeat(8000));
    rig.asks(first, &ask(&long, 1));
    rig.asks(second, &ask(&long, 2));
    rig.forwarder.remove_face(first);
    rig.passes(10);
    // The share of the second one is released in full: the book would panic in tests if it were not.
    assert_eq!(rig.gives(producer, &data(&long, 0)), [(second, vec![])]);
    rig.asks(third, &ask("/a", 3));
    assert_eq!((rig.forwarder.pending(), rig.forwarder.pit().len()), (1, 1));
    check(&rig.forwarder);
}

#[test]
fn one_address_with_many_faces_has_one_share() {
    let mut rig = Rig::with(Config { pit_entries: 64, ..Config::default() });
    let consumer = rig.face_of_holder(3, Scope::NonLocal);
    let producer = rig.face();
    rig.route("/", producer, 1);
    let asked: Vec<String> = (0..8).map(|number| format!("/good/{number}")).collect();
    for name in &asked {
        rig.asks(consumer, &ask(name, 1));
    }
    for number in 0..500 {
        let port = rig.face_of_holder(2, Scope::NonLocal);
        outcome(&mut rig, port, &ask(&format!("/bad/{number}"), 1));
    }
    assert_eq!(rig.forwarder.pending(), 48);
    for name in &asked {
        assert_eq!(rig.gives(producer, &data(name, 0)), [(consumer, vec![])], "{name}");
    }
}

#[test]
fn an_interest_that_is_renewed_is_not_the_oldest() {
    let mut rig = Rig::with(Config { pit_entries: 8, ..Config::default() });
    let [consumer, producer] = rig.faces();
    rig.route("/", producer, 1);
    for number in 0..6 {
        rig.asks(consumer, &ask(&format!("/{number}"), 1));
    }
    rig.passes(1000);
    outcome(&mut rig, consumer, &ask("/0", 2));
    assert_eq!(outcome(&mut rig, consumer, &ask("/6", 1)), (vec![consumer], vec![producer]));
    assert_eq!(rig.gives(producer, &data("/0", 0)).len(), 1);
    assert_eq!(rig.drops(producer, &data("/1", 0)), DropReason::Unsolicited);
}

#[test]
fn limits_can_be_changed_while_records_are_there() {
    let mut rig = Rig::with(Config { pit_entries: 1000, ..Config::default() });
    let [consumer, producer] = rig.faces();
    rig.route("/", producer, 1);
    for number in 0..600 {
        rig.asks(consumer, &ask(&format!("/{number}"), 1));
    }
    rig.forwarder.configure(Config { pit_entries: 100, pit_bytes: 1 << 20, ..Config::default() });
    let (nacks, interests) = outcome(&mut rig, consumer, &ask("/new", 1));
    assert_eq!((nacks.len(), interests, rig.forwarder.pending()), (526, vec![producer], 75));
    assert_eq!(rig.gives(producer, &data("/new", 0)).len(), 1);
}
