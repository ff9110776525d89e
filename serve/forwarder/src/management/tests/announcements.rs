//! Prefix announcements.

use super::*;
use hashlane_ndn::mgmt::{AnnouncementBuilder, PrefixAnnouncement};
use hashlane_ndn::security::Signer;
use hashlane_ndn::wire::DataBuilder;

/// An announcement with this signature.
pub(super) fn announcement(
    prefix: &str,
    expiration: u64,
    validity: Option<(u64, u64)>,
    signature: &[u8],
) -> Vec<u8> {
    let prefix = name(prefix);
    let builder = AnnouncementBuilder { prefix: &prefix, version: 1, expiration, validity };
    let info = SignatureInfo::of(SignatureType::HMAC_WITH_SHA256);
    let built = builder.build_signed(&Signer::hmac(b"key"), info).unwrap();
    let data = *PrefixAnnouncement::parse(&built).unwrap().data();
    let mut info = Vec::new();
    data.signature_info().write(&mut info);
    let builder = DataBuilder { content_type: 5, ..DataBuilder::new(data.name(), data.content()) };
    builder.build_signed(&info, |_| signature.to_vec())
}

/// The command with this announcement; signed with a key at a time, or with its digest.
fn announce(scope: Scope, announcement: &[u8], key: Option<u64>) -> Vec<u8> {
    let top = std::str::from_utf8(scope.as_bytes()).unwrap();
    let target = name(&format!("/{top}/nfd/rib/announce"));
    let builder = InterestBuilder { parameters: Some(announcement), ..InterestBuilder::new(target.view()) };
    let key_name = name("/op/KEY/1");
    let locator = key.map(|_| KeyLocator::Name(key_name.view()));
    let typ = if key.is_some() { SignatureType::SHA256_WITH_ECDSA } else { SignatureType::DIGEST_SHA256 };
    let time = Some(key.unwrap_or(NOW.unix));
    let mut info = Vec::new();
    SignatureInfo { key_locator: locator, time, ..SignatureInfo::of(typ) }.write(&mut info);
    builder.build_signed(&info, |[name, rest]| match key {
        Some(_) => b"good".to_vec(),
        None => Sha256::new().chain_update(name).chain_update(rest).finalize().to_vec(),
    })
}

impl TestForwarder {
    pub(super) fn accepting(per_face: usize) -> Self {
        Self::with(Config { announcements: Some(per_face), ..Config::default() })
    }

    /// Response to a local user's announcement.
    pub(super) fn announces(&mut self, announcement: &[u8]) -> ControlResponse {
        let packet = announce(Scope::Localhost, announcement, None);
        response(&packet, &self.send(&packet))
    }
}

#[test]
fn announcements_are_refused_unless_they_are_enabled() {
    let mut bench = TestForwarder::new();
    let refused = bench.announces(&announcement("/app", 60_000, None, b"good"));
    let why =
        "not authorized: prefix announcements are not accepted: set rib.prefix_announcements = \"trusted\"";
    assert_eq!((refused.code, refused.text.as_str()), (403, why));
    assert_eq!(bench.fib(), []);
    bench.manager.set_announcements(Some(1));
    assert_eq!(bench.announces(&announcement("/app", 60_000, None, b"good")).code, 200);
}

#[test]
fn a_trusted_announcement_makes_a_route_of_its_own_origin_until_it_expires() {
    let mut bench = TestForwarder::accepting(8);
    let response = bench.announces(&announcement("/net/app", 60_000, None, b"good"));
    assert_eq!((response.code, response.text.as_str()), (200, "OK"));
    let body = response.parameters().unwrap().unwrap();
    let expected = ControlParameters {
        name: Some(name("/net/app")),
        face_id: Some(300),
        origin: Some(RouteOrigin::PREFIXANN),
        cost: Some(2048),
        flags: Some(1),
        expiration: Some(60_000),
        ..Default::default()
    };
    assert_eq!(body, expected);
    assert_eq!(bench.fib(), [("/net/app".into(), 300, 2048)]);
    assert!(!bench.plane.announced[&("/net/app".into(), 300)].is_learned);
    bench.manager.tick(at(59_999), &mut bench.plane);
    assert_eq!(bench.fib().len(), 1);
    bench.manager.tick(at(60_000), &mut bench.plane);
    assert_eq!((bench.fib(), bench.plane.announced.len()), (vec![], 0));
}

#[test]
fn an_announcement_is_refused_outside_its_validity() {
    let mut bench = TestForwarder::accepting(8);
    let now = NOW.unix / 1000;
    for (validity, lifetime) in [
        ((now - 10, now + 29), Some(30_000)),
        ((now - 10, now + 100), Some(60_000)),
        ((now - 10, now - 1), None),
        ((now + 1, now + 10), None),
    ] {
        let response = bench.announces(&announcement("/app", 60_000, Some(validity), b"good"));
        let made = response.parameters().unwrap().and_then(|body| body.expiration);
        assert_eq!((response.is_ok(), made), (lifetime.is_some(), lifetime), "{}", response.text);
    }
    let refused = bench.announces(&announcement("/app", 0, None, b"good"));
    let why = "not authorized: the prefix announcement has expired, or is not valid yet";
    assert_eq!((refused.code, refused.text.as_str()), (403, why));
}

