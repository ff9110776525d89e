//! Keys that sign.

use super::error::KeyError;
use super::verify::{Verifier, keyed, kind_of, sha256};
use crate::invariant::Invariant as _;
use crate::wire::{DataBuilder, InterestBuilder, SignatureInfo, SignatureType};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use ed25519_dalek::Signer as _;
use hmac::{Hmac, Mac};
use p256::ecdsa::signature::hazmat::PrehashSigner;
use pkcs8::der::Decode;
use pkcs8::{EncodePublicKey, PrivateKeyInfo};
use sha2::Sha256;

/// A key that signs, or the digest that takes the place of one.
///
/// Source: NDN Packet Format 0.3, Different Types of Signatures.
#[derive(Clone)]
#[non_exhaustive]
pub enum Signer {
    /// No key.
    DigestSha256,
    /// A shared secret.
    HmacSha256(Box<Hmac<Sha256>>),
    /// A private key on the curve P-256.
    EcdsaP256(p256::ecdsa::SigningKey),
    /// A private key of Ed25519.
    Ed25519(Box<ed25519_dalek::SigningKey>),
}

impl Signer {
    /// With a shared secret of any length; 32 bytes and more are advised.
    pub fn hmac(secret: &[u8]) -> Self {
        Self::HmacSha256(Box::new(keyed(secret)))
    }

    /// With the private key that 32 bytes in network order are.
    ///
    /// # Errors
    /// [`KeyError::Malformed`] where they are 0, or not under the order of the curve.
    pub fn ecdsa_p256(key: &[u8; 32]) -> Result<Self, KeyError> {
        p256::ecdsa::SigningKey::from_bytes(key.into()).map(Self::EcdsaP256).map_err(|_| KeyError::Malformed)
    }

    /// With the private key of Ed25519 that 32 bytes are.
    pub fn ed25519(key: &[u8; 32]) -> Self {
        Self::Ed25519(Box::new(ed25519_dalek::SigningKey::from_bytes(key)))
    }

    /// With the private key that `der`, a PrivateKeyInfo, is. Keys of RSA are read by nobody here.
    ///
    /// # Errors
    /// What is wrong with it.
    ///
    /// Source: RFC 5208 §5; RFC 5915; RFC 8410 §7.
    pub fn from_pkcs8(der: &[u8]) -> Result<Self, KeyError> {
        let info = PrivateKeyInfo::from_der(der).map_err(|_| KeyError::Malformed)?;
        match kind_of(&info.algorithm)? {
            SignatureType::SHA256_WITH_ECDSA => {
                p256::ecdsa::SigningKey::try_from(info).map(Self::EcdsaP256).map_err(|_| KeyError::Malformed)
            }
            SignatureType::ED25519 => ed25519_dalek::SigningKey::try_from(info)
                .map(|key| Self::Ed25519(Box::new(key)))
                .map_err(|_| KeyError::Malformed),
            _ => Err(KeyError::Kind),
        }
    }

    /// How it signs.
    pub fn signature_type(&self) -> SignatureType {
        match self {
            Self::DigestSha256 => SignatureType::DIGEST_SHA256,
            Self::HmacSha256(_) => SignatureType::HMAC_WITH_SHA256,
            Self::EcdsaP256(_) => SignatureType::SHA256_WITH_ECDSA,
            Self::Ed25519(_) => SignatureType::ED25519,
        }
    }

    /// The signature of `pieces`, one after the other. The same bytes have the same signature each time.
    pub fn sign(&self, pieces: &[&[u8]]) -> Vec<u8> {
        match self {
            Self::DigestSha256 => sha256(pieces).to_vec(),
            Self::HmacSha256(keyed) => {
                let mut mac = Hmac::clone(keyed);
                pieces.iter().for_each(|piece| mac.update(piece));
                mac.finalize().into_bytes().to_vec()
            }
            Self::EcdsaP256(key) => {
                let signature: Option<p256::ecdsa::Signature> = key.sign_prehash(&sha256(pieces)).ok();
                let signature = signature.invariant("P-256 signs every SHA-256 digest");
                signature.map_or_else(Vec::new, |signature| signature.to_der().as_bytes().to_vec())
            }
            Self::Ed25519(key) => key.sign(&pieces.concat()).to_bytes().to_vec(),
        }
    }

    /// What verifies its signatures.
    pub fn verifier(&self) -> Verifier {
        match self {
            Self::DigestSha256 => Verifier::DigestSha256,
            Self::HmacSha256(keyed) => Verifier::HmacSha256(keyed.clone()),
            Self::EcdsaP256(key) => Verifier::EcdsaP256(*key.verifying_key()),
            Self::Ed25519(key) => Verifier::Ed25519(key.verifying_key()),
        }
    }

    /// The DER of its public half, a SubjectPublicKeyInfo; `None` where it has no such half.
    pub fn public_key(&self) -> Option<Vec<u8>> {
        let document = match self {
            Self::EcdsaP256(key) => p256::PublicKey::from(key.verifying_key()).to_public_key_der(),
            Self::Ed25519(key) => key.verifying_key().to_public_key_der(),
            Self::DigestSha256 | Self::HmacSha256(_) => return None,
        };
        document.ok().map(|document| document.into_vec())
    }

    /// The Data packet of `builder`, signed. `info` says with which key; its type is put right.
    pub fn data(&self, builder: &DataBuilder<'_>, info: SignatureInfo<'_>) -> Vec<u8> {
        builder.build_signed(&self.info(info), |covered| self.sign(&[covered]))
    }

    /// The Interest of `builder`, signed in format 0.3. `info` says with which key, and what keeps it from being sent again; its type is put
    /// right.
    pub fn interest(&self, builder: &InterestBuilder<'_>, info: SignatureInfo<'_>) -> Vec<u8> {
        builder.build_signed(&self.info(info), |covered| self.sign(&covered))
    }

    fn info(&self, info: SignatureInfo<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        SignatureInfo { signature_type: self.signature_type(), ..info }.write(&mut out);
        out
    }
}

impl fmt::Debug for Signer {
    /// The kind of key, and nothing of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({})", self.signature_type())
    }
}
