//! Safe bags: a certificate together with its private key, encrypted under a passphrase.
//!
//! ```text
//! safe bag = 128 length certificate encrypted-key
//! encrypted-key = 129 length EncryptedPrivateKeyInfo, in DER
//! ```
//! Source: ndn-cxx specifications, SafeBag; RFC 5208 §6; RFC 8018 §6.2.

use super::certificate::Certificate;
use super::error::SafeBagError;
use super::sign::Signer;
use crate::tlv::{WireError, single};
use crate::wire::{DATA, name_bytes};
use pkcs8::EncryptedPrivateKeyInfo;
use pkcs8::der::Decode;
use pkcs8::pkcs5::EncryptionScheme;
use pkcs8::pkcs5::pbes2::Kdf;

/// TLV-TYPE of a safe bag.
pub const SAFE_BAG: u32 = 128;
/// EncryptedKey.
pub const ENCRYPTED_KEY: u32 = 129;

/// Most iterations of PBKDF2: some seconds of work. From 2048 to a million are common today.
pub const MAX_ITERATIONS: u32 = 10_000_000;

/// Checked safe bag with encrypted key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SafeBag<'a> {
    certificate: Certificate<'a>,
    encrypted_key: &'a [u8],
}

impl<'a> SafeBag<'a> {
    /// Parses `bytes`, which must be exactly one safe bag.
    ///
    /// # Errors
    /// The first rule that the bytes break.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, SafeBagError> {
        let (certificate, encrypted_key) = parts(bytes).map_err(SafeBagError::Packet)?;
        let certificate = Certificate::parse(certificate).map_err(SafeBagError::Certificate)?;
        Ok(Self { certificate, encrypted_key })
    }

    /// Certificate.
    pub fn certificate(&self) -> &Certificate<'a> {
        &self.certificate
    }

    /// Encrypted private key, in DER.
    pub fn encrypted_key(&self) -> &'a [u8] {
        self.encrypted_key
    }

    /// Decrypts the private key of the certificate. Supported are PBES2 with PBKDF2 over SHA-2, up to
    /// [`MAX_ITERATIONS`], and AES.
    ///
    /// # Errors
    /// The reason for not decrypting it.
    pub fn open(&self, passphrase: &[u8]) -> Result<Signer, SafeBagError> {
        let info =
            EncryptedPrivateKeyInfo::from_der(self.encrypted_key).map_err(|_| SafeBagError::Encryption)?;
        let EncryptionScheme::Pbes2(parameters) = &info.encryption_algorithm else {
            return Err(SafeBagError::Encryption);
        };
        match &parameters.kdf {
            Kdf::Pbkdf2(kdf) if kdf.iteration_count <= MAX_ITERATIONS => {}
            _ => return Err(SafeBagError::Encryption),
        }
        let key = info.decrypt(passphrase).map_err(|_| SafeBagError::Passphrase)?;
        let signer = Signer::from_pkcs8(key.as_bytes()).map_err(SafeBagError::Key)?;
        let verifier = self.certificate.public_key().map_err(SafeBagError::Key)?;
        if verifier.is_signature(&[], &signer.sign(&[])) { Ok(signer) } else { Err(SafeBagError::OtherKey) }
    }
}

/// Certificate and encrypted key.
fn parts(bytes: &[u8]) -> Result<(&[u8], &[u8]), WireError> {
    let bag = single(bytes)?;
    if bag.typ != SAFE_BAG {
        return Err(WireError::UnexpectedType { typ: bag.typ });
    }
    let mut elements = bag.elements();
    let missing = |typ| WireError::Missing { typ };
    let certificate = elements.next()?.filter(|element| element.typ == DATA).ok_or(missing(DATA))?;
    let key =
        elements.next()?.filter(|element| element.typ == ENCRYPTED_KEY).ok_or(missing(ENCRYPTED_KEY))?;
    while let Some(element) = elements.next()? {
        element.ignored()?;
    }
    Ok((name_bytes(bytes, &certificate), key.value))
}
