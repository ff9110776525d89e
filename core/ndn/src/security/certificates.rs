//! Certificates by their keys.

use super::certificate::Certificate;
use super::error::CertificateError;
use super::verify::{Verifier, sha256};
use crate::invariant::Invariant as _;
use crate::wire::KeyLocator;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use hashlane_name::ndn::NdnName;
use hashlane_name::walk::Walk;

/// Components of the name of a certificate after the name of its key.
const AFTER_KEY: usize = 2;

/// Certificates with their public keys. Being in the set makes none of them trusted.
#[derive(Clone, Debug, Default)]
pub struct Certificates {
    /// Certificates by numbers, in the order in which they were added.
    entries: BTreeMap<u64, Entry>,
    /// Numbers of the certificates of a key, by the components of its name.
    keys: BTreeMap<Box<[u8]>, Vec<u64>>,
    next: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    certificate: Vec<u8>,
    verifier: Verifier,
    /// SHA-256 of the DER of the public key.
    key_digest: [u8; 32],
}

impl Entry {
    /// View of the certificate, which was checked when it was added.
    fn view(&self) -> Option<Certificate<'_>> {
        Certificate::parse(&self.certificate).ok().invariant("a certificate in the set was checked")
    }
}

impl Certificates {
    /// Creates an empty set.
    pub const fn new() -> Self {
        Self { entries: BTreeMap::new(), keys: BTreeMap::new(), next: 0 }
    }

    /// Adds a certificate, whoever signed it; it replaces one with the same name.
    ///
    /// # Errors
    /// [`CertificateError::Key`].
    pub fn add(&mut self, certificate: &Certificate<'_>) -> Result<(), CertificateError> {
        let verifier = certificate.public_key().map_err(CertificateError::Key)?;
        let key_digest = sha256(&[certificate.data().content()]);
        let name = certificate.name();
        let Self { entries, keys, next } = self;
        let numbers = keys.entry(first_components(name, AFTER_KEY).into()).or_default();
        numbers.retain(|number| {
            let is_same = |entry: &Entry| entry.view().is_none_or(|view| view.name() == name);
            let is_replaced = entries.get(number).is_none_or(is_same);
            if is_replaced {
                entries.remove(number);
            }
            !is_replaced
        });
        numbers.push(*next);
        entries.insert(
            *next,
            Entry { certificate: certificate.data().as_bytes().to_vec(), verifier, key_digest },
        );
        *next += 1;
        Ok(())
    }

    /// Removes the certificate of this name. Returns false if the set does not have it.
    pub fn remove(&mut self, name: NdnName<'_>) -> bool {
        let Self { entries, keys, .. } = self;
        let key = first_components(name, AFTER_KEY);
        let Some(numbers) = keys.get_mut(key) else { return false };
        let is_same = |number: &u64| {
            entries.get(number).and_then(Entry::view).is_some_and(|certificate| certificate.name() == name)
        };
        let Some(at) = numbers.iter().position(is_same) else { return false };
        entries.remove(&numbers.remove(at));
        if numbers.is_empty() {
            keys.remove(key);
        }
        true
    }

    /// Number of certificates.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if there are no certificates.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All certificates, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = Certificate<'_>> {
        self.entries.values().filter_map(Entry::view)
    }

    /// Certificates of the key that a KeyLocator names, with the key. A name takes the time of three lookups,
    /// a digest looks at all certificates.
    pub fn located_by<'c>(
        &'c self,
        locator: KeyLocator<'_>,
    ) -> impl Iterator<Item = (Certificate<'c>, &'c Verifier)> + use<'c> {
        let numbers: Vec<u64> = match locator {
            KeyLocator::Name(name) => {
                let cuts = (0..=AFTER_KEY.min(name.len())).rev();
                let keys = cuts.filter_map(|cut| self.keys.get(first_components(name, cut)));
                let numbers = keys.flatten().copied();
                let is_located = |number: &u64| {
                    let view = self.entries.get(number).and_then(Entry::view);
                    view.is_some_and(|certificate| certificate.is_located_by(name))
                };
                numbers.filter(is_located).collect()
            }
            KeyLocator::Digest(digest) => {
                let entries = self.entries.iter().filter(|(_, entry)| entry.key_digest == digest);
                entries.map(|(number, _)| *number).collect()
            }
        };
        numbers.into_iter().filter_map(|number| {
            let entry = self.entries.get(&number)?;
            Some((entry.view()?, &entry.verifier))
        })
    }
}

/// The encoded components of a name without the last ones.
fn first_components(name: NdnName<'_>, without: usize) -> &[u8] {
    let bytes = name.walk().bytes();
    let count = name.len().saturating_sub(without);
    let end = name.spans().take(count).last().map_or(0, |span| span.end);
    bytes.get(..end).unwrap_or_default()
}
