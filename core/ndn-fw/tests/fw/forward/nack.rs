//! Nacks.

use crate::rig::{Rig, packet};
use crate::support::{ask, data};
use hashlane_ndn::wire::{LpHeader, NackReason};
use hashlane_ndn_fw::face::{LinkType, Scope};
use hashlane_ndn_fw::forward::DropReason;
use hashlane_ndn_fw::pit::Pit as _;

fn refused(rig: &mut Rig, face: hashlane_ndn_fw::face::FaceId, ask: &crate::support::Ask) -> DropReason {
    let bytes = ask.build();
    let header = LpHeader { nack: Some(NackReason::NO_ROUTE), ..LpHeader::default() };
    let (sent, done) = rig.try_take(face, &packet(header, &bytes));
    assert!(sent.is_empty());
    done.expect_err("a Nack that is dropped")
}

#[test]
fn all_who_asked_are_told_with_their_own_nonce() {
    let mut rig = Rig::new();
    let [first, second, producer] = rig.faces();
    rig.route("/a", producer, 1);
    rig.asks(first, &ask("/a/1", 1).lives(9000));
    rig.asks(second, &ask("/a/1", 2).lives(9000));
    let header = LpHeader { nack: Some(NackReason::NO_ROUTE), ..LpHeader::default() };
    let sent = rig.take(producer, header, &ask("/a/1", 1).lives(9000).build());
    let told: Vec<_> = sent.iter().map(|sent| (sent.face, sent.packet.clone(), sent.nack)).collect();
    let expected = [(first, 1), (second, 2)]
        .map(|(face, nonce)| (face, ask("/a/1", nonce).lives(9000).build(), Some(NackReason::NO_ROUTE)));
    assert_eq!(told, expected);
    assert!(rig.forwarder.pit().is_empty());
    assert_eq!(rig.refuses(second, &ask("/a/1", 1)).0, DropReason::Loop, "the Nonce is kept");
    assert_eq!(rig.asks(second, &ask("/a/1", 3)), [producer], "another one may try again");
}

#[test]
fn the_least_severe_reason_is_told_once_all_ways_came_back() {
    let mut rig = Rig::new();
    let [consumer, first, second, third] = rig.faces();
    rig.strategy("/", "multicast");
    for way in [first, second, third] {
        rig.route("/a", way, 1);
    }
    let question = ask("/a/1", 1);
    assert_eq!(rig.asks(consumer, &question).len(), 3);
    assert_eq!(rig.nacks(first, NackReason::NO_ROUTE, &question), []);
    assert_eq!(rig.nacks(second, NackReason::CONGESTION, &question), []);
    assert_eq!(rig.nacks(third, NackReason::DUPLICATE, &question), [(consumer, NackReason::CONGESTION)]);
}

#[test]
fn a_nack_does_not_end_what_another_may_answer() {
    let mut rig = Rig::new();
    let [consumer, first, second] = rig.faces();
    rig.strategy("/", "multicast");
    rig.route("/a", first, 1);
    rig.route("/a", second, 1);
    rig.asks(consumer, &ask("/a/1", 1));
    assert_eq!(rig.nacks(first, NackReason::NO_ROUTE, &ask("/a/1", 1)), []);
    assert_eq!(rig.gives(second, &data("/a/1", 0)), [(consumer, vec![])]);
}

#[test]
fn who_waits_for_us_while_we_wait_for_it_is_told() {
    let mut rig = Rig::new();
    let [consumer, peer, producer] = rig.faces();
    rig.strategy("/", "multicast");
    rig.route("/a", peer, 1);
    rig.route("/a", producer, 1);
    rig.asks(consumer, &ask("/a/1", 1));
    rig.asks(peer, &ask("/a/1", 2));
    assert_eq!(rig.nacks(producer, NackReason::NO_ROUTE, &ask("/a/1", 1)), [(peer, NackReason::NO_ROUTE)]);
    assert_eq!(
        rig.gives(peer, &data("/a/1", 0)),
        [(consumer, vec![])],
        "and may have found an answer itself"
    );
}

#[test]
fn a_nack_that_answers_nothing_is_dropped() {
    let mut rig = Rig::new();
    let [consumer, producer, other] = rig.faces();
    let shared = rig.face_of(Scope::NonLocal, LinkType::MultiAccess);
    rig.route("/a", producer, 1);
    rig.route("/b", shared, 1);
    rig.asks(consumer, &ask("/a/1", 1).lives(100));
    rig.asks(consumer, &ask("/b/1", 1));
    for (face, question) in [
        (producer, ask("/a/2", 1)),
        (producer, ask("/a/1", 2).lives(100)),
        (producer, ask("/a/1", 1).lives(100).prefix()),
        (producer, ask("/a/1", 1).lives(100).hint("/a")),
        (producer, ask("/a/1", 1).lives(100).without_nonce()),
        (other, ask("/a/1", 1).lives(100)),
        (consumer, ask("/a/1", 1).lives(100)),
        (shared, ask("/b/1", 1)),
    ] {
        assert_eq!(refused(&mut rig, face, &question), DropReason::UnexpectedNack);
    }
    rig.now = rig.now.after_millis(100);
    assert_eq!(
        refused(&mut rig, producer, &ask("/a/1", 1).lives(100)),
        DropReason::UnexpectedNack,
        "too late"
    );
    assert_eq!(rig.forwarder.counters().drops.value(DropReason::UnexpectedNack), 9);
}

#[test]
fn none_is_sent_to_a_shared_link() {
    let mut rig = Rig::new();
    let shared = rig.face_of(Scope::NonLocal, LinkType::MultiAccess);
    let [consumer, producer] = rig.faces();
    rig.route("/a", producer, 1);
    assert!(rig.take(shared, LpHeader::default(), &ask("/b", 1).build()).is_empty());
    rig.asks(shared, &ask("/a/1", 1));
    rig.asks(consumer, &ask("/a/1", 2));
    assert_eq!(
        rig.nacks(producer, NackReason::NO_ROUTE, &ask("/a/1", 1)),
        [(consumer, NackReason::NO_ROUTE)]
    );
}

#[test]
fn an_entry_that_nobody_waits_for_any_more_is_gone() {
    let mut rig = Rig::new();
    let (app, [other]) = (rig.app(), rig.faces());
    rig.local_fields(app);
    // An application that sends an Interest to itself, and to another, who sends it back.
    for (face, nonce) in [(app, 1), (other, 2)] {
        let header = LpHeader { next_hop_face: Some(face.0.into()), ..LpHeader::default() };
        assert_eq!(rig.asks_with(app, header, &ask("/a", nonce).lives(3_600_000)), [face]);
    }
    let told = rig.nacks(other, NackReason::NO_ROUTE, &ask("/a", 2).lives(3_600_000));
    assert_eq!(told, [(app, NackReason::NO_ROUTE)]);
    assert!(rig.forwarder.pit().is_empty(), "or such entries would take no share of the PIT, and fill it");
    assert_eq!(rig.refuses(other, &ask("/a", 1)).0, DropReason::Loop, "their Nonces are known");
}
