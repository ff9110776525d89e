//! The strategy self-learning, and the link fields NonDiscovery and PrefixAnnouncement.

use crate::rig::{Rig, packet};
use crate::support::{Sent, announcement, ask, data, data_of, uri};
use hashlane_ndn::wire::{LpHeader, NackReason};
use hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use hashlane_ndn_fw::forward::{BURST, Burst};
use hashlane_ndn_fw::learning::{Announcement, MAX_ANNOUNCEMENT, Reported, RouteEvent};
use std::sync::Arc;

/// A forwarder with three neighbours, where the strategy is self-learning.
fn neighbours() -> (Rig, [FaceId; 3]) {
    let mut rig = Rig::new();
    rig.strategy("/", "self-learning");
    let faces = rig.faces();
    (rig, faces)
}

const FOLLOWED: LpHeader<'static> = LpHeader { non_discovery: true, ..LpHeader::EMPTY };

/// Faces that an Interest goes to, with the field NonDiscovery.
fn goes(rig: &mut Rig, from: FaceId, header: LpHeader<'_>, name: &str, nonce: u32) -> Vec<(FaceId, bool)> {
    let sent = rig.take(from, header, &ask(name, nonce).build());
    sent.iter()
        .map(|sent| {
            assert_eq!((sent.brief().1, &sent.announcement[..]), ("interest", &[][..]));
            (sent.face, sent.non_discovery)
        })
        .collect()
}

/// Downstreams of Data, with the announcement that they get.
fn gets(rig: &mut Rig, from: FaceId, announcement: &[u8], name: &str) -> Vec<(FaceId, Vec<u8>)> {
    let header = LpHeader { prefix_announcement: announcement, ..LpHeader::default() };
    let sent = rig.take(from, header, &data(name, 0));
    sent.into_iter()
        .map(|Sent { face, announcement, non_discovery, .. }| {
            assert!(!non_discovery);
            (face, announcement)
        })
        .collect()
}

/// Installs the route of an announcement, as the management does.
fn learns(rig: &mut Rig, prefix: &str, face: FaceId, is_learned: bool) -> Vec<u8> {
    let packet = announcement(prefix);
    rig.route(prefix, face, 2048);
    let announced = Announcement { packet: Arc::from(&packet[..]), is_learned };
    rig.forwarder.announce(&uri(prefix).view(), face, Some(announced));
    packet
}

fn events(rig: &mut Rig) -> Vec<(FaceId, RouteEvent)> {
    let has_some = rig.forwarder.has_route_events();
    let events = rig.forwarder.take_route_events();
    assert_eq!(has_some, !events.is_empty());
    events.into_iter().map(|Reported { face, event, .. }| (face, event)).collect()
}

#[test]
fn a_discovery_interest_goes_to_all_other_hosts_and_one_with_routes_along_them() {
    let (mut rig, [a, b, c]) = neighbours();
    let app = rig.app();
    assert_eq!(goes(&mut rig, app, LpHeader::EMPTY, "/p/1", 1), [(a, false), (b, false), (c, false)]);
    assert_eq!(goes(&mut rig, a, LpHeader::EMPTY, "/p/2", 2), [(b, false), (c, false)]);
    rig.route("/p", b, 1);
    assert_eq!(goes(&mut rig, a, LpHeader::EMPTY, "/p/3", 3), [(b, true)]);
    assert_eq!(goes(&mut rig, a, FOLLOWED, "/p/4", 4), [(b, true)]);
    // The only route leads back: others may know another one.
    assert_eq!(goes(&mut rig, b, LpHeader::EMPTY, "/p/5", 5), [(a, false), (c, false)]);
}

#[test]
fn an_interest_that_must_not_be_flooded_is_refused_without_a_route() {
    let (mut rig, [a, b, _]) = neighbours();
    let sent = rig.take(a, FOLLOWED, &ask("/p/1", 1).build());
    assert_eq!(
        sent.iter().map(|sent| (sent.face, sent.nack)).collect::<Vec<_>>(),
        [(a, Some(NackReason::NO_ROUTE))]
    );
    rig.route("/p", b, 1);
    let sent = rig.take(b, FOLLOWED, &ask("/p/2", 2).build());
    assert_eq!(sent[0].nack, Some(NackReason::NO_ROUTE), "the only route leads back");
}

