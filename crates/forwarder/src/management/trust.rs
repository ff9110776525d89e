//! Trust anchors from files.

use super::access::Verify;
use hashlane_ndn::mgmt::Command;
use hashlane_ndn::security::file::MAX_FILE;
use hashlane_ndn::security::{Certificate, Signed, TrustAnchors, certificate_bytes};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Verifies that a command is signed under one of the certificates in these files.
///
/// # Errors
/// The first file that is not a certificate, and the reason.
pub(crate) fn verifier(files: &[PathBuf]) -> io::Result<Box<Verify>> {
    let mut anchors = TrustAnchors::default();
    for file in files {
        let invalid =
            |why: &dyn std::fmt::Display| io::Error::other(format!("trust anchor {}: {why}", file.display()));
        let read = read(file).map_err(|error| invalid(&error))?;
        let bytes = certificate_bytes(&read).map_err(|error| invalid(&error))?;
        let certificate = Certificate::parse(&bytes).map_err(|error| invalid(&error))?;
        anchors.add(&certificate).map_err(|error| invalid(&error))?;
    }
    Ok(Box::new(move |command: &Command<'_>| {
        if anchors.is_empty() {
            return Err("no trust anchor is configured".into());
        }
        let signature = &command.signature;
        let signed = Signed { info: signature.info, pieces: signature.covered, value: signature.value };
        // A clock before 1970 reads as 1970: certificates are not valid yet.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        anchors.verify(&signed, now).map(drop).map_err(|refusal| refusal.to_string())
    }))
}

/// The bytes of a file; of a file that is too long, enough to see that.
fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(MAX_FILE as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
