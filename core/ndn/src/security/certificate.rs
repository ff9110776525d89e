//! Certificates: Data that binds a public key to a name for a time.
//!
//! ```text
//! name    = /<identity>/KEY/<key>/<issuer>/<version>
//! content = SubjectPublicKeyInfo, in DER
//! ```
//! Source: NDN Packet Format 0.3, Certificate.

use super::error::{CertificateError, KeyError, Refusal};
use super::sign::Signer;
use super::time;
use super::verify::Verifier;
use crate::tlv::{Element, shortest, write_element};
use crate::wire::data::KEY;
use crate::wire::signature::VALIDITY_PERIOD;
use crate::wire::{Data, DataBuilder, KeyLocator, SignatureInfo};
use alloc::vec::Vec;
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, VERSION};
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_name::walk::Walk;

/// NotBefore.
pub const NOT_BEFORE: u32 = 254;
/// NotAfter.
pub const NOT_AFTER: u32 = 255;

/// FreshnessPeriod of a certificate, in milliseconds: an hour, as recommended.
pub const FRESHNESS: u64 = 3_600_000;

/// Number of components after the identity in the name of a certificate.
const SUFFIX: usize = 4;

/// Component before the key's.
const KEY_COMPONENT: Component<'static> = Component::generic(b"KEY");

/// Checked certificate. Neither its key nor its signature has been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Certificate<'a> {
    data: Data<'a>,
    valid_from: u64,
    valid_until: u64,
}

impl<'a> Certificate<'a> {
    /// Parses `bytes`, which must be exactly one certificate.
    ///
    /// # Errors
    /// The first rule that the bytes break.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, CertificateError> {
        Data::parse(bytes).map_err(CertificateError::Packet).and_then(Self::from_data)
    }

    /// Checks that `data` is a certificate.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn from_data(data: Data<'a>) -> Result<Self, CertificateError> {
        let identity = data.name_len().checked_sub(SUFFIX).ok_or(CertificateError::Name)?;
        if data.name().components().nth(identity) != Some(KEY_COMPONENT) {
            return Err(CertificateError::Name);
        }
        if data.content_type() != KEY {
            return Err(CertificateError::ContentType { stated: data.content_type() });
        }
        let (valid_from, valid_until) =
            data.signature_info().validity.and_then(validity).ok_or(CertificateError::Validity)?;
        Ok(Self { data, valid_from, valid_until })
    }

    /// Data packet of the certificate.
    pub fn data(&self) -> &Data<'a> {
        &self.data
    }

    /// Name of the certificate.
    pub fn name(&self) -> NdnName<'a> {
        self.data.name()
    }

    /// Name of the key's owner; may be empty.
    pub fn identity(&self) -> OwnedName<Ndn> {
        self.without_last(SUFFIX)
    }

    /// Name of the key: identity, `KEY`, and component of the key.
    pub fn key_name(&self) -> OwnedName<Ndn> {
        self.without_last(2)
    }

    fn without_last(&self, count: usize) -> OwnedName<Ndn> {
        let name = self.name();
        let components = name.components().take(name.len().saturating_sub(count));
        OwnedName::from_components(components).unwrap_or_else(|_| OwnedName::from(&name))
    }

    /// True if `locator` names the key of this certificate: it is the key's name, or a longer prefix of the
    /// certificate's.
    pub fn is_located_by(&self, locator: NdnName<'_>) -> bool {
        locator.len() + 2 >= self.data.name_len()
            && self.name().walk().bytes().starts_with(locator.walk().bytes())
    }

    /// Start of validity, in seconds since 1970.
    pub fn valid_from(&self) -> u64 {
        self.valid_from
    }

    /// Last second of validity, since 1970.
    pub fn valid_until(&self) -> u64 {
        self.valid_until
    }

    /// True if the certificate is valid at `now`, in seconds since 1970.
    pub fn is_valid_at(&self, now: u64) -> bool {
        (self.valid_from..=self.valid_until).contains(&now)
    }

    /// Checks that the certificate is valid at `now`, in seconds since 1970.
    ///
    /// # Errors
    /// [`Refusal::NotYetValid`] or [`Refusal::Expired`].
    pub fn check_time(&self, now: u64) -> Result<(), Refusal> {
        if now < self.valid_from {
            return Err(Refusal::NotYetValid { from: self.valid_from });
        }
        if now > self.valid_until {
            return Err(Refusal::Expired { until: self.valid_until });
        }
        Ok(())
    }

    /// Public key.
    ///
    /// # Errors
    /// The reason for not supporting the key.
    pub fn public_key(&self) -> Result<Verifier, KeyError> {
        Verifier::from_spki(self.data.content())
    }
}

