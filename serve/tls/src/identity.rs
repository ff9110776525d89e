//! The certificate and key of a server.

use crate::error::{certificate_reason, invalid};
use crate::expiry;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::TLS13;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Longest file of certificates in bytes: all that browsers trust are some 250 KB.
const MAX_FILE: u64 = 4 << 20;

/// Files of a server, each with its key in the configuration, for errors.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    /// The server's certificate, then those that lead to its issuer, in PEM.
    pub certificate: (&'a str, &'a Path),
    /// The private key of the first certificate, in PEM.
    pub key: (&'a str, &'a Path),
}

/// The certificate and key of a server, as settings of its sessions.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Settings of sessions.
    pub config: Arc<ServerConfig>,
    /// End of the certificate's validity, in seconds since 1970, if it is known.
    pub expires: Option<u64>,
}

impl Identity {
    /// Reads the files. `protocols` are the names of the protocols over TLS (ALPN); a client that names
    /// others is refused, one that names none is not.
    ///
    /// # Errors
    /// A file cannot be read or has none, or the key is not the certificate's.
    pub fn read(files: &Files<'_>, protocols: &[&[u8]]) -> io::Result<Self> {
        let Files { certificate: (certificate_key, certificate), key: (key, path) } = *files;
        let chain = certificates(certificate_key, certificate)?;
        let expires = chain.first().and_then(expiry::expires);
        let text = read(key, path)?;
        let private = PrivateKeyDer::from_pem_slice(&text)
            .map_err(|error| invalid(key, path, &key_reason(&error, &text)))?;
        let builder = ServerConfig::builder_with_provider(ring::default_provider().into())
            .with_protocol_versions(&[&TLS13])
            .map_err(io::Error::other)?;
        let mut server = builder.with_no_client_auth().with_single_cert(chain, private).map_err(|error| {
            match error {
                rustls::Error::InconsistentKeys(_) => {
                    let why = format!(
                        "is not the key of the first certificate in {}; name the key that the certificate was \
                         made with, and write the server's certificate before those of its issuers",
                        certificate.display()
                    );
                    invalid(key, path, &why)
                }
                rustls::Error::InvalidCertificate(error) => {
                    invalid(certificate_key, certificate, &certificate_reason(&error))
                }
                error => invalid(key, path, &format!("{error}; ECDSA, Ed25519 and RSA keys can be used")),
            }
        })?;
        server.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        server.ticketer = ring::Ticketer::new().map_err(io::Error::other)?;
        Ok(Self { config: Arc::new(server), expires })
    }

    /// A warning if the certificate has expired, or ends soon.
    pub fn warning(&self) -> Option<&'static str> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        expiry::warning(self.expires, now.as_secs())
    }
}

/// The certificates of a PEM file, at least one. `key` is the key of the file in the configuration.
///
/// # Errors
/// The file cannot be read, or has no certificate.
pub fn certificates(key: &str, path: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let text = read(key, path)?;
    let found = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    let found =
        found.and_then(|found| if found.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(found) });
    found.map_err(|error| invalid(key, path, &in_words(&error, "certificate, CERTIFICATE in PEM,")))
}

/// Reason why a file has no private key, with the next step.
fn key_reason(error: &pem::Error, text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let labels: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("-----BEGIN ")?.strip_suffix("-----"))
        .collect();
    match error {
        pem::Error::NoItemsFound if labels.contains(&"ENCRYPTED PRIVATE KEY") => {
            "is encrypted; write the key without a passphrase: openssl pkey -in FILE -out KEY".to_owned()
        }
        pem::Error::NoItemsFound => match labels.first() {
            None => "is not PEM; convert a key in DER: openssl pkey -inform DER -in FILE -out KEY".to_owned(),
            // From outside: any text may stand between the dashes.
            Some(label) => {
                let label: String =
                    label.chars().filter(|c| c.is_ascii_alphanumeric() || *c == ' ').collect();
                let label: String = label.chars().take(40).collect();
                format!("has {label} in it and no PRIVATE KEY; name the file of the private key")
            }
        },
        error => in_words(error, "private key, PRIVATE KEY in PEM,"),
    }
}

fn in_words(error: &pem::Error, item: &str) -> String {
    match error {
        pem::Error::NoItemsFound => format!("has no {item} in it"),
        pem::Error::MissingSectionEnd { .. } => "ends before an END line of PEM; write it again".to_owned(),
        error => format!("is not valid PEM: {error}"),
    }
}

fn read(key: &str, path: &Path) -> io::Result<Vec<u8>> {
    let failed = |error: io::Error| {
        let why = format!("cannot be read: {error}; the user of the server must be able to read it");
        io::Error::new(error.kind(), format!("`{key}` {} {why}", path.display()))
    };
    // A pipe would wait for its writer.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(invalid(key, path, "is not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(invalid(key, path, &format!("is longer than {MAX_FILE} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_usable_key_says_which_other_thing_it_has() {
        let reason = |text: &[u8]| {
            let error = PrivateKeyDer::from_pem_slice(text).expect_err("no key");
            key_reason(&error, text)
        };
        let pem = |label: &str| format!("-----BEGIN {label}-----\nMAA=\n-----END {label}-----\n");
        assert!(
            reason(pem("ENCRYPTED PRIVATE KEY").as_bytes())
                .starts_with("is encrypted; write the key without")
        );
        let public = reason(pem("PUBLIC KEY").as_bytes());
        assert_eq!(public, "has PUBLIC KEY in it and no PRIVATE KEY; name the file of the private key");
        for not_pem in [&b""[..], b"\x30\x03\x02\x01\x00", b"some text\n"] {
            assert!(reason(not_pem).starts_with("is not PEM; convert a key in DER"), "{not_pem:?}");
        }
        let cut = reason(b"-----BEGIN PRIVATE KEY-----\nMAA=\n");
        assert!(cut.starts_with("ends before an END line of PEM"), "{cut}");
    }
}
