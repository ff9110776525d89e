//! Last working next hop of each group of names.

use super::rtt::Rtt;
use crate::face::FaceId;
use crate::hashed::HashedName;
use alloc::collections::BTreeMap;
use core::time::Duration;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::time::Time;
use hashlane_table::Table as _;
use hashlane_table::batched::Batched;
use hashlane_table::share::{Holder, ItemId, Ledger, Limits};

/// Most groups. The holder of faces with the most groups then loses its oldest one.
const GROUPS: u64 = 1 << 16;

/// Lifetime of a group after its last Data, in milliseconds, as in NFD.
const LIFETIME: u64 = 8000;

/// Most faces with an RTT estimate of their own; one more discards all these estimates.
const FACES: usize = 1 << 14;

/// Rule for the slot of an item.
const SLOT: &str = "an item of the ledger is a group of the table";

/// Group of names below one prefix.
#[derive(Clone, Debug)]
struct Group {
    /// Last working next hop.
    face: FaceId,
    /// RTT of the names of the group over this face.
    rtt: Rtt,
    expires: Time,
    item: ItemId,
}

/// Groups, by the keyed hashes of their prefixes, and the RTT estimate of each face.
///
/// A group is charged to the holder of its face, so a peer that fills the table evicts its own groups.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    groups: Batched<u64, Group>,
    ledger: Ledger,
    faces: BTreeMap<FaceId, Rtt>,
}

impl Default for Groups {
    fn default() -> Self {
        Self {
            groups: Batched::with_capacity(0),
            ledger: Ledger::new(Limits::new(GROUPS)),
            faces: BTreeMap::new(),
        }
    }
}

impl Groups {
    /// Finds the next hop and the retransmission timeout of the longest group that has a prefix of `name`
    /// with at least `depth` components.
    pub(super) fn find(
        &mut self,
        name: &HashedName<'_>,
        depth: usize,
        now: Time,
    ) -> Option<(FaceId, Duration)> {
        for len in (depth..=name.len()).rev() {
            let hash = name.prefix(len);
            match self.groups.find(hash, &hash) {
                Some(group) if group.expires > now => return Some((group.face, group.rtt.timeout())),
                Some(_) => self.remove(hash),
                None => {}
            }
        }
        None
    }

    /// Records that `face` returned Data of the group with this hash after `sample`.
    pub(super) fn record(
        &mut self,
        hash: u64,
        (face, holder): (FaceId, Holder),
        sample: Duration,
        now: Time,
    ) {
        let own = self.add_face_sample(face, sample);
        // Local and remote holders have separate accounts, though a number that was released by one may be
        // given to the other.
        let holder =
            Holder::new(holder.index().wrapping_mul(2) | u32::from(holder.is_remote()), holder.is_remote());
        let expires = now.after_millis(LIFETIME);
        if let Some(group) = self.groups.find_mut(hash, &hash) {
            if group.face == face && group.expires > now {
                group.expires = expires;
                group.rtt.add_sample(sample);
                return self.ledger.renew(group.item);
            }
            self.remove(hash);
        }
        if !self.ledger.admits(holder, 1) {
            return;
        }
        if let Some(oldest) = self.ledger.oldest_of(holder)
            && let Some((&old, group)) = self.groups.entry(oldest.value).invariant(SLOT)
            && group.expires <= now
        {
            self.remove(old);
        }
        let group = Group { face, rtt: own, expires, item: ItemId::NONE };
        let slot = self.groups.insert(hash, hash, group, |hash| *hash).slot;
        let item = self.ledger.add(holder, 1, slot);
        if let Some((_, group)) = self.groups.entry_mut(slot).invariant("the group was inserted") {
            group.item = item;
        }
        while let Some(victim) = self.ledger.excess() {
            let Some((&old, _)) = self.groups.entry(victim.value).invariant(SLOT) else { return };
            self.remove(old);
        }
    }

