//! Trust anchors from files.

use super::access::Verify;
use super::clock::Now;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::Command;
use hashlane_ndn::security::file::MAX_FILE;
use hashlane_ndn::security::{Certificate, Signed, TrustAnchors, certificate_bytes, time};
use nix::fcntl::OFlag;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Verifies that a command is signed under one of the certificates in these files, which is valid then.
/// `now` is in seconds since 1970.
///
/// # Errors
/// The first file that is not a certificate, or not one that is valid at `now`, and the reason.
pub(crate) fn verifier(files: &[PathBuf], now: u64) -> io::Result<Box<Verify>> {
    let mut anchors = TrustAnchors::default();
    for file in files {
        let invalid =
            |why: &dyn std::fmt::Display| io::Error::other(format!("trust anchor {}: {why}", file.display()));
        let read = read(file).map_err(|error| invalid(&error))?;
        let bytes = certificate_bytes(&read).map_err(|error| invalid(&error))?;
        let certificate = Certificate::parse(&bytes).map_err(|error| invalid(&error))?;
        check_validity(&certificate, now).map_err(|error| invalid(&error))?;
        anchors.add(&certificate).map_err(|error| invalid(&error))?;
    }
    Ok(Box::new(move |command: &Command<'_>, now: Now| {
        if anchors.is_empty() {
            return Err("no trust anchor is configured".into());
        }
        let signature = &command.signature;
        let signed = Signed { info: signature.info, pieces: signature.covered, value: signature.value };
        let certificate = anchors.verify(&signed, now.unix / 1000).map_err(|refusal| refusal.to_string())?;
        // Certificates of one key are one signer: /…/KEY/<id>/<issuer>/<version>.
        let key = certificate.components().take(certificate.len().saturating_sub(2));
        let key: OwnedName<Ndn> = OwnedName::from_components(key).map_err(|error| error.to_string())?;
        Ok(key.as_bytes().into())
    }))
}

/// Refuses a certificate that is not valid at `now`, in seconds since 1970.
fn check_validity(certificate: &Certificate<'_>, now: u64) -> Result<(), String> {
    let (name, from, until) = (certificate.name(), certificate.valid_from(), certificate.valid_until());
    let text = |seconds| String::from_utf8_lossy(&time::text(seconds)).into_owned();
    if now > until {
        let until = text(until);
        return Err(format!("the certificate {name} expired at {until} UTC: configure a valid one"));
    }
    if now < from {
        let (from, now) = (text(from), text(now));
        return Err(format!(
            "the certificate {name} is valid from {from} UTC, and the clock of this host says {now}: set the \
             clock, or configure a valid certificate"
        ));
    }
    Ok(())
}

/// The bytes of a file; of a file that is too long, enough to see that. Other kinds of files are refused: a
/// pipe would wait for its writer.
fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(file)?;
    if !file.metadata()?.is_file() {
        let why = "not a regular file; name the file of a certificate";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    file.take(MAX_FILE as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_name::component::Component;
    use hashlane_ndn::mgmt::command::Target;
    use hashlane_ndn::mgmt::{CommandBuilder, ControlParameters, Scope};
    use hashlane_ndn::security::Signer;
    use hashlane_ndn::security::certificate::CertificateBuilder;
    use hashlane_ndn::wire::{Interest, KeyLocator, SignatureInfo, SignatureType};

    const SECRET: [u8; 32] = [7; 32];

    /// A certificate that is valid in these seconds.
    fn certificate(valid_from: u64, valid_until: u64) -> Vec<u8> {
        let identity: OwnedName<Ndn> = hashlane_name::uri::parse_uri(b"/op").expect("a name");
        let key = Component::generic(b"1");
        CertificateBuilder { identity: identity.view(), key, version: 1, valid_from, valid_until }
            .self_signed(&Signer::ed25519(&SECRET))
            .expect("a certificate")
    }

    #[test]
    fn certificates_are_valid_from_their_first_to_their_last_second() {
        let bytes = certificate(1_000_000, 2_000_000);
        let certificate = Certificate::parse(&bytes).expect("a certificate");
        let check = |now| check_validity(&certificate, now);
        assert_eq!((check(1_000_000), check(2_000_000)), (Ok(()), Ok(())));
        let early = check(999_999).expect_err("not valid yet");
        assert!(
            early.contains("is valid from 19700112T134640 UTC") && early.contains("set the clock"),
            "{early}"
        );
        let late = check(2_000_001).expect_err("expired");
        assert!(late.ends_with("expired at 19700124T033320 UTC: configure a valid one"), "{late}");
    }

    #[test]
    fn a_command_is_trusted_while_the_certificate_is_valid() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("anchor");
        std::fs::write(&file, certificate(1_000_000, 2_000_000)).expect("a file");
        let verify = verifier(&[file], 1_500_000).expect("a valid anchor");
        let target = Target { scope: Scope::Localhost, module: b"rib", verb: b"register" };
        let (parameters, signature_nonce) = (ControlParameters::default(), [1; 8]);
        let time = 2_000_000_999;
        let builder = CommandBuilder {
            target,
            parameters: &parameters,
            nonce: 1,
            lifetime: 4000,
            signature_nonce,
            time,
        };
        let key: OwnedName<Ndn> = hashlane_name::uri::parse_uri(b"/op/KEY/1").expect("a name");
        let locator = Some(KeyLocator::Name(key.view()));
        let info = SignatureInfo { key_locator: locator, ..SignatureInfo::of(SignatureType::ED25519) };
        let signer = Signer::ed25519(&SECRET);
        let packet = builder.build_signed(info, |pieces| signer.sign(&pieces)).expect("a short name");
        let interest = Interest::parse(&packet).expect("an Interest");
        let command = Command::parse(&interest).expect("a command");
        let verify = |unix| verify(&command, Now { monotonic: 1, unix });
        assert_eq!(verify(time), Ok(key.as_bytes().into()), "the last second of the certificate");
        let expired = Err("the certificate expired at 2000000 seconds since 1970".to_owned());
        assert_eq!(verify(time + 1), expired);
    }

    #[test]
    fn an_anchor_that_has_expired_is_refused_at_the_start() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("anchor");
        let open = |bytes: &[u8]| {
            std::fs::write(&file, bytes).expect("a file");
            verifier(std::slice::from_ref(&file), 1_000_001).map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(open(&certificate(0, 1_000_001)), Ok(()));
        let error = open(&certificate(0, 1_000_000)).expect_err("expired");
        assert!(
            error.starts_with(&format!("trust anchor {}: the certificate /op/KEY", file.display())),
            "{error}"
        );
    }
}
