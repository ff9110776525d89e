//! Keys against published signatures.

use super::{hex, vector};
use crate::security::{Certificate, KeyError, Signer, Verifier};
use sha2::{Digest, Sha256};

#[test]
fn signs_as_published() {
    // RFC 4231 §4.2, §4.3, §4.7.
    for (secret, bytes, mac) in [
        (
            &[0x0b; 20][..],
            &b"Hi There"[..],
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
        ),
        (
            b"Jefe",
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        ),
        (
            &[0xaa; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        ),
    ] {
        check_signature(&Signer::hmac(secret), bytes, &hex(mac));
        assert!(Verifier::hmac(secret).is_signature(&[bytes], &hex(mac)));
    }
    // RFC 8032 §7.1, tests 1 and 2.
    for (key, bytes, signature) in [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            &[][..],
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            &[0x72],
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ),
    ] {
        check_signature(&Signer::ed25519(&hex(key).try_into().unwrap()), bytes, &hex(signature));
    }
    // RFC 6979 §A.2.5, SHA-256 of "sample"; both numbers need a zero before them.
    let key = hex("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721");
    let signature = "30460221 00EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716\
        0221 00F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
        .replace(' ', "");
    check_signature(&Signer::ecdsa_p256(&key.try_into().unwrap()).unwrap(), b"sample", &hex(&signature));
    check_signature(&Signer::DigestSha256, b"sample", &Sha256::digest(b"sample"));
}

fn check_signature(signer: &Signer, bytes: &[u8], signature: &[u8]) {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    assert_eq!(signer.sign(&[first, second]), signature);
    let verifier = signer.verifier();
    assert_eq!(verifier.signature_type(), signer.signature_type());
    assert!(verifier.is_signature(&[bytes], signature));
    assert!(!verifier.is_signature(&[bytes, b"x"], signature));
    assert!(!verifier.is_signature(&[bytes], &signature[1..]));
    if let Some(der) = signer.public_key() {
        assert!(Verifier::from_spki(&der).unwrap().is_signature(&[bytes], signature));
    }
    // No byte of a key is shown.
    assert_eq!(std::format!("{signer:?}"), std::format!("Signer({})", signer.signature_type()));
}

#[test]
fn reads_private_keys_of_others() {
    for kind in ["ecdsa-p256", "ed25519"] {
        let der = vector(&[kind, "-key-pkcs8"].concat());
        let signer = Signer::from_pkcs8(&der).unwrap();
        let certificate = vector(&["certificate-", kind.trim_end_matches("-p256")].concat());
        let public_key = Certificate::parse(&certificate).unwrap().public_key().unwrap();
        assert!(public_key.is_signature(&[b"x"], &signer.sign(&[b"x"])));
        assert_eq!(Signer::from_pkcs8(&der[1..]).err(), Some(KeyError::Malformed));
    }
    assert_eq!(Signer::ecdsa_p256(&[0; 32]).err(), Some(KeyError::Malformed));
    assert_eq!(Signer::ecdsa_p256(&[0xff; 32]).err(), Some(KeyError::Malformed));
}

#[test]
fn says_which_public_keys_it_cannot_use() {
    assert_eq!(Verifier::from_spki(&vector("p384-public-key")).err(), Some(KeyError::Curve));
    assert!(Verifier::from_spki(&vector("rsa-2048-public-key")).is_ok());
    assert_eq!(Verifier::from_spki(b"").err(), Some(KeyError::Malformed));
    // X25519 (RFC 8410 §3) exchanges keys, and signs nothing.
    let ed25519 = Signer::ed25519(&[7; 32]).public_key().unwrap();
    let mut x25519 = ed25519.clone();
    x25519[8] = 110;
    assert_eq!(Verifier::from_spki(&x25519).err(), Some(KeyError::Kind));
    // A point that is not on the curve.
    let mut ecdsa = Signer::ecdsa_p256(&[7; 32]).unwrap().public_key().unwrap();
    *ecdsa.last_mut().unwrap() ^= 1;
    assert_eq!(Verifier::from_spki(&ecdsa).err(), Some(KeyError::Malformed));
}
