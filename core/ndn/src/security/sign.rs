//! Signing keys.

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

/// Signing key, or the digest that takes the place of one.
///
/// Source: NDN Packet Format 0.3, Different Types of Signatures.
#[derive(Clone)]
#[non_exhaustive]
pub enum Signer {
    /// SHA-256 digest without a key.
    DigestSha256,
    /// Shared secret.
    HmacSha256(Box<Hmac<Sha256>>),
    /// Private key on the curve P-256.
    EcdsaP256(p256::ecdsa::SigningKey),
    /// Ed25519 private key.
    Ed25519(Box<ed25519_dalek::SigningKey>),
}

impl Signer {
    /// Creates an HMAC signer from a shared secret of any length; 32 bytes or more are recommended.
    pub fn hmac(secret: &[u8]) -> Self {
        Self::HmacSha256(Box::new(keyed(secret)))
    }

    /// Creates an ECDSA signer from a private key of 32 bytes in network order.
    ///
    /// # Errors
    /// [`KeyError::Malformed`] if the key is 0, or not below the order of the curve.
    pub fn ecdsa_p256(key: &[u8; 32]) -> Result<Self, KeyError> {
        p256::ecdsa::SigningKey::from_bytes(key.into()).map(Self::EcdsaP256).map_err(|_| KeyError::Malformed)
    }

    /// Creates an Ed25519 signer from a private key.
    pub fn ed25519(key: &[u8; 32]) -> Self {
        Self::Ed25519(Box::new(ed25519_dalek::SigningKey::from_bytes(key)))
    }

    /// Creates a signer from `der`, a PrivateKeyInfo of ECDSA or Ed25519.
    ///
    /// # Errors
    /// The reason for rejecting the key.
    ///
    /// Source: RFC 5208 §5; RFC 5915; RFC 8410 §7.
    pub fn from_pkcs8(der: &[u8]) -> Result<Self, KeyError> {
        let info = PrivateKeyInfo::from_der(der).map_err(|_| KeyError::Malformed)?;
        match kind_of(&info.algorithm)? {
            SignatureType::SHA256_WITH_ECDSA => {
                // The parameters have been checked: older keys' do not name the curve.
                let key = p256::SecretKey::from_sec1_der(info.private_key);
                key.map(|key| Self::EcdsaP256(key.into())).map_err(|_| KeyError::Malformed)
            }
            SignatureType::ED25519 => ed25519_dalek::SigningKey::try_from(info)
                .map(|key| Self::Ed25519(Box::new(key)))
                .map_err(|_| KeyError::Malformed),
            _ => Err(KeyError::Kind),
        }
    }

    /// Algorithm of the signatures.
    pub fn signature_type(&self) -> SignatureType {
        match self {
            Self::DigestSha256 => SignatureType::DIGEST_SHA256,
            Self::HmacSha256(_) => SignatureType::HMAC_WITH_SHA256,
            Self::EcdsaP256(_) => SignatureType::SHA256_WITH_ECDSA,
            Self::Ed25519(_) => SignatureType::ED25519,
        }
    }

    /// Signs the concatenation of `pieces`. Deterministic.
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

    /// Key that verifies the signatures.
    pub fn verifier(&self) -> Verifier {
        match self {
            Self::DigestSha256 => Verifier::DigestSha256,
            Self::HmacSha256(keyed) => Verifier::HmacSha256(keyed.clone()),
            Self::EcdsaP256(key) => Verifier::EcdsaP256(*key.verifying_key()),
            Self::Ed25519(key) => Verifier::Ed25519(key.verifying_key()),
        }
    }

    /// DER of the public key, a SubjectPublicKeyInfo; `None` if the signer has no public key.
    pub fn public_key(&self) -> Option<Vec<u8>> {
        let document = match self {
            Self::EcdsaP256(key) => p256::PublicKey::from(key.verifying_key()).to_public_key_der(),
            Self::Ed25519(key) => key.verifying_key().to_public_key_der(),
            Self::DigestSha256 | Self::HmacSha256(_) => return None,
        };
        document.ok().map(|document| document.into_vec())
    }

    /// Builds and signs a Data packet. `info` names the key; its algorithm is set to this key's.
    pub fn data(&self, builder: &DataBuilder<'_>, info: SignatureInfo<'_>) -> Vec<u8> {
        builder.build_signed(&self.info(info), |covered| self.sign(&[covered]))
    }

    /// Builds and signs an Interest of format 0.3. `info` names the key and protects against replay; its
    /// algorithm is set to this key's.
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
    /// Shows the algorithm, never the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({})", self.signature_type())
    }
}
