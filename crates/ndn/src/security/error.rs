//! Why keys, certificates and signatures are refused.

use crate::tlv::WireError;
use crate::wire::SignatureType;
use core::fmt;

/// Why bytes are no key that can be used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// They are not the DER of a key, or its numbers make none.
    Malformed,
    /// An elliptic curve other than P-256.
    Curve,
    /// A kind of key that has no use here: private keys are of ECDSA or Ed25519, public ones of these or RSA.
    Kind,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "the key is malformed",
            Self::Curve => "the key is on an elliptic curve other than P-256",
            Self::Kind => "keys of this kind are not supported",
        })
    }
}

impl core::error::Error for KeyError {}

/// The rule that a certificate breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CertificateError {
    /// The file that should hold it is neither a Data packet nor Base64.
    Text,
    /// The file is longer than a certificate may be.
    TooLong {
        /// Longest file, in bytes.
        limit: usize,
    },
    /// It is no Data packet.
    Packet(WireError),
    /// Its name is not that of an identity, then KEY, a key, an issuer and a version.
    Name,
    /// Its ContentType is not Key.
    ContentType {
        /// What it is.
        stated: u64,
    },
    /// It has no ValidityPeriod, or one that holds no two times.
    Validity,
    /// Its key is of no use.
    Key(KeyError),
    /// It cannot be made with a key that has no public half.
    NoPublicKey,
}

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => f.write_str("no certificate: neither a Data packet nor Base64"),
            Self::TooLong { limit } => write!(f, "not a certificate: file longer than {limit} bytes"),
            Self::Packet(error) => write!(f, "the certificate is no Data packet: {error}"),
            Self::Name => {
                f.write_str("the name of the certificate is not /<identity>/KEY/<key>/<issuer>/<version>")
            }
            Self::ContentType { stated } => {
                write!(f, "the certificate has content of type {stated} instead of 2, a key")
            }
            Self::Validity => f.write_str("the certificate does not say from when to when it is valid"),
            Self::Key(error) => write!(f, "in the certificate, {error}"),
            Self::NoPublicKey => f.write_str("a key without a public half has no certificate"),
        }
    }
}

impl core::error::Error for CertificateError {}

/// Why a safe bag gives no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SafeBagError {
    /// It is no safe bag.
    Packet(WireError),
    /// The certificate in it breaks a rule.
    Certificate(CertificateError),
    /// Its key is encrypted in a way that is not supported, or that takes too long to undo.
    Encryption,
    /// The passphrase is not that of the key, or the encrypted key was changed.
    Passphrase,
    /// The key in it is of no use.
    Key(KeyError),
    /// The key is not the one that the certificate is of.
    OtherKey,
}

impl fmt::Display for SafeBagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packet(error) => write!(f, "this is no safe bag: {error}"),
            Self::Certificate(error) => write!(f, "in the safe bag, {error}"),
            Self::Encryption => {
                f.write_str("the key in the safe bag is encrypted in a way that is not supported")
            }
            Self::Passphrase => f.write_str("the passphrase is not that of the key in the safe bag"),
            Self::Key(error) => write!(f, "in the safe bag, {error}"),
            Self::OtherKey => f.write_str("the key in the safe bag is not that of the certificate beside it"),
        }
    }
}

impl core::error::Error for SafeBagError {}

/// The rule by which a signed packet is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It is not signed, or only in part.
    Unsigned,
    /// The digest in the name of the Interest is not that of its parameters, or not at the end of its name.
    ParametersDigest,
    /// It is signed in a way that names no one.
    Keyless {
        /// How.
        stated: SignatureType,
    },
    /// It does not say which key signed.
    NoKeyLocator,
    /// No trusted certificate is of the key that it names.
    UnknownKey,
    /// The trusted certificate is not yet valid.
    NotYetValid {
        /// From when it is, in seconds since 1970.
        from: u64,
    },
    /// The trusted certificate is no longer valid.
    Expired {
        /// Until when it was, in seconds since 1970.
        until: u64,
    },
    /// It says that it is signed in a way in which the key that it names does not sign.
    TypeMismatch {
        /// How it says that it is signed.
        stated: SignatureType,
        /// How the key signs.
        key: SignatureType,
    },
    /// The signature is not that of the key over the packet.
    WrongSignature,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned => f.write_str("the packet is not signed"),
            Self::ParametersDigest => f.write_str("the digest of the parameters in the name is wrong"),
            Self::Keyless { stated } => write!(f, "{stated} does not say who signed"),
            Self::NoKeyLocator => f.write_str("the signature does not say by which key it is"),
            Self::UnknownKey => f.write_str("no trusted certificate is of the key that signed"),
            Self::NotYetValid { from } => {
                write!(f, "the certificate is not valid before {from} seconds since 1970")
            }
            Self::Expired { until } => {
                write!(f, "the certificate has not been valid since {until} seconds since 1970")
            }
            Self::TypeMismatch { stated, key } => {
                write!(f, "the packet states {stated}, but its key is for {key}")
            }
            Self::WrongSignature => f.write_str("the signature is wrong"),
        }
    }
}

impl core::error::Error for Refusal {}
