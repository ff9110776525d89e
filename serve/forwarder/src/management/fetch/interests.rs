//! Interests for certificates: one for each key at a time, whoever needs the certificate.
//!
//! An Interest is sent at most [`SENDS`] times. A key whose certificate was not found is not asked for again
//! for [`FAILED`] milliseconds.

use super::Key;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::wire::{InterestBuilder, NackReason};
use hashlane_table::share::Owner;
use std::collections::BTreeMap;

/// Most keys asked for at once.
pub(in crate::management) const MAX_PENDING: usize = 256;
/// Most of them for other hosts. The rest is a reserve for users of this host.
pub(in crate::management) const MAX_REMOTE: usize = 192;
/// Most of them for one user or address.
pub(in crate::management) const MAX_OF_ONE: usize = 4;
/// Times that an Interest is sent.
pub(in crate::management) const SENDS: u32 = 3;
/// InterestLifetime, in milliseconds: time between two transmissions.
pub(in crate::management) const LIFETIME: u64 = 2000;
/// Pause after a Nack, other than one that there is no route, in milliseconds.
const PAUSE: u64 = 500;
/// Time for which a key is not asked for again, in milliseconds.
pub(in crate::management) const FAILED: u64 = 5000;
/// Most keys that are remembered as not found.
const MAX_FAILED: usize = 256;

/// Names that a KeyLocator can have for one certificate: of the key, with its issuer, of the certificate.
const LOCATORS: usize = 3;

/// Interests that are pending, and keys that were not found.
#[derive(Debug, Default)]
pub(in crate::management) struct Interests {
    pending: BTreeMap<Key, Pending>,
    failed: BTreeMap<Key, Failed>,
}

#[derive(Debug)]
struct Pending {
    /// Party that needed the certificate first.
    owner: Option<Owner>,
    /// Times that the Interest was sent.
    sent: u32,
    /// Time of the next transmission, or of giving up.
    due: u64,
}

#[derive(Debug)]
struct Failed {
    until: u64,
    why: String,
}

/// Reason for not asking for a certificate.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::management) enum NotSent {
    /// It was not found a moment ago, for this reason.
    Failed(String),
    /// Too many keys are asked for.
    Crowded(String),
}

impl Interests {
    /// Asks for the certificate of a key. Returns the Interest to send; `None` if one is pending.
    pub(in crate::management) fn start(
        &mut self,
        key: NdnName<'_>,
        owner: Option<Owner>,
        now: u64,
    ) -> Result<Option<Vec<u8>>, NotSent> {
        if self.pending.contains_key(key.as_bytes()) {
            return Ok(None);
        }
        match self.failed.get(key.as_bytes()) {
            Some(failed) if now < failed.until => return Err(NotSent::Failed(failed.why.clone())),
            Some(_) => drop(self.failed.remove(key.as_bytes())),
            None => {}
        }
        let count = |counts: &dyn Fn(Option<Owner>) -> bool| {
            self.pending.values().filter(|pending| counts(pending.owner)).count()
        };
        let is_remote = |owner: Option<Owner>| owner.is_some_and(Owner::is_remote);
        if owner.is_some() && count(&|other| other == owner) >= MAX_OF_ONE {
            let text = format!("{MAX_OF_ONE} other certificates are being fetched for this sender");
            return Err(NotSent::Crowded(text));
        }
        if self.pending.len() >= MAX_PENDING || is_remote(owner) && count(&is_remote) >= MAX_REMOTE {
            let text = format!("{} certificates are being fetched", self.pending.len());
            return Err(NotSent::Crowded(text));
        }
        self.pending.insert(key.as_bytes().into(), Pending { owner, sent: 1, due: now + LIFETIME });
        Ok(Some(interest(key)))
    }

