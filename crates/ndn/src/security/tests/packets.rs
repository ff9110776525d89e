//! What others signed.

use super::{FROM, SECRET, named, refuses_each_change, vector};
use crate::security::{Certificate, Refusal, Signed, Verifier};
use crate::wire::{Data, Interest, InterestBuilder};
use hashlane_name::ndn::NdnName;

#[test]
fn verifies_data_of_others() {
    for kind in ["ecdsa", "ed25519", "rsa", "hmac", "digest"] {
        let verifier = match kind {
            "hmac" => Verifier::hmac(SECRET),
            "digest" => Verifier::DigestSha256,
            _ => Certificate::parse(&vector(&["certificate-", kind].concat())).unwrap().public_key().unwrap(),
        };
        refuses_each_change(&vector(&["data-", kind].concat()), |octets| {
            Some(verifier.verify(&Signed::data(&Data::parse(octets).ok()?)))
        });
        refuses_each_change(&vector(&["interest-", kind].concat()), |octets| {
            // The Nonce is not covered, nor is what may be ignored before the parameters.
            let interest = Interest::parse(octets).ok()?;
            if interest.nonce() != Some(0x0102_0304) || interest.lifetime() != 1000 {
                return None;
            }
            Some(Signed::interest(&interest).and_then(|signed| verifier.verify(&signed)))
        });
    }
}

#[test]
fn verifies_commands_of_others() {
    for kind in ["ecdsa", "ed25519", "digest"] {
        let verifier = match kind {
            "digest" => Verifier::DigestSha256,
            _ => Certificate::parse(&vector(&["certificate-", kind].concat())).unwrap().public_key().unwrap(),
        };
        let octets = vector(&["command-", kind].concat());
        let command = Signed::command(NdnName::parse(&octets).unwrap()).unwrap();
        assert_eq!(command.info.nonce.map(<[u8]>::len), Some(8));
        if kind != "digest" {
            assert_eq!(command.info.time, Some(FROM * 1000));
        }
        refuses_each_change(&octets, |octets| {
            let name = NdnName::parse(octets).ok()?;
            Some(Signed::command(name).and_then(|signed| verifier.verify(&signed)))
        });
    }
    for uri in
        ["/A", "/A/B/C", "/A/B/C/D", "/localhost/nfd/rib/register/h/12345678/12345678/%16%03%1B%01%00/%17%01"]
    {
        assert_eq!(Signed::command(named(uri).view()), Err(Refusal::Unsigned), "{uri}");
    }
    let right = named("/12345678/12345678/%16%03%1B%01%00/%17%00");
    assert!(Signed::command(right.view()).is_ok());
}

#[test]
fn an_interest_is_signed_whole_or_not_at_all() {
    let name = named("/A");
    let plain = InterestBuilder::new(name.view()).build();
    assert_eq!(Signed::interest(&Interest::parse(&plain).unwrap()), Err(Refusal::Unsigned));
    let mut octets = vector("interest-ed25519");
    let at = octets.windows(2).position(|pair| pair == [2, 32]).unwrap() + 2;
    octets[at] ^= 1;
    assert_eq!(Signed::interest(&Interest::parse(&octets).unwrap()), Err(Refusal::ParametersDigest));
    // A component behind the digest, which then is not the last.
    octets[at] ^= 1;
    octets.splice(at + 32..at + 32, [8, 1, b'x']);
    octets[1] += 3;
    octets[3] += 3;
    let parsed = Interest::parse(&octets).unwrap();
    assert!(parsed.parameters_digest_is_right());
    assert_eq!(Signed::interest(&parsed), Err(Refusal::ParametersDigest));
}
