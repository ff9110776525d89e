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
use crate::wheel::{Wheel, tick_of};
use alloc::vec::Vec;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{Interest, LpHeader};
use smallvec::SmallVec;

/// Timers of PIT entries, by slot. A removed entry has none.
#[derive(Debug, Default)]
pub(super) struct Retries {
    wheel: Wheel,
    /// Due time of each slot with a timer.
    due: Vec<Option<Time>>,
}

impl Retries {
    /// Sets or moves the timer of a slot.
    pub(super) fn set(&mut self, slot: u32, due: Time) {
        let at = slot as usize;
        if at >= self.due.len() {
            self.due.resize(at + 1, None);
        }
        if let Some(place) = self.due.get_mut(at).invariant("the slots were resized") {
            *place = Some(due);
            self.wheel.set(slot, tick_of(due));
        }
    }

    /// Stops the timer of a slot; returns its due time.
    #[inline(always)]
    pub(super) fn stop(&mut self, slot: u32) -> Option<Time> {
        if self.wheel.is_empty() {
            return None;
        }
        self.wheel.stop(slot);
        self.due.get_mut(slot as usize).and_then(Option::take)
    }

    /// Removes a timer that is due, and returns its slot.
    #[inline]
    fn pop_due(&mut self, now: Time) -> Option<u32> {
        while let Some(slot) = self.wheel.pop_due(now.millis()) {
            let due = self.due.get_mut(slot as usize).invariant("a slot with a timer has a due time")?;
            match *due {
                Some(later) if later > now => self.wheel.set(slot, tick_of(later)),
                _ => {
                    *due = None;
                    return Some(slot);
                }
            }
        }
        None
    }

    /// Time at which a timer may be due.
    pub(super) fn next_due(&self) -> Option<Time> {
        self.wheel.next_due().map(Time::from_millis)
    }

    /// Gives back the memory of the slots, of which none has a timer.
    pub(super) fn reset(&mut self) {
        self.wheel.reset();
        self.due = Vec::new();
    }
}

impl<P: Pit> Forwarder<P> {
    /// Sends the Interests whose first next hop has not answered in time to the other next hops. Should be
    /// called beside [`handle_timeout`](Self::handle_timeout); [`poll_timeout`](Self::poll_timeout) covers
    /// both.
    #[inline]
    pub fn handle_retries(&mut self, now: Time, out: &mut impl Output) {
        while let Some(slot) = self.retries.pop_due(now) {
            self.try_others(slot, now, out);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_fire_when_they_are_due_and_not_a_turn_of_the_wheel_earlier() {
        let (mut retries, at) = (Retries::default(), Time::from_millis);
        retries.set(3, at(100_000));
        retries.set(4, at(100_000 - 8192));
        while let Some(next) = retries.next_due().filter(|next| *next < at(91_000)) {
            assert_eq!(retries.pop_due(next), None);
        }
        assert_eq!(retries.pop_due(at(100_000 - 8192)), Some(4));
        assert_eq!(retries.stop(4), None);
        assert_eq!(retries.pop_due(at(99_999)), None);
        assert_eq!((retries.pop_due(at(100_000)), retries.next_due()), (Some(3), None));
        retries.set(3, at(100_500));
        assert_eq!(retries.stop(3), Some(at(100_500)));
        assert_eq!((retries.pop_due(at(200_000)), retries.next_due()), (None, None));
        retries.reset();
    }
}
