//! Errors of keys, certificates and signatures.

use crate::tlv::WireError;
use crate::wire::SignatureType;

/// Reason for rejecting a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// Not the DER encoding of a key, or not a valid key.
    #[error("malformed key")]
    Malformed,
    /// An elliptic curve other than P-256.
    #[error("unsupported elliptic curve: only P-256 is supported")]
    Curve,
    /// Explicit parameters of an elliptic curve other than P-256.
    #[error("the explicit curve parameters of the key are not those of P-256; use a key on P-256")]
    Parameters,
    /// Unsupported algorithm. Private keys: ECDSA or Ed25519; public keys: these or RSA.
    #[error("unsupported kind of key")]
    Kind,
}

/// Rule that a certificate breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// DER in the place of a Data packet: a certificate of X.509, or a key.
    #[error(
        "not an NDN certificate but DER, such as an X.509 certificate or a bare key; export the NDN certificate, \
         for example by `ndnsec cert-dump -i IDENTITY`"
    )]
    Der,
    /// The file contains neither a Data packet nor Base64.
    #[error("not a certificate: neither a Data packet nor Base64")]
    Text,
    /// The file is too long for a certificate.
    #[error("not a certificate: file longer than {limit} bytes")]
    TooLong {
        /// Longest file, in bytes.
        limit: usize,
    },
    /// Not a Data packet.
    #[error("not a certificate: {0}")]
    Packet(WireError),
    /// Name other than `/<identity>/KEY/<key>/<issuer>/<version>`.
    #[error("not a certificate name: expected /<identity>/KEY/<key>/<issuer>/<version>")]
    Name,
    /// ContentType other than Key.
    #[error("not a certificate: content type {stated}, expected 2 (key)")]
    ContentType {
        /// ContentType of the packet.
        stated: u64,
    },
    /// ValidityPeriod missing or malformed.
    #[error("the certificate has no valid ValidityPeriod")]
    Validity,
    /// Unusable key.
    #[error("in the certificate, {0}")]
    Key(KeyError),
    /// Signer without a public key.
    #[error("this signer has no public key to certify")]
    NoPublicKey,
}

/// Reason for not opening a safe bag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SafeBagError {
    /// Neither the bytes of a safe bag nor Base64.
    #[error("not a safe bag, as `ndnsec export` writes it: neither its bytes nor Base64")]
    File,
    /// Not a safe bag.
    #[error("not a safe bag: {0}")]
    Packet(WireError),
    /// Malformed certificate in the safe bag.
    #[error("in the safe bag, {0}")]
    Certificate(CertificateError),
    /// Unsupported encryption, or too many iterations.
    #[error("unsupported encryption of the key in the safe bag")]
    Encryption,
    /// Wrong passphrase, or modified key.
    #[error("wrong passphrase for the safe bag")]
    Passphrase,
    /// Unusable key.
    #[error("in the safe bag, {0}")]
    Key(KeyError),
    /// Key and certificate do not match.
    #[error("key and certificate in the safe bag do not match")]
    OtherKey,
}

/// Reason for rejecting a signed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// No signature, or parts of it missing.
    #[error("the packet is not signed")]
    Unsigned,
    /// Wrong digest of the parameters in the name of an Interest, or not its last component.
    #[error("wrong digest of the parameters in the name")]
    ParametersDigest,
    /// Signature without a key: it authenticates nobody.
    #[error("{stated} authenticates nobody: sign with a key")]
    Keyless {
        /// Algorithm of the signature.
        stated: SignatureType,
    },
    /// No KeyLocator.
    #[error("the signature has no KeyLocator")]
    NoKeyLocator,
    /// No trusted certificate for the key of the signature.
    #[error("no trusted certificate for the key that signed")]
    UnknownKey,
    /// Trusted certificate not yet valid.
    #[error("the certificate is not valid before {from} seconds since 1970")]
    NotYetValid {
        /// Start of validity, in seconds since 1970.
        from: u64,
    },
    /// Trusted certificate expired.
    #[error("the certificate expired at {until} seconds since 1970")]
    Expired {
        /// End of validity, in seconds since 1970.
        until: u64,
    },
    /// Algorithm of the signature differs from the key's.
    #[error("signature type {stated} does not match the key, which is for {key}")]
    TypeMismatch {
        /// Algorithm of the signature.
        stated: SignatureType,
        /// Algorithm of the key.
        key: SignatureType,
    },
    /// Signature does not match packet and key.
    #[error("wrong signature")]
    WrongSignature,
}