/// Start and end of a ValidityPeriod.
pub(crate) fn validity(period: Element<'_>) -> Option<(u64, u64)> {
    let mut elements = period.elements();
    let mut time = |typ: u32| {
        let element = elements.next().ok()?.filter(|element| element.typ == typ)?;
        time::parse(element.value)
    };
    let times = (time(NOT_BEFORE)?, time(NOT_AFTER)?);
    while let Some(element) = elements.next().ok()? {
        element.ignored().ok()?;
    }
    Some(times)
}

/// Builder of a certificate.
#[derive(Clone, Copy, Debug)]
pub struct CertificateBuilder<'a> {
    /// Owner of the key.
    pub identity: NdnName<'a>,
    /// Component of the key, unique among the keys of the identity.
    pub key: Component<'a>,
    /// Version, by convention the time in milliseconds since 1970.
    pub version: u64,
    /// Start of validity, in seconds since 1970. Valid: up to [`time::LAST`].
    pub valid_from: u64,
    /// Last second of validity.
    pub valid_until: u64,
}

impl CertificateBuilder<'_> {
    /// Builds the certificate of the public key of `signer`, signed by `signer` itself.
    ///
    /// # Errors
    /// [`CertificateError::NoPublicKey`], or [`CertificateError::Name`] if the name becomes too long.
    pub fn self_signed(&self, signer: &Signer) -> Result<Vec<u8>, CertificateError> {
        let public_key = signer.public_key().ok_or(CertificateError::NoPublicKey)?;
        let key_name = self.named(&[KEY_COMPONENT, self.key])?;
        self.issued(&public_key, Component::generic(b"self"), key_name.view(), signer)
    }

    /// Builds the certificate of a public key, the DER of its SubjectPublicKeyInfo, signed by an issuer:
    /// its component in the name of the certificate, the name of its key, and the key.
    ///
    /// # Errors
    /// [`CertificateError::Name`] if the name becomes too long.
    pub fn issued(
        &self,
        public_key: &[u8],
        issuer: Component<'_>,
        issuer_key: NdnName<'_>,
        signer: &Signer,
    ) -> Result<Vec<u8>, CertificateError> {
        let version = self.version.to_be_bytes();
        let version = Component { typ: VERSION, value: shortest(&version) };
        let name = self.named(&[KEY_COMPONENT, self.key, issuer, version])?;
        let mut period = Vec::new();
        write_element(NOT_BEFORE, &time::text(self.valid_from), &mut period);
        write_element(NOT_AFTER, &time::text(self.valid_until), &mut period);
        let info = SignatureInfo {
            key_locator: Some(KeyLocator::Name(issuer_key)),
            validity: Some(Element { typ: VALIDITY_PERIOD, value: &period, at: 0, value_at: 0 }),
            ..SignatureInfo::of(signer.signature_type())
        };
        let builder = DataBuilder {
            content_type: KEY,
            freshness: Some(FRESHNESS),
            ..DataBuilder::new(name.view(), public_key)
        };
        Ok(signer.data(&builder, info))
    }

    /// The identity with more components.
    fn named(&self, suffix: &[Component<'_>]) -> Result<OwnedName<Ndn>, CertificateError> {
        let components = self.identity.components().chain(suffix.iter().copied());
        OwnedName::from_components(components.collect::<Vec<_>>()).map_err(|_| CertificateError::Name)
    }
}
