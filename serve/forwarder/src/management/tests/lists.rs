//! Lists that many ask for.

use super::*;

/// The name of the first segment of a list, for the face that asks.
fn first(bench: &mut TestForwarder, uri: &str) -> OwnedName<Ndn> {
    let name = name(&format!("/localhost/nfd/{uri}"));
    let interest = InterestBuilder { can_be_prefix: true, ..InterestBuilder::new(name.view()) };
    let packet = bench.send(&interest.build()).pop().expect("a segment");
    OwnedName::from(&Data::parse(&packet).unwrap().name())
}

/// True if the last segment of a list is there, whose first segment has this name.
fn is_kept(bench: &mut TestForwarder, first: &OwnedName<Ndn>) -> bool {
    let interest = InterestBuilder::new(first.view()).build();
    let packets = bench.send(&interest);
    nacked(&interest, &packets).is_none()
}

fn from(face: u64, peer: Peer) -> Origin {
    Origin { face, scope: FaceScope::Local, peer }
}

#[test]
fn lists_that_are_asked_for_at_once_are_made_once_and_anew_after_a_command() {
    let mut bench = TestForwarder::new();
    for list in ["faces/list", "fib/list", "rib/list", "strategy-choice/list"] {
        bench.time += 1000;
        let one = first(&mut bench, list);
        bench.time += 99;
        assert_eq!(first(&mut bench, list), one, "{list} within 100 ms");
        bench.ok("rib/register", &named("/a"));
        let after = first(&mut bench, list);
        assert_ne!(after, one, "{list} after a command");
        bench.time += 100;
        assert_ne!(first(&mut bench, list), after, "{list} after 100 ms");
    }
    // Other hosts open faces at will; an application finds its own face.
    let one = first(&mut bench, "faces/list");
    bench.manager.face_up(FaceInfo { scope: FaceScope::NonLocal, ..face(301, "udp4://192.0.2.1:6363") }, NOW);
    assert_eq!(first(&mut bench, "faces/list"), one);
    bench.manager.face_up(face(302, "fd://21"), NOW);
    assert_ne!(first(&mut bench, "faces/list"), one);
}

#[test]
fn a_flood_of_lists_leaves_the_segments_of_others() {
    for flooder in [
        Peer::User { uid: 0, over: Over::Loopback },
        Peer::User { uid: 1000, over: Over::Unix },
        // Another face of the same user.
        Peer::User { uid: 0, over: Over::Unix },
    ] {
        let mut bench = TestForwarder::new();
        let innocent = bench.from.clone();
        let mut kept = Vec::new();
        for number in 0..5000 {
            bench.time += 1;
            bench.from = from(400, flooder.clone());
            first(&mut bench, "faces/list");
            first(&mut bench, &format!("status/general/{number}"));
            if number % 500 == 0 {
                bench.from = innocent.clone();
                // The first of these shares the list of the flooder.
                kept.push(first(&mut bench, "faces/list"));
                kept.push(first(&mut bench, "rib/list"));
            }
        }
        bench.from = innocent;
        assert_eq!((bench.manager.store.len(), kept.len()), (64, 20));
        assert!(kept.iter().all(|first| is_kept(&mut bench, first)), "{flooder:?}");
    }
}

#[test]
fn a_list_of_many_segments_outlasts_lists_of_one() {
    let mut bench = TestForwarder::new();
    for id in 301..1300 {
        bench.manager.face_up(face(id, &format!("fd://{id}")), NOW);
    }
    let innocent = bench.from.clone();
    let flooder = from(400, Peer::User { uid: 0, over: Over::Unix });
    bench.from = flooder.clone();
    // The forwarder has aggregated the Interest of the innocent face.
    let list = first(&mut bench, "faces/list");
    for number in 0..1000 {
        first(&mut bench, &format!("status/general/{number}"));
    }
    bench.from = innocent;
    assert!(is_kept(&mut bench, &list));
}

#[test]
fn long_lists_that_nobody_reads_any_more_go_before_new_ones() {
    let mut bench = TestForwarder::new();
    let mut route = named(&format!("/{}", "a".repeat(2000)));
    for number in 0..2000 {
        route.face_id = Some(300);
        route.name = Some(name(&format!("/{}/{number}", "a".repeat(2000))));
        bench.ok("rib/register", &route);
    }
    let innocent = bench.from.clone();
    let flooder = from(400, Peer::User { uid: 0, over: Over::Unix });
    // More than 64 MiB of lists. Each is read by a new face, whose first Interest the forwarder has
    // aggregated.
    let mut last = None;
    for number in 0..100 {
        bench.time += 100;
        bench.from = flooder.clone();
        let list = first(&mut bench, "rib/list");
        for other in 0..4 {
            first(&mut bench, &format!("status/general/{number}/{other}"));
        }
        bench.from = from(1000 + number, innocent.peer.clone());
        assert!(is_kept(&mut bench, &list), "list {number}");
        if let Some(last) = last.replace(list) {
            bench.from = from(999 + number, innocent.peer.clone());
            assert!(is_kept(&mut bench, &last), "list before {number}");
        }
    }
    assert!(bench.manager.store.len() < 40);
}

