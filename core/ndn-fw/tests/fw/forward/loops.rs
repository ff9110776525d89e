//! Nonces: what comes round is known, what is asked again is not taken for it.

use crate::rig::Rig;
use crate::support::{ask, data};
use hashlane_ndn::wire::{LpHeader, NackReason};
use hashlane_ndn_fw::face::{LinkType, Scope};
use hashlane_ndn_fw::forward::{Config, DropReason};
use hashlane_ndn_fw::pit::Pit as _;
use hashlane_ndn_fw::{cs, dead_nonce};

const LOOP: (DropReason, Option<NackReason>) = (DropReason::Loop, Some(NackReason::DUPLICATE));

#[test]
fn the_same_nonce_from_another_face_is_a_loop() {
    let mut rig = Rig::new();
    let [consumer, other, producer] = rig.faces();
    rig.route("/a", producer, 1);
    rig.asks(consumer, &ask("/a/1", 1));
    assert_eq!(rig.refuses(other, &ask("/a/1", 1)), LOOP);
    assert_eq!(rig.refuses(producer, &ask("/a/1", 1)), LOOP);
    assert_eq!(rig.gives(producer, &data("/a/1", 0)), [(consumer, vec![])]);
}

#[test]
fn the_same_nonce_under_another_name_is_none() {
    let mut rig = Rig::new();
    let [consumer, other, producer] = rig.faces();
    rig.route("/a", producer, 1);
    rig.asks(consumer, &ask("/a/1", 1));
    assert_eq!(rig.asks(other, &ask("/a/2", 1)), [producer]);
}

#[test]
fn a_consumer_may_repeat_its_own_packet() {
    let mut rig = Rig::new();
    let [consumer, producer] = rig.faces();
    rig.route("/a", producer, 1);
    rig.asks(consumer, &ask("/a/1", 1));
    assert_eq!(rig.asks(consumer, &ask("/a/1", 1)), [], "too soon to go again");
    rig.passes(10);
    assert_eq!(rig.asks(consumer, &ask("/a/1", 1)), [producer]);
}

#[test]
fn on_a_shared_link_a_repeated_packet_may_be_anyones() {
    let mut rig = Rig::new();
    let [producer] = rig.faces();
    let shared = rig.face_of(Scope::NonLocal, LinkType::MultiAccess);
    rig.route("/a", producer, 1);
    rig.asks(shared, &ask("/a/1", 1));
    rig.passes(100);
    assert_eq!(rig.refuses(shared, &ask("/a/1", 1)), (DropReason::Loop, None), "and none is told so");
    assert_eq!(rig.asks(shared, &ask("/a/1", 2)), [producer]);
}

#[test]
fn one_that_comes_round_after_its_entry_ended_is_known() {
    let mut rig = Rig::new();
    let [consumer, other, producer] = rig.faces();
    rig.route("/a", producer, 1);
    rig.asks(consumer, &ask("/a/1", 1).lives(100));
    rig.passes(100);
    assert!(rig.forwarder.pit().is_empty());
    assert_eq!(rig.refuses(other, &ask("/a/1", 1)), LOOP);
    rig.passes(dead_nonce::LIFETIME / 2 - 1);
    assert_eq!(rig.refuses(other, &ask("/a/1", 1)), LOOP);
    rig.passes(dead_nonce::LIFETIME);
    assert_eq!(rig.asks(other, &ask("/a/1", 1)), [producer], "it is forgotten in the end");
}

#[test]
fn one_that_another_took_the_place_of_is_known() {
    let mut rig = Rig::new();
    let [consumer, other, producer] = rig.faces();
    rig.route("/a", producer, 1);
    rig.asks(consumer, &ask("/a/1", 1));
    rig.passes(20);
    assert_eq!(rig.asks(consumer, &ask("/a/1", 2)), [producer]);
    assert_eq!(rig.refuses(other, &ask("/a/1", 1)), LOOP);
}

#[test]
fn one_that_comes_round_after_data_is_answered_or_known() {
    let stale = data("/a/1", 0);
    for (config, header, question) in [
        (cs::Config::default(), LpHeader::default(), ask("/a/1", 1).fresh()),
        (cs::Config { admit: false, ..cs::Config::default() }, LpHeader::default(), ask("/a/1", 1)),
        (cs::Config { serve: false, ..cs::Config::default() }, LpHeader::default(), ask("/a/1", 1)),
        (cs::Config { packets: 0, ..cs::Config::default() }, LpHeader::default(), ask("/a/1", 1)),
        (cs::Config { bytes: 200, ..cs::Config::default() }, LpHeader::default(), ask("/a/1", 1)),
        (cs::Config::default(), LpHeader { cache_policy: Some(1), ..LpHeader::default() }, ask("/a/1", 1)),
    ] {
        let mut rig = Rig::with(Config { cs: config, ..Config::default() });
        let [consumer, other, producer] = rig.faces();
        rig.route("/a", producer, 1);
        rig.asks(consumer, &question);
        rig.gives_with(producer, header, &stale);
        assert_eq!(rig.refuses(other, &question), LOOP, "{config:?}");
    }
    let mut rig = Rig::new();
    let [consumer, other, producer] = rig.faces();
    rig.route("/a", producer, 1);
    rig.asks(consumer, &ask("/a/1", 1));
    rig.gives(producer, &stale);
    assert_eq!(rig.take(other, LpHeader::default(), &ask("/a/1", 1).build())[0].packet, stale);
}
