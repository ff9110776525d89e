//! Commands that the configuration opens to everyone, or closes to users.

use super::*;
use crate::management::Open;
use std::net::Ipv4Addr;

/// A user that no rule names.
const ORDINARY: u32 = 4_000_001;

fn user(over: Over) -> Peer {
    Peer::User { uid: ORDINARY, over }
}

fn page() -> Peer {
    Peer::Page { address: Ipv4Addr::LOCALHOST.into(), origin: "https://page.example".into() }
}

/// A manager with these commands open.
fn with(open: Open) -> TestForwarder {
    let access = Access { open, localhop: true, ..Access::default() };
    TestForwarder::with(Config { access, ..Config::default() })
}

/// The code of a command of this party.
fn code(bench: &mut TestForwarder, peer: Peer, verb: &str, parameters: &ControlParameters) -> u64 {
    bench.from.peer = peer;
    bench.command(verb, parameters).code
}

#[test]
fn open_modules_are_for_users_of_this_host_alone() {
    let mut bench = with(Open { modules: vec!["cs".into()], ..Open::default() });
    let unidentified = Peer::Unidentified { address: Ipv4Addr::LOCALHOST.into(), why: "closed".into() };
    let nothing = ControlParameters::default();
    for (peer, expected) in
        [(user(Over::Unix), 200), (user(Over::Loopback), 200), (unidentified, 200), (page(), 403)]
    {
        assert_eq!(code(&mut bench, peer, "cs/config", &nothing), expected);
    }
    // Other modules, and other faces, stay closed.
    let strategy = ControlParameters { strategy: Some(StrategyKind::Asf.full_name()), ..named("/app") };
    assert_eq!(code(&mut bench, user(Over::Unix), "strategy-choice/set", &strategy), 403);
    bench.manager.face_up(face(301, "fd://21"), NOW);
    let other = ControlParameters { face_id: Some(301), ..named("/app") };
    assert_eq!(code(&mut bench, user(Over::Unix), "rib/register", &other), 403);
}

#[test]
fn open_registrations_are_for_every_face_but_not_for_pages_nor_neighbours() {
    let mut bench = with(Open { localhost: true, ..Open::default() });
    bench.manager.face_up(face(301, "fd://21"), NOW);
    let other = ControlParameters { face_id: Some(301), ..named("/app") };
    assert_eq!(code(&mut bench, user(Over::Loopback), "rib/register", &other), 200);
    assert_eq!(code(&mut bench, page(), "rib/register", &named("/app")), 403);
    assert_eq!(code(&mut bench, user(Over::Unix), "cs/config", &ControlParameters::default()), 403);
    let own = command(Scope::Localhop, "rib/register", &named("/app"), None);
    bench.from =
        Origin { face: 301, scope: FaceScope::NonLocal, peer: Peer::Ip(Ipv4Addr::new(192, 0, 2, 1).into()) };
    assert_eq!(response(&own, &bench.send(&own)).code, 403);
}

#[test]
fn users_register_nothing_unsigned_if_own_faces_are_closed() {
    let access = Access { own_faces: false, ..Access::default() };
    let mut bench = TestForwarder::with(Config { access, ..Config::default() });
    assert_eq!(code(&mut bench, user(Over::Unix), "rib/register", &named("/app")), 403);
    let root = Peer::User { uid: 0, over: Over::Unix };
    assert_eq!(code(&mut bench, root, "rib/register", &named("/app")), 200);
    bench.from.peer = user(Over::Unix);
    let signed =
        command(Scope::Localhost, "rib/register", &named("/b"), Some(("/op/KEY/1", NOW.unix, &b"good"[..])));
    assert_eq!(response(&signed, &bench.send(&signed)).code, 200);
}

#[test]
fn open_neighbours_register_their_own_face_within_their_share() {
    let rib = RibLimits { routes: 80, routes_per_face: 80, ..RibLimits::default() };
    let open = Open { localhop: true, ..Open::default() };
    let access = Access { open, localhop: true, ..Access::default() };
    let mut bench = TestForwarder::with(Config { access, rib, ..Config::default() });
    let mut register = |host: u8, face_id: u64, number: usize| {
        let peer = Peer::Ip(Ipv4Addr::new(192, 0, 2, host).into());
        bench.from = Origin { face: face_id, scope: FaceScope::NonLocal, peer };
        bench.manager.face_up(face(face_id, "udp4://192.0.2.1:6363"), NOW);
        let packet = command(Scope::Localhop, "rib/register", &named(&format!("/{host}/{number}")), None);
        response(&packet, &bench.send(&packet)).code
    };
    let greedy = (0..80).filter(|&number| register(1, 301 + number as u64 % 4, number) == 200).count();
    assert_eq!(greedy, 40, "half of the RIB, over four faces of one address");
    let other = (0..80).filter(|&number| register(2, 310, number) == 200).count();
    assert_eq!(other, 10, "an eighth");
    let elsewhere = ControlParameters { face_id: Some(301), ..named("/x") };
    let packet = command(Scope::Localhop, "rib/register", &elsewhere, None);
    assert_eq!(response(&packet, &bench.send(&packet)).code, 403, "another face");
}
