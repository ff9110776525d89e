//! Certificates by their keys.

use super::certificate::Certificate;
use super::error::CertificateError;
use super::verify::{Verifier, sha256};
use crate::invariant::Invariant as _;
use crate::wire::KeyLocator;
use alloc::vec::Vec;

/// Certificates with their public keys. Being in the set makes none of them trusted.
#[derive(Clone, Debug, Default)]
pub struct Certificates {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    certificate: Vec<u8>,
    verifier: Verifier,
    /// SHA-256 of the DER of the public key.
    key_digest: [u8; 32],
}

impl Entry {
    /// View of the certificate, which was checked when it was added.
    fn view(&self) -> Option<Certificate<'_>> {
        Certificate::parse(&self.certificate).ok().invariant("a certificate in the set was checked")
    }
}

impl Certificates {
    /// Creates an empty set.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Adds a certificate, whoever signed it; it replaces one with the same name.
    ///
    /// # Errors
    /// [`CertificateError::Key`].
    pub fn add(&mut self, certificate: &Certificate<'_>) -> Result<(), CertificateError> {
        let verifier = certificate.public_key().map_err(CertificateError::Key)?;
        let key_digest = sha256(&[certificate.data().content()]);
        self.entries.retain(|entry| entry.view().is_some_and(|view| view.name() != certificate.name()));
        let certificate = certificate.data().as_bytes().to_vec();
        self.entries.push(Entry { certificate, verifier, key_digest });
        Ok(())
    }

    /// Number of certificates.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if there are no certificates.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All certificates, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = Certificate<'_>> {
        self.entries.iter().filter_map(Entry::view)
    }

    /// Certificates of the key that a KeyLocator names, with the key.
    pub fn located_by(&self, locator: KeyLocator<'_>) -> impl Iterator<Item = (Certificate<'_>, &Verifier)> {
        self.entries.iter().filter_map(move |entry| {
            let certificate = entry.view()?;
            let is_located = match locator {
                KeyLocator::Name(name) => certificate.is_located_by(name),
                KeyLocator::Digest(digest) => entry.key_digest == digest,
            };
            is_located.then_some((certificate, &entry.verifier))
        })
    }
}
