//! TLS: certificates and keys out of files, for clients (RFC 7858) and for transfers both ways (RFC 9103).
//!
//! TLS 1.3 alone: RFC 9103 §7.2 requires it for transfers, and the resolvers and stubs with DNS over TLS have
//! it. There is no early data, which others could repeat; sessions are resumed by tickets that the client
//! keeps.

mod expiry;
pub(crate) mod padding;
mod reason;

pub(crate) use reason::{failure, reason};

use crate::clock::unix_seconds;
use crate::config::{Config, Tls};
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

/// Name of DNS over TLS in the handshake (ALPN, RFC 9103 §7.1).
pub(crate) const DOT: &[u8] = b"dot";

/// Longest file of certificates in bytes: all that browsers trust are some 250 KB.
const MAX_FILE: u64 = 4 << 20;

/// The certificate and key for clients.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) config: Arc<ServerConfig>,
    /// End of the certificate's validity, in seconds since 1970, if it is known.
    pub(crate) expires: Option<u64>,
}

/// The channel by which a message has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// UDP, or TCP without TLS.
    Clear,
    /// TLS with a client that does not say that it speaks DNS: no transfers (RFC 9103 §7.1).
    Tls,
    /// TLS with the ALPN `dot`.
    Dot,
}

/// The certificate and key for clients; `None` if the configuration listens nowhere by TLS.
///
/// # Errors
/// A file cannot be read or has none, or the key is not that of the certificate.
pub(crate) fn server(config: &Tls) -> io::Result<Option<Identity>> {
    if config.listen.is_empty() {
        return Ok(None);
    }
    let certificates = certificates("tls.certificate", &config.certificate)?;
    let expires = certificates.first().and_then(expiry::expires);
    let path = &config.key;
    let key = PrivateKeyDer::from_pem_slice(&read("tls.key", path)?)
        .map_err(|error| invalid("tls.key", path, &in_words(&error, "private key, PRIVATE KEY in PEM,")))?;
    let builder = ServerConfig::builder_with_provider(ring::default_provider().into())
        .with_protocol_versions(&[&TLS13])
        .map_err(io::Error::other)?;
    let mut server =
        builder.with_no_client_auth().with_single_cert(certificates, key).map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => {
                let why = format!(
                    "is not the key of the first certificate in {}; name the key that the certificate was made \
                     with, and write the server's certificate before those of its issuers",
                    config.certificate.display()
                );
                invalid("tls.key", path, &why)
            }
            rustls::Error::InvalidCertificate(_) => {
                invalid("tls.certificate", &config.certificate, &reason(&error))
            }
            error => invalid("tls.key", path, &format!("{error}; ECDSA, Ed25519 and RSA keys can be used")),
        })?;
    server.alpn_protocols = vec![DOT.to_vec()];
    server.ticketer = ring::Ticketer::new().map_err(io::Error::other)?;
    Ok(Some(Identity { config: Arc::new(server), expires }))
}

/// A warning if the certificate for clients has expired, or ends soon.
pub(crate) fn warning(config: &Tls, identity: Option<&Identity>) -> Option<String> {
    let warning = expiry::warning(identity?.expires, unix_seconds())?;
    Some(format!("`tls.certificate` {}: {warning}", config.certificate.display()))
}

/// The settings for primaries that are asked over TLS; `None` if there are none.
///
/// # Errors
/// The file of their issuers cannot be read, or has none.
pub(crate) fn client(config: &Config) -> io::Result<Option<Arc<ClientConfig>>> {
    let path = &config.tls.roots;
    if path.as_os_str().is_empty() {
        return Ok(None);
    }
    let mut roots = RootCertStore::empty();
    for (number, certificate) in certificates("tls.roots", path)?.into_iter().enumerate() {
        let why = |error| format!("has a malformed certificate, number {}: {}", number + 1, reason(&error));
        roots.add(certificate).map_err(|error| invalid("tls.roots", path, &why(error)))?;
    }
    let builder = ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_protocol_versions(&[&TLS13])
        .map_err(io::Error::other)?;
    let mut client = builder.with_root_certificates(roots).with_no_client_auth();
    client.alpn_protocols = vec![DOT.to_vec()];
    Ok(Some(Arc::new(client)))
}

/// The certificates of a PEM file, at least one.
fn certificates(key: &str, path: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let text = read(key, path)?;
    let found = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    let found =
        found.and_then(|found| if found.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(found) });
    found.map_err(|error| invalid(key, path, &in_words(&error, "certificate, CERTIFICATE in PEM,")))
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

fn invalid(key: &str, path: &Path, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("`{key}` {} {why}", path.display()))
}
