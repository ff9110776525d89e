//! Parameters of elliptic curves in keys: by name, or written out.
//!
//! Keys that older releases of ndn-cxx made have the parameters of P-256 written out.

use super::error::KeyError;
use pkcs8::AlgorithmIdentifierRef;
use pkcs8::der::Tag;
use pkcs8::der::Tagged as _;
use pkcs8::der::asn1::ObjectIdentifier;

/// secp256r1 (RFC 5480 §2.1.1.1).
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");

/// Version, then the field: of integers modulo the prime.
const FIELD: &[u8] = b"\x02\x01\x01\x30\x2c\x06\x07\x2a\x86\x48\xce\x3d\x01\x01\x02\x21\x00\
    \xff\xff\xff\xff\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\
    \x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";
/// Heads of the curve without and with its seed.
const CURVE_HEADS: [&[u8]; 2] = [b"\x30\x44", b"\x30\x5b"];
/// Coefficients of the curve.
const COEFFICIENTS: &[u8] = b"\x04\x20\
    \xff\xff\xff\xff\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\
    \x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfc\
    \x04\x20\
    \x5a\xc6\x35\xd8\xaa\x3a\x93\xe7\xb3\xeb\xbd\x55\x76\x98\x86\xbc\
    \x65\x1d\x06\xb0\xcc\x53\xb0\xf6\x3b\xce\x3c\x3e\x27\xd2\x60\x4b";
/// The seed from which the coefficients were made.
const SEED: &[u8] = b"\x03\x15\x00\
    \xc4\x9d\x36\x08\x86\xe7\x04\x93\x6a\x66\x78\xe1\x13\x9d\x26\xb7\x81\x9f\x7e\x90";
/// The base point: both coordinates, or the first one alone.
const POINTS: [&[u8]; 2] = [
    b"\x04\x41\x04\
    \x6b\x17\xd1\xf2\xe1\x2c\x42\x47\xf8\xbc\xe6\xe5\x63\xa4\x40\xf2\
    \x77\x03\x7d\x81\x2d\xeb\x33\xa0\xf4\xa1\x39\x45\xd8\x98\xc2\x96\
    \x4f\xe3\x42\xe2\xfe\x1a\x7f\x9b\x8e\xe7\xeb\x4a\x7c\x0f\x9e\x16\
    \x2b\xce\x33\x57\x6b\x31\x5e\xce\xcb\xb6\x40\x68\x37\xbf\x51\xf5",
    b"\x04\x21\x03\
    \x6b\x17\xd1\xf2\xe1\x2c\x42\x47\xf8\xbc\xe6\xe5\x63\xa4\x40\xf2\
    \x77\x03\x7d\x81\x2d\xeb\x33\xa0\xf4\xa1\x39\x45\xd8\x98\xc2\x96",
];
/// Order of the base point.
const ORDER: &[u8] = b"\x02\x21\x00\
    \xff\xff\xff\xff\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\
    \xbc\xe6\xfa\xad\xa7\x17\x9e\x84\xf3\xb9\xca\xc2\xfc\x63\x25\x51";
/// The cofactor, which may be left out.
const COFACTOR: &[u8] = b"\x02\x01\x01";

/// Checks that a key of an elliptic curve is on P-256, whether its parameters name the curve (RFC 5480
/// §2.1.1) or spell it out (ECParameters of RFC 3279 §2.3.5).
///
/// # Errors
/// [`KeyError::Curve`] for the name of another curve, [`KeyError::Parameters`] for other parameters,
/// [`KeyError::Malformed`] for none.
pub(super) fn check_p256(algorithm: &AlgorithmIdentifierRef<'_>) -> Result<(), KeyError> {
    let parameters = algorithm.parameters.ok_or(KeyError::Malformed)?;
    match parameters.tag() {
        Tag::ObjectIdentifier if algorithm.parameters_oid() == Ok(P256) => Ok(()),
        Tag::ObjectIdentifier => Err(KeyError::Curve),
        Tag::Sequence if is_p256(parameters.value()) == Some(true) => Ok(()),
        Tag::Sequence => Err(KeyError::Parameters),
        _ => Err(KeyError::Malformed),
    }
}

/// True if the content of ECParameters describes P-256.
fn is_p256(content: &[u8]) -> Option<bool> {
    let after = |rest: &[u8], heads: [&'static [u8]; 2]| {
        heads.iter().position(|head| rest.starts_with(head)).map(|at| (at, heads[at].len()))
    };
    let rest = content.strip_prefix(FIELD)?;
    let (has_seed, len) = after(rest, CURVE_HEADS)?;
    let rest = rest.get(len..)?.strip_prefix(COEFFICIENTS)?;
    let rest = if has_seed == 1 { rest.strip_prefix(SEED)? } else { rest };
    let (_, len) = after(rest, POINTS)?;
    let rest = rest.get(len..)?.strip_prefix(ORDER)?;
    Some(rest.is_empty() || rest == COFACTOR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::security::{Signer, Verifier};
    use alloc::vec::Vec;

    /// The DER of a SEQUENCE of less than 64 KiB.
    fn sequence(content: &[u8]) -> Vec<u8> {
        let [high, low] = (content.len() as u16).to_be_bytes();
        let head = match content.len() {
            0..128 => &[0x30, low][..],
            128..256 => &[0x30, 0x81, low],
            _ => &[0x30, 0x82, high, low],
        };
        [head, content].concat()
    }

    /// All ways to write the parameters.
    fn parameters() -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        for (head, seed) in CURVE_HEADS.into_iter().zip([&[][..], SEED]) {
            for point in POINTS {
                for cofactor in [&[][..], COFACTOR] {
                    all.push([FIELD, head, COEFFICIENTS, seed, point, ORDER, cofactor].concat());
                }
            }
        }
        all
    }

    /// A public key with explicit parameters.
    fn spki(named: &[u8], parameters: &[u8]) -> Vec<u8> {
        // The bit string of the point ends the key.
        let point = &named[named.len() - 68..];
        let oid = b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01";
        sequence(&[sequence(&[&oid[..], &sequence(parameters)].concat()), point.to_vec()].concat())
    }

    #[test]
    fn a_key_with_the_parameters_of_p256_is_that_key() {
        let signer = Signer::ecdsa_p256(&[7; 32]).unwrap();
        let named = signer.public_key().unwrap();
        let signature = signer.sign(&[b"packet"]);
        for parameters in parameters() {
            let verifier = Verifier::from_spki(&spki(&named, &parameters)).unwrap();
            assert!(verifier.is_signature(&[b"packet"], &signature));
            assert!(!verifier.is_signature(&[b"another"], &signature));
        }
    }

    #[test]
    fn other_parameters_are_refused_whichever_byte_differs() {
        let named = Signer::ecdsa_p256(&[7; 32]).unwrap().public_key().unwrap();
        for parameters in parameters() {
            for at in 0..parameters.len() {
                let mut other = parameters.clone();
                other[at] ^= 1;
                let refused = Verifier::from_spki(&spki(&named, &other)).err();
                assert!(
                    matches!(refused, Some(KeyError::Parameters | KeyError::Malformed)),
                    "byte {at}: {refused:?}"
                );
            }
            for longer in [[&parameters[..], &[5, 0]].concat(), parameters[..parameters.len() - 3].to_vec()] {
                let is_whole = self::parameters().contains(&longer);
                assert_eq!(Verifier::from_spki(&spki(&named, &longer)).is_ok(), is_whole);
            }
        }
        let text = std::format!("{}", KeyError::Parameters);
        assert!(text.contains("explicit") && text.contains("P-256"), "{text}");
    }
}
