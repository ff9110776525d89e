//! Data: what it satisfies, what is kept of it, and what the store answers.

use crate::rig::Rig;
use crate::support::{ask, data, data_of, uri};
use hashlane_ndn::wire::{Data, LpHeader};
use hashlane_ndn_fw::forward::{Config, DropReason};
use hashlane_ndn_fw::pit::Pit as _;
use hashlane_ndn_fw::{cs, face};

#[test]
fn satisfies_prefixes_that_can_be_some() {
    let mut rig = Rig::new();
    let [short, exact, rigid, producer] = rig.faces();
    rig.route("/a", producer, 1);
    rig.asks(short, &ask("/a", 1).prefix());
    rig.asks(exact, &ask("/a/b/c", 2));
    rig.asks(rigid, &ask("/a/b", 3));
    assert_eq!(rig.gives(producer, &data("/a/b/c", 0)), [(short, vec![]), (exact, vec![])]);
    assert_eq!(rig.forwarder.pit().len(), 1);
}

#[test]
fn satisfies_its_full_name() {
    let mut rig = Rig::new();
    let [consumer, other, producer] = rig.faces();
    rig.route("/a", producer, 1);
    let packet = data("/a/b", 0);
    let digest = Data::parse(&packet).expect("Data").implicit_digest();
    let hex = data_encoding::HEXLOWER.encode(&digest);
    rig.asks(consumer, &ask(&format!("/a/b/sha256digest={hex}"), 1));
    rig.asks(other, &ask(&format!("/a/b/sha256digest={}", "0".repeat(64)), 2));
    assert_eq!(rig.gives(producer, &packet), [(consumer, vec![])]);
    let sent = rig.take(other, LpHeader::default(), &ask(&format!("/a/b/sha256digest={hex}"), 3).build());
    assert_eq!(sent[0].packet, packet, "from the store");
}

#[test]
fn the_store_answers_with_what_came_by() {
    let mut rig = Rig::new();
    let [first, second, producer] = rig.faces();
    rig.route("/a", producer, 1);
    rig.asks(first, &ask("/a/b", 1));
    rig.gives(producer, &data("/a/b", 50));
    for question in [ask("/a/b", 2), ask("/a", 3).prefix(), ask("/a", 4).prefix().fresh()] {
        let sent = rig.take(second, LpHeader::default(), &question.build());
        assert_eq!((sent.len(), sent[0].face, sent[0].packet.clone()), (1, second, data("/a/b", 50)));
    }
    rig.passes(50);
    assert_eq!(rig.asks(second, &ask("/a/b", 5).fresh()), [producer], "it is fresh no more");
    assert!(rig.forwarder.cs().hits == 3 && rig.forwarder.pit().len() == 1);
}

#[test]
fn what_is_not_to_be_kept_is_not() {
    let mut rig = Rig::new();
    let [consumer, producer] = rig.faces();
    rig.route("/a", producer, 1);
    rig.asks(consumer, &ask("/a/1", 1));
    let header = LpHeader { cache_policy: Some(1), ..LpHeader::default() };
    assert_eq!(rig.gives_with(producer, header, &data("/a/1", 1000)), [(consumer, vec![])]);
    assert!(rig.forwarder.cs().is_empty());
    rig.asks(consumer, &ask("/a/2", 2));
    let header = LpHeader { cache_policy: Some(2), ..LpHeader::default() };
    rig.gives_with(producer, header, &data("/a/2", 1000));
    assert_eq!(rig.forwarder.cs().len(), 1, "an unknown policy is ignored");
}

#[test]
fn what_the_store_got_meanwhile_answers_who_asks_again() {
    let mut rig = Rig::new();
    let [waits, asks, dead, lively] = rig.faces();
    rig.route("/dead", dead, 1);
    rig.route("/lively", lively, 1);
    rig.asks(waits, &ask("/a", 1).hint("/dead"));
    rig.asks(asks, &ask("/a", 2).hint("/lively"));
    rig.gives(lively, &data("/a", 0));
    assert_eq!(rig.forwarder.pit().len(), 1, "nobody has answered the first");
    rig.passes(1000);
    let sent = rig.take(waits, LpHeader::default(), &ask("/a", 3).hint("/dead").build());
    assert_eq!((sent[0].face, &sent[0].packet), (waits, &data("/a", 0)));
}

