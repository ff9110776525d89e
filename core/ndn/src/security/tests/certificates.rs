//! Certificates of others, and our own.

use super::{FROM, SECRET, UNTIL, anchors, hex, named, own, refuses_each_change, vector};
use crate::security::certificate::CertificateBuilder;
use crate::security::{Certificate, CertificateError, Certificates, KeyError, Signed, Signer, certificate};
use crate::tlv::WireError;
use crate::wire::{Data, DataBuilder, KeyLocator, SignatureInfo, SignatureType};
use hashlane_name::component::Component;
use std::collections::BTreeSet;
use std::string::{String, ToString};
use std::vec::Vec;

#[test]
fn reads_certificates_of_others() {
    for (certificate, owner) in [
        ("certificate-ecdsa", "/test/alice"),
        ("certificate-ed25519", "/test/alice"),
        ("certificate-rsa", "/test/alice"),
        ("ndnts-certificate-ecdsa", "/test/bob"),
        ("ndnts-certificate-ed25519", "/test/bob"),
    ] {
        let bytes = vector(certificate);
        let read = Certificate::parse(&bytes).unwrap();
        assert_eq!(read.identity().to_string(), owner);
        let key = if owner == "/test/bob" { "k2" } else { "k1" };
        assert_eq!(read.key_name().to_string(), std::format!("{owner}/KEY/{key}"));
        assert_eq!((read.valid_from(), read.valid_until()), (FROM, UNTIL), "{certificate}");
        assert_eq!(
            [FROM - 1, FROM, UNTIL, UNTIL + 1].map(|now| read.is_valid_at(now)),
            [false, true, true, false]
        );
        read.public_key().unwrap().verify(&Signed::data(read.data())).unwrap();
        // A certificate that signed itself is trusted as any packet is.
        assert_eq!(anchors(&[certificate]).verify(&Signed::data(read.data()), FROM), Ok(read.name()));
    }
}

#[test]
fn reads_back_its_own_certificates() {
    for signer in [Signer::ed25519(&[1; 32]), Signer::ecdsa_p256(&[1; 32]).unwrap()] {
        let bytes = own(&signer, 0x1234);
        let certificate = Certificate::parse(&bytes).unwrap();
        assert_eq!(certificate.name().to_string(), "/me/KEY/1/self/v=4660");
        assert_eq!((certificate.valid_from(), certificate.valid_until()), (FROM, UNTIL));
        assert_eq!(certificate.data().freshness(), Some(certificate::FRESHNESS));
        refuses_each_change(&bytes, |bytes| {
            Some(signer.verifier().verify(&Signed::data(&Data::parse(bytes).ok()?)))
        });
    }
    let identity = named("/me");
    let key = Component::generic(b"1");
    let builder =
        CertificateBuilder { identity: identity.view(), key, version: 0, valid_from: 0, valid_until: 0 };
    assert_eq!(builder.self_signed(&Signer::hmac(SECRET)), Err(CertificateError::NoPublicKey));
}