#[test]
fn a_discovery_interest_without_neighbours_waits() {
    let mut rig = Rig::new();
    rig.strategy("/", "self-learning");
    let [only] = rig.faces();
    assert_eq!(goes(&mut rig, only, LpHeader::EMPTY, "/p/1", 1), []);
    assert_eq!(rig.forwarder.pending(), 1);
}

#[test]
fn names_of_this_host_and_of_neighbours_stay_where_they_belong() {
    let (mut rig, [a, ..]) = neighbours();
    let app = rig.app();
    assert_eq!(goes(&mut rig, app, LpHeader::EMPTY, "/localhost/x", 1), []);
    assert_eq!(goes(&mut rig, a, LpHeader::EMPTY, "/localhop/x", 2), []);
    assert_eq!(goes(&mut rig, app, LpHeader::EMPTY, "/localhop/x", 3).len(), 3);
}

#[test]
fn a_broadcast_goes_back_over_an_ad_hoc_link_and_to_a_bounded_number_of_faces() {
    let (mut rig, _) = neighbours();
    let radio = rig.face_of(Scope::NonLocal, LinkType::AdHoc);
    assert!(goes(&mut rig, radio, LpHeader::EMPTY, "/p/1", 1).contains(&(radio, false)));
    let first = rig.forwarder.faces().remote().next().expect("a face").0;
    let peers: Vec<FaceId> = (0..200).map(|_| rig.face()).collect();
    let went = goes(&mut rig, peers[150], LpHeader::EMPTY, "/p/2", 2);
    assert_eq!((went.len(), went[0]), (64, (first, false)), "peers that connected later come last");
    assert!(rig.forwarder.remove_face(first).is_some());
    assert!(!goes(&mut rig, peers[150], LpHeader::EMPTY, "/p/3", 3).contains(&(first, false)));
}

#[test]
fn an_announcement_with_data_that_answers_a_discovery_is_reported_and_passed_on() {
    let (mut rig, [a, b, c]) = neighbours();
    let app = rig.app();
    let known = announcement("/p");
    for (from, name, nonce) in [(a, "/p/1", 1), (app, "/p/2", 2)] {
        let _ = goes(&mut rig, from, LpHeader::EMPTY, name, nonce);
        let expected = if from == app { vec![] } else { known.clone() };
        assert_eq!(gets(&mut rig, c, &known, name), [(from, expected)]);
    }
    // The second one waited already.
    assert_eq!(events(&mut rig), [(c, RouteEvent::Announced(known.clone().into()))]);
    let other = goes(&mut rig, a, LpHeader::EMPTY, "/p/3", 3);
    assert_eq!(other.len(), 2);
    assert_eq!(gets(&mut rig, b, &[], "/p/3"), [(a, vec![])], "the upstream does not know of it");
    assert_eq!(events(&mut rig), []);
}

#[test]
fn announcements_of_other_names_or_that_are_none_are_dropped() {
    let (mut rig, [a, _, c]) = neighbours();
    let long = [announcement("/p"), vec![0; MAX_ANNOUNCEMENT]].concat();
    for (nonce, wrong) in (1..).zip([announcement("/q"), b"no announcement".to_vec(), data("/p", 0), long]) {
        let name = format!("/p/{nonce}");
        let _ = goes(&mut rig, a, LpHeader::EMPTY, &name, nonce);
        assert_eq!(gets(&mut rig, c, &wrong, &name), [(a, vec![])]);
    }
    assert_eq!(events(&mut rig), []);
}

#[test]
fn an_announcement_with_data_of_a_known_route_makes_no_other_one() {
    let (mut rig, [a, _, c]) = neighbours();
    rig.route("/p", c, 1);
    let _ = goes(&mut rig, a, LpHeader::EMPTY, "/p/1", 1);
    assert_eq!(gets(&mut rig, c, &announcement("/p"), "/p/1"), [(a, vec![])]);
    assert_eq!(events(&mut rig), []);
}

