//! Rights of users of this host.

use super::*;
use hashlane_link::unix::Listener;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

/// A user that no rule names.
const ORDINARY: u32 = 4_000_001;

fn on_face(face: u64, prefix: &str) -> ControlParameters {
    ControlParameters { face_id: Some(face), ..named(prefix) }
}

impl TestForwarder {
    fn refusal(&mut self, verb: &str, parameters: &ControlParameters) -> String {
        let (code, text) = self.refused(verb, parameters);
        assert_eq!(code, 403, "{verb}: {text}");
        text.strip_prefix("not authorized: ").unwrap_or_else(|| panic!("{text}")).to_owned()
    }
}

#[test]
fn every_user_registers_prefixes_of_its_own_face_and_does_nothing_else() {
    let mut bench = TestForwarder::new();
    bench.manager.face_up(face(301, "fd://21"), NOW);
    bench.from.peer = Peer::User { uid: ORDINARY, over: Over::Unix };
    for parameters in [named("/app"), on_face(0, "/app"), on_face(300, "/app")] {
        assert_eq!(bench.ok("rib/register", &parameters).face_id, Some(300));
        assert_eq!(bench.fib(), [("/app".into(), 300, 0)]);
        bench.ok("rib/unregister", &parameters);
        assert_eq!(bench.fib(), []);
    }
    let packet = command(Scope::Localhop, "rib/register", &named("/app"), None);
    assert_eq!(response(&packet, &bench.send(&packet)).code, 200, "the same under the other name");

    let needs = "the user in management.users, one of its groups in management.groups, or a signature under a \
                 configured trust anchor";
    for verb in ["rib/register", "rib/unregister"] {
        assert_eq!(
            bench.refusal(verb, &on_face(301, "/app")),
            format!(
                "user {ORDINARY} may register prefixes of its own face 300 only; another face needs {needs}"
            )
        );
        for prefix in ["/localhost", "/localhost/app"] {
            assert_eq!(
                bench.refusal(verb, &named(prefix)),
                format!("names under /localhost from user {ORDINARY} need {needs}")
            );
        }
    }
    let uri = ControlParameters { uri: Some("udp4://192.0.2.1:6363".into()), ..Default::default() };
    let own = ControlParameters { face_id: Some(300), ..Default::default() };
    let strategy = ControlParameters { strategy: Some(StrategyKind::Asf.full_name()), ..named("/app") };
    for (verb, parameters) in [
        ("faces/create", &uri),
        ("faces/update", &own),
        ("faces/destroy", &own),
        ("fib/add-nexthop", &named("/app")),
        ("fib/remove-nexthop", &named("/app")),
        ("strategy-choice/set", &strategy),
        ("strategy-choice/unset", &named("/app")),
        ("cs/config", &ControlParameters::default()),
        ("cs/erase", &named("/app")),
    ] {
        assert_eq!(bench.refusal(verb, parameters), format!("{verb} from user {ORDINARY} needs {needs}"));
    }
    assert_eq!(bench.plane.asked, [""; 0]);
}

#[test]
fn one_user_leaves_room_in_the_rib_for_others() {
    let rib = RibLimits { routes: 80, routes_per_face: 80, ..RibLimits::default() };
    let mut bench = TestForwarder::with(Config { rib, ..Config::default() });
    let code = |bench: &mut TestForwarder, uid, face, number: usize| {
        bench.from = Origin { face, scope: FaceScope::Local, peer: Peer::User { uid, over: Over::Unix } };
        bench.command("rib/register", &named(&format!("/{uid}/{face}/{number}"))).code
    };
    for id in 301..310 {
        bench.manager.face_up(face(id, "fd://21"), NOW);
    }
    let greedy = (0..80).filter(|&at| code(&mut bench, ORDINARY, 300 + at as u64 % 4, at) == 200).count();
    assert_eq!(greedy, 40, "half of the RIB, over four faces");
    assert_eq!(code(&mut bench, ORDINARY, 300, 0), 200, "a route that stands is renewed");
    let others = (0..80).filter(|&at| code(&mut bench, ORDINARY + 1, 304, at) == 200).count();
    assert_eq!(others, 10, "an eighth");
    let root = (0..80).filter(|&at| code(&mut bench, 0, 305, at) == 200).count();
    assert_eq!(root, 30, "the rest");
    for id in 300..304 {
        bench.manager.face_down(id, NOW, &mut bench.plane);
    }
    assert_eq!(code(&mut bench, ORDINARY + 1, 304, 90), 507, "still half full, and it has its share");
    assert!(!bench.manager.owners.contains_key(&300), "faces that are gone are nobody's");
}

