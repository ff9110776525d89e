//! Rules, and chains of certificates under them.

use super::*;
use crate::pattern::NamePattern;
use crate::security::certificate::CertificateBuilder;
use crate::security::{Certificate, Signer};
use crate::wire::{Data, DataBuilder, SignatureInfo, SignatureType};
use alloc::boxed::Box;
use alloc::vec;
use hashlane_name::component::Component;
use std::string::ToString;

const NOW: u64 = 1_500;
const ECDSA: SignatureType = SignatureType::SHA256_WITH_ECDSA;

fn name(uri: &str) -> OwnedName<Ndn> {
    hashlane_name::uri::parse_uri(uri.as_bytes()).expect("a name")
}

fn signer(number: u8) -> Signer {
    Signer::ecdsa_p256(&[number; 32]).expect("a key")
}

/// A certificate for `identity`, whose key has this number, issued by another one.
fn certificate(identity: &str, number: u8, issuer: Option<(&str, u8)>) -> Vec<u8> {
    certificate_for(identity, number, issuer, (1_000, 2_000))
}

fn certificate_for(
    identity: &str,
    number: u8,
    issuer: Option<(&str, u8)>,
    (valid_from, valid_until): (u64, u64),
) -> Vec<u8> {
    let identity = name(identity);
    let key = Component::generic(b"1");
    let builder = CertificateBuilder { identity: identity.view(), key, version: 1, valid_from, valid_until };
    match issuer {
        None => builder.self_signed(&signer(number)).expect("a certificate"),
        Some((issuer, by)) => {
            let public_key = signer(number).public_key().expect("a public key");
            builder
                .issued(&public_key, Component::generic(b"ca"), name(issuer).view(), &signer(by))
                .expect("one")
        }
    }
}

fn set(certificates: &[Vec<u8>]) -> Certificates {
    let mut set = Certificates::new();
    for bytes in certificates {
        set.add(&Certificate::parse(bytes).expect("a certificate")).expect("a key");
    }
    set
}

/// A Data packet signed by a key.
fn data(uri: &str, key: &str, number: u8) -> Vec<u8> {
    let (name, key) = (name(uri), name(key));
    let info = SignatureInfo {
        key_locator: Some(KeyLocator::Name(key.view())),
        ..SignatureInfo::of(SignatureType::NULL)
    };
    signer(number).data(&DataBuilder::new(name.view(), b"x"), info)
}

fn pattern(text: &str) -> NamePattern {
    NamePattern::parse(text).expect("a pattern")
}

fn rule(id: &str, filter: Option<&str>, key: KeyTest) -> Rule {
    let filters = filter.map(|text| NameTest::Pattern(pattern(text))).into_iter().collect();
    Rule { id: id.into(), filters, checkers: vec![Checker { signature: ECDSA, key }] }
}

/// Certificates under their issuers, and Data under any certificate.
fn hierarchy() -> Policy {
    let certificates = Rule {
        id: "certificates".into(),
        filters: vec![NameTest::Pattern(pattern("^<>*<KEY><>{3}$"))],
        checkers: vec![Checker::hierarchical(ECDSA).expect("patterns")],
    };
    let any_key = KeyTest::Pattern(pattern("^<>*<KEY><>{1,3}$"));
    Policy { interests: Vec::new(), data: vec![certificates, rule("data", None, any_key)] }
}

/// The outcome for a packet, as text.
fn outcome(
    policy: &Policy,
    packet: &[u8],
    anchors: &Certificates,
    others: &Certificates,
    now: u64,
) -> String {
    let data = Data::parse(packet).expect("a Data packet");
    let known = Known { anchors, others: &[others], now };
    let outcome = policy.verify_data(data.name(), &Signed::data(&data), known);
    outcome.map_or_else(|error| error.to_string(), |key| key.to_string())
}

#[test]
fn relations_are_of_whole_components() {
    let holds = |relation: Relation, first: &str, second: &str| {
        relation.holds(name(first).view(), name(second).view())
    };
    for (first, second, expected) in [
        ("/a", "/a", [true, true, false]),
        ("/a", "/a/b", [false, true, true]),
        ("/a", "/ab", [false, false, false]),
        ("/", "/a", [false, true, true]),
        ("/a/b", "/a", [false, false, false]),
    ] {
        let found = [Relation::Equal, Relation::IsPrefixOf, Relation::IsStrictPrefixOf]
            .map(|relation| holds(relation, first, second));
        assert_eq!(found, expected, "{first} {second}");
    }
}

#[test]
fn a_chain_ends_at_an_anchor_and_each_link_obeys_the_rules() {
    let policy = hierarchy();
    let anchors = set(&[certificate("/ndn", 1, None)]);
    let site = certificate("/ndn/site", 2, Some(("/ndn/KEY/1", 1)));
    let user = certificate("/ndn/site/user", 3, Some(("/ndn/site/KEY/1", 2)));
    let others = set(&[site.clone(), user.clone()]);
    let packet = data("/anything", "/ndn/site/user/KEY/1", 3);
    let check = |packet: &[u8], others: &Certificates| outcome(&policy, packet, &anchors, others, NOW);
    assert_eq!(check(&packet, &others), "/ndn/site/user/KEY/1");
    assert_eq!(check(&data("/anything", "/ndn/KEY/1", 1), &others), "/ndn/KEY/1");
    // A certificate is missing.
    assert_eq!(check(&packet, &set(&[site])), "no certificate of the key /ndn/site/user/KEY/1");
    assert_eq!(check(&packet, &set(&[user])), "no certificate of the key /ndn/site/KEY/1");
    // The wrong key.
    let forged = data("/anything", "/ndn/site/user/KEY/1", 4);
    assert_eq!(check(&forged, &others), "wrong signature (key /ndn/site/user/KEY/1)");
    // An issuer beside the hierarchy.
    let other = certificate("/other", 5, Some(("/ndn/KEY/1", 1)));
    assert_eq!(
        check(&data("/anything", "/other/KEY/1", 5), &set(&[other])),
        "the rule \"certificates\" does not let the key /ndn/KEY/1 sign /other/KEY/1/ca/v=1"
    );
}

