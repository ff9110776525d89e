//! Retries: Interests that were sent to one next hop first, and go to others after a timeout.

use super::forwarder::Forwarder;
use super::interest::Request;
use super::output::Output;
use super::route::next_hops;
use super::scope::is_localhop;
use super::visit::Visit;
use crate::face::Scope;
use crate::hashed::{HashedName, components};
use crate::pit::Pit;
use crate::strategy::{Decision, InterestContext};
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{Interest, LpHeader};
use smallvec::SmallVec;

impl<P: Pit> Forwarder<P> {
    /// Sends the Interests whose first next hop has not answered in time to the other next hops. Should be
    /// called beside [`handle_timeout`](Self::handle_timeout); [`poll_timeout`](Self::poll_timeout) covers
    /// both.
    #[inline]
    pub fn handle_retries(&mut self, now: Time, out: &mut impl Output) {
        while let Some(slot) = self.retries.pop_due(now) {
            if self.watch.is_tracing() {
                self.try_others_traced(slot, now, out);
            } else {
                self.try_others(slot, now, out);
            }
        }
    }

    /// Sends the Interest of an entry to the other next hops that its strategy names. Returns false if there
    /// are none.
    #[inline(never)]
    pub(super) fn try_others(&mut self, slot: u32, now: Time, out: &mut impl Output) -> bool {
        let Self { hasher, pit, fib, faces, choice, rng, .. } = self;
        let Some((key, records)) = pit.entry_mut(slot).invariant("a removed entry has no timer") else {
            return false;
        };
        let mut live = records.ins.iter().filter(|record| record.expires > now);
        // The face of a downstream may have been closed.
        let downstream = live.find_map(|record| Some((record, faces.find(record.face)?)));
        let Some((record, face)) = downstream else { return false };
        let (ingress, nonce, expires) = (record.face, record.nonce, record.expires);
        let non_discovery = record.non_discovery;
        let mut bytes = key.packet().to_vec();
        let nonce_at = key.nonce_at();
        let place = bytes.get_mut(nonce_at..nonce_at + 4);
        if let Some(place) = place.invariant("the Interest of an entry has a Nonce") {
            place.copy_from_slice(&nonce.to_be_bytes());
        }
        let Some(interest) = Interest::parse(&bytes).ok().invariant("the Interest was parsed as it arrived")
        else {
            return false;
        };
        let root = hasher.root().root;
        let hashed = hasher.parse(interest.name_bytes()).ok().invariant("the name was checked");
        let Some(hashes) = hashed.map(|name| SmallVec::<[u64; 16]>::from_slice(name.hashes)) else {
            return false;
        };
        let components = components(interest.name_bytes());
        let name = HashedName { components, root, hashes: &hashes };
        let local_only = face.scope == Scope::NonLocal && is_localhop(components);
        let (prefix, hops) = next_hops(fib, hasher, &name, interest.forwarding_hint(), None);
        let name = &name;
        let mut context =
            InterestContext { ingress, name, hops, prefix, records, faces, local_only, now, rng };
        let Some(strategy) = choice.find(name) else { return false };
        let Decision::Forward(to) = strategy.on_timeout(&mut context) else { return false };
        let request = Request {
            from: ingress,
            header: &LpHeader::default(),
            bytes: &bytes,
            digest: &[],
            name,
            nonce,
            non_discovery,
            visit: Visit::default(),
            admitted: true,
            expires,
            fib: None,
        };
        for face in to {
            self.outgoing_interest(slot, face, request, &interest, now, out);
        }
        true
    }
}