#[test]
fn the_announcement_of_a_route_goes_with_data_to_downstreams_that_discover() {
    let (mut rig, [a, b, c]) = neighbours();
    let (producer, consumer) = (rig.app(), rig.app());
    let known = learns(&mut rig, "/p", producer, false);
    assert_eq!(
        goes(&mut rig, a, LpHeader::EMPTY, "/p/1", 1),
        [(producer, false)],
        "not an application's field"
    );
    let _ = goes(&mut rig, b, FOLLOWED, "/p/1", 2);
    let _ = goes(&mut rig, consumer, LpHeader::EMPTY, "/p/1", 3);
    let mut got = gets(&mut rig, producer, &[], "/p/1");
    got.sort();
    let mut expected = vec![(a, known.clone()), (b, vec![]), (consumer, vec![])];
    expected.sort();
    assert_eq!(got, expected);
    rig.forwarder.announce(&uri("/p").view(), producer, None);
    let _ = goes(&mut rig, c, LpHeader::EMPTY, "/p/2", 4);
    assert_eq!(gets(&mut rig, producer, &[], "/p/2"), [(c, vec![])]);
    assert_eq!(events(&mut rig), []);
}

#[test]
fn the_content_store_answers_a_discovery_with_the_announcement() {
    let (mut rig, [a, b, c]) = neighbours();
    let producer = rig.app();
    let known = learns(&mut rig, "/p", producer, false);
    let _ = goes(&mut rig, a, LpHeader::EMPTY, "/p/1", 1);
    let _ = gets(&mut rig, producer, &[], "/p/1");
    for (from, header, nonce, expected) in
        [(b, LpHeader::EMPTY, 2, known), (c, FOLLOWED, 3, vec![]), (producer, LpHeader::EMPTY, 4, vec![])]
    {
        let sent = rig.take(from, header, &ask("/p/1", nonce).build());
        assert_eq!((sent.len(), &sent[0].announcement), (1, &expected));
    }
}

#[test]
fn an_announcement_that_would_make_a_packet_too_long_is_left_out() {
    let (mut rig, [a, ..]) = neighbours();
    let producer = rig.app();
    let known = learns(&mut rig, "/p", producer, false);
    let mut gets_of = |nonce, len| {
        let name = format!("/p/{nonce}");
        let _ = goes(&mut rig, a, LpHeader::EMPTY, &name, nonce);
        let sent = rig.take(producer, LpHeader::EMPTY, &data_of(&uri(&name), 0, &vec![7; len]));
        sent[0].announcement.len()
    };
    assert_eq!([gets_of(1, 8000), gets_of(2, 8600)], [known.len(), 0]);
}

#[test]
fn the_use_of_a_learned_route_is_reported_once_a_minute() {
    let (mut rig, [a, b, _]) = neighbours();
    learns(&mut rig, "/p", b, true);
    let fetches = |rig: &mut Rig, number| {
        let name = format!("/p/{number}");
        let _ = goes(rig, a, FOLLOWED, &name, number);
        assert_eq!(gets(rig, b, &[], &name), [(a, vec![])]);
        events(rig)
    };
    let used = [(b, RouteEvent::Used(uri("/p")))];
    assert_eq!(fetches(&mut rig, 1), used);
    assert_eq!(fetches(&mut rig, 2), []);
    rig.passes(60_000);
    assert_eq!(fetches(&mut rig, 3), used);
}

#[test]
fn a_next_hop_without_a_route_is_reported_and_the_interest_is_flooded() {
    let (mut rig, [a, b, c]) = neighbours();
    learns(&mut rig, "/p", b, true);
    assert_eq!(goes(&mut rig, a, LpHeader::EMPTY, "/p/1", 1), [(b, true)]);
    let nack = LpHeader { nack: Some(NackReason::NO_ROUTE), ..LpHeader::EMPTY };
    let sent = rig.take(b, nack, &ask("/p/1", 1).build());
    let went: Vec<_> = sent.iter().map(|sent| (sent.face, sent.nack, sent.non_discovery)).collect();
    assert_eq!(went, [(c, None, false)]);
    assert_eq!(events(&mut rig), [(b, RouteEvent::Broken(uri("/p")))]);
    assert_eq!(rig.nacks(c, NackReason::NO_ROUTE, &ask("/p/1", 1)), [(a, NackReason::NO_ROUTE)]);
    assert_eq!(events(&mut rig), [], "a neighbour that does not know the prefix breaks no route");
    // A downstream that knows a route floods itself.
    assert_eq!(goes(&mut rig, a, FOLLOWED, "/p/2", 2), [(b, true)]);
    assert_eq!(rig.nacks(b, NackReason::DUPLICATE, &ask("/p/2", 2)), [(a, NackReason::DUPLICATE)]);
    assert_eq!(events(&mut rig), [], "another reason says nothing about the route");
}

