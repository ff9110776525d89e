//! Interests: entries, aggregation, what is refused.

use crate::rig::{Rig, packet};
use crate::support::{ask, data, uri};
use hashlane_ndn::wire::{LpHeader, MAX_PACKET, NackReason};
use hashlane_ndn_fw::face::{FaceId, Scope};
use hashlane_ndn_fw::forward::{Config, DropReason};
use hashlane_ndn_fw::pit::Pit as _;

#[test]
fn goes_to_the_cheapest_way_of_the_longest_prefix() {
    let mut rig = Rig::new();
    let [consumer, dear, cheap, short] = rig.faces();
    rig.route("/", short, 0);
    rig.route("/a/b", dear, 20);
    rig.route("/a/b", cheap, 10);
    assert_eq!(rig.asks(consumer, &ask("/a/b/c", 1)), [cheap]);
    assert_eq!(rig.asks(consumer, &ask("/a/b", 2)), [cheap]);
    assert_eq!(rig.asks(consumer, &ask("/a/bc", 3)), [short]);
    rig.route("/a/b", dear, 5);
    assert_eq!(rig.asks(consumer, &ask("/a/b/d", 4)), [dear]);
    assert!(rig.forwarder.remove_route(&uri("/a/b").view(), dear));
    assert!(!rig.forwarder.remove_route(&uri("/a/b").view(), dear));
    assert_eq!(rig.asks(consumer, &ask("/a/b/e", 5)), [cheap]);
}

#[test]
fn a_second_consumer_waits_with_the_first_and_both_are_answered() {
    let mut rig = Rig::new();
    let [first, second, producer] = rig.faces();
    rig.route("/a", producer, 1);
    assert_eq!(rig.asks(first, &ask("/a/1", 1)), [producer]);
    assert_eq!(rig.asks(second, &ask("/a/1", 2)), []);
    assert_eq!(rig.forwarder.pit().len(), 1);
    assert_eq!(rig.gives(producer, &data("/a/1", 0)), [(first, vec![]), (second, vec![])]);
    assert!(rig.forwarder.pit().is_empty());
}

#[test]
fn other_selectors_make_another_entry() {
    let mut rig = Rig::new();
    let [consumer, producer] = rig.faces();
    rig.route("/a", producer, 1);
    let all = [
        ask("/a/1", 1),
        ask("/a/1", 2).prefix(),
        ask("/a/1", 3).fresh(),
        ask("/a/1", 4).prefix().fresh(),
        ask("/a/1", 5).hint("/a"),
    ];
    for ask in &all {
        assert_eq!(rig.asks(consumer, ask), [producer]);
    }
    assert_eq!(rig.forwarder.pit().len(), all.len());
    assert_eq!(rig.gives(producer, &data("/a/1", 0)), [(consumer, vec![])], "one Data for all of them");
    assert!(rig.forwarder.pit().is_empty());
}

#[test]
fn without_a_way_it_comes_back() {
    let mut rig = Rig::new();
    let [consumer] = rig.faces();
    let bytes = ask("/a", 1).build();
    let (sent, done) = rig.try_take(consumer, &packet(LpHeader::default(), &bytes));
    assert_eq!(done, Ok(()));
    assert_eq!((sent[0].face, sent[0].nack), (consumer, Some(NackReason::NO_ROUTE)));
    assert_eq!(sent[0].packet, bytes);
    assert!(rig.forwarder.pit().is_empty());
}

#[test]
fn does_not_go_back_where_it_came_from() {
    let mut rig = Rig::new();
    let [only, other] = rig.faces();
    rig.route("/a", only, 1);
    let bytes = ask("/a/1", 1).build();
    let sent = rig.take(only, LpHeader::default(), &bytes);
    assert_eq!((sent[0].face, sent[0].nack), (only, Some(NackReason::NO_ROUTE)));
    assert_eq!(rig.asks(other, &ask("/a/1", 2)), [only]);
}

#[test]
fn the_hop_limit_ends_it() {
    let mut rig = Rig::new();
    let [consumer, neighbour] = rig.faces();
    let app = rig.app();
    rig.route("/far", neighbour, 1);
    rig.route("/near", app, 1);
    assert_eq!(rig.drops(consumer, &ask("/near/0", 1).hops(0).build()), DropReason::HopLimit);
    assert_eq!(rig.asks(consumer, &ask("/far/1", 2).hops(1)), [], "its last hop was the one to here");
    let sent = rig.take(consumer, LpHeader::default(), &ask("/near/1", 3).hops(1).build());
    assert_eq!((sent[0].face, sent[0].interest().hop_limit()), (app, Some(0)));
    let sent = rig.take(consumer, LpHeader::default(), &ask("/far/2", 4).hops(255).build());
    assert_eq!(sent[0].packet, ask("/far/2", 4).hops(254).build(), "nothing else is changed");
    let sent = rig.take(consumer, LpHeader::default(), &ask("/far/3", 5).build());
    assert_eq!(sent[0].interest().hop_limit(), None);
}

