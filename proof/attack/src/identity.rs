//! Keys and certificates for signed commands.

use crate::cleanup;
use crate::packets;
use crate::session::Signature;
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::security::Signer;
use hashlane_ndn::security::certificate::CertificateBuilder;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

const DAY: u64 = 86_400;
/// Private key: the same at each run, as nothing depends on it.
const SECRET: [u8; 32] = [7; 32];

/// A key that the forwarder trusts.
pub(crate) struct Identity {
    signer: Signer,
    key_name: OwnedName<Ndn>,
    file: PathBuf,
    // Removed when dropped.
    _folder: TempDir,
}

/// Validity of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Validity {
    Now,
    /// Ended a day ago.
    Expired,
}

impl Identity {
    /// Creates a key, and a file with its certificate.
    pub(crate) fn create(validity: Validity) -> Result<Self, String> {
        let identity = packets::name("/operator")?;
        let signer = Signer::ed25519(&SECRET);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?.as_secs();
        let (valid_from, valid_until) = match validity {
            Validity::Now => (now - DAY, now + DAY),
            Validity::Expired => (now - 2 * DAY, now - DAY),
        };
        let builder = CertificateBuilder {
            identity: identity.view(),
            key: Component::generic(b"1"),
            version: now * 1000,
            valid_from,
            valid_until,
        };
        let certificate = builder.self_signed(&signer).map_err(|error| error.to_string())?;
        let folder = cleanup::folder()?;
        let file = folder.path().join("operator.ndncert");
        fs::write(&file, certificate).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(Self { signer, key_name: packets::name("/operator/KEY/1")?, file, _folder: folder })
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Configuration that trusts this key, also of neighbours.
    pub(crate) fn trusted(&self) -> String {
        format!("management.trust_anchors = [\"{}\"]\nmanagement.localhop = true\n", self.file.display())
    }

    /// Signature at a time, or now.
    pub(crate) fn sign(&self, time: Option<u64>) -> Signature<'_> {
        Signature { key: Some((&self.signer, &self.key_name)), time }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_ndn::security::Certificate;

    #[test]
    fn certificates_are_valid_now_or_expired() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        for (validity, is_valid) in [(Validity::Now, true), (Validity::Expired, false)] {
            let identity = Identity::create(validity).unwrap();
            let bytes = fs::read(identity.file()).unwrap();
            let certificate = Certificate::parse(&bytes).unwrap();
            assert_eq!(certificate.is_valid_at(now), is_valid, "{validity:?}");
            assert_eq!(certificate.key_name(), identity.key_name);
        }
    }
}
