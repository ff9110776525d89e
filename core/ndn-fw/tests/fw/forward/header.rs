//! Fields of the link header.

use crate::rig::{Rig, packet};
use crate::support::{ask, data};
use hashlane_ndn::wire::{LpHeader, LpPacket, NackReason};
use hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use hashlane_ndn_fw::forward::DropReason;
use hashlane_ndn_fw::pit::Pit as _;

fn token(token: &[u8]) -> LpHeader<'_> {
    LpHeader { pit_token: token, ..LpHeader::default() }
}

#[test]
fn each_downstream_gets_its_own_token_back() {
    let mut rig = Rig::new();
    let [first, second, third, producer] = rig.faces();
    rig.route("/a", producer, 1);
    let long: Vec<u8> = (0..32).collect();
    rig.asks_with(first, token(&long), &ask("/a/1", 1));
    rig.asks_with(second, token(b"old"), &ask("/a/1", 2));
    rig.asks_with(second, token(b"new"), &ask("/a/1", 3));
    rig.asks(third, &ask("/a/1", 4));
    // The token of the packet itself is the upstream's own business.
    let served = rig.gives_with(producer, token(b"foreign"), &data("/a/1", 0));
    assert_eq!(served, [(first, long), (second, b"new".to_vec()), (third, vec![])]);
}

#[test]
fn the_store_and_nacks_give_the_token_back() {
    let mut rig = Rig::new();
    let [consumer, producer] = rig.faces();
    rig.route("/a", producer, 1);
    rig.asks(consumer, &ask("/a/1", 1));
    rig.gives(producer, &data("/a/1", 0));
    assert_eq!(rig.take(consumer, token(b"hit"), &ask("/a/1", 2).build())[0].token, b"hit");
    assert_eq!(rig.take(consumer, token(b"none"), &ask("/b", 3).build())[0].token, b"none");
    rig.asks_with(consumer, token(b"nack"), &ask("/a/2", 4));
    let header = LpHeader { nack: Some(NackReason::NO_ROUTE), ..token(b"foreign") };
    let sent = rig.take(producer, header, &ask("/a/2", 4).build());
    assert_eq!((sent[0].token.as_slice(), sent[0].nack), (&b"nack"[..], Some(NackReason::NO_ROUTE)));
    let bytes = ask("/a/2", 4).build();
    let (sent, _) = rig.try_take(producer, &packet(token(b"loop"), &bytes));
    assert_eq!((sent[0].token.as_slice(), sent[0].nack), (&b"loop"[..], Some(NackReason::DUPLICATE)));
}

#[test]
fn a_wrapped_packet_of_another_forwarder_is_answered_in_kind() {
    // The packet of NFD's tests/daemon/fw/pit-token.t.cpp.
    let bytes = b"\x64\x1a\x62\x06\xa0\xa1\xa2\xa3\xa4\xa5\x50\x10\x05\x0e\x07\x06\x08\x01U\x08\x010\x0a\x04\x00\x00\x00\x01";
    let mut rig = Rig::new();
    let [consumer, producer] = rig.faces();
    rig.route("/U", producer, 1);
    let (_, done) = rig.try_take(consumer, &LpPacket::parse(bytes).expect("a link packet"));
    assert_eq!(done, Ok(()));
    let served = rig.gives(producer, &data("/U/0", 0));
    assert_eq!(served, [(consumer, b"\xa0\xa1\xa2\xa3\xa4\xa5".to_vec())]);
}

#[test]
fn an_application_may_choose_the_next_hop() {
    let mut rig = Rig::new();
    let app = rig.app();
    let [usual, chosen, outside] = rig.faces();
    rig.route("/a", usual, 1);
    let to = |face: FaceId| LpHeader { next_hop_face: Some(face.0.into()), ..LpHeader::default() };
    assert_eq!(rig.asks_with(app, to(chosen), &ask("/a/1", 1)), [usual], "not without leave");
    rig.local_fields(app);
    assert_eq!(rig.asks_with(app, to(chosen), &ask("/a/2", 2)), [chosen]);
    assert_eq!(rig.gives(chosen, &data("/a/2", 0)), [(app, vec![])]);
    assert_eq!(rig.asks_with(outside, to(chosen), &ask("/a/3", 3)), [usual], "nor from elsewhere");
    for none in [9999, u64::MAX] {
        let header = LpHeader { next_hop_face: Some(none), ..LpHeader::default() };
        let bytes = ask(&format!("/a/{none}"), 4).build();
        let (sent, done) = rig.try_take(app, &packet(header, &bytes));
        assert_eq!((sent, done), (vec![], Err(DropReason::UnknownNextHop)));
    }
    assert_eq!(rig.forwarder.pit().len(), 2, "what was refused is not waited for");
}

