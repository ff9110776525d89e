//! Forwarding hints.

use crate::rig::Rig;
use crate::support::{ask, data, uri};
use hashlane_ndn::wire::{LpHeader, NackReason};
use hashlane_ndn_fw::face::Scope;
use hashlane_ndn_fw::forward::{Config, DropReason};
use hashlane_ndn_fw::pit::Pit as _;

#[test]
fn leads_where_the_name_does_not() {
    let mut rig = Rig::new();
    let [consumer, isp, backup, own] = rig.faces();
    rig.route("/isp", isp, 1);
    rig.route("/backup", backup, 1);
    rig.route("/net", own, 1);
    assert_eq!(rig.asks(consumer, &ask("/net/1", 1).hint("/isp/west")), [isp]);
    assert_eq!(rig.asks(consumer, &ask("/net/2", 2).hint("/nowhere").hint("/backup").hint("/isp")), [backup]);
    let back = rig.take(consumer, LpHeader::default(), &ask("/net/3", 3).hint("/nowhere").build());
    assert_eq!(back[0].nack, Some(NackReason::NO_ROUTE), "the name is not a way beside the hint");
    assert_eq!(rig.gives(isp, &data("/net/1", 0)), [(consumer, vec![])]);
}

#[test]
fn is_a_part_of_what_is_waited_for() {
    let mut rig = Rig::new();
    let [consumer, attacker, own, evil] = rig.faces();
    rig.route("/net", own, 1);
    rig.route("/evil", evil, 1);
    assert_eq!(rig.asks(attacker, &ask("/net/1", 1).hint("/evil")), [evil]);
    assert_eq!(rig.asks(consumer, &ask("/net/1", 2)), [own], "the attacker's Interest is another");
    assert_eq!(rig.forwarder.pit().len(), 2);
    assert_eq!(
        rig.gives(own, &data("/net/1", 0)),
        [(consumer, vec![])],
        "who has not been asked has not answered"
    );
    assert_eq!(rig.gives(evil, &data("/net/1", 0)), [(attacker, vec![])]);
}

#[test]
fn ends_at_its_region() {
    let regions = vec![uri("/isp/west/city")];
    let mut rig = Rig::with(Config { regions, ..Config::default() });
    let [consumer, other, isp, producer] = rig.faces();
    rig.route("/isp", isp, 1);
    rig.route("/net", producer, 1);
    let sent = rig.take(consumer, LpHeader::default(), &ask("/net/1", 1).hint("/isp/west").build());
    assert_eq!((sent[0].face, &sent[0].packet), (producer, &ask("/net/1", 1).build()), "it goes on without");
    assert_eq!(rig.asks(other, &ask("/net/1", 2)), [], "and is the same as one that had none");
    assert_eq!(rig.gives(producer, &data("/net/1", 0)).len(), 2);
    assert_eq!(rig.asks(consumer, &ask("/net/2", 3).hint("/isp/east")), [isp], "a neighbour is not a region");
    assert_eq!(rig.asks(consumer, &ask("/net/3", 4).hint("/isp/west/city/7")), [isp], "nor is a place in it");
    let any = rig.asks(consumer, &ask("/net/4", 5).hint("/isp/east").hint("/isp/west/city"));
    assert_eq!(any, [producer], "one hint that has arrived will do");
}

#[test]
fn a_name_has_no_more_hints_than_a_few() {
    let mut rig = Rig::new();
    let [consumer, attacker, producer] = rig.faces();
    rig.route("/", producer, 1);
    for number in 0..200 {
        let bytes = ask("/net/1", number).hint(&format!("/{number}")).build();
        let (sent, done) = rig.try_take(attacker, &crate::rig::packet(LpHeader::default(), &bytes));
        rig.now = rig.now.after_millis(1);
        let nacks = sent.iter().filter(|sent| sent.nack == Some(NackReason::CONGESTION)).count();
        assert_eq!((done, nacks), (Ok(()), usize::from(number >= 16)), "the oldest one gives way");
        assert!(rig.forwarder.pit().len() <= 16);
    }
    let other = rig.face_of_holder(2, Scope::NonLocal);
    let sent = rig.take(other, LpHeader::default(), &ask("/net/1", 999).hint("/other").build());
    let [nack, interest] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!((nack.face, nack.nack, interest.face), (attacker, Some(NackReason::CONGESTION), producer));
    assert_eq!(rig.asks(consumer, &ask("/net/1", 1000)), [producer], "others are served");
    assert_eq!(rig.asks(consumer, &ask("/net/2", 1001).hint("/isp")), [producer]);
    assert_eq!(rig.asks(attacker, &ask("/net/1", 3000).hint("/199")), [], "what is there is found");
}

#[test]
fn an_interest_that_came_back_has_the_hint_it_came_with() {
    let mut rig = Rig::with(Config { regions: vec![uri("/net")], ..Config::default() });
    let [consumer, other, producer] = rig.faces();
    rig.route("/a", producer, 1);
    let [hinted, plain] = [ask("/a/1", 1).hint("/net"), ask("/a/1", 2)];
    assert_eq!(rig.asks(consumer, &hinted), [producer]);
    rig.passes(10);
    assert_eq!(rig.asks(other, &plain), [producer], "a new Nonce");
    // The Interest loops and has no other next hop: both times its sender gets a Nack with the Interest it
    // sent.
    assert_eq!(rig.refuses(other, &ask("/a/1", 1).hint("/net")).0, DropReason::Loop);
    let nowhere = ask("/b", 4).hint("/net");
    let sent = rig.take(consumer, LpHeader::default(), &nowhere.build());
    assert_eq!(
        (sent.len(), sent[0].nack, &sent[0].packet),
        (1, Some(NackReason::NO_ROUTE), &nowhere.build())
    );
    // And what the producer sends back goes to each as it asked.
    let header = LpHeader { nack: Some(NackReason::NO_ROUTE), ..LpHeader::default() };
    let mut sent = rig.take(producer, header, &plain.build());
    sent.sort_by_key(|sent| sent.face);
    let sent: Vec<_> = sent.into_iter().map(|sent| (sent.face, sent.packet)).collect();
    assert_eq!(sent, [(consumer, hinted.build()), (other, plain.build())]);
}