#[test]
fn one_that_went_nowhere_does_not_hold_others_back() {
    let mut rig = Rig::new();
    let [tired, fresh, producer] = rig.faces();
    rig.route("/a", producer, 1);
    assert_eq!(rig.asks(tired, &ask("/a/1", 1).hops(1)), []);
    assert_eq!(rig.asks(fresh, &ask("/a/1", 2).hops(9)), [producer]);
    assert_eq!(rig.gives(producer, &data("/a/1", 0)), [(tired, vec![]), (fresh, vec![])]);
}

#[test]
fn is_given_a_nonce_where_it_has_none() {
    let mut rig = Rig::new();
    let app = rig.app();
    let [producer, other] = rig.faces();
    rig.route("/a", producer, 1);
    for ask in
        [ask("/a/1", 0), ask("/a/2", 0).prefix().fresh().lives(700).hops(3), ask("/a/3", 0).parameters(b"p")]
    {
        let sent = rig.take(app, LpHeader::default(), &ask.clone().without_nonce().build());
        let nonce = sent[0].interest().nonce().expect("a Nonce");
        let mut expected = ask;
        expected.nonce = Some(nonce);
        expected.hop_limit = expected.hop_limit.map(|hops| hops - 1);
        assert_eq!((sent[0].face, &sent[0].packet), (producer, &expected.build()));
    }
    // Two such packets have different ones: the second is no loop.
    assert_eq!(rig.asks(other, &ask("/a/1", 0).without_nonce()), []);
}

#[test]
fn a_nonce_is_put_behind_elements_that_may_be_ignored() {
    let mut rig = Rig::new();
    let [consumer, producer] = rig.faces();
    rig.route("/a", producer, 1);
    // An element of type 200, which may be ignored, stands before CanBePrefix.
    let bytes = [&[5, 9][..], &[7, 3, 8, 1, b'a'], &[200, 0], &[33, 0]].concat();
    let sent = rig.take(consumer, LpHeader::default(), &bytes);
    assert!(sent[0].interest().can_be_prefix() && sent[0].interest().nonce().is_some());
}

#[test]
fn a_wrong_digest_of_parameters_is_refused() {
    let mut rig = Rig::new();
    let [consumer, producer] = rig.faces();
    rig.route("/a", producer, 1);
    let bytes = ask("/a/1", 1).parameters(b"parameters").build();
    let mut wrong = bytes.clone();
    *wrong.last_mut().expect("bytes") ^= 1;
    assert_eq!(rig.drops(consumer, &wrong), DropReason::ParametersDigest);
    assert_eq!(rig.take(consumer, LpHeader::default(), &bytes).len(), 1);
}

#[test]
fn an_entry_ends_with_the_last_lifetime() {
    let mut rig = Rig::new();
    let [short, long, producer] = rig.faces();
    rig.route("/a", producer, 1);
    rig.asks(short, &ask("/a/1", 1).lives(100));
    rig.asks(long, &ask("/a/1", 2).lives(300));
    rig.passes(99);
    assert_eq!(rig.forwarder.pit().len(), 1);
    rig.passes(100);
    assert_eq!(rig.gives(producer, &data("/a/1", 0)), [(long, vec![])], "the first has given up");
    rig.asks(short, &ask("/a/2", 3).lives(100));
    rig.passes(99);
    assert_eq!(rig.forwarder.pit().len(), 1);
    rig.passes(1);
    assert!(rig.forwarder.pit().is_empty());
    assert_eq!(rig.drops(producer, &data("/a/2", 0)), DropReason::Unsolicited);
}

#[test]
fn an_hour_is_the_longest_lifetime() {
    let mut rig = Rig::new();
    let (consumer, producer) = (rig.app(), rig.face());
    rig.route("/a", producer, 1);
    rig.asks(consumer, &ask("/a/1", 1).lives(u64::MAX));
    rig.asks(consumer, &ask("/a/2", 1).lives(0));
    rig.passes(3_599_999);
    assert_eq!(rig.forwarder.pit().len(), 1);
    rig.passes(1);
    assert!(rig.forwarder.pit().is_empty());
}

