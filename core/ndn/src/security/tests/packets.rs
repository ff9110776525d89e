//! Packets signed by other implementations.

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
        refuses_each_change(&vector(&["data-", kind].concat()), |bytes| {
            Some(verifier.verify(&Signed::data(&Data::parse(bytes).ok()?)))
        });
        refuses_each_change(&vector(&["interest-", kind].concat()), |bytes| {
            // The Nonce is not covered, nor is what may be ignored before the parameters.
            let interest = Interest::parse(bytes).ok()?;
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
        let bytes = vector(&["command-", kind].concat());
        let command = Signed::command(NdnName::parse(&bytes).unwrap()).unwrap();
        assert_eq!(command.info.nonce.map(<[u8]>::len), Some(8));
        if kind != "digest" {
            assert_eq!(command.info.time, Some(FROM * 1000));
        }
        refuses_each_change(&bytes, |bytes| {
            let name = NdnName::parse(bytes).ok()?;
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
    let mut bytes = vector("interest-ed25519");
    let at = bytes.windows(2).position(|pair| pair == [2, 32]).unwrap() + 2;
    bytes[at] ^= 1;
    assert_eq!(Signed::interest(&Interest::parse(&bytes).unwrap()), Err(Refusal::ParametersDigest));
    // A component behind the digest, which then is not the last.
    bytes[at] ^= 1;
    bytes.splice(at + 32..at + 32, [8, 1, b'x']);
    bytes[1] += 3;
    bytes[3] += 3;
    let parsed = Interest::parse(&bytes).unwrap();
    assert!(parsed.has_valid_parameters_digest());
    assert_eq!(Signed::interest(&parsed), Err(Refusal::ParametersDigest));
}
