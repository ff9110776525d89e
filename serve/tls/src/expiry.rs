//! The end of a certificate's validity, which TLS itself does not report.

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier as _;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, Error, RootCertStore};
use std::net::Ipv4Addr;
use std::time::Duration;

/// A time after the end of every certificate, in seconds since 1970.
const AFTER_ALL: u64 = 1 << 40;

/// Seconds before the end from which on there is a warning. Programs that renew do so about 30 days before.
const RENEWAL: u64 = 14 * 86_400;

/// The end of the validity of a certificate, in seconds since 1970; `None` if it cannot be found.
pub(crate) fn expires(certificate: &CertificateDer<'_>) -> Option<u64> {
    let mut roots = RootCertStore::empty();
    // The verifier needs one, and looks at the times first.
    roots.add(certificate.clone().into_owned()).ok()?;
    let provider = ring::default_provider().into();
    let verifier = WebPkiServerVerifier::builder_with_provider(roots.into(), provider).build().ok()?;
    let name = ServerName::from(std::net::IpAddr::from(Ipv4Addr::LOCALHOST));
    let time = UnixTime::since_unix_epoch(Duration::from_secs(AFTER_ALL));
    match verifier.verify_server_cert(certificate, &[], &name, &[], time) {
        Err(Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. })) => {
            Some(not_after.as_secs())
        }
        _ => None,
    }
}

/// A warning if a certificate has expired, or ends soon.
pub(crate) fn warning(expires: Option<u64>, now: u64) -> Option<&'static str> {
    match expires?.saturating_sub(now) {
        0 => Some("the certificate has expired; renew it"),
        1..RENEWAL => Some("the certificate expires within two weeks; renew it"),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_certificate_is_found_whoever_made_it() {
        let key = rcgen::KeyPair::generate().unwrap();
        for is_ca in [rcgen::IsCa::NoCa, rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained)] {
            let mut params = rcgen::CertificateParams::new(["ns1.example".to_owned()]).unwrap();
            params.is_ca = is_ca;
            for (year, end) in [(2002, 1_009_843_200), (2100, 4_102_444_800)] {
                params.not_after = rcgen::date_time_ymd(year, 1, 1);
                let certificate = params.self_signed(&key).unwrap();
                assert_eq!(expires(certificate.der()), Some(end), "{year}");
            }
        }
        assert_eq!(expires(&CertificateDer::from(b"0".to_vec())), None);
    }

    #[test]
    fn a_certificate_that_ends_soon_is_warned_of() {
        let day = 86_400;
        assert_eq!(warning(Some(100 * day), 80 * day), None);
        assert!(warning(Some(100 * day), 90 * day).unwrap().contains("two weeks"));
        assert!(warning(Some(100 * day), 101 * day).unwrap().contains("has expired"));
        assert_eq!(warning(None, 0), None);
    }
}
