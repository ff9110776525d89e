//! The causes of failed handshakes in words, with the next step.

use rustls::{AlertDescription, CertificateError, Error};
use std::io;

/// Seconds of a day.
const DAY: u64 = 86_400;

/// The cause of a failed connection to a primary over TLS.
pub(crate) fn failure(error: &io::Error) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    inner.map_or_else(|| error.to_string(), reason)
}

/// The cause in words.
pub(crate) fn reason(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(error) => certificate(error),
        Error::InvalidMessage(_) | Error::InappropriateMessage { .. } => {
            "does not speak TLS at this port; name its port for DNS over TLS".to_owned()
        }
        Error::NoApplicationProtocol | Error::AlertReceived(AlertDescription::NoApplicationProtocol) => {
            "has no DNS over TLS at this port (ALPN \"dot\")".to_owned()
        }
        Error::PeerIncompatible(_) | Error::AlertReceived(AlertDescription::ProtocolVersion) => {
            format!("has no TLS 1.3, which RFC 9103 requires: {error}")
        }
        error => format!("TLS: {error}"),
    }
}

fn certificate(error: &CertificateError) -> String {
    match error {
        CertificateError::ExpiredContext { time, not_after } => {
            let days = time.as_secs().saturating_sub(not_after.as_secs()) / DAY;
            format!(
                "certificate expired {days} days ago; renew it on that server, or set the clock of this one"
            )
        }
        CertificateError::Expired => {
            "certificate expired; renew it on that server, or set the clock of this one".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "certificate not valid yet; set the clocks of both servers".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            format!("{error}; write the name of the certificate after `tls`")
        }
        CertificateError::UnknownIssuer => {
            "certificate of an unknown issuer; add the issuer's certificate to `tls.roots`".to_owned()
        }
        // The issuer's name is there, but its key is another.
        CertificateError::BadSignature => {
            "certificate not signed by the issuer in `tls.roots`; add its issuer's certificate to `tls.roots`"
                .to_owned()
        }
        error => hashlane_tls::certificate_reason(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::InvalidMessage;

    #[test]
    fn each_cause_has_its_next_step() {
        let invalid = |error| reason(&Error::InvalidCertificate(error));
        assert!(invalid(CertificateError::UnknownIssuer).ends_with("to `tls.roots`"));
        assert!(invalid(CertificateError::Expired).contains("renew it"));
        assert!(reason(&Error::InvalidMessage(InvalidMessage::InvalidContentType)).contains("name its port"));
        let inner = io::Error::new(io::ErrorKind::InvalidData, Error::NoApplicationProtocol);
        assert!(failure(&inner).contains("no DNS over TLS"));
        let other = io::Error::from(io::ErrorKind::ConnectionReset);
        assert_eq!(failure(&other), other.to_string());
    }
}