#[test]
fn refuses_what_is_no_certificate() {
    let signer = Signer::ed25519(&[1; 32]);
    let parse = |name: &str, content_type: u64, period: Option<&str>| {
        let (name, period) = (named(name), period.map(|digits| hex(&digits.replace(' ', ""))));
        let element = |value| crate::tlv::Element { typ: 253, value, at: 0, value_at: 0 };
        let info = SignatureInfo {
            validity: period.as_deref().map(element),
            ..SignatureInfo::of(SignatureType::ED25519)
        };
        let bytes = signer.data(&DataBuilder { content_type, ..DataBuilder::new(name.view(), b"key") }, info);
        Certificate::parse(&bytes)
            .and_then(|certificate| certificate.public_key().map_err(CertificateError::Key))
            .err()
    };
    let text: String = b"20260102T030405".iter().map(|byte| std::format!("{byte:02x}")).collect();
    let right = std::format!("FD00FE0F {text} FD00FF0F {text}");
    let name = "/me/KEY/1/self/v=1";
    assert_eq!(parse(name, 2, Some(&right)), Some(CertificateError::Key(KeyError::Malformed)));
    assert_eq!(parse("/KEY/1/self/v=1", 2, Some(&right)), Some(CertificateError::Key(KeyError::Malformed)));
    assert_eq!(parse(name, 0, Some(&right)), Some(CertificateError::ContentType { stated: 0 }));
    for other in
        ["/me/KEY/1/self", "/me", "/me/key/1/self/v=1", "/me/32=KEY/1/self/v=1", "/me/KEY/1/self/v=1/x"]
    {
        assert_eq!(parse(other, 2, Some(&right)), Some(CertificateError::Name), "{other}");
    }
    for period in [
        None,
        Some(""),
        Some(&right[..48]),
        Some(&std::format!("FD00FF0F {text} FD00FE0F {text}")),
        Some(&std::format!("{right} FB00")),
        Some(&right.replace("54", "20")),
    ] {
        assert_eq!(parse(name, 2, period), Some(CertificateError::Validity), "{period:?}");
    }
    assert!(parse(name, 2, Some(&std::format!("{right} FC00"))) != Some(CertificateError::Validity));
    assert_eq!(Certificate::parse(&[]).err(), Some(CertificateError::Packet(WireError::Truncated { at: 0 })));
}

#[test]
fn certificates_are_found_by_their_keys_as_by_a_scan() {
    let mut set = Certificates::new();
    let signer = Signer::ed25519(&[1; 32]);
    for identity in ["/", "/me", "/me/KEY/1", "/you"] {
        let identity = named(identity);
        for version in [1, 2, 1] {
            let key = Component::generic(b"1");
            let builder = CertificateBuilder {
                identity: identity.view(),
                key,
                version,
                valid_from: FROM,
                valid_until: UNTIL,
            };
            let bytes = builder.self_signed(&signer).unwrap();
            set.add(&Certificate::parse(&bytes).unwrap()).unwrap();
        }
    }
    assert_eq!((set.len(), set.iter().count()), (8, 8));
    let mut found = 0;
    for uri in [
        "/",
        "/KEY/1",
        "/KEY/1/self/v=2",
        "/me",
        "/me/KEY",
        "/me/KEY/1",
        "/me/KEY/1/self",
        "/me/KEY/1/self/v=1",
        "/me/KEY/1/self/v=1/x",
        "/me/KEY/1/KEY/1",
        "/me/KEY/1/KEY/1/self/v=3",
        "/other/KEY/1",
    ] {
        let locator = named(uri);
        let names = |certificates: Vec<Certificate<'_>>| -> BTreeSet<String> {
            certificates.iter().map(|certificate| certificate.name().to_string()).collect()
        };
        let located = set.located_by(KeyLocator::Name(locator.view())).map(|(certificate, _)| certificate);
        let scanned = set.iter().filter(|certificate| certificate.is_located_by(locator.view()));
        let (located, scanned) = (names(located.collect()), names(scanned.collect()));
        assert_eq!(located, scanned, "{uri}");
        found += located.len();
    }
    assert_eq!(found, 2 + 1 + 2 + 2 + 1 + 2);
}

#[test]
fn a_certificate_that_was_removed_is_not_found() {
    let (mut set, signer, me) = (Certificates::new(), Signer::ed25519(&[1; 32]), named("/me"));
    for version in [1, 2] {
        let key = Component::generic(b"1");
        let builder =
            CertificateBuilder { identity: me.view(), key, version, valid_from: FROM, valid_until: UNTIL };
        set.add(&Certificate::parse(&builder.self_signed(&signer).unwrap()).unwrap()).unwrap();
    }
    let (first, key) = (named("/me/KEY/1/self/v=1"), named("/me/KEY/1"));
    assert!(!set.remove(key.view()) && set.remove(first.view()) && !set.remove(first.view()));
    assert_eq!((set.len(), set.located_by(KeyLocator::Name(key.view())).count()), (1, 1));
    assert!(set.remove(named("/me/KEY/1/self/v=2").view()) && set.is_empty());
    assert_eq!(set.located_by(KeyLocator::Name(key.view())).count(), 0);
}
