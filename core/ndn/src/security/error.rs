//! Errors of keys, certificates and signatures.

use crate::tlv::WireError;
use crate::wire::SignatureType;
use core::fmt;

/// Reason for rejecting a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// Not the DER encoding of a key, or not a valid key.
    Malformed,
    /// An elliptic curve other than P-256.
    Curve,
    /// Unsupported algorithm. Private keys: ECDSA or Ed25519; public keys: these or RSA.
    Kind,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "malformed key",
            Self::Curve => "unsupported elliptic curve: only P-256 is supported",
            Self::Kind => "unsupported kind of key",
        })
    }
}

impl core::error::Error for KeyError {}

/// Rule that a certificate breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CertificateError {
    /// The file contains neither a Data packet nor Base64.
    Text,
    /// The file is too long for a certificate.
    TooLong {
        /// Longest file, in bytes.
        limit: usize,
    },
    /// Not a Data packet.
    Packet(WireError),
    /// Name other than `/<identity>/KEY/<key>/<issuer>/<version>`.
    Name,
    /// ContentType other than Key.
    ContentType {
        /// ContentType of the packet.
        stated: u64,
    },
    /// ValidityPeriod missing or malformed.
    Validity,
    /// Unusable key.
    Key(KeyError),
    /// Signer without a public key.
    NoPublicKey,
}

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => f.write_str("not a certificate: neither a Data packet nor Base64"),
            Self::TooLong { limit } => write!(f, "not a certificate: file longer than {limit} bytes"),
            Self::Packet(error) => write!(f, "not a certificate: {error}"),
            Self::Name => {
                f.write_str("not a certificate name: expected /<identity>/KEY/<key>/<issuer>/<version>")
            }
            Self::ContentType { stated } => {
                write!(f, "not a certificate: content type {stated}, expected 2 (key)")
            }
            Self::Validity => f.write_str("the certificate has no valid ValidityPeriod"),
            Self::Key(error) => write!(f, "in the certificate, {error}"),
            Self::NoPublicKey => f.write_str("this signer has no public key to certify"),
        }
    }
}

impl core::error::Error for CertificateError {}

/// Reason for not opening a safe bag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SafeBagError {
    /// Not a safe bag.
    Packet(WireError),
    /// Malformed certificate in the safe bag.
    Certificate(CertificateError),
    /// Unsupported encryption, or too many iterations.
    Encryption,
    /// Wrong passphrase, or modified key.
    Passphrase,
    /// Unusable key.
    Key(KeyError),
    /// Key and certificate do not match.
    OtherKey,
}

impl fmt::Display for SafeBagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packet(error) => write!(f, "not a safe bag: {error}"),
            Self::Certificate(error) => write!(f, "in the safe bag, {error}"),
            Self::Encryption => f.write_str("unsupported encryption of the key in the safe bag"),
            Self::Passphrase => f.write_str("wrong passphrase for the safe bag"),
            Self::Key(error) => write!(f, "in the safe bag, {error}"),
            Self::OtherKey => f.write_str("key and certificate in the safe bag do not match"),
        }
    }
}

impl core::error::Error for SafeBagError {}

/// Reason for rejecting a signed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// No signature, or parts of it missing.
    Unsigned,
    /// Wrong digest of the parameters in the name of an Interest, or not its last component.
    ParametersDigest,
    /// Signature without a key: it authenticates nobody.
    Keyless {
        /// Algorithm of the signature.
        stated: SignatureType,
    },
    /// No KeyLocator.
    NoKeyLocator,
    /// No trusted certificate for the key of the signature.
    UnknownKey,
    /// Trusted certificate not yet valid.
    NotYetValid {
        /// Start of validity, in seconds since 1970.
        from: u64,
    },
    /// Trusted certificate expired.
    Expired {
        /// End of validity, in seconds since 1970.
        until: u64,
    },
    /// Algorithm of the signature differs from that of the key.
    TypeMismatch {
        /// Algorithm of the signature.
        stated: SignatureType,
        /// Algorithm of the key.
        key: SignatureType,
    },
    /// Signature does not match packet and key.
    WrongSignature,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned => f.write_str("the packet is not signed"),
            Self::ParametersDigest => f.write_str("wrong digest of the parameters in the name"),
            Self::Keyless { stated } => write!(f, "{stated} authenticates nobody: sign with a key"),
            Self::NoKeyLocator => f.write_str("the signature has no KeyLocator"),
            Self::UnknownKey => f.write_str("no trusted certificate for the key that signed"),
            Self::NotYetValid { from } => {
                write!(f, "the certificate is not valid before {from} seconds since 1970")
            }
            Self::Expired { until } => {
                write!(f, "the certificate expired at {until} seconds since 1970")
            }
            Self::TypeMismatch { stated, key } => {
                write!(f, "signature type {stated} does not match the key, which is for {key}")
            }
            Self::WrongSignature => f.write_str("wrong signature"),
        }
    }
}

impl core::error::Error for Refusal {}