#[test]
fn certificates_of_another_time_are_refused() {
    let policy = hierarchy();
    let anchors = set(&[certificate_for("/ndn", 1, None, (0, 9_000))]);
    let others = set(&[certificate("/ndn/a", 2, Some(("/ndn/KEY/1", 1)))]);
    let check = |now| outcome(&policy, &data("/x", "/ndn/a/KEY/1", 2), &anchors, &others, now);
    assert_eq!(check(2_000), "/ndn/a/KEY/1");
    assert!(check(2_001).starts_with("the certificate expired at"), "{}", check(2_001));
    assert!(check(999).starts_with("the certificate is not valid before"), "{}", check(999));
    let late = outcome(&policy, &data("/x", "/ndn/KEY/1", 1), &anchors, &others, 9_001);
    assert!(late.starts_with("the certificate expired at"), "an anchor, too: {late}");
}

#[test]
fn loops_and_long_chains_end() {
    let policy = hierarchy();
    let key = KeyTest::Pattern(pattern("^<>*<KEY><>{1,3}$"));
    let loose = Policy { interests: Vec::new(), data: vec![rule("any", None, key)] };
    let around = [certificate("/a", 1, Some(("/b/KEY/1", 2))), certificate("/b", 2, Some(("/a/KEY/1", 1)))];
    let (none, others) = (Certificates::new(), set(&around));
    let too_long = PolicyError::TooLong.to_string();
    assert_eq!(outcome(&loose, &data("/x", "/a/KEY/1", 1), &none, &others, NOW), too_long);
    let own = set(&[certificate("/me", 1, None)]);
    assert_eq!(outcome(&policy, &data("/x", "/me/KEY/1", 1), &none, &own, NOW), too_long);
    // The longest chain that passes has as many certificates as are allowed.
    let mut chain = Vec::new();
    let mut identity = String::from("/r");
    for number in 1..=MAX_DEPTH as u8 + 1 {
        let issuer = (std::format!("{identity}/KEY/1"), number);
        identity.push_str("/x");
        chain.push(certificate(&identity, number + 1, Some((issuer.0.as_str(), issuer.1))));
    }
    let anchors = set(&[certificate("/r", 1, None)]);
    let check = |depth: usize| {
        let key = std::format!("/r{}/KEY/1", "/x".repeat(depth));
        outcome(&policy, &data("/d", &key, depth as u8 + 1), &anchors, &set(&chain), NOW)
    };
    assert!(check(MAX_DEPTH).starts_with("/r/x"), "{}", check(MAX_DEPTH));
    assert_eq!(check(MAX_DEPTH + 1), too_long);
}

#[test]
fn the_first_rule_for_a_name_decides() {
    let key = |uri: &str, relation| KeyTest::Relation { name: name(uri), relation };
    let filter = NameTest::Relation { name: name("/a"), relation: Relation::IsPrefixOf };
    let first = Rule { filters: vec![filter], ..rule("first", None, key("/ndn", Relation::Equal)) };
    let second = rule("second", Some("^[<a><b>]"), key("/ndn/a/KEY/1", Relation::IsPrefixOf));
    let policy = Policy { interests: Vec::new(), data: vec![first, second] };
    let anchors = set(&[certificate("/ndn", 1, None), certificate("/ndn/a", 2, None)]);
    let check = |uri: &str, key: &str, number| {
        outcome(&policy, &data(uri, key, number), &anchors, &Certificates::new(), NOW)
    };
    assert_eq!(check("/a/x", "/ndn/KEY/1", 1), "/ndn/KEY/1");
    assert_eq!(
        check("/a/x", "/ndn/a/KEY/1", 2),
        "the rule \"first\" does not let the key /ndn/a/KEY/1 sign /a/x"
    );
    assert_eq!(check("/b", "/ndn/a/KEY/1", 2), "/ndn/a/KEY/1");
    assert_eq!(check("/c", "/ndn/KEY/1", 1), "no rule is for the name /c");
    // A locator without the component KEY has no identity.
    assert_eq!(check("/a/x", "/ndn", 1), "the rule \"first\" does not let the key /ndn sign /a/x");
}

#[test]
fn the_algorithm_is_that_of_a_checker() {
    let hyper = HyperRelation::new(("^(<>*)<KEY><>$", "\\1"), Relation::Equal, ("^(<>*)<x>$", "\\1"));
    let key = KeyTest::Hyper(Box::new(hyper.expect("patterns")));
    let mut policy = Policy { interests: Vec::new(), data: vec![rule("r", None, key)] };
    let anchors = set(&[certificate("/ndn", 1, None)]);
    let check = |policy: &Policy, uri: &str| {
        outcome(policy, &data(uri, "/ndn/KEY/1", 1), &anchors, &Certificates::new(), NOW)
    };
    assert_eq!(check(&policy, "/ndn/x"), "/ndn/KEY/1");
    assert!(check(&policy, "/ndn/a/x").contains("does not let"));
    policy.data[0].checkers[0].signature = SignatureType::SHA256_WITH_RSA;
    assert!(check(&policy, "/ndn/x").contains("does not let"));
}