#[test]
fn does_not_go_back_where_it_came_from_but_on_an_ad_hoc_link() {
    let mut rig = Rig::new();
    let [consumer] = rig.faces();
    let shared = rig.face_of(face::Scope::NonLocal, face::LinkType::MultiAccess);
    let radio = rig.face_of(face::Scope::NonLocal, face::LinkType::AdHoc);
    for way in [shared, radio] {
        rig.route("/a", way, 1);
        rig.asks(consumer, &ask("/a/1", 1));
        let back = rig.asks(way, &ask("/a/1", 2));
        assert_eq!(back, [], "it waits with the first");
        let expected: &[_] = if way == radio { &[consumer, radio] } else { &[consumer] };
        let served: Vec<_> = rig.gives(way, &data("/a/1", 0)).into_iter().map(|(face, _)| face).collect();
        assert_eq!(served, expected);
        rig.forwarder.remove_face(way);
        rig.forwarder.erase(&uri("/").view(), 10);
        rig.passes(20_000);
    }
}

#[test]
fn a_store_that_is_off_neither_takes_nor_answers() {
    let off = cs::Config { admit: false, ..cs::Config::default() };
    let mut rig = Rig::with(Config { cs: off, ..Config::default() });
    let [consumer, producer] = rig.faces();
    rig.route("/a", producer, 1);
    rig.asks(consumer, &ask("/a/1", 1));
    rig.gives(producer, &data("/a/1", 1000));
    assert!(rig.forwarder.cs().is_empty());
    rig.forwarder.configure_cs(cs::Config { admit: true, serve: false, ..off });
    rig.asks(consumer, &ask("/a/1", 2));
    rig.gives(producer, &data("/a/1", 1000));
    assert_eq!(rig.forwarder.cs().len(), 1);
    assert_eq!(rig.asks(consumer, &ask("/a/1", 3)), [producer]);
    rig.forwarder.configure_cs(cs::Config { admit: true, serve: true, ..off });
    assert_eq!(
        rig.take(consumer, LpHeader::default(), &ask("/a/1", 4).build())[0].packet,
        data("/a/1", 1000)
    );
}

#[test]
fn one_that_is_also_a_nack_is_refused() {
    let mut rig = Rig::new();
    let [consumer, producer] = rig.faces();
    rig.route("/a", producer, 1);
    rig.asks(consumer, &ask("/a/1", 1));
    let header = LpHeader { nack: Some(hashlane_ndn::wire::NackReason::NO_ROUTE), ..LpHeader::default() };
    let bytes = data("/a/1", 0);
    let (sent, done) = rig.try_take(producer, &crate::rig::packet(header, &bytes));
    assert_eq!((sent, done), (vec![], Err(DropReason::Malformed)));
}

#[test]
fn counts_what_comes_and_goes() {
    let mut rig = Rig::new();
    let [consumer, producer] = rig.faces();
    rig.route("/a", producer, 1);
    for number in 0..10 {
        rig.asks(consumer, &ask(&format!("/a/{number}"), number));
        rig.gives(producer, &data_of(&uri(&format!("/a/{number}")), 0, b"x"));
    }
    rig.take(consumer, LpHeader::default(), &ask("/a/1", 99).build());
    rig.take(consumer, LpHeader::default(), &ask("/b", 100).build());
    let counted = |face| {
        let counters = &rig.forwarder.faces().find(face).expect("a face").counters;
        [
            counters.in_interests.value(),
            counters.in_data.value(),
            counters.in_nacks.value(),
            counters.out_interests.value(),
            counters.out_data.value(),
            counters.out_nacks.value(),
        ]
    };
    assert_eq!(counted(consumer), [12, 0, 0, 0, 11, 1]);
    assert_eq!(counted(producer), [0, 10, 0, 10, 0, 0]);
}