    /// Ends the Interests that Data of this name answers. Returns their keys.
    pub(in crate::management) fn take(&mut self, data: NdnName<'_>) -> Vec<Key> {
        let lengths = (0..LOCATORS).filter_map(|cut| data.len().checked_sub(cut));
        let prefixes =
            lengths.filter_map(|len| OwnedName::<Ndn>::from_components(data.components().take(len)).ok());
        let taken = prefixes.filter_map(|prefix| Some(self.pending.remove_entry(prefix.as_bytes())?.0));
        taken.collect()
    }

    /// Handles a Nack for the Interest of this name. Returns its key and the reason if that ends it.
    pub(in crate::management) fn nack(
        &mut self,
        name: NdnName<'_>,
        reason: NackReason,
        now: u64,
    ) -> Option<(Key, String)> {
        let pending = self.pending.get_mut(name.as_bytes())?;
        if reason != NackReason::NO_ROUTE {
            pending.due = pending.due.min(now + PAUSE);
            return None;
        }
        let why = format!("no route leads to {name}");
        let (key, _) = self.pending.remove_entry(name.as_bytes())?;
        self.note_failed(&key, &why, now);
        Some((key, why))
    }

    /// Remembers that no usable certificate of a key was found.
    pub(in crate::management) fn note_failed(&mut self, key: &Key, why: &str, now: u64) {
        if self.failed.len() >= MAX_FAILED && !self.failed.contains_key(key) {
            let first = self.failed.iter().min_by_key(|(_, failed)| failed.until);
            if let Some(key) = first.map(|(key, _)| key.clone()) {
                self.failed.remove(&key);
            }
        }
        self.failed.insert(key.clone(), Failed { until: now + FAILED, why: why.to_owned() });
    }

    /// Interests to send again, and the keys that have had no answer, with the reason.
    pub(in crate::management) fn tick(&mut self, now: u64) -> (Vec<Vec<u8>>, Vec<(Key, String)>) {
        self.failed.retain(|_, failed| now < failed.until);
        let (mut again, mut ended) = (Vec::new(), Vec::new());
        for (key, pending) in self.pending.iter_mut().filter(|(_, pending)| pending.due <= now) {
            match NdnName::parse(key) {
                Ok(name) if pending.sent < SENDS => {
                    pending.sent += 1;
                    pending.due = now + LIFETIME;
                    again.push(interest(name));
                }
                Ok(name) => ended.push((key.clone(), format!("{SENDS} Interests for {name} had no answer"))),
                Err(_) => debug_assert!(false, "the key is the name that it was made of"),
            }
        }
        for (key, why) in &ended {
            self.pending.remove(key);
            self.note_failed(key, why, now);
        }
        (again, ended)
    }

    /// Time at which [`tick`](Self::tick) is due.
    pub(in crate::management) fn next_due(&self) -> Option<u64> {
        self.pending.values().map(|pending| pending.due).min()
    }

    /// Forgets the keys that were not found.
    pub(in crate::management) fn forget(&mut self) {
        self.failed.clear();
    }
}