#[test]
fn an_announcement_that_no_trusted_key_has_signed_makes_no_route() {
    let mut bench = TestForwarder::accepting(8);
    let refused = bench.announces(&announcement("/app", 60_000, None, b"evil"));
    let why = "not authorized: the signature of the prefix announcement is not trusted: no such key";
    assert_eq!((refused.code, refused.text.as_str()), (403, why));
    let texts = (0..100).map(|_| bench.announces(&announcement("/app", 60_000, None, b"evil")).text);
    let limited = texts.filter(|text| text.contains("were refused in this second")).count();
    assert_eq!((limited, bench.fib()), (69, vec![]), "32 verifications in vain in a second");
    bench.time = 1000;
    assert_eq!(bench.announces(&announcement("/app", 60_000, None, b"good")).code, 200);
}

#[test]
fn announcements_of_one_face_make_a_limited_number_of_routes() {
    let mut bench = TestForwarder::accepting(2);
    let announces = |bench: &mut TestForwarder, prefix: &str| {
        let response = bench.announces(&announcement(prefix, 60_000, None, b"good"));
        (response.code, response.text)
    };
    bench.ok("rib/register", &named("/registered"));
    assert_eq!(announces(&mut bench, "/a").0, 200);
    assert_eq!(announces(&mut bench, "/b").0, 200);
    let why = "face 300 has 2 announced routes, the limit of a face: see rib.announcements_per_face";
    assert_eq!(announces(&mut bench, "/c"), (507, why.into()));
    assert_eq!(announces(&mut bench, "/b").0, 200, "again");
    bench.ok("rib/unregister", &ControlParameters { origin: Some(RouteOrigin::PREFIXANN), ..named("/a") });
    assert_eq!(announces(&mut bench, "/c").0, 200);
    bench.manager.face_up(face(301, "fd://21"), NOW);
    bench.from.face = 301;
    assert_eq!(announces(&mut bench, "/d").0, 200, "another face");
    bench.manager.tick(at(60_000), &mut bench.plane);
    bench.time = 60_000;
    bench.from.face = 300;
    assert_eq!(announces(&mut bench, "/e").0, 200, "the others have expired");
}

#[test]
fn a_neighbour_needs_a_trusted_key_for_the_command_and_for_the_announcement() {
    let mut bench = TestForwarder::accepting(8);
    bench.manager.config.access.localhop = true;
    bench.from.scope = FaceScope::NonLocal;
    bench.from.peer = Peer::Ip("192.0.2.1".parse().unwrap());
    let good = announcement("/app", 60_000, None, b"good");
    let send = |bench: &mut TestForwarder, announcement: &[u8], key| {
        let packet = announce(Scope::Localhop, announcement, key);
        response(&packet, &bench.send(&packet)).code
    };
    assert_eq!(send(&mut bench, &good, None), 403, "a digest authenticates nobody");
    assert_eq!(send(&mut bench, &announcement("/app", 60_000, None, b"evil"), Some(NOW.unix)), 403);
    assert_eq!(bench.fib(), []);
    assert_eq!(send(&mut bench, &good, Some(NOW.unix + 1)), 200);
    assert_eq!(send(&mut bench, &good, Some(NOW.unix + 1)), 403, "a replay of the command");
    let local = announcement("/localhost/app", 60_000, None, b"good");
    assert_eq!(send(&mut bench, &local, Some(NOW.unix + 2)), 403);
    assert_eq!(bench.fib(), [("/app".into(), 300, 2048)]);
    let packet = announce(Scope::Localhost, &good, Some(NOW.unix + 3));
    assert_eq!(nacked(&packet, &bench.send(&packet)), Some(NackReason::NO_ROUTE), "not for other hosts");
}

#[test]
fn a_user_without_further_rights_announces_for_its_own_face() {
    let mut bench = TestForwarder::accepting(8);
    bench.from.peer = Peer::User { uid: 1, over: Over::Unix };
    assert_eq!(bench.announces(&announcement("/app", 60_000, None, b"good")).code, 200);
    assert_eq!(bench.announces(&announcement("/localhost/app", 60_000, None, b"good")).code, 403);
    assert_eq!(bench.announces(&announcement("/localhost/nfd/x", 60_000, None, b"good")).code, 403);
    let deep = bench.announces(&announcement(&"/a".repeat(33), 60_000, None, b"good"));
    assert_eq!((deep.code, deep.text.as_str()), (414, "the prefix has 33 components, more than 32"));
}

#[test]
fn malformed_announcements_are_answered_with_the_rule_that_they_break() {
    let mut bench = TestForwarder::accepting(8);
    let data = DataBuilder::new(name("/app").view(), b"").build();
    let response = bench.announces(&data);
    let text = "not the name of a prefix announcement: expected /<prefix>/32=PA/v=<version>/seg=0";
    assert_eq!((response.code, response.text.as_str()), (400, text));
    assert_eq!(bench.announces(&[]).code, 400);
    let named = bench.refused("rib/announce", &named("/app"));
    assert_eq!(named, (400, "the name has extra components for a command".into()));
    let target = name("/localhost/nfd/rib/announce");
    let unsigned = InterestBuilder { parameters: Some(&data), ..InterestBuilder::new(target.view()) }.build();
    let answer = bench.send(&unsigned);
    assert_eq!(super::response(&unsigned, &answer), ControlResponse::new(403, "the command is not signed"));
}
