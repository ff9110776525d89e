//! Keys that are trusted with commands: by trust anchors, by the modules of a certificate, or by rules.

mod files;
#[cfg(test)]
mod tests;

use super::access::{Distrust, Verify};
use super::clock::Now;
use crate::config::{Config, TrustPolicy};
pub(crate) use files::read_regular;
use files::{CertificateFiles, Source, Strictness};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::{Command, PrefixAnnouncement, Scope};
use hashlane_ndn::security::policy::{Known, Policy, PolicyError};
use hashlane_ndn::security::{Certificate, Certificates, Refusal, Signed, TrustAnchors, time};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::io;
use std::path::Path;

/// Verifies that a command is signed by a key that the configuration trusts with it. `now` is in seconds
/// since 1970.
///
/// # Errors
/// The first file that is not a certificate, or not one that is valid at `now`, a folder that cannot be read,
/// or an invalid rule, and the reason.
pub(crate) fn verifier(config: &Config, now: u64) -> io::Result<Box<Verify>> {
    let mut anchors = TrustAnchors::default();
    for file in &config.management.trust_anchors {
        add_anchor(&mut anchors, file, now)?;
    }
    let mut modules = Vec::new();
    for authorize in config.management.authorize.iter().filter(|authorize| !authorize.is_any()) {
        let mut keys = TrustAnchors::default();
        add_anchor(&mut keys, &authorize.certificate, now)?;
        modules.push((keys, authorize.modules.clone()));
    }
    let trust = &config.trust;
    let others = trust.certificates.iter().map(|path| Source::path(path.clone(), None)).collect();
    let verifier = Verifier {
        anchors,
        modules,
        localhost: Area::open(&trust.localhost, now)?,
        localhop: Area::open(&trust.localhop, now)?,
        announcements: Area::open(&trust.prefix_announcement, now)?,
        trusts_all_announcements: trust.prefix_announcement.any,
        others: RefCell::new(CertificateFiles::open("certificate", others, now, Strictness::Certificates)?),
    };
    Ok(Box::new(move |command: &Command<'_>, fetched: &[&Certificates], now: Now| {
        verifier.verify(command, fetched, now)
    }))
}

/// Adds the certificate of a file.
fn add_anchor(anchors: &mut TrustAnchors, file: &Path, now: u64) -> io::Result<()> {
    let invalid =
        |why: &dyn std::fmt::Display| io::Error::other(format!("trust anchor {}: {why}", file.display()));
    let bytes = files::read_certificate(file).map_err(|error| invalid(&error))?;
    let certificate = Certificate::parse(&bytes).map_err(|error| invalid(&error))?;
    check_validity(&certificate, now).map_err(|error| invalid(&error))?;
    anchors.add(&certificate).map_err(|error| invalid(&error))
}

/// Certificates and rules in use.
struct Verifier {
    /// Anchors of keys that may sign every command.
    anchors: TrustAnchors,
    /// Certificates, and the modules whose commands their keys may sign.
    modules: Vec<(TrustAnchors, Vec<String>)>,
    localhost: Option<Area>,
    localhop: Option<Area>,
    announcements: Option<Area>,
    /// True if all prefix announcements are trusted.
    trusts_all_announcements: bool,
    /// Certificates between keys and anchors.
    others: RefCell<CertificateFiles>,
}

/// Rules for registrations of one scope.
struct Area {
    policy: Policy,
    anchors: RefCell<CertificateFiles>,
}

impl Area {
    /// The rules of a table, and its anchors. `None` if it has no rules.
    fn open(table: &TrustPolicy, now: u64) -> io::Result<Option<Self>> {
        if table.rules.is_empty() {
            return Ok(None);
        }
        let policy = table.policy().map_err(io::Error::other)?;
        let anchors = table.anchors.iter().map(Source::anchor).collect();
        let anchors = CertificateFiles::open("trust anchor", anchors, now, Strictness::Anchors)?;
        Ok(Some(Self { policy, anchors: RefCell::new(anchors) }))
    }
}

