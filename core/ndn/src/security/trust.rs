//! Trust anchors: certificates that are trusted directly.

use super::certificate::Certificate;
use super::error::{CertificateError, Refusal};
use super::signed::Signed;
use super::verify::{Verifier, sha256};
use crate::invariant::Invariant as _;
use crate::wire::{KeyLocator, SignatureType};
use alloc::vec::Vec;
use hashlane_name::ndn::NdnName;

/// Trust anchors. A packet is trusted if one of them verifies it; chains of certificates are not followed.
#[derive(Clone, Debug, Default)]
pub struct TrustAnchors {
    anchors: Vec<Anchor>,
}

#[derive(Clone, Debug)]
struct Anchor {
    certificate: Vec<u8>,
    verifier: Verifier,
    /// SHA-256 of the DER of the public key.
    key_digest: [u8; 32],
}

impl Anchor {
    /// View of the certificate, which was checked when it was added.
    fn view(&self) -> Option<Certificate<'_>> {
        Certificate::parse(&self.certificate).ok()
    }
}

impl TrustAnchors {
    /// Creates an empty set.
    pub const fn new() -> Self {
        Self { anchors: Vec::new() }
    }

    /// Adds a certificate, whoever signed it; it replaces one with the same name.
    ///
    /// # Errors
    /// [`CertificateError::Key`].
    pub fn add(&mut self, certificate: &Certificate<'_>) -> Result<(), CertificateError> {
        let verifier = certificate.public_key().map_err(CertificateError::Key)?;
        let key_digest = sha256(&[certificate.data().content()]);
        self.anchors.retain(|anchor| anchor.view().is_some_and(|view| view.name() != certificate.name()));
        let certificate = certificate.data().as_bytes().to_vec();
        self.anchors.push(Anchor { certificate, verifier, key_digest });
        Ok(())
    }

    /// Number of certificates.
    pub fn len(&self) -> usize {
        self.anchors.len()
    }

    /// True if there are no certificates.
    pub fn is_empty(&self) -> bool {
        self.anchors.is_empty()
    }

    /// All certificates, in the order in which they were added.
    pub fn certificates(&self) -> impl Iterator<Item = Certificate<'_>> {
        self.anchors.iter().filter_map(Anchor::view)
    }

    /// Verifies a signature at `now`, in seconds since 1970. Returns the name of the certificate.
    ///
    /// # Errors
    /// The reason for rejecting the packet. If several certificates have the named key, a certificate that
    /// verifies the signature but is not valid at `now` takes precedence over one that does not verify it.
    pub fn verify(&self, signed: &Signed<'_>, now: u64) -> Result<NdnName<'_>, Refusal> {
        let stated = signed.info.signature_type;
        if matches!(stated, SignatureType::DIGEST_SHA256 | SignatureType::NULL) {
            return Err(Refusal::Keyless { stated });
        }
        let locator = signed.info.key_locator.ok_or(Refusal::NoKeyLocator)?;
        let mut refusal = Refusal::UnknownKey;
        for anchor in &self.anchors {
            let Some(certificate) = anchor.view().invariant("an anchor is a checked certificate") else {
                continue;
            };
            let named = match locator {
                KeyLocator::Name(name) => certificate.is_located_by(name),
                KeyLocator::Digest(digest) => anchor.key_digest == digest,
            };
            if !named {
                continue;
            }
            match anchor.verifier.verify(signed) {
                Ok(()) if now < certificate.valid_from() => {
                    refusal = Refusal::NotYetValid { from: certificate.valid_from() };
                }
                Ok(()) if now > certificate.valid_until() => {
                    refusal = Refusal::Expired { until: certificate.valid_until() };
                }
                Ok(()) => return Ok(certificate.name()),
                // Certificates with the same key fail alike.
                Err(error) if refusal == Refusal::UnknownKey => refusal = error,
                Err(_) => {}
            }
        }
        Err(refusal)
    }
}