#[test]
fn a_list_counts_for_whoever_asks_for_a_segment_of_it() {
    let mut bench = TestForwarder::new();
    let innocent = bench.from.clone();
    let flooder = from(400, Peer::User { uid: 0, over: Over::Unix });
    // The forwarder aggregates Interests of one name: management gets the flooder's alone.
    bench.from = flooder.clone();
    let list = first(&mut bench, "faces/list");
    for number in 0..1000 {
        bench.time += 1;
        bench.from = innocent.clone();
        assert!(is_kept(&mut bench, &list), "after {number} other lists");
        bench.from = flooder.clone();
        first(&mut bench, &format!("status/general/{number}"));
    }
}

/// A manager with so many faces that a list of them has many segments.
fn with_many_faces() -> TestForwarder {
    let mut bench = TestForwarder::new();
    for id in 301..601 {
        bench.manager.face_up(face(id, &format!("fd://{id}")), NOW);
    }
    bench
}

#[test]
fn clients_that_have_left_do_not_crowd_out_a_list_that_is_being_read() {
    let mut bench = with_many_faces();
    let innocent = bench.from.clone();
    let flooder = from(300, innocent.peer.clone());
    for id in 1000..1200 {
        bench.time += 5;
        // Each client opens a face, so that its list is made anew, reads all of it, and leaves.
        bench.manager.face_up(face(id, "fd://21"), at(bench.time));
        // The forwarder has aggregated its first Interest with one of the flooder.
        bench.from = flooder.clone();
        let list = first(&mut bench, "faces/list");
        for number in 0..20 {
            first(&mut bench, &format!("status/general/{id}/{number}"));
        }
        bench.from = from(id, innocent.peer.clone());
        assert!(is_kept(&mut bench, &list), "the list of client {id}");
        bench.manager.face_down(id, at(bench.time), &mut bench.plane);
    }
    assert_eq!(bench.manager.store.len(), 64);
}

#[test]
fn a_list_whose_first_client_has_left_is_there_for_whoever_was_aggregated_with_it() {
    let mut bench = with_many_faces();
    let innocent = bench.from.clone();
    let flooder = from(300, innocent.peer.clone());
    for id in 1000..1200 {
        bench.time += 5;
        bench.manager.face_up(face(id, "fd://21"), at(bench.time));
        // The flooder asks for most of the lists. One client leaves after the first segment.
        let hasty = id % 8 == 0;
        bench.from = if hasty { from(id, innocent.peer.clone()) } else { flooder.clone() };
        let list = first(&mut bench, "faces/list");
        if hasty {
            bench.manager.face_down(id, at(bench.time), &mut bench.plane);
        }
        bench.from = flooder.clone();
        for number in 0..20 {
            first(&mut bench, &format!("status/general/{id}/{number}"));
        }
        bench.from = from(10_000 + id, innocent.peer.clone());
        assert!(is_kept(&mut bench, &list), "list {id}");
        bench.manager.face_up(face(10_000 + id, "fd://22"), at(bench.time));
        bench.manager.face_down(10_000 + id, at(bench.time), &mut bench.plane);
    }
}

#[test]
fn faces_that_have_asked_once_give_way_to_one_that_reads() {
    let mut bench = with_many_faces();
    let innocent = bench.from.clone();
    let list = first(&mut bench, "faces/list");
    for id in 1000..1200 {
        bench.time += 5;
        // Another face of the same user, which stays open.
        bench.manager.face_up(face(id, "fd://21"), at(bench.time));
        bench.from = from(id, innocent.peer.clone());
        first(&mut bench, "faces/list");
        bench.from = innocent.clone();
        assert!(is_kept(&mut bench, &list), "beside {id}");
    }
}

#[test]
fn a_new_face_changes_the_lists_of_faces_only() {
    let mut bench = with_many_faces();
    let lists = ["rib/list", "fib/list", "strategy-choice/list", "faces/list"];
    let before = lists.map(|list| first(&mut bench, list));
    bench.manager.face_up(face(1000, "fd://21"), at(0));
    let after = lists.map(|list| first(&mut bench, list));
    assert_eq!(before[..3], after[..3]);
    assert_ne!(before[3], after[3]);
}