impl Verifier {
    /// Identity of the key that signed a command, or the reason for not trusting it.
    fn verify(
        &self,
        command: &Command<'_>,
        fetched: &[&Certificates],
        now: Now,
    ) -> Result<Box<[u8]>, Distrust> {
        let signature = &command.signature;
        let signed = Signed { info: signature.info, pieces: signature.covered, value: signature.value };
        let seconds = now.unix / 1000;
        let refusal = match self.anchors.verify(&signed, seconds) {
            Ok(certificate) => return Ok(key_of(certificate)?),
            Err(refusal) => refusal,
        };
        if command.target.verb == PrefixAnnouncement::VERB {
            let refusal = Some(refusal).filter(|_| !self.anchors.is_empty());
            let verified = self.verify_announcement(command, &signed, fetched, now);
            return verified.unwrap_or_else(|| Err(text(refusal).into()));
        }
        if self.is_ruled(command) {
            return self.verify_by_rules(command, &signed, fetched, now);
        }
        let module = str::from_utf8(command.target.module).unwrap_or_default();
        let mut refusal = Some(refusal).filter(|_| !self.anchors.is_empty());
        for (keys, modules) in &self.modules {
            if !modules.iter().any(|known| known == module) {
                continue;
            }
            match keys.verify(&signed, seconds) {
                Ok(certificate) => return Ok(key_of(certificate)?),
                Err(error) if refusal.is_none_or(|refusal| refusal == Refusal::UnknownKey) => {
                    refusal = Some(error);
                }
                Err(_) => {}
            }
        }
        Err(text(refusal).into())
    }

    /// True if the configuration has rules for a command.
    fn is_ruled(&self, command: &Command<'_>) -> bool {
        command.target.module == b"rib" && self.area(command.target.scope).is_some()
    }

    fn area(&self, scope: Scope) -> Option<&Area> {
        match scope {
            Scope::Localhost => self.localhost.as_ref(),
            Scope::Localhop => self.localhop.as_ref(),
        }
    }

    /// Verifies a prefix announcement by the rules for announcements; `None` without any.
    fn verify_announcement(
        &self,
        command: &Command<'_>,
        signed: &Signed<'_>,
        fetched: &[&Certificates],
        now: Now,
    ) -> Option<Result<Box<[u8]>, Distrust>> {
        if self.trusts_all_announcements {
            return Some(Ok(Box::default()));
        }
        let area = self.announcements.as_ref()?;
        let key =
            self.with_known(area, fetched, now, |known| area.policy.verify_data(command.name, signed, known));
        Some(key.map(|key| key.as_bytes().into()).map_err(distrust))
    }

    /// Calls `verify` with the certificates at hand.
    fn with_known<T>(
        &self,
        area: &Area,
        fetched: &[&Certificates],
        now: Now,
        verify: impl FnOnce(Known<'_>) -> T,
    ) -> T {
        let (mut anchors, mut others) = (area.anchors.borrow_mut(), self.others.borrow_mut());
        let (anchors, others) = (anchors.refreshed(now), others.refreshed(now));
        let others: SmallVec<[&Certificates; 3]> =
            std::iter::once(others).chain(fetched.iter().copied()).collect();
        verify(Known { anchors, others: &others, now: now.unix / 1000 })
    }

    fn verify_by_rules(
        &self,
        command: &Command<'_>,
        signed: &Signed<'_>,
        fetched: &[&Certificates],
        now: Now,
    ) -> Result<Box<[u8]>, Distrust> {
        let Some(area) = self.area(command.target.scope) else {
            return Err("there are no rules".to_owned().into());
        };
        let name = command.signed_name();
        let verify = |known: Known<'_>| area.policy.verify_interest(name.view(), signed, known);
        let key = self.with_known(area, fetched, now, verify);
        key.map(|key| key.as_bytes().into()).map_err(distrust)
    }
}

/// The reason for which rules do not trust a signature, with the key of a certificate that is missing or has
/// expired.
fn distrust(error: PolicyError) -> Distrust {
    let why = error.to_string();
    let missing = match error {
        PolicyError::NoCertificate { key }
        | PolicyError::Refused { key, refusal: Refusal::Expired { .. } } => Some(key),
        _ => None,
    };
    Distrust { why, missing }
}

/// Text of a refusal; without one there was no anchor to try.
fn text(refusal: Option<Refusal>) -> String {
    refusal.map_or_else(|| "no trust anchor is configured".to_owned(), |refusal| refusal.to_string())
}

/// Identity of the key of a certificate. Certificates of one key are one signer:
/// /…/KEY/<id>/<issuer>/<version>.
fn key_of(certificate: hashlane_name::ndn::NdnName<'_>) -> Result<Box<[u8]>, String> {
    let key = certificate.components().take(certificate.len().saturating_sub(2));
    let key: OwnedName<Ndn> = OwnedName::from_components(key).map_err(|error| error.to_string())?;
    Ok(key.as_bytes().into())
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
