//! Visits of a packet at one of several shards.

use super::visits::Visits;
use crate::face::FaceId;
use alloc::vec::Vec;
use hashlane_ndn::wire::PitToken;

/// Visit of a packet at a forwarder that is one of several shards.
///
/// If another shard is visited after this one, the forwarder takes an Interest only if it has its entry, its
/// Data or its Nonce, Data and Nacks only if it has an entry for them, and stores no Data.
#[derive(Clone, Copy, Debug, Default)]
pub struct Visit<'p> {
    /// This visit, and those after it. By default there is one shard.
    pub visits: Visits,
    /// Outcome of the visits before.
    pub served: Option<&'p Served>,
}

/// Outcome of visits of Data at shards before the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// True if a shard had an entry for the Data.
    pub solicited: bool,
    /// Downstreams that got the Data, with their tokens, sorted: each gets it once. There may be as many as
    /// the entries that one Data satisfies have records.
    pub downstreams: Vec<(FaceId, PitToken)>,
    /// Hashes of names and Nonces of the Interests that were satisfied: the last shard notes them if it does
    /// not store the Data, which would answer retransmissions.
    pub nonces: Vec<(u64, u32)>,
}

impl Visit<'_> {
    /// True if no shard is visited after this one.
    #[inline(always)]
    pub(super) fn is_last(&self) -> bool {
        self.visits.is_last()
    }

    /// True if shards before have served downstreams, or shards after this one may.
    #[inline(always)]
    pub(super) fn is_one_of_several(&self) -> bool {
        !self.is_last() || self.served.is_some()
    }

    /// True if a shard before had an entry for the Data.
    pub(super) fn is_solicited(&self) -> bool {
        self.served.is_some_and(|served| served.solicited)
    }

    /// True if a shard before has sent the Data to this downstream.
    pub(super) fn has_served(&self, downstream: &(FaceId, PitToken)) -> bool {
        self.served.is_some_and(|served| served.downstreams.binary_search(downstream).is_ok())
    }

    /// The outcome of this visit and those before it. `served` are the downstreams of this one.
    #[cold]
    pub(super) fn outcome(
        &self,
        solicited: bool,
        served: &[(FaceId, PitToken)],
        nonces: &[(u64, u32)],
    ) -> Served {
        let mut outcome = self.served.cloned().unwrap_or_default();
        outcome.solicited |= solicited;
        outcome.downstreams.extend_from_slice(served);
        outcome.downstreams.sort_unstable();
        outcome.nonces.extend_from_slice(nonces);
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_downstreams_of_all_visits_are_in_order_and_found() {
        let downstream = |number: u32| (FaceId(number), PitToken::new(&number.to_be_bytes()));
        let third = |rest| (0..999).filter(|number| number % 3 == rest).map(downstream).collect::<Vec<_>>();
        let first = Visit::default().outcome(true, &third(2), &[]);
        let second = Visit { served: Some(&first), ..Visit::default() }.outcome(true, &third(0), &[]);
        // Each packet of a downstream is looked up: a scan would take the square of their number.
        assert!(second.downstreams.is_sorted());
        let last = Visit { served: Some(&second), ..Visit::default() };
        assert!((0..999).all(|number| last.has_served(&downstream(number)) == (number % 3 != 1)));
    }
}