#[test]
fn an_application_is_told_the_face_that_a_packet_came_from() {
    let mut rig = Rig::new();
    let (app, service) = (rig.app(), rig.app());
    rig.local_fields(app);
    rig.local_fields(service);
    rig.route("/a", service, 1);
    let forged = LpHeader { incoming_face: Some(7), ..LpHeader::default() };
    let sent = rig.take(app, forged, &ask("/a/1", 1).build());
    assert_eq!((sent[0].face, sent[0].incoming_face), (service, Some(app.0.into())));
    let sent = rig.take(service, LpHeader::default(), &data("/a/1", 0));
    assert_eq!((sent[0].face, sent[0].incoming_face), (app, Some(service.0.into())));
    let sent = rig.take(app, LpHeader::default(), &ask("/a/1", 2).build());
    assert_eq!(sent[0].incoming_face, Some(254), "the store's number in NFD");
    let [outside] = rig.faces();
    let sent = rig.take(outside, LpHeader::default(), &ask("/a/1", 3).build());
    assert_eq!(sent[0].incoming_face, None);
}

#[test]
fn marks_of_congestion_pass_both_ways() {
    let mut rig = Rig::new();
    let [consumer, producer] = rig.faces();
    rig.route("/a", producer, 1);
    let marked = LpHeader { congestion_mark: 3, ..LpHeader::default() };
    assert_eq!(rig.take(consumer, marked, &ask("/a/1", 1).build())[0].congestion_mark, 3);
    assert_eq!(rig.take(producer, marked, &data("/a/1", 0))[0].congestion_mark, 3);
    assert_eq!(
        rig.take(consumer, marked, &ask("/a/1", 2).build())[0].congestion_mark,
        0,
        "the store is not congested"
    );
}

#[test]
fn a_packet_without_a_fragment_does_nothing() {
    let mut rig = Rig::new();
    let [face] = rig.faces();
    assert!(rig.take(face, LpHeader { tx_sequence: Some(1), ..LpHeader::default() }, &[]).is_empty());
}

#[test]
fn a_fragment_of_several_is_not_taken_for_a_packet() {
    let mut rig = Rig::new();
    let [face] = rig.faces();
    let header = LpHeader { sequence: Some(1), frag_count: 2, ..LpHeader::default() };
    let bytes = ask("/a", 1).build();
    let link = [header.frame(bytes.len()).as_bytes(), &bytes].concat();
    let mut log = crate::support::Log::default();
    let done = rig.forwarder.receive_bytes(face, &link, rig.now, &mut log);
    assert_eq!((done, log.0.len()), (Err(DropReason::Reassembly), 0));
    let done = rig.forwarder.receive_bytes(face, b"\x64\x03\x62\x01", rig.now, &mut log);
    assert_eq!((done, log.0.len()), (Err(DropReason::Malformed), 0));
}

#[test]
fn the_management_has_a_face_and_routes() {
    let mut rig = Rig::new();
    let prefix = crate::support::uri("/localhost/nfd");
    rig.forwarder.add_management(Face::new(Scope::Local, LinkType::PointToPoint), &[prefix.view()]);
    let app = rig.app();
    assert_eq!(rig.asks(app, &ask("/localhost/nfd/status/general", 1).prefix()), [FaceId::MANAGEMENT]);
    let sent = rig.gives(FaceId::MANAGEMENT, &data("/localhost/nfd/status/general/1/0", 0));
    assert_eq!(sent, [(app, vec![])]);
    assert!(rig.forwarder.faces().find(FaceId(1 << 14 | 1)).is_none(), "no number stands for it but its own");
    // Events that no Interest waits for are no loss; Data of an application that none waits for is counted.
    let unsolicited = |rig: &Rig| rig.forwarder.counters().drops.value(DropReason::Unsolicited);
    for (face, name, counted) in
        [(FaceId::MANAGEMENT, "/localhost/nfd/faces/events/1", 0), (app, "/localhost/app/1", 1)]
    {
        assert_eq!(rig.drops(face, &data(name, 0)), DropReason::Unsolicited);
        assert_eq!(unsolicited(&rig), counted);
    }
}
