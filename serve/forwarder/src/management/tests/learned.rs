//! Routes learned from announcements with Data.

use super::announcements::announcement;
use super::*;
use hashlane_ndn_fw::learning::RouteEvent;
use std::sync::atomic::{AtomicUsize, Ordering};

impl TestForwarder {
    /// A forwarder that accepts announcements, with a neighbour at face 301 from which events come.
    fn learning(per_face: usize) -> Self {
        let mut bench = Self::accepting(per_face);
        let neighbour = FaceInfo { scope: FaceScope::NonLocal, ..face(301, "udp4://192.0.2.1:6363") };
        bench.manager.face_up(neighbour, NOW);
        let peer = Peer::Ip("192.0.2.1".parse().unwrap());
        bench.from = Origin { face: 301, scope: FaceScope::NonLocal, peer };
        bench
    }

    fn event(&mut self, event: RouteEvent) {
        self.manager.route_event(&event, &self.from.clone(), at(self.time), &mut self.plane);
    }

    fn brings(&mut self, packet: &[u8]) {
        self.event(RouteEvent::Announced(packet.into()));
    }

    fn tick(&mut self, time: u64) {
        self.time = time;
        self.manager.tick(at(time), &mut self.plane);
    }
}

const MINUTE: u64 = 60_000;

#[test]
fn a_trusted_announcement_with_data_makes_a_route_for_ten_minutes() {
    let mut bench = TestForwarder::learning(8);
    let packet = announcement("/net/app", 60 * MINUTE, None, b"good");
    bench.brings(&packet);
    assert_eq!(bench.fib(), [("/net/app".into(), 301, 2048)]);
    let known = &bench.plane.announced[&("/net/app".into(), 301)];
    assert_eq!((&known.packet[..], known.is_learned), (&packet[..], true));
    bench.tick(10 * MINUTE - 1);
    assert_eq!(bench.fib().len(), 1);
    bench.tick(10 * MINUTE);
    assert_eq!((bench.fib(), bench.plane.announced.len()), (vec![], 0));
}

#[test]
fn the_use_of_a_route_prolongs_it_up_to_the_end_of_its_announcement() {
    let mut bench = TestForwarder::learning(8);
    let packet = announcement("/net/app", 15 * MINUTE, None, b"good");
    bench.brings(&packet);
    bench.time = 8 * MINUTE;
    bench.event(RouteEvent::Used(name("/net/app")));
    bench.brings(&packet);
    bench.tick(15 * MINUTE - 1);
    assert_eq!(bench.fib().len(), 1);
    bench.event(RouteEvent::Used(name("/net/app")));
    bench.tick(15 * MINUTE);
    assert_eq!(bench.fib(), []);
    bench.event(RouteEvent::Used(name("/net/app")));
    assert_eq!(bench.fib(), [], "it has ended");
}

#[test]
fn a_broken_route_goes_at_once_and_those_of_commands_stay() {
    let mut bench = TestForwarder::learning(8);
    bench.brings(&announcement("/net/app", MINUTE, None, b"good"));
    bench.event(RouteEvent::Broken(name("/net")));
    assert_eq!(bench.fib().len(), 1);
    bench.event(RouteEvent::Broken(name("/net/app")));
    assert_eq!((bench.fib(), bench.plane.announced.len()), (vec![], 0));
    bench.from = Origin { face: 300, scope: FaceScope::Local, peer: Peer::User { uid: 0, over: Over::Unix } };
    let packet = announcement("/own", MINUTE, None, b"good");
    assert_eq!(bench.announces(&packet).code, 200);
    bench.event(RouteEvent::Broken(name("/own")));
    bench.brings(&announcement("/own", 2 * MINUTE, None, b"good"));
    assert!(!bench.plane.announced[&("/own".into(), 300)].is_learned);
    bench.tick(MINUTE);
    assert_eq!(bench.fib(), [], "a command has set its end");
}

#[test]
fn announcements_that_may_make_no_route_make_none() {
    let mut bench = TestForwarder::learning(8);
    for packet in [
        announcement("/net", MINUTE, None, b"evil"),
        announcement("/net", 0, None, b"good"),
        announcement("/net", MINUTE, Some((0, 1)), b"good"),
        announcement("/localhost/x", MINUTE, None, b"good"),
        announcement("/localhop/nfd/x", MINUTE, None, b"good"),
        announcement(&"/a".repeat(33), MINUTE, None, b"good"),
        b"no announcement".to_vec(),
    ] {
        bench.brings(&packet);
        assert_eq!((bench.fib(), bench.plane.announced.len()), (vec![], 0), "{packet:?}");
    }
    bench.manager.set_announcements(None);
    bench.brings(&announcement("/net", MINUTE, None, b"good"));
    assert_eq!(bench.fib(), []);
}

#[test]
fn a_neighbour_makes_a_limited_number_of_routes_and_verifications() {
    let mut bench = TestForwarder::learning(2);
    for prefix in ["/a", "/b", "/c"] {
        bench.brings(&announcement(prefix, MINUTE, None, b"good"));
    }
    assert_eq!(bench.fib().len(), 2);
    (0..100).for_each(|_| bench.brings(&announcement("/a", MINUTE, None, b"evil")));
    bench.brings(&announcement("/a", MINUTE, Some((1, 1 << 33)), b"good"));
    let packet = announcement("/a", MINUTE, None, b"good");
    assert_eq!(&bench.plane.announced[&("/a".into(), 301)].packet[..], &packet[..], "too many in vain");
    bench.manager.face_down(301, at(0), &mut bench.plane);
    bench.tick(0);
    assert_eq!((bench.fib(), bench.plane.announced.len()), (vec![], 0));
}

#[test]
fn an_announcement_that_is_too_long_to_be_sent_makes_a_route_alone() {
    let mut bench = TestForwarder::learning(8);
    let long = format!("/{}", "x".repeat(1100));
    bench.brings(&announcement(&long, MINUTE, None, b"good"));
    assert_eq!((bench.fib().len(), bench.plane.announced.len()), (1, 0));
}

#[test]
fn trusted_announcements_that_make_no_route_are_verified_a_limited_number_of_times() {
    // One that has ended, which anybody may have seen before, and one that is too long.
    let ended = announcement("/net", MINUTE, Some((0, 1)), b"good");
    for packet in [ended, announcement(&"/a".repeat(33), MINUTE, None, b"good")] {
        let mut bench = TestForwarder::learning(8);
        let verified = Arc::new(AtomicUsize::new(0));
        let count = verified.clone();
        bench.manager.verify = Box::new(move |_: &Command<'_>, _: &[&Certificates], _: Now| {
            count.fetch_add(1, Ordering::Relaxed);
            Ok(Box::default())
        });
        (0..1000).for_each(|_| bench.brings(&packet));
        assert_eq!((bench.fib(), verified.load(Ordering::Relaxed)), (vec![], 32));
    }
}