#[test]
fn users_of_the_rule_give_every_command_over_every_local_connection() {
    for over in [Over::Unix, Over::Loopback] {
        for uid in [0, 1000, 1002, ORDINARY] {
            let access = Access { own_uid: 1000, users: vec![Account::Id(1002)], ..Access::default() };
            let mut bench = TestForwarder::with(Config { access, ..Config::default() });
            bench.from.peer = Peer::User { uid, over };
            bench.manager.face_up(face(301, "fd://21"), NOW);
            let code = bench.command("rib/register", &on_face(301, "/localhost/app")).code;
            assert_eq!(code, if uid == ORDINARY { 403 } else { 200 }, "{uid} {over:?}");
        }
    }
}

#[test]
fn a_trusted_key_gives_a_user_every_command() {
    let mut bench = TestForwarder::new();
    bench.from.peer = Peer::User { uid: ORDINARY, over: Over::Unix };
    let strategy = ControlParameters { strategy: Some(StrategyKind::Asf.full_name()), ..named("/app") };
    let signed = |time, value| {
        command(Scope::Localhost, "strategy-choice/set", &strategy, Some(("/op/KEY/1", time, value)))
    };
    let packet = signed(NOW.unix, b"good");
    assert_eq!(response(&packet, &bench.send(&packet)).code, 200);
    let packet = signed(NOW.unix + 1, b"evil");
    let refused = response(&packet, &bench.send(&packet));
    assert_eq!(refused.code, 403);
    assert!(refused.text.contains("management.users"), "{}", refused.text);
    assert!(refused.text.ends_with("not trusted: no such key"), "{}", refused.text);
    // A command that a user may give anyway needs no trusted key: some libraries sign with a key of their
    // own.
    let packet =
        command(Scope::Localhost, "rib/register", &named("/app"), Some(("/me/KEY/1", 5, &b"mine"[..])));
    assert_eq!(response(&packet, &bench.send(&packet)).code, 200);
}

#[test]
fn over_the_loopback_a_user_may_do_what_the_unix_socket_lets_it_do() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("nfd.sock");
    for (mode, code) in [(0o666, 200), (0o660, 403), (0o600, 403)] {
        let listener = Listener::bind(&path, mode).unwrap();
        let access = Access { sockets: vec![path.clone()], ..Access::default() };
        let mut bench = TestForwarder::with(Config { access, ..Config::default() });
        bench.from.peer = Peer::User { uid: ORDINARY, over: Over::Loopback };
        let response = bench.command("rib/register", &named("/app"));
        assert_eq!(response.code, code, "{mode:o}: {}", response.text);
        if code == 403 {
            assert!(response.text.contains("may not connect to the Unix socket"), "{}", response.text);
        }
        assert_eq!(bench.command("cs/config", &ControlParameters::default()).code, 403);
        drop(listener);
    }
    // Without a socket there is nothing that a user may connect to.
    let mut bench = TestForwarder::new();
    bench.from.peer = Peer::User { uid: ORDINARY, over: Over::Loopback };
    assert_eq!(bench.command("rib/register", &named("/app")).code, 403);
}

#[test]
fn a_user_that_is_not_known_is_refused_with_the_reason() {
    let mut bench = TestForwarder::new();
    let address = "::1".parse().unwrap();
    bench.from.peer = Peer::Unidentified { address, why: "the connection has been closed".into() };
    assert_eq!(
        bench.refusal("rib/register", &named("/app")),
        "the user at ::1 is not known (the connection has been closed): connect to the Unix socket, or sign under a \
         configured trust anchor"
    );
    let key = Some(("/op/KEY/1", NOW.unix, &b"good"[..]));
    let packet = command(Scope::Localhost, "rib/register", &named("/app"), key);
    assert_eq!(response(&packet, &bench.send(&packet)).code, 200);
}