/// The Interest for the certificate of a key. The forwarder draws its Nonce.
fn interest(key: NdnName<'_>) -> Vec<u8> {
    let builder = InterestBuilder {
        can_be_prefix: true,
        must_be_fresh: true,
        lifetime: LIFETIME,
        ..InterestBuilder::new(key)
    };
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_ndn::wire::Interest;

    fn name(uri: &str) -> OwnedName<Ndn> {
        hashlane_name::uri::parse_uri(uri.as_bytes()).expect("a name")
    }

    fn start(interests: &mut Interests, uri: &str, owner: Owner, now: u64) -> Result<bool, NotSent> {
        let key = name(uri);
        interests.start(key.view(), Some(owner), now).map(|interest| {
            interest.is_some_and(|interest| {
                let interest = Interest::parse(&interest).expect("an Interest");
                interest.name() == key.view() && interest.can_be_prefix() && interest.must_be_fresh()
            })
        })
    }

    #[test]
    fn a_key_is_asked_for_once_whoever_needs_it() {
        let mut interests = Interests::default();
        assert_eq!(start(&mut interests, "/a/KEY/1", Owner::Ipv4(1), 0), Ok(true));
        assert_eq!(start(&mut interests, "/a/KEY/1", Owner::Ipv4(2), 0), Ok(false));
        assert_eq!(start(&mut interests, "/a/KEY/1/i/v=1", Owner::Ipv4(2), 0), Ok(true));
        assert_eq!(interests.take(name("/a/KEY/2/i/v=1").view()), []);
        let keys = [name("/a/KEY/1/i/v=1").as_bytes().into(), name("/a/KEY/1").as_bytes().into()];
        assert_eq!(interests.take(name("/a/KEY/1/i/v=1").view()), keys);
        assert_eq!((interests.take(name("/a/KEY/1/i/v=1").view()), interests.next_due()), (vec![], None));
    }

    #[test]
    fn an_interest_without_an_answer_is_sent_again_and_then_not_for_a_while() {
        let mut interests = Interests::default();
        assert_eq!(start(&mut interests, "/a/KEY/1", Owner::Ipv4(1), 0), Ok(true));
        assert_eq!(interests.tick(LIFETIME - 1), (vec![], vec![]));
        let mut sent = 1;
        let ended = (1..10).map(|turn| turn * LIFETIME).find(|now| {
            let (again, ended) = interests.tick(*now);
            sent += again.len() as u32;
            !ended.is_empty()
        });
        assert_eq!((sent, ended), (SENDS, Some(u64::from(SENDS) * LIFETIME)));
        let end = u64::from(SENDS) * LIFETIME;
        assert!(matches!(
            start(&mut interests, "/a/KEY/1", Owner::Ipv4(1), end + FAILED - 1),
            Err(NotSent::Failed(why)) if why == "3 Interests for /a/KEY/1 had no answer"
        ));
        assert_eq!(start(&mut interests, "/a/KEY/1", Owner::Ipv4(1), end + FAILED), Ok(true));
    }

    #[test]
    fn a_nack_ends_an_interest_only_if_there_is_no_route() {
        let mut interests = Interests::default();
        let key = name("/a/KEY/1");
        assert_eq!(start(&mut interests, "/a/KEY/1", Owner::Ipv4(1), 0), Ok(true));
        assert_eq!(interests.nack(key.view(), NackReason::CONGESTION, 0), None);
        assert_eq!((interests.tick(PAUSE - 1).0.len(), interests.tick(PAUSE).0.len()), (0, 1));
        let ended = interests.nack(key.view(), NackReason::NO_ROUTE, PAUSE);
        assert_eq!(ended, Some((key.as_bytes().into(), "no route leads to /a/KEY/1".to_owned())));
        assert_eq!(interests.nack(key.view(), NackReason::NO_ROUTE, PAUSE), None);
    }

    #[test]
    fn a_flood_of_one_address_or_of_many_leaves_room_for_others() {
        let mut interests = Interests::default();
        for number in 0..100 {
            let started = start(&mut interests, &format!("/a/KEY/{number}"), Owner::Ipv4(1), 0);
            assert_eq!(started.is_ok(), number < MAX_OF_ONE);
        }
        assert_eq!(start(&mut interests, "/b/KEY/1", Owner::Ipv4(2), 0), Ok(true));
        for number in 0..1000 {
            let _ = start(&mut interests, &format!("/c/KEY/{number}"), Owner::Ipv6(number), 0);
        }
        assert_eq!(interests.pending.len(), MAX_REMOTE);
        assert_eq!(start(&mut interests, "/d/KEY/1", Owner::User(1), 0), Ok(true));
    }

    #[test]
    fn keys_that_were_not_found_take_bounded_memory() {
        let mut interests = Interests::default();
        for number in 0..10_000 {
            let key = name(&format!("/a/KEY/{number}")).as_bytes().into();
            interests.note_failed(&key, "gone", number / 100);
        }
        assert_eq!(interests.failed.len(), MAX_FAILED);
        interests.tick(100_000);
        assert!(interests.failed.is_empty());
    }
}