#[test]
fn the_next_turn_is_not_later_than_the_next_end() {
    let mut rig = Rig::new();
    let [consumer, producer] = rig.faces();
    rig.route("/a", producer, 1);
    assert_eq!(rig.forwarder.poll_timeout(), None);
    for lifetime in [1, 70, 8191, 8192, 8193, 20_000] {
        rig.asks(consumer, &ask(&format!("/a/{lifetime}"), 1).lives(lifetime));
        let end = rig.now.after_millis(lifetime);
        let mut turns = 0;
        while !rig.forwarder.pit().is_empty() {
            let next = rig.forwarder.poll_timeout().expect("an entry that ends");
            assert!(next <= end, "{lifetime}");
            rig.now = rig.now.max(next);
            rig.passes(0);
            turns += 1;
        }
        assert_eq!(rig.now, end, "{lifetime}");
        assert!(turns <= 4, "{turns} turns for {lifetime} ms");
    }
}

#[test]
fn packets_that_are_none_are_refused() {
    let mut rig = Rig::new();
    let [consumer] = rig.faces();
    for bytes in [
        &b"\x05\x00"[..],
        b"\x05\x02\x07\x00",
        b"\x06\x05\x07\x03\x08\x01a",
        b"\x07\x03\x08\x01a",
        b"\x05\x05\x07\x03",
    ] {
        assert_eq!(rig.drops(consumer, bytes), DropReason::Malformed);
    }
    let long = [&[5, 253, 0x22, 0x60][..], &[0; MAX_PACKET]].concat();
    assert_eq!(rig.drops(consumer, &long), DropReason::TooLong);
    assert_eq!(rig.drops(FaceId(9999), &ask("/a", 1).build()), DropReason::UnknownFace);
    assert_eq!(rig.drops(FaceId::NONE, &ask("/a", 1).build()), DropReason::UnknownFace);
    assert_eq!(rig.drops(FaceId::MANAGEMENT, &data("/a", 1)), DropReason::UnknownFace);
    assert_eq!(rig.forwarder.counters().drops.value(DropReason::Malformed), 5);
    assert_eq!(rig.forwarder.counters().drops.value(DropReason::UnknownFace), 3);
    assert_eq!(rig.forwarder.faces().find(consumer).expect("it").counters.in_drops.value(), 6);
}

#[test]
fn a_face_that_is_gone_gets_nothing_and_leaves_nothing() {
    let mut rig = Rig::new();
    let [consumer, stays, producer, other] = rig.faces();
    rig.route("/a", producer, 1);
    rig.route("/a", other, 2);
    rig.asks(consumer, &ask("/a/1", 1));
    rig.asks(stays, &ask("/a/1", 2));
    rig.forwarder.remove_face(consumer);
    assert_eq!(rig.gives(producer, &data("/a/1", 0)), [(stays, vec![])]);
    rig.asks(stays, &ask("/a/2", 3));
    rig.forwarder.remove_face(producer);
    assert_eq!(rig.drops(producer, &data("/a/2", 0)), DropReason::UnknownFace);
    assert_eq!(rig.asks(stays, &ask("/a/3", 4)), [other], "a removed face is no next hop");
    rig.passes(10_000);
    assert!(rig.forwarder.pit().is_empty());
}

#[test]
fn no_more_faces_wait_for_one_answer_than_may() {
    let mut rig = Rig::with(Config { pit_entries: 1 << 14, ..Config::default() });
    let producer = rig.face();
    rig.route("/a", producer, 1);
    for nonce in 0..1024 {
        let face = rig.face();
        rig.asks(face, &ask("/a/1", nonce));
    }
    // Newcomers take the place of the oldest record of the address that has most of them.
    let [late, app] = [rig.face_of_holder(2, Scope::NonLocal), rig.app()];
    let first = FaceId(producer.0 + 1);
    for (newcomer, oldest, nonce) in [(late, 0, 5000), (app, 1, 5001)] {
        let sent = rig.take(newcomer, LpHeader::default(), &ask("/a/1", nonce).build());
        let [nack, ..] = &sent[..] else { panic!("a Nack to the oldest one: {sent:?}") };
        assert_eq!((nack.face, nack.nack), (FaceId(first.0 + oldest), Some(NackReason::CONGESTION)));
    }
    let served = rig.gives(producer, &data("/a/1", 0));
    assert!(served.len() == 1024 && [late, app].iter().all(|face| served.contains(&(*face, vec![]))));
}

#[test]
fn local_faces_give_way_to_no_other_host() {
    let mut rig = Rig::with(Config { pit_entries: 1 << 14, ..Config::default() });
    let [producer, late] = rig.faces();
    rig.route("/a", producer, 1);
    for nonce in 0..1024 {
        let face = rig.app();
        rig.asks(face, &ask("/a/1", nonce));
    }
    let refused = rig.refuses(late, &ask("/a/1", 5000));
    assert_eq!(refused, (DropReason::TooManyRecords, Some(NackReason::CONGESTION)));
    assert_eq!(rig.gives(producer, &data("/a/1", 0)).len(), 1024);
}
