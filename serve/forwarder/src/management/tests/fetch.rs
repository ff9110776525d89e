//! Commands that wait for certificates.

use super::*;
use crate::config::Config as File;
use crate::management::fetch::interests::{LIFETIME, SENDS};
use crate::management::fetch::{MAX_FETCHED, MAX_WAIT};
use crate::management::trust::verifier;
use crate::management::{Peer, fetch};
use hashlane_ndn::security::Signer;
use hashlane_ndn::security::certificate::{Certificate, CertificateBuilder};
use hashlane_ndn::wire::LpHeader;
use std::net::{IpAddr, Ipv4Addr};

const RULES: &str = "[trust]
fetch = true
[[trust.localhop.anchors]]
base64 = \"ANCHOR\"
[[trust.localhop.rules]]
id = \"commands\"
for = \"interest\"
checkers = [{ type = \"customized\", signature = \"ed25519\", key = { regex = \"^<net><>*<KEY><>{1,3}$\" } }]
[[trust.localhop.rules]]
id = \"certificates\"
for = \"data\"
filters = [{ regex = \"^<net><>*<KEY><>{3}$\" }]
checkers = [{ type = \"customized\", signature = \"ed25519\", key = { regex = \"^<net><>*<KEY><>{1,3}$\" } }]
[management]
localhop = true
";

fn signer(number: u8) -> Signer {
    Signer::ed25519(&[number; 32])
}

/// The certificate of the key of `identity` with this number, signed by the key of another one.
fn certificate(identity: &str, number: u8, issuer: &str, by: u8) -> Vec<u8> {
    let (identity, key) = (name(identity), Component::generic(b"1"));
    let seconds = NOW.unix / 1000;
    let builder = CertificateBuilder {
        identity: identity.view(),
        key,
        version: 1,
        valid_from: seconds - 1000,
        valid_until: seconds + 1000,
    };
    let public = signer(number).public_key().unwrap();
    let issuer_key = name(&format!("{issuer}/KEY/1"));
    builder.issued(&public, Component::generic(b"i"), issuer_key.view(), &signer(by)).unwrap()
}

/// A forwarder with the anchor `/net`, which fetches, and neighbours with the faces 300 to 310.
fn fetching() -> TestForwarder {
    let anchor = certificate("/net", 1, "/net", 1);
    let text = RULES.replace("ANCHOR", &data_encoding::BASE64.encode(&anchor));
    let file = File::parse(&text).expect("a configuration");
    let mut bench = TestForwarder::new();
    bench.manager.verify = verifier(&file, NOW.unix / 1000).expect("rules");
    bench.manager.config.fetch = true;
    bench.manager.config.access.localhop = true;
    for id in 301..=310 {
        bench.manager.face_up(FaceInfo { scope: FaceScope::NonLocal, ..face(id, "fd://20") }, NOW);
    }
    bench
}

impl TestForwarder {
    /// A registration from the neighbour at an address, signed by the key of this number.
    fn registers(&mut self, host: u8, prefix: &str, key: &str, number: u8, time: u64) -> Vec<Vec<u8>> {
        let packet = registration(prefix, key, number, time);
        self.sends(host, &packet)
    }

    fn sends(&mut self, host: u8, packet: &[u8]) -> Vec<Vec<u8>> {
        let peer = Peer::Ip(IpAddr::V4(Ipv4Addr::new(192, 0, 2, host)));
        let face = 301 + u64::from(host % 10);
        self.from = Origin { face, scope: FaceScope::NonLocal, peer };
        self.send(packet)
    }

    fn receives(&mut self, packet: &[u8]) -> Vec<ControlResponse> {
        responses(self.manager.answered(packet, at(self.time), &mut self.plane))
    }

    fn ticks(&mut self) -> Vec<ControlResponse> {
        responses(self.manager.tick(at(self.time), &mut self.plane))
    }

    /// Names of the Interests sent since the last call.
    fn asked_for(&mut self) -> Vec<String> {
        let interests = std::mem::take(&mut self.plane.interests);
        interests.iter().map(|packet| Interest::parse(packet).unwrap().name().to_string()).collect()
    }

    fn prefixes(&self) -> Vec<String> {
        self.fib().into_iter().map(|(prefix, ..)| prefix).collect()
    }
}

fn registration(prefix: &str, key: &str, number: u8, time: u64) -> Vec<u8> {
    let key = name(key);
    let parameters = named(prefix);
    let builder = CommandBuilder {
        target: Target { scope: Scope::Localhop, module: b"rib", verb: b"register" },
        parameters: &parameters,
        nonce: 1,
        lifetime: 4000,
        signature_nonce: [3; 8],
        time: NOW.unix + time,
    };
    let locator = Some(KeyLocator::Name(key.view()));
    let info = SignatureInfo { key_locator: locator, ..SignatureInfo::of(SignatureType::ED25519) };
    builder.build_signed(info, |pieces| signer(number).sign(&pieces)).unwrap()
}

fn responses(packets: Vec<Vec<u8>>) -> Vec<ControlResponse> {
    let parse = |packet: &Vec<u8>| ControlResponse::parse(Data::parse(packet).unwrap().content()).unwrap();
    packets.iter().map(parse).collect()
}

fn codes(responses: &[ControlResponse]) -> Vec<u64> {
    responses.iter().map(|response| response.code).collect()
}

fn nack(packet: &[u8], reason: NackReason) -> Vec<u8> {
    let header = LpHeader { nack: Some(reason), ..LpHeader::default() };
    [header.wrapped(packet.len()).as_bytes(), packet].concat()
}

#[test]
fn a_command_waits_for_the_chain_of_its_key_and_the_next_one_does_not() {
    let mut bench = fetching();
    assert_eq!(bench.registers(1, "/net/a/app", "/net/a/user/KEY/1", 3, 0), Vec::<Vec<u8>>::new());
    assert_eq!(bench.asked_for(), ["/net/a/user/KEY/1"]);
    assert_eq!(bench.receives(&certificate("/net/a/user", 3, "/net/a", 2)), []);
    assert_eq!((bench.asked_for(), bench.prefixes()), (vec!["/net/a/KEY/1".into()], vec![]));
    let answers = bench.receives(&certificate("/net/a", 2, "/net", 1));
    assert_eq!((codes(&answers), bench.prefixes()), (vec![200], vec!["/net/a/app".to_owned()]));
    // The chain is kept.
    assert_eq!(bench.manager.fetch_counts().kept, 2);
    assert_eq!(codes(&responses(bench.registers(2, "/net/a/more", "/net/a/user/KEY/1", 3, 1))), [200]);
    assert_eq!(bench.asked_for(), Vec::<String>::new());
    // A certificate of its issuer is enough to fetch one less.
    assert!(bench.registers(3, "/net/a/x", "/net/a/other/KEY/1", 4, 2).is_empty());
    assert_eq!(codes(&bench.receives(&certificate("/net/a/other", 4, "/net/a", 2))), [200]);
}

#[test]
fn without_the_setting_nothing_is_fetched() {
    let mut bench = fetching();
    bench.manager.config.fetch = false;
    let refused = responses(bench.registers(1, "/net/a/app", "/net/a/user/KEY/1", 3, 0));
    assert!(
        refused[0].code == 403 && refused[0].text.ends_with("no certificate of the key /net/a/user/KEY/1")
    );
    assert_eq!(bench.asked_for(), Vec::<String>::new());
}

#[test]
fn nothing_is_fetched_that_the_rules_do_not_accept() {
    let mut bench = fetching();
    for key in ["/evil/user/KEY/1", "/net/a/user/KEY", "/net/a/user", "/localhop/nfd/KEY/1"] {
        assert_eq!(codes(&responses(bench.registers(1, "/net/a/app", key, 3, 0))), [403], "{key}");
    }
    assert_eq!(bench.asked_for(), Vec::<String>::new());
    // An issuer that the rules do not accept.
    assert!(bench.registers(1, "/net/a/app", "/net/a/user/KEY/1", 3, 0).is_empty());
    assert_eq!(bench.asked_for(), ["/net/a/user/KEY/1"]);
    assert_eq!(codes(&bench.receives(&certificate("/net/a/user", 3, "/evil", 2))), [403]);
    assert_eq!(bench.asked_for(), Vec::<String>::new());
}

#[test]
fn two_copies_of_a_command_are_done_once() {
    let mut bench = fetching();
    let packet = registration("/net/a/app", "/net/a/KEY/1", 2, 5);
    assert!(bench.sends(1, &packet).is_empty() && bench.sends(1, &packet).is_empty());
    assert_eq!(bench.manager.fetch_counts().waiting, 1, "a retransmission");
    // Somebody else has seen it, and an earlier command arrives.
    assert!(bench.sends(2, &packet).is_empty());
    let answers = bench.receives(&certificate("/net/a", 2, "/net", 1));
    assert_eq!(codes(&answers), [200, 403]);
    assert!(answers[1].text.contains("signed another command at the same time"), "{}", answers[1].text);
    assert_eq!(codes(&responses(bench.sends(3, &packet))), [403]);
    assert_eq!(codes(&responses(bench.registers(1, "/net/a/b", "/net/a/KEY/1", 2, 6))), [200]);
}

#[test]
fn a_command_that_waits_is_not_marked_as_seen() {
    let mut bench = fetching();
    let packet = registration("/net/a/app", "/net/a/KEY/1", 2, 5);
    assert!(bench.sends(1, &packet).is_empty());
    bench.time = u64::from(SENDS) * LIFETIME;
    assert_eq!(codes(&bench.ticks()), [504]);
    // The same command again, once the producer is there.
    bench.time += fetch::interests::FAILED;
    assert!(bench.sends(1, &packet).is_empty());
    assert_eq!(codes(&bench.receives(&certificate("/net/a", 2, "/net", 1))), [200]);
}

#[test]
fn loops_of_certificates_end_without_more_interests() {
    let mut bench = fetching();
    assert!(bench.registers(1, "/net/app", "/net/a/KEY/1", 2, 0).is_empty());
    assert_eq!(bench.receives(&certificate("/net/a", 2, "/net/b", 3)), []);
    let refused = bench.receives(&certificate("/net/b", 3, "/net/a", 2));
    assert!(
        refused[0].code == 403 && refused[0].text.contains("up to a trust anchor"),
        "{}",
        refused[0].text
    );
    assert_eq!(bench.asked_for(), ["/net/a/KEY/1", "/net/b/KEY/1"]);
    // A certificate that is signed by its own key, and is no anchor.
    assert!(bench.registers(1, "/net/app", "/net/c/KEY/1", 4, 1).is_empty());
    assert_eq!(codes(&bench.receives(&certificate("/net/c", 4, "/net/c", 4))), [403]);
    assert_eq!((bench.manager.fetch_counts().kept, bench.prefixes()), (0, vec![]));
}

#[test]
fn a_chain_without_end_is_fetched_to_its_limit() {
    let mut bench = fetching();
    assert!(bench.registers(1, "/net/app", "/net/0/KEY/1", 10, 0).is_empty());
    let mut refused = Vec::new();
    for link in 0..20 {
        let [own, next] = [link, link + 1].map(|link| format!("/net/{link}"));
        refused.extend(bench.receives(&certificate(&own, 10 + link, &next, 11 + link)));
    }
    assert_eq!(codes(&refused), [403]);
    assert_eq!(bench.asked_for().len(), MAX_FETCHED);
    assert!(refused[0].text.ends_with("5 certificates were fetched for the command"), "{}", refused[0].text);
}

#[test]
fn a_producer_that_never_answers_costs_a_few_interests_and_then_none() {
    let mut bench = fetching();
    assert!(bench.registers(1, "/net/app", "/net/a/KEY/1", 2, 0).is_empty());
    let mut answers = Vec::new();
    while bench.time < 20_000 {
        bench.time += 100;
        assert!(bench.manager.deadline().is_none_or(|due| due > at(bench.time).monotonic - 100));
        answers.extend(bench.ticks());
    }
    assert_eq!((codes(&answers), bench.asked_for().len()), (vec![504], SENDS as usize));
    assert!(answers[0].text.ends_with("not fetched in time"), "{}", answers[0].text);
    let counts = bench.manager.fetch_counts();
    assert_eq!((counts.waiting, counts.failed, bench.manager.deadline()), (0, 1, None));
}

#[test]
fn a_key_that_was_not_found_is_refused_at_once_for_a_while() {
    let mut bench = fetching();
    assert!(bench.registers(1, "/net/app", "/net/a/KEY/1", 2, 0).is_empty());
    let interest = bench.plane.interests[0].clone();
    assert_eq!(bench.receives(&nack(&interest, NackReason::CONGESTION)), []);
    let refused = bench.receives(&nack(&interest, NackReason::NO_ROUTE));
    assert!(refused[0].text.ends_with("not fetched: no route leads to /net/a/KEY/1"), "{}", refused[0].text);
    let again = responses(bench.registers(2, "/net/app", "/net/a/KEY/1", 2, 0));
    assert!(again[0].text.ends_with("not fetched: no route leads to /net/a/KEY/1"), "{}", again[0].text);
    assert_eq!(bench.asked_for().len(), 1);
}

#[test]
fn an_answer_that_is_no_certificate_of_the_key_is_refused() {
    let mut bench = fetching();
    let other = certificate("/net/a", 2, "/net", 1);
    let long = DataBuilderLong::of("/net/a/KEY/1/i/v=1");
    for (round, packet) in [long.build(), long.with_key()].into_iter().enumerate() {
        bench.time = 10_000 * round as u64;
        assert!(bench.registers(1, "/net/app", "/net/a/KEY/1", 2, bench.time).is_empty());
        assert_eq!(codes(&bench.receives(&packet)), [403]);
    }
    // Data that nothing has asked for.
    assert_eq!(bench.receives(&other), []);
    assert_eq!(bench.receives(b"\x06\x00"), []);
}

/// Data of a name.
struct DataBuilderLong(OwnedName<Ndn>);

impl DataBuilderLong {
    fn of(uri: &str) -> Self {
        Self(name(uri))
    }

    fn build(&self) -> Vec<u8> {
        hashlane_ndn::wire::DataBuilder::new(self.0.view(), &[7; 5000]).build()
    }

    fn with_key(&self) -> Vec<u8> {
        hashlane_ndn::wire::DataBuilder::new(self.0.view(), b"key").build()
    }
}

#[test]
fn a_flood_of_unknown_keys_by_one_neighbour_leaves_another_ones_command_alone() {
    let mut bench = fetching();
    let mut refused = 0;
    for number in 0..2000 {
        bench.time = number;
        refused += bench.registers(1, "/net/app", &format!("/net/{number}/KEY/1"), 9, number).len();
        bench.ticks();
    }
    let counts = bench.manager.fetch_counts();
    assert!(refused > 1900 && counts.interests <= 8 && counts.waiting <= 8, "{refused} {counts:?}");
    assert!(bench.registers(2, "/net/b/app", "/net/b/KEY/1", 2, 2000).is_empty());
    assert_eq!(codes(&bench.receives(&certificate("/net/b", 2, "/net", 1))), [200]);
    assert_eq!(bench.prefixes(), ["/net/b/app"]);
}

#[test]
fn a_wrong_signature_costs_one_certificate_and_keeps_none() {
    let mut bench = fetching();
    assert!(bench.registers(1, "/net/app", "/net/a/user/KEY/1", 66, 0).is_empty());
    let refused = bench.receives(&certificate("/net/a/user", 3, "/net/a", 2));
    assert!(refused[0].text.contains("wrong signature"), "{}", refused[0].text);
    assert_eq!((bench.asked_for().len(), bench.manager.fetch_counts().kept), (1, 0));
}

#[test]
fn commands_of_a_closed_face_are_dropped() {
    let mut bench = fetching();
    assert!(bench.registers(1, "/net/app", "/net/a/KEY/1", 2, 0).is_empty());
    bench.manager.face_down(302, NOW, &mut bench.plane);
    assert_eq!(bench.receives(&certificate("/net/a", 2, "/net", 1)), []);
    assert_eq!(bench.prefixes(), Vec::<String>::new());
}

#[test]
fn a_command_waits_no_longer_than_its_interest() {
    let mut bench = fetching();
    assert!(bench.registers(1, "/net/app", "/net/a/KEY/1", 2, 0).is_empty());
    bench.time = 3999;
    assert_eq!(bench.ticks(), []);
    bench.time = 4000;
    assert_eq!(codes(&bench.ticks()), [504]);
    const { assert!(4000 <= MAX_WAIT) };
    // The certificate is of use to the next one.
    assert_eq!(bench.receives(&certificate("/net/a", 2, "/net", 1)), []);
    assert!(Certificate::parse(&certificate("/net/a", 2, "/net", 1)).is_ok());
}

/// A forwarder whose configuration is read again, with this setting.
fn reload(bench: &mut TestForwarder, fetch: bool) {
    let anchor = certificate("/net", 1, "/net", 1);
    let text = RULES.replace("ANCHOR", &data_encoding::BASE64.encode(&anchor));
    let file = File::parse(&text).expect("a configuration");
    let verify = verifier(&file, NOW.unix / 1000).expect("rules");
    let access = bench.manager.config.access.clone();
    bench.manager.set_access(access, verify, fetch);
}

#[test]
fn a_reload_drops_the_certificates_of_commands_that_wait() {
    let mut bench = fetching();
    assert!(bench.registers(1, "/net/a/app", "/net/a/user/KEY/1", 3, 0).is_empty());
    assert_eq!(bench.receives(&certificate("/net/a/user", 3, "/net/a", 2)), []);
    assert_eq!(bench.asked_for(), ["/net/a/user/KEY/1", "/net/a/KEY/1"]);
    reload(&mut bench, true);
    // The first one is asked for again.
    assert_eq!(bench.receives(&certificate("/net/a", 2, "/net", 1)), []);
    assert_eq!((bench.asked_for(), bench.prefixes()), (vec!["/net/a/user/KEY/1".into()], vec![]));
    let answers = bench.receives(&certificate("/net/a/user", 3, "/net/a", 2));
    assert_eq!((codes(&answers), bench.prefixes()), (vec![200], vec!["/net/a/app".to_owned()]));
}

#[test]
fn a_reload_that_turns_fetching_off_keeps_no_certificate_that_arrives_later() {
    let mut bench = fetching();
    assert!(bench.registers(1, "/net/a/app", "/net/a/KEY/1", 2, 0).is_empty());
    reload(&mut bench, false);
    let refused = bench.receives(&certificate("/net/a", 2, "/net", 1));
    assert!(refused[0].code == 403 && refused[0].text.ends_with("trust.fetch is off"), "{refused:?}");
    assert_eq!((bench.manager.fetch_counts().kept, bench.prefixes()), (0, vec![]));
    assert_eq!(codes(&responses(bench.registers(1, "/net/a/app", "/net/a/KEY/1", 2, 1))), [403]);
}
