//! Trust policies: rules that say which keys may sign which packets, down a chain of certificates to a trust
//! anchor.
//!
//! A packet is trusted if the first rule for its name allows its key, and a certificate of the key verifies
//! it that is a trust anchor, or itself trusted by the same rules. Certificates beside the anchors come from
//! the caller; [`PolicyError::NoCertificate`] names the key whose certificate is missing.
//!
//! Source: ndn-cxx documentation, Validator Configuration File Format.

mod rule;
#[cfg(test)]
mod tests;

pub use rule::{Checker, HyperRelation, KeyTest, NameTest, Relation, Rule};

use super::certificates::Certificates;
use super::error::Refusal;
use super::signed::Signed;
use crate::wire::KeyLocator;
use alloc::string::String;
use alloc::vec::Vec;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};

/// Most certificates between a packet and a trust anchor.
pub const MAX_DEPTH: usize = 8;

/// Most signatures that are verified for a packet.
pub const MAX_SIGNATURES: usize = 16;

/// Reason for not trusting a packet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// No rule is for packets of this name.
    #[error("no rule is for the name {name}")]
    NoRule {
        /// Name of the packet.
        name: OwnedName<Ndn>,
    },
    /// The rule for the packet does not allow its signature.
    #[error("the rule {rule:?} does not let the key {key} sign {name}")]
    NotAllowed {
        /// The rule.
        rule: String,
        /// KeyLocator of the signature.
        key: OwnedName<Ndn>,
        /// Name of the packet.
        name: OwnedName<Ndn>,
    },
    /// The KeyLocator names a digest.
    #[error("the KeyLocator is not a name, which rules need")]
    NotAName,
    /// No trust anchor and no other certificate is of this key.
    #[error("no certificate of the key {key}")]
    NoCertificate {
        /// KeyLocator of the signature.
        key: OwnedName<Ndn>,
    },
    /// A signature was rejected.
    #[error("{refusal} (key {key})")]
    Refused {
        /// KeyLocator of the signature.
        key: OwnedName<Ndn>,
        /// The reason.
        refusal: Refusal,
    },
    /// The chain of certificates is too long.
    #[error("more than {MAX_DEPTH} certificates, or {MAX_SIGNATURES} signatures, up to a trust anchor")]
    TooLong,
}

/// Rules for Interests and for Data. The first rule for the name of a packet decides; without one the packet
/// is not trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Rules for Interests.
    pub interests: Vec<Rule>,
    /// Rules for Data, certificates among them.
    pub data: Vec<Rule>,
}

/// Certificates at hand when a packet is verified.
#[derive(Clone, Copy, Debug)]
pub struct Known<'c> {
    /// Trust anchors.
    pub anchors: &'c Certificates,
    /// Sets of other certificates, not trusted by themselves.
    pub others: &'c [&'c Certificates],
    /// Time, in seconds since 1970.
    pub now: u64,
}

impl Policy {
    /// Verifies a signed Interest. `name` is its name without the components of the signature. Returns the
    /// name of the key that signed it.
    ///
    /// # Errors
    /// The reason for not trusting it.
    pub fn verify_interest(
        &self,
        name: NdnName<'_>,
        signed: &Signed<'_>,
        known: Known<'_>,
    ) -> Result<OwnedName<Ndn>, PolicyError> {
        Chain { policy: self, known, signatures: 0 }.verify(name, &self.interests, signed, 0)
    }

    /// Verifies a Data packet. Returns the name of the key that signed it.
    ///
    /// # Errors
    /// The reason for not trusting it.
    pub fn verify_data(
        &self,
        name: NdnName<'_>,
        signed: &Signed<'_>,
        known: Known<'_>,
    ) -> Result<OwnedName<Ndn>, PolicyError> {
        Chain { policy: self, known, signatures: 0 }.verify(name, &self.data, signed, 0)
    }
}

/// The way from a packet to a trust anchor.
struct Chain<'p, 'c> {
    policy: &'p Policy,
    known: Known<'c>,
    /// Signatures verified so far.
    signatures: usize,
}

impl Chain<'_, '_> {
    /// Verifies the packet after `depth` certificates.
    fn verify(
        &mut self,
        name: NdnName<'_>,
        rules: &[Rule],
        signed: &Signed<'_>,
        depth: usize,
    ) -> Result<OwnedName<Ndn>, PolicyError> {
        let locator = check(name, rules, signed)?;
        let key = || OwnedName::from(&locator);
        let refused = |refusal| PolicyError::Refused { key: key(), refusal };
        let Known { anchors, others, now } = self.known;
        let mut error = None;
        for (anchor, verifier) in anchors.located_by(KeyLocator::Name(locator)) {
            self.count_signature()?;
            match verifier.verify(signed).and_then(|()| anchor.check_time(now)) {
                Ok(()) => return Ok(anchor.key_name()),
                Err(refusal) => error = Some(refused(refusal)),
            }
        }
        let others = others.iter().flat_map(|others| others.located_by(KeyLocator::Name(locator)));
        for (certificate, verifier) in others {
            if depth == MAX_DEPTH {
                return Err(PolicyError::TooLong);
            }
            if let Err(refusal) = certificate.check_time(now) {
                error = Some(refused(refusal));
                continue;
            }
            self.count_signature()?;
            if let Err(refusal) = verifier.verify(signed) {
                error = Some(refused(refusal));
                continue;
            }
            let by = Signed::data(certificate.data());
            let policy = self.policy;
            match self.verify(certificate.name(), &policy.data, &by, depth + 1) {
                Ok(_) => return Ok(certificate.key_name()),
                Err(PolicyError::TooLong) => return Err(PolicyError::TooLong),
                Err(above) => error = Some(above),
            }
        }
        Err(error.unwrap_or_else(|| PolicyError::NoCertificate { key: key() }))
    }

    fn count_signature(&mut self) -> Result<(), PolicyError> {
        self.signatures += 1;
        if self.signatures > MAX_SIGNATURES { Err(PolicyError::TooLong) } else { Ok(()) }
    }
}

/// Checks the first rule for a name. Returns the name of the KeyLocator.
fn check<'s>(name: NdnName<'_>, rules: &[Rule], signed: &Signed<'s>) -> Result<NdnName<'s>, PolicyError> {
    let locator = match signed.info.key_locator {
        Some(KeyLocator::Name(locator)) => locator,
        Some(KeyLocator::Digest(_)) | None => return Err(PolicyError::NotAName),
    };
    let rule = rules.iter().find(|rule| rule.is_for(name));
    let rule = rule.ok_or_else(|| PolicyError::NoRule { name: OwnedName::from(&name) })?;
    if !rule.allows(signed.info.signature_type, locator, name) {
        let (key, name) = (OwnedName::from(&locator), OwnedName::from(&name));
        return Err(PolicyError::NotAllowed { rule: rule.id.clone(), key, name });
    }
    Ok(locator)
}