#[test]
fn retransmissions_of_a_flood_are_suppressed_for_a_while() {
    let (mut rig, [a, b, c]) = neighbours();
    let _ = goes(&mut rig, a, LpHeader::EMPTY, "/p/1", 1);
    assert_eq!(goes(&mut rig, a, LpHeader::EMPTY, "/p/1", 2), []);
    rig.passes(11);
    assert_eq!(goes(&mut rig, a, LpHeader::EMPTY, "/p/1", 3), [(b, false), (c, false)]);
    rig.passes(11);
    assert_eq!(goes(&mut rig, a, LpHeader::EMPTY, "/p/1", 4), [], "the interval has doubled");
}

#[test]
fn other_strategies_carry_the_fields_and_report_nothing() {
    let mut rig = Rig::new();
    let [a, b] = rig.faces();
    rig.route("/p", b, 1);
    let known = announcement("/p");
    assert_eq!(goes(&mut rig, a, FOLLOWED, "/p/1", 1), [(b, true)]);
    assert_eq!(gets(&mut rig, b, &known, "/p/1"), [(a, vec![])], "it has a route");
    assert_eq!(goes(&mut rig, a, LpHeader::EMPTY, "/p/2", 2), [(b, false)]);
    assert_eq!(gets(&mut rig, b, &known, "/p/2"), [(a, known)]);
    assert_eq!(events(&mut rig), []);
}

#[test]
fn data_for_several_entries_brings_each_downstream_its_announcement() {
    let (mut rig, [a, b, c]) = neighbours();
    let known = announcement("/p");
    let _ = goes(&mut rig, a, LpHeader::EMPTY, "/p/1", 1);
    let _ = rig.take(b, FOLLOWED, &ask("/p/1", 2).prefix().build());
    let _ = rig.take(b, LpHeader::EMPTY, &ask("/p", 3).prefix().build());
    let mut got = gets(&mut rig, c, &known, "/p/1");
    got.sort();
    assert_eq!(got, [(a, known.clone()), (b, known.clone())]);
    assert_eq!(events(&mut rig), [(c, RouteEvent::Announced(known.into()))]);
}

#[test]
fn a_neighbour_reports_a_bounded_number_of_announcements_at_a_time() {
    let mut rig = Rig::new();
    rig.strategy("/", "self-learning");
    let app = rig.app();
    let add = |rig: &mut Rig, holder| {
        let mut face = Face::new(Scope::NonLocal, LinkType::PointToPoint);
        face.holder = hashlane_table::share::Holder::new(holder, true);
        rig.forwarder.add_face(face).expect("room for a face")
    };
    let (flood, quiet) = (add(&mut rig, 1), add(&mut rig, 2));
    let ask_for = |rig: &mut Rig, face, number: u32| {
        let name = format!("/p/{number}");
        let _ = goes(rig, app, LpHeader::EMPTY, &name, number);
        let known = announcement(&name);
        let header = LpHeader { prefix_announcement: &known, ..LpHeader::EMPTY };
        let bytes = data(&name, 0);
        let mut burst = Burst::new();
        burst.push_packet(face, &packet(header, &bytes));
        rig.forwarder.receive_burst(&mut burst, rig.now, &mut crate::support::Log::default());
    };
    (1..=2 * BURST as u32).for_each(|number| ask_for(&mut rig, flood, number));
    ask_for(&mut rig, quiet, 1000);
    let reported = rig.forwarder.take_route_events();
    assert_eq!(reported.iter().filter(|event| event.face == flood).count(), 16);
    assert_eq!(reported.iter().filter(|event| event.face == quiet).count(), 1);
}
