//! Prefixes that belong to the management, and to this host.

use super::*;

#[test]
fn names_of_the_management_are_never_routed() {
    let mut bench = TestForwarder::new();
    for prefix in
        ["/localhost/nfd", "/localhost/nfd/rib", "/localhost/nfd/a/b", "/localhop/nfd", "/localhop/nfd/rib"]
    {
        for verb in ["rib/register", "rib/unregister", "fib/add-nexthop", "fib/remove-nexthop"] {
            let refused = bench.refused(verb, &named(prefix));
            assert_eq!(refused.0, 403, "{verb} {prefix}: {refused:?}");
            let own = ControlParameters { face_id: Some(1), ..named(prefix) };
            assert_eq!(bench.refused(verb, &own).0, 403, "{verb} {prefix} of the management's face");
        }
    }
    assert_eq!(bench.fib(), []);
    // A trusted key is no exception.
    bench.from.peer = Peer::Ip("192.0.2.1".parse().unwrap());
    let packet = command(
        Scope::Localhost,
        "rib/register",
        &named("/localhost/nfd/rib"),
        Some(("/op/KEY/1", NOW.unix, b"good")),
    );
    assert_eq!(response(&packet, &bench.send(&packet)).code, 403);
    assert_eq!(bench.fib(), []);
}

#[test]
fn routes_of_shorter_prefixes_leave_the_management_alone() {
    let mut bench = TestForwarder::new();
    for prefix in ["/", "/localhost", "/localhop"] {
        bench.ok("rib/register", &ControlParameters { flags: Some(3), ..named(prefix) });
        bench.ok("fib/add-nexthop", &named(prefix));
    }
    let names: Vec<_> = bench.fib().into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["/", "/localhop", "/localhost"], "nothing is inherited below them");
}

#[test]
fn neighbours_register_no_names_of_this_host() {
    let mut bench = TestForwarder::new();
    bench.manager.config.access.localhop = true;
    bench.from.scope = FaceScope::NonLocal;
    bench.from.peer = Peer::Ip("192.0.2.1".parse().unwrap());
    let mut time = NOW.unix;
    for (prefix, code) in
        [("/localhost", 403), ("/localhost/app", 403), ("/localhop/app", 200), ("/app", 200)]
    {
        for verb in ["rib/register", "rib/unregister"] {
            time += 1;
            let packet =
                command(Scope::Localhop, verb, &named(prefix), Some(("/op/KEY/1", time, &b"good"[..])));
            let response = response(&packet, &bench.send(&packet));
            assert_eq!(response.code, code, "{verb} {prefix}: {}", response.text);
        }
    }
}

#[test]
fn udp_from_the_loopback_obeys_the_rules_of_neighbours() {
    let mut bench = TestForwarder::new();
    bench.from.scope = FaceScope::NonLocal;
    bench.from.peer = Peer::Ip("127.0.0.1".parse().unwrap());
    let digest = command(Scope::Localhop, "rib/register", &named("/app"), None);
    let refused = response(&digest, &bench.send(&digest));
    assert_eq!(
        (refused.code, refused.text.as_str()),
        (403, "not authorized: registrations under /localhop from 127.0.0.1 are not enabled")
    );
    bench.manager.config.access.localhop = true;
    assert_eq!(response(&digest, &bench.send(&digest)).code, 403, "no trusted key");
    let signed =
        command(Scope::Localhop, "rib/register", &named("/app"), Some(("/op/KEY/1", NOW.unix, &b"good"[..])));
    assert_eq!(response(&signed, &bench.send(&signed)).code, 200);
    assert_eq!(bench.fib(), [("/app".into(), 300, 0)]);
    // It does not unregister what another application has registered.
    bench.manager.face_up(face(301, "fd://21"), NOW);
    bench.from = Origin { face: 301, scope: FaceScope::Local, peer: Peer::User { uid: 0, over: Over::Unix } };
    bench.ok("rib/register", &named("/other"));
    bench.from =
        Origin { face: 300, scope: FaceScope::NonLocal, peer: Peer::Ip("127.0.0.1".parse().unwrap()) };
    for (number, (face_id, code)) in
        (1..).zip([(Some(301), 403), (Some(0), 200), (Some(300), 200), (None, 200)])
    {
        let parameters = ControlParameters { face_id, ..named("/other") };
        for scope in [Scope::Localhost, Scope::Localhop] {
            let key = Some(("/op/KEY/1", NOW.unix + number, &b"good"[..]));
            let packet = command(scope, "rib/unregister", &parameters, key);
            let answers = bench.send(&packet);
            if scope == Scope::Localhop {
                assert_eq!(response(&packet, &answers).code, code, "{face_id:?}");
            } else {
                assert_eq!(nacked(&packet, &answers), Some(NackReason::NO_ROUTE));
            }
        }
    }
    assert!(bench.fib().contains(&("/other".into(), 301, 0)));
}

#[test]
fn the_longest_period_of_ndn_cxx_never_ends() {
    let mut bench = TestForwarder::new();
    let expiring = |period| ControlParameters { expiration: Some(period), ..named("/a") };
    let body = bench.ok("rib/register", &expiring(i64::MAX as u64));
    assert_eq!(body.expiration, Some(i64::MAX as u64), "the answer repeats the command");
    let expiration =
        |bench: &mut TestForwarder| bench.records::<RibEntry>("rib/list")[0].routes[0].expiration;
    assert_eq!((expiration(&mut bench), bench.manager.deadline()), (None, None));
    bench.time += 1000;
    bench.ok("rib/register", &expiring(1000));
    assert_eq!(expiration(&mut bench), Some(1000));
    bench.ok("rib/register", &expiring(u64::MAX));
    assert_eq!(bench.manager.deadline(), None);
}
