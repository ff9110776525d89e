//! Certificates that are trusted.

use super::certificate::Certificate;
use super::error::{CertificateError, Refusal};
use super::signed::Signed;
use super::verify::{Verifier, sha256};
use crate::invariant::Invariant as _;
use crate::wire::{KeyLocator, SignatureType};
use alloc::vec::Vec;
use hashlane_name::ndn::NdnName;

/// A set of certificates that are trusted for themselves. A packet is trusted where one of them verifies it; no chain of certificates is
/// followed.
#[derive(Clone, Debug, Default)]
pub struct TrustAnchors {
    anchors: Vec<Anchor>,
}

#[derive(Clone, Debug)]
struct Anchor {
    certificate: Vec<u8>,
    verifier: Verifier,
    /// SHA-256 of the public key's DER.
    key_digest: [u8; 32],
}

impl Anchor {
    /// The certificate, which was checked.
    fn view(&self) -> Option<Certificate<'_>> {
        Certificate::parse(&self.certificate).ok()
    }
}

impl TrustAnchors {
    /// None.
    pub const fn new() -> Self {
        Self { anchors: Vec::new() }
    }

    /// Trusts `certificate`, whoever signed it. One of the same name, that was trusted before, no longer is.
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

    /// How many certificates are trusted.
    pub fn len(&self) -> usize {
        self.anchors.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.anchors.is_empty()
    }

    /// The certificates, in the order in which they were added.
    pub fn certificates(&self) -> impl Iterator<Item = Certificate<'_>> {
        self.anchors.iter().filter_map(Anchor::view)
    }

    /// The name of the certificate whose key signed, and which is valid at `now`, in seconds since 1970.
    ///
    /// # Errors
    /// The rule by which the packet is refused. Where several certificates are of the key that it names, one that is not valid at `now`, but
    /// verifies the signature, says more than one that does not verify it.
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
                // All that are of one key say the same.
                Err(error) if refusal == Refusal::UnknownKey => refusal = error,
                Err(_) => {}
            }
        }
        Err(refusal)
    }
}
