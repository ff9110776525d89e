//! TLS: certificates and keys out of files, for clients (RFC 7858) and for transfers both ways (RFC 9103).
//!
//! TLS 1.3 alone: RFC 9103 §7.2 requires it for transfers, and the resolvers and stubs with DNS over TLS have
//! it. There is no early data, which others could repeat; sessions are resumed by tickets that the client
//! keeps.

pub(crate) mod padding;
mod reason;

pub(crate) use hashlane_tls::Identity;
pub(crate) use reason::{failure, reason};

use crate::config::{Config, Tls};
use hashlane_tls::{Files, certificates, invalid};
use rustls::crypto::ring;
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore};
use std::io;
use std::sync::Arc;

/// Name of DNS over TLS in the handshake (ALPN, RFC 9103 §7.1).
pub(crate) const DOT: &[u8] = b"dot";

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
/// A file cannot be read or has none, or the key is not the certificate's.
pub(crate) fn server(config: &Tls) -> io::Result<Option<Identity>> {
    if config.listen.is_empty() {
        return Ok(None);
    }
    let files =
        Files { certificate: ("tls.certificate", &config.certificate), key: ("tls.key", &config.key) };
    Identity::read(&files, &[DOT]).map(Some)
}

/// A warning if the certificate for clients has expired, or ends soon.
pub(crate) fn warning(config: &Tls, identity: Option<&Identity>) -> Option<String> {
    let warning = identity?.warning()?;
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
