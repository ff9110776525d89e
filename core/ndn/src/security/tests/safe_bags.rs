//! Safe bags of others.

use super::vector;
use crate::security::{CertificateError, SafeBag, SafeBagError, safe_bag};
use crate::tlv::{WireError, write_element, write_nested};
use std::vec::Vec;

#[test]
fn opens_safe_bags_of_others() {
    for kind in ["ecdsa", "ed25519"] {
        let bytes = vector(&["ndnts-safe-bag-", kind].concat());
        let bag = SafeBag::parse(&bytes).unwrap();
        assert_eq!(bag.certificate().data().as_bytes(), vector(&["ndnts-certificate-", kind].concat()));
        let signer = bag.open(b"passphrase").unwrap();
        assert_eq!(signer.public_key().as_deref(), Some(bag.certificate().data().content()));
        assert_eq!(bag.open(b"passphrasf").err(), Some(SafeBagError::Passphrase));

        // The certificate of one key beside another key.
        let mut mixed = Vec::new();
        write_nested(128, &mut mixed, |out| {
            out.extend(vector(&["certificate-", kind].concat()));
            write_element(129, bag.encrypted_key(), out);
        });
        assert_eq!(SafeBag::parse(&mixed).unwrap().open(b"passphrase").err(), Some(SafeBagError::OtherKey));
    }
}

#[test]
fn refuses_what_is_no_safe_bag() {
    let certificate = vector("certificate-ed25519");
    let bag = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = Vec::new();
        write_nested(128, &mut bytes, write);
        SafeBag::parse(&bytes).and_then(|bag| bag.open(b"")).err()
    };
    let wire = |error| Some(SafeBagError::Packet(error));
    assert_eq!(SafeBag::parse(&certificate).err(), wire(WireError::UnexpectedType { typ: 6 }));
    assert_eq!(bag(&|_| ()), wire(WireError::Missing { typ: 6 }));
    assert_eq!(bag(&|out| out.extend(&certificate)), wire(WireError::Missing { typ: 129 }));
    assert_eq!(
        bag(&|out| {
            out.extend(vector("data-ed25519"));
            write_element(129, &[], out);
        }),
        Some(SafeBagError::Certificate(CertificateError::Name))
    );
    assert_eq!(
        bag(&|out| {
            out.extend(&certificate);
            write_element(129, b"key", out);
        }),
        Some(SafeBagError::Encryption)
    );
    // More rounds than are computed.
    let bytes = vector("ndnts-safe-bag-ed25519");
    let key = SafeBag::parse(&bytes).unwrap().encrypted_key().to_vec();
    let costly = more_rounds(&key);
    assert_eq!(
        bag(&|out| {
            out.extend(&certificate);
            write_element(129, &costly, out);
        }),
        Some(SafeBagError::Encryption)
    );
}

/// An EncryptedPrivateKeyInfo as `der`, but of more rounds than are computed.
fn more_rounds(der: &[u8]) -> Vec<u8> {
    use pkcs8::der::{Decode, Encode};
    use pkcs8::pkcs5::{EncryptionScheme, pbes2};
    let mut info = pkcs8::EncryptedPrivateKeyInfo::from_der(der).unwrap();
    let EncryptionScheme::Pbes2(mut parameters) = info.encryption_algorithm else { panic!("no PBES2") };
    let pbes2::Kdf::Pbkdf2(kdf) = &mut parameters.kdf else { panic!("no PBKDF2") };
    kdf.iteration_count = safe_bag::MAX_ITERATIONS + 1;
    info.encryption_algorithm = EncryptionScheme::Pbes2(parameters);
    info.to_der().unwrap()
}
