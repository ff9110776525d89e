//! Trusted packets, and the rules that reject others.

use super::{FROM, UNTIL, anchors, named, own, vector};
use crate::security::{Certificate, Refusal, Signed, Signer, TrustAnchors};
use crate::wire::{Data, Interest, InterestBuilder, KeyLocator, SignatureInfo, SignatureType};
use sha2::{Digest, Sha256};
use std::string::{String, ToString};
use std::vec::Vec;

#[test]
fn trust_says_which_rule_refused() {
    let trusted = anchors(&["certificate-ecdsa", "certificate-rsa"]);
    let verify = |trusted: &TrustAnchors, packet: &str, now: u64| {
        let bytes = vector(packet);
        let data = Data::parse(&bytes).unwrap();
        trusted.verify(&Signed::data(&data), now).map(|name| name.to_string())
    };
    let name = Certificate::parse(&vector("certificate-ecdsa")).unwrap().name().to_string();
    assert_eq!(verify(&trusted, "data-ecdsa", FROM), Ok(name.clone()));
    assert_eq!(verify(&trusted, "data-rsa", UNTIL).map(|found| found == name), Ok(false));
    assert_eq!(verify(&trusted, "data-ecdsa", FROM - 1), Err(Refusal::NotYetValid { from: FROM }));
    assert_eq!(verify(&trusted, "data-ecdsa", UNTIL + 1), Err(Refusal::Expired { until: UNTIL }));
    let digest = Refusal::Keyless { stated: SignatureType::DIGEST_SHA256 };
    assert_eq!(verify(&trusted, "data-digest", FROM), Err(digest));
    let mismatch =
        Refusal::TypeMismatch { stated: SignatureType::ED25519, key: SignatureType::SHA256_WITH_ECDSA };
    assert_eq!(verify(&trusted, "data-ed25519", FROM), Err(mismatch));
    assert_eq!(verify(&anchors(&["ndnts-certificate-ecdsa"]), "data-ecdsa", FROM), Err(Refusal::UnknownKey));
    assert_eq!(verify(&TrustAnchors::new(), "data-ecdsa", FROM), Err(Refusal::UnknownKey));
    assert_eq!(
        mismatch.to_string(),
        "signature type SignatureEd25519 does not match the key, which is for SignatureSha256WithEcdsa"
    );
}

#[test]
fn trust_finds_keys_by_name_and_by_digest() {
    let signer = Signer::ed25519(&[1; 32]);
    let mut trusted = TrustAnchors::new();
    for version in [1, 2, 1] {
        trusted.add(&Certificate::parse(&own(&signer, version)).unwrap()).unwrap();
    }
    // The one that was added again has taken the place of itself.
    let names: Vec<String> =
        trusted.certificates().map(|certificate| certificate.name().to_string()).collect();
    assert_eq!(names, ["/me/KEY/1/self/v=2", "/me/KEY/1/self/v=1"]);
    assert_eq!((trusted.len(), trusted.is_empty()), (2, false));

    let found = |signer: &Signer, locator: Option<KeyLocator<'_>>| {
        let name = named("/some/interest");
        let info = SignatureInfo { key_locator: locator, ..SignatureInfo::of(SignatureType::NULL) };
        let bytes = signer.interest(&InterestBuilder::new(name.view()), info);
        let interest = Interest::parse(&bytes).unwrap();
        let signed = Signed::interest(&interest).unwrap();
        trusted.verify(&signed, FROM).map(|name| name.to_string())
    };
    let by_name = |uri: &str| found(&signer, Some(KeyLocator::Name(named(uri).view())));
    assert_eq!(by_name("/me/KEY/1"), Ok(names[0].clone()));
    assert_eq!(by_name("/me/KEY/1/self"), Ok(names[0].clone()));
    assert_eq!(by_name("/me/KEY/1/self/v=1"), Ok(names[1].clone()));
    for other in
        ["/me", "/me/KEY", "/me/KEY/2", "/me/KEY/1/other", "/me/KEY/1/self/v=3", "/me/KEY/1/self/v=1/x", "/"]
    {
        assert_eq!(by_name(other), Err(Refusal::UnknownKey), "{other}");
    }
    let digest = Sha256::digest(signer.public_key().unwrap());
    assert_eq!(found(&signer, Some(KeyLocator::Digest(&digest))), Ok(names[0].clone()));
    assert_eq!(found(&signer, Some(KeyLocator::Digest(&digest[..31]))), Err(Refusal::UnknownKey));
    assert_eq!(found(&signer, None), Err(Refusal::NoKeyLocator));
    let forger = Signer::ed25519(&[2; 32]);
    assert_eq!(
        found(&forger, Some(KeyLocator::Name(named("/me/KEY/1").view()))),
        Err(Refusal::WrongSignature)
    );
}
