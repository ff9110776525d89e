//! The certificate of a primary that is asked over TLS.

use rcgen::{CertificateParams, KeyPair};
use std::fs;
use std::path::{Path, PathBuf};

/// Name of the primary in its certificate.
pub(crate) const NAME: &str = "primary.test";

/// TLS between two servers.
#[derive(Clone, Debug)]
pub(crate) struct Tls {
    /// Port of the primary.
    pub(crate) port: u16,
    /// The primary's certificate, which is its own issuer.
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl Tls {
    /// Makes a certificate and its key in a folder.
    pub(crate) fn new(port: u16, folder: &Path) -> Result<Self, String> {
        let failed = |error: rcgen::Error| format!("cannot make a certificate: {error}");
        let pair = KeyPair::generate().map_err(failed)?;
        let params = CertificateParams::new([NAME.to_owned()]).map_err(failed)?;
        let text = params.self_signed(&pair).map_err(failed)?.pem();
        let write = |name: &str, text: String| {
            let path = folder.join(name);
            let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
            let found = written.and_then(|()| path.canonicalize());
            found.map_err(|error| format!("{}: {error}", path.display()))
        };
        let certificate = write("certificate.pem", text)?;
        Ok(Self { port, certificate, key: write("key.pem", pair.serialize_pem())? })
    }
}
