//! Causes of failures in words, with the next step.

use rustls::CertificateError;
use std::io;
use std::path::Path;

/// The error of a file: its key in the configuration, its path, and what is wrong with it.
pub fn invalid(key: &str, path: &Path, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("`{key}` {} {why}", path.display()))
}

/// The cause of a certificate error, for errors of any certificate.
pub fn certificate_reason(error: &CertificateError) -> String {
    match error {
        CertificateError::BadEncoding => "certificate malformed; make it again".to_owned(),
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            "certificate of an issuer (CA:TRUE) used by a server; make one for the server with CA:FALSE"
                .to_owned()
        }
        error => format!("certificate: {error}"),
    }
}
