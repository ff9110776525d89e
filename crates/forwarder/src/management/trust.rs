//! Trust anchors out of files.

use super::Verify;
use base64ct::{Base64, Encoding as _};
use ndn::mgmt::Command;
use ndn::security::{Certificate, Signed, TrustAnchors};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The longest file of a certificate that is read, in octets.
const MAX_FILE: u64 = 1 << 20;

/// What says whether a command is signed under one of the certificates in these files.
///
/// # Errors
/// The first file that holds no certificate, and why.
pub(crate) fn verifier(files: &[PathBuf]) -> io::Result<Box<Verify>> {
    let mut anchors = TrustAnchors::default();
    for file in files {
        let told = |why: &dyn std::fmt::Display| {
            io::Error::other(format!("the trust anchor {}: {why}", file.display()))
        };
        let octets = read(file).map_err(|error| told(&error))?;
        let certificate = Certificate::parse(&octets).map_err(|error| told(&error))?;
        anchors.add(&certificate).map_err(|error| told(&error))?;
    }
    Ok(Box::new(move |command: &Command<'_>| {
        if anchors.is_empty() {
            return Err("no trust anchor is configured".into());
        }
        let signature = &command.signature;
        let signed = Signed { info: signature.info, pieces: signature.covered, value: signature.value };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        anchors.verify(&signed, now).map(drop).map_err(|refusal| refusal.to_string())
    }))
}

/// The octets of a certificate: those of the file, or what they say in Base64.
fn read(file: &Path) -> io::Result<Vec<u8>> {
    if std::fs::metadata(file)?.len() > MAX_FILE {
        return Err(io::Error::other(format!("it is longer than {MAX_FILE} octets")));
    }
    let octets = std::fs::read(file)?;
    // A Data packet begins with its type.
    if octets.first() == Some(&6) {
        return Ok(octets);
    }
    let text = octets.into_iter().filter(|octet| !octet.is_ascii_whitespace()).map(char::from);
    Base64::decode_vec(&text.collect::<String>())
        .map_err(|_| io::Error::other("neither a Data packet nor Base64"))
}
