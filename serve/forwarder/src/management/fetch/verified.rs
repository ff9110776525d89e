//! Fetched certificates that have verified a command, for the next ones.
//!
//! Being here makes no certificate trusted: with each command the rules are applied anew.

use crate::management::clock::Now;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::security::{Certificate, Certificates};
use hashlane_table::share::Owner;
use std::collections::{BTreeMap, VecDeque};

/// Most certificates.
pub(in crate::management) const MAX_VERIFIED: usize = 256;
/// Most bytes of all certificates together.
pub(in crate::management) const MAX_BYTES: usize = 512 * 1024;
/// Longest time that a certificate is kept, in milliseconds: one that was revoked is used for no longer.
pub(in crate::management) const MAX_AGE: u64 = 3_600_000;

/// Certificates, oldest first.
#[derive(Debug, Default)]
pub(in crate::management) struct Verified {
    certificates: Certificates,
    entries: VecDeque<Entry>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    name: OwnedName<Ndn>,
    /// Party whose command it has verified.
    owner: Option<Owner>,
    bytes: usize,
    /// Last second of validity, since 1970.
    valid_until: u64,
    /// Monotonic time at which it is dropped.
    expires: u64,
}

impl Verified {
    /// The certificates.
    pub(in crate::management) fn certificates(&self) -> &Certificates {
        &self.certificates
    }

    /// Adds a certificate. If there are too many, the party with most of them loses its oldest one.
    pub(in crate::management) fn add(&mut self, bytes: &[u8], owner: Option<Owner>, now: Now) {
        let Ok(certificate) = Certificate::parse(bytes) else { return };
        self.remove(|entry| entry.name.view() == certificate.name());
        if bytes.len() > MAX_BYTES || self.certificates.add(&certificate).is_err() {
            return;
        }
        self.bytes += bytes.len();
        self.entries.push_back(Entry {
            name: OwnedName::from(&certificate.name()),
            owner,
            bytes: bytes.len(),
            valid_until: certificate.valid_until(),
            expires: now.monotonic.saturating_add(MAX_AGE),
        });
        while self.entries.len() > MAX_VERIFIED || self.bytes > MAX_BYTES {
            let mut counts = BTreeMap::<Option<Owner>, usize>::new();
            self.entries.iter().for_each(|entry| *counts.entry(entry.owner).or_default() += 1);
            let largest = counts.into_iter().max_by_key(|(_, count)| *count).map(|(owner, _)| owner);
            let oldest = self.entries.iter().position(|entry| Some(entry.owner) == largest);
            let Some(entry) = oldest.and_then(|at| self.entries.remove(at)) else { break };
            self.drop_entry(&entry);
        }
    }

    /// Drops the certificates that are no longer valid, or old.
    pub(in crate::management) fn expire(&mut self, now: Now) {
        self.remove(|entry| entry.valid_until < now.unix / 1000 || entry.expires <= now.monotonic);
    }

    /// Drops all certificates.
    pub(in crate::management) fn clear(&mut self) {
        *self = Self::default();
    }

    fn remove(&mut self, is_removed: impl Fn(&Entry) -> bool) {
        let (removed, kept) = std::mem::take(&mut self.entries).into_iter().partition(is_removed);
        self.entries = kept;
        let removed: VecDeque<_> = removed;
        removed.iter().for_each(|entry| self.drop_entry(entry));
    }

    fn drop_entry(&mut self, entry: &Entry) {
        let is_removed = self.certificates.remove(entry.name.view());
        debug_assert!(is_removed, "each entry has a certificate");
        self.bytes -= entry.bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_name::component::Component;
    use hashlane_ndn::security::Signer;
    use hashlane_ndn::security::certificate::CertificateBuilder;

    const NOW: Now = Now { monotonic: 5000, unix: 1_500_000_000 };

    /// A certificate of this number, valid until this second.
    fn certificate(number: u32, valid_until: u64) -> Vec<u8> {
        let identity: OwnedName<Ndn> =
            hashlane_name::uri::parse_uri(format!("/{number}").as_bytes()).expect("a name");
        let key = Component::generic(b"1");
        CertificateBuilder { identity: identity.view(), key, version: 1, valid_from: 0, valid_until }
            .self_signed(&Signer::ed25519(&[7; 32]))
            .expect("a certificate")
    }

    #[test]
    fn certificates_end_with_their_validity_and_after_an_hour() {
        let mut verified = Verified::default();
        verified.add(&certificate(1, 1_500_010), Some(Owner::Ipv4(1)), NOW);
        verified.add(&certificate(2, 9_000_000), Some(Owner::Ipv4(1)), NOW);
        verified.add(&certificate(2, 9_000_000), Some(Owner::Ipv4(1)), NOW);
        assert_eq!(verified.certificates().len(), 2);
        let at =
            |seconds: u64| Now { monotonic: NOW.monotonic + seconds * 1000, unix: NOW.unix + seconds * 1000 };
        let mut count = |seconds| {
            verified.expire(at(seconds));
            verified.certificates().len()
        };
        assert_eq!([0, 10, 11, 3599, 3600].map(&mut count), [2, 2, 1, 1, 0]);
        assert_eq!(verified.bytes, 0);
    }

    #[test]
    fn the_party_with_most_certificates_loses_its_oldest_one() {
        let mut verified = Verified::default();
        verified.add(&certificate(0, 9_000_000), Some(Owner::Ipv4(2)), NOW);
        for number in 1..1000 {
            verified.add(&certificate(number, 9_000_000), Some(Owner::Ipv4(1)), NOW);
        }
        assert_eq!((verified.certificates().len(), verified.entries.len()), (MAX_VERIFIED, MAX_VERIFIED));
        let first = verified.entries.iter().take(2).map(|entry| entry.owner).collect::<Vec<_>>();
        assert_eq!(first, [Some(Owner::Ipv4(2)), Some(Owner::Ipv4(1))]);
        assert!(verified.bytes <= MAX_BYTES);
    }
}
