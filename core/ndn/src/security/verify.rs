//! Verifying keys.

use super::curve::check_p256;
use super::error::{KeyError, Refusal};
use super::signed::Signed;
use crate::wire::SignatureType;
use alloc::boxed::Box;
use core::fmt;
use hmac::{Hmac, Mac};
use p256::ecdsa::signature::hazmat::PrehashVerifier;
use pkcs8::der::Decode;
use pkcs8::der::asn1::ObjectIdentifier;
use pkcs8::{AlgorithmIdentifierRef, DecodePublicKey, SubjectPublicKeyInfoRef};
use rsa::RsaPublicKey;
use rsa::pkcs1v15::Pkcs1v15Sign;
use sha2::{Digest, Sha256};

/// id-ecPublicKey (RFC 5480 §2.1.1).
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
/// id-Ed25519 (RFC 8410 §3).
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
/// rsaEncryption (RFC 3279 §2.3.1).
const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");

/// Verifying key, or the digest that takes the place of one.
#[derive(Clone)]
#[non_exhaustive]
pub enum Verifier {
    /// SHA-256 digest without a key.
    DigestSha256,
    /// Shared secret.
    HmacSha256(Box<Hmac<Sha256>>),
    /// Public key on the curve P-256.
    EcdsaP256(p256::ecdsa::VerifyingKey),
    /// Ed25519 public key.
    Ed25519(ed25519_dalek::VerifyingKey),
    /// RSA public key of up to 4096 bits.
    Rsa(Box<RsaPublicKey>),
}

impl Verifier {
    /// Creates an HMAC verifier from a shared secret.
    pub fn hmac(secret: &[u8]) -> Self {
        Self::HmacSha256(Box::new(keyed(secret)))
    }

    /// Creates a verifier from `der`, a SubjectPublicKeyInfo of P-256, Ed25519 or RSA.
    ///
    /// # Errors
    /// The reason for rejecting the key.
    ///
    /// Source: RFC 5280 §4.1.2.7.
    pub fn from_spki(der: &[u8]) -> Result<Self, KeyError> {
        let info = SubjectPublicKeyInfoRef::from_der(der).map_err(|_| KeyError::Malformed)?;
        let key = match kind_of(&info.algorithm)? {
            SignatureType::SHA256_WITH_ECDSA => {
                let point = info.subject_public_key.as_bytes().ok_or(KeyError::Malformed)?;
                p256::ecdsa::VerifyingKey::from_sec1_bytes(point).map(Self::EcdsaP256).ok()
            }
            SignatureType::ED25519 => ed25519_dalek::VerifyingKey::try_from(info).map(Self::Ed25519).ok(),
            _ => RsaPublicKey::from_public_key_der(der).map(|key| Self::Rsa(Box::new(key))).ok(),
        };
        key.ok_or(KeyError::Malformed)
    }

    /// Algorithm of the signatures.
    pub fn signature_type(&self) -> SignatureType {
        match self {
            Self::DigestSha256 => SignatureType::DIGEST_SHA256,
            Self::HmacSha256(_) => SignatureType::HMAC_WITH_SHA256,
            Self::EcdsaP256(_) => SignatureType::SHA256_WITH_ECDSA,
            Self::Ed25519(_) => SignatureType::ED25519,
            Self::Rsa(_) => SignatureType::SHA256_WITH_RSA,
        }
    }

    /// Verifies a signature.
    ///
    /// # Errors
    /// [`Refusal::TypeMismatch`] or [`Refusal::WrongSignature`].
    pub fn verify(&self, signed: &Signed<'_>) -> Result<(), Refusal> {
        let (stated, key) = (signed.info.signature_type, self.signature_type());
        if stated != key {
            return Err(Refusal::TypeMismatch { stated, key });
        }
        let right = self.is_signature(&signed.pieces, signed.value);
        if right { Ok(()) } else { Err(Refusal::WrongSignature) }
    }

    /// True if `signature` is the signature of this key over the concatenation of `pieces`.
    pub fn is_signature(&self, pieces: &[&[u8]], signature: &[u8]) -> bool {
        match self {
            Self::DigestSha256 => sha256(pieces) == signature,
            Self::HmacSha256(keyed) => {
                let mut mac = Hmac::clone(keyed);
                pieces.iter().for_each(|piece| mac.update(piece));
                mac.verify_slice(signature).is_ok()
            }
            Self::EcdsaP256(key) => p256::ecdsa::Signature::from_der(signature)
                .is_ok_and(|signature| key.verify_prehash(&sha256(pieces), &signature).is_ok()),
            Self::Ed25519(key) => ed25519_dalek::Signature::from_slice(signature)
                .is_ok_and(|signature| key.verify_strict(&pieces.concat(), &signature).is_ok()),
            Self::Rsa(key) => key.verify(Pkcs1v15Sign::new::<Sha256>(), &sha256(pieces), signature).is_ok(),
        }
    }
}

impl fmt::Debug for Verifier {
    /// Shows the algorithm only, as the key may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Verifier({})", self.signature_type())
    }
}

/// Signature algorithm for keys of this algorithm.
pub(super) fn kind_of(algorithm: &AlgorithmIdentifierRef<'_>) -> Result<SignatureType, KeyError> {
    match algorithm.oid {
        EC => check_p256(algorithm).map(|()| SignatureType::SHA256_WITH_ECDSA),
        ED25519 => Ok(SignatureType::ED25519),
        RSA => Ok(SignatureType::SHA256_WITH_RSA),
        _ => Err(KeyError::Kind),
    }
}

/// SHA-256 of the concatenation of `pieces`.
pub(super) fn sha256(pieces: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    pieces.iter().for_each(|piece| hash.update(piece));
    hash.finalize().into()
}

/// HMAC-SHA256 under a secret.
pub(super) fn keyed(secret: &[u8]) -> Hmac<Sha256> {
    // A secret longer than a block is hashed first (RFC 2104 §2), so that the key always fits into one block.
    let mut block = [0; 64];
    let digest;
    let short = if secret.len() > block.len() {
        digest = sha256(&[secret]);
        &digest[..]
    } else {
        secret
    };
    block.iter_mut().zip(short).for_each(|(to, from)| *to = *from);
    Hmac::new(&block.into())
}