    /// Adds a sample to the estimate of a face, and returns the estimate.
    fn add_face_sample(&mut self, face: FaceId, sample: Duration) -> Rtt {
        if self.faces.len() >= FACES && !self.faces.contains_key(&face) {
            self.faces.clear();
        }
        let rtt = self.faces.entry(face).or_default();
        rtt.add_sample(sample);
        *rtt
    }

    fn remove(&mut self, hash: u64) {
        if let Some(group) = self.groups.remove(hash, &hash).invariant("the group was found") {
            self.ledger.remove(group.item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLIS: Duration = Duration::from_millis(10);

    fn name(hashes: &[u64]) -> HashedName<'_> {
        HashedName { components: &[], root: 0, hashes }
    }

    #[test]
    fn the_longest_group_that_has_not_expired_is_found() {
        let (mut groups, at) = (Groups::default(), Time::from_millis);
        let peer = |face| (FaceId(face), Holder::new(1, true));
        groups.record(1, peer(7), MILLIS, at(0));
        groups.record(12, peer(8), MILLIS, at(1000));
        let found = |groups: &mut Groups, depth, now| {
            groups.find(&name(&[1, 12, 123]), depth, now).map(|found| found.0)
        };
        assert_eq!(found(&mut groups, 0, at(2000)), Some(FaceId(8)));
        assert_eq!(groups.find(&name(&[1, 13]), 0, at(2000)).map(|found| found.0), Some(FaceId(7)));
        assert_eq!(groups.find(&name(&[1, 13]), 2, at(2000)), None, "a group above the strategy's prefix");
        groups.record(1, peer(7), MILLIS, at(5000));
        assert_eq!(found(&mut groups, 0, at(9000)), Some(FaceId(7)), "the longer one has expired");
        assert_eq!((groups.groups.len(), groups.ledger.len()), (1, 1));
        assert_eq!(found(&mut groups, 0, at(13_000)), None);
        assert_eq!((groups.groups.len(), groups.ledger.len()), (0, 0));
    }

    #[test]
    fn a_new_next_hop_starts_from_the_estimate_of_its_face() {
        let mut groups = Groups::default();
        let [slow, fast] = [(FaceId(1), Holder::new(1, true)), (FaceId(2), Holder::new(2, true))];
        for number in 0..20 {
            groups.record(100 + number, slow, Duration::from_secs(1), Time::default());
        }
        groups.record(1, fast, MILLIS, Time::default());
        groups.record(1, slow, Duration::from_secs(1), Time::default());
        let (face, timeout) = groups.find(&name(&[1]), 0, Time::default()).expect("a group");
        assert_eq!(face, FaceId(1));
        // A first sample alone would have given three seconds.
        assert!((Duration::from_secs(1)..Duration::from_millis(1100)).contains(&timeout), "{timeout:?}");
    }

    #[test]
    fn a_peer_that_fills_the_table_evicts_its_own_groups() {
        let mut groups = Groups::default();
        let [quiet, flood, user] = [
            (FaceId(1), Holder::new(1, true)),
            (FaceId(2), Holder::new(2, true)),
            (FaceId(3), Holder::new(2, false)),
        ];
        for hash in 0..100 {
            groups.record(hash, quiet, MILLIS, Time::default());
            groups.record(1000 + hash, user, MILLIS, Time::default());
        }
        for hash in 0..2 * GROUPS {
            groups.record(1 << 32 | hash, flood, MILLIS, Time::default());
        }
        assert_eq!(groups.ledger.weight(), GROUPS - GROUPS / 4 + 100, "the rest is kept for local users");
        assert_eq!(groups.groups.len(), groups.ledger.len());
        for hash in 0..100 {
            assert!(groups.find(&name(&[hash]), 1, Time::default()).is_some());
            assert!(groups.find(&name(&[1000 + hash]), 1, Time::default()).is_some());
        }
    }
}
