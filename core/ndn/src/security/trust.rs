//! Trust anchors: certificates that are trusted directly.

use super::certificate::Certificate;
use super::certificates::Certificates;
use super::error::{CertificateError, Refusal};
use super::signed::Signed;
use crate::wire::SignatureType;
use hashlane_name::ndn::NdnName;

/// Trust anchors. A packet is trusted if one of them verifies it; chains of certificates are not followed.
#[derive(Clone, Debug, Default)]
pub struct TrustAnchors {
    anchors: Certificates,
}

impl TrustAnchors {
    /// Creates an empty set.
    pub const fn new() -> Self {
        Self { anchors: Certificates::new() }
    }

    /// Adds a certificate, whoever signed it; it replaces one with the same name.
    ///
    /// # Errors
    /// [`CertificateError::Key`].
    pub fn add(&mut self, certificate: &Certificate<'_>) -> Result<(), CertificateError> {
        self.anchors.add(certificate)
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
        self.anchors.iter()
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
        for (certificate, verifier) in self.anchors.located_by(locator) {
            match verifier.verify(signed).and_then(|()| certificate.check_time(now)) {
                Ok(()) => return Ok(certificate.name()),
                Err(error @ (Refusal::NotYetValid { .. } | Refusal::Expired { .. })) => refusal = error,
                // Certificates with the same key fail alike.
                Err(error) if refusal == Refusal::UnknownKey => refusal = error,
                Err(_) => {}
            }
        }
        Err(refusal)
    }
}
