//! Incoming Data pipeline.

use super::burst::Packet;
use super::forwarder::Forwarder;
use super::header::{digest_for, header_for};
use super::learn::{Attached, fitting, with_entry_name};
use super::output::{Output, Part};
use super::route::next_hops;
use super::scope::{is_management, out_of_scope};
use super::timeout::release;
use crate::dead_nonce::LIFETIME;
use crate::drop::DropReason;
use crate::face::{Face, FaceId, LinkType, Scope};
use crate::hashed::HashedName;
use crate::pit::{HopFields, InRecord, Pit};
use crate::strategy::DataContext;
use alloc::boxed::Box;
use alloc::vec::Vec;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::lp::{DigestField, NO_CACHE};
use hashlane_ndn::wire::{Data, InterestDigest, Label, LpHeader, PitToken};
use smallvec::SmallVec;

impl<P: Pit> Forwarder<P> {
    #[inline(always)]
    pub(super) fn incoming_data(
        &mut self,
        packet: Packet<'_, '_, P::Mark>,
        data: &Data<'_>,
        name: &HashedName<'_>,
        now: Time,
        out: &mut impl Output,
    ) -> Result<(), DropReason> {
        let Packet { ingress, header } = packet;
        let (from, bytes) = (ingress.face, data.as_bytes());
        let Self { hasher, pit, faces, cs, counters, config, .. } = self;
        out.enter(Part::Face);
        let face = faces.find(from).ok_or(DropReason::UnknownFace)?;
        let visit = ingress.visit;
        // The last visit counts.
        if visit.is_last() {
            face.counters.in_data.add(1);
            counters.in_data.add(1);
        }
        // If it were cached, forged Data of an application would answer Interests for the management.
        let is_forged = from != FaceId::MANAGEMENT && is_management(name.components);
        if is_forged || out_of_scope(name.components, face) {
            return Err(DropReason::Scope);
        }
        out.enter(Part::Pit);
        let hop = HopFields::of(header, config.digest_type);
        let matches = pit.matches(name, from, hop, || data.implicit_digest(), |name| hasher.hash(name));
        if !visit.is_last() && matches.as_ref().map_or(true, SmallVec::is_empty) {
            self.passed = Some(Box::new(visit.outcome(false, &[], &[])));
            return Ok(());
        }
        let mut matches = matches?;
        if matches.is_empty() && !visit.is_solicited() {
            return Err(DropReason::Unsolicited);
        }
        let digest_type = config.digest_type;
        out.enter(Part::Store);
        let kept = visit.is_last()
            && header.cache_policy != Some(NO_CACHE)
            && cs.insert(name, data, now, |name| hasher.hash(name));
        out.enter(Part::Pit);
        let several = matches.len() > 1 || visit.is_one_of_several();
        if several {
            // The order of PIT slots is the same under every index.
            matches.sort_unstable();
        }
        let mut served: SmallVec<[(FaceId, PitToken); 4]> = SmallVec::new();
        let mut digests: SmallVec<[(FaceId, InterestDigest); 2]> = SmallVec::new();
        // Downstreams that get the announcement, with the announcement.
        let mut announced: SmallVec<[(FaceId, Attached); 1]> = SmallVec::new();
        let mut nonces = Vec::new();
        let received = fitting(header.prefix_announcement, bytes.len());
        if visit.is_last()
            && !kept
            && let Some(before) = visit.served
        {
            before.nonces.iter().for_each(|(name, nonce)| self.dead.insert(*name, *nonce, now));
        }
        for slot in matches {
            if self.measures {
                self.measure(slot, name, from, now);
            }
            let attached =
                if self.learns { self.learn(slot, name, from, received, now) } else { Attached::Received };
            let announcement = attached.bytes(received, bytes.len());
            self.retries.stop(slot);
            let Some(gone) = self.pit.remove(slot).invariant("the entry matched") else { continue };
            let (key, records) = (&gone.key, &gone.records);
            self.counters.satisfied.add(1);
            if let Some(out) = records.out_record(from) {
                self.counters.latency.add(now.since(out.sent));
            }
            // The content store answers a retransmission with the same Nonce, unless it did not keep the Data
            // or the Data goes stale; the dead nonce list must not call that a loop, so Nonces are recorded
            // only then.
            if key.must_be_fresh() && data.freshness().unwrap_or(0) < LIFETIME || visit.is_last() && !kept {
                self.record_dead_nonces(key, records, now);
            } else if !visit.is_last() {
                nonces.extend(records.outs.iter().map(|out| (key.name_hash(), out.nonce)));
            }
            out.enter(Part::Send);
            for record in &records.ins {
                // The face may have been closed.
                let Some(face) = release(&mut self.pending, &mut self.faces, record) else { continue };
                if record.expires <= now || record.face == from && face.link != LinkType::AdHoc {
                    continue;
                }
                let digest = P::downstream_digest(&gone, record.face);
                let announcement = announcement_for(record, face, announcement);
                if several {
                    served.push((record.face, record.token));
                    if !announcement.is_empty() {
                        announced.push((record.face, attached.clone()));
                    }
                    if !digest.is_empty() {
                        digests.push((record.face, Label::new(digest)));
                    }
                } else {
                    self.counters.out_data.add(1);
                    let digest = digest_for(face, digest, digest_type);
                    let token = &record.token;
                    outgoing_data(record.face, face, from, token, digest, announcement, header, bytes, out);
                }
            }
        }
        // Each downstream gets the Data once per token.
        served.sort_unstable();
        served.dedup();
        served.retain(|downstream| !visit.has_served(downstream));
        digests.sort_unstable();
        announced.sort_unstable_by_key(|(face, _)| *face);
        for (to, token) in &served {
            if let Some(face) = self.faces.find(*to) {
                self.counters.out_data.add(1);
                // One digest of the downstream's pending Interests is enough.
                let at = digests.partition_point(|(face, _)| face < to);
                let digest = digests.get(at).filter(|(face, _)| face == to);
                let digest = digest.map_or(&[][..], |(_, digest)| digest.as_bytes());
                let digest = digest_for(face, digest, digest_type);
                let at = announced.partition_point(|(face, _)| face < to);
                let attached = announced.get(at).filter(|(face, _)| face == to);
                let announcement =
                    attached.map_or(&[][..], |(_, attached)| attached.bytes(received, bytes.len()));
                outgoing_data(*to, face, from, token, digest, announcement, header, bytes, out);
            }
        }
        if !visit.is_last() {
            self.passed = Some(Box::new(visit.outcome(true, &served, &nonces)));
        }
        Ok(())
    }

    /// Passes Data to the strategy of the entry's name.
    #[inline(never)]
    fn measure(&mut self, slot: u32, data: &HashedName<'_>, from: FaceId, now: Time) {
        let Self { hasher, pit, fib, faces, choice, .. } = self;
        let Some(holder) = faces.find(from).map(|face| face.holder) else { return };
        let context = |prefix, records| DataContext { face: from, holder, name: data, prefix, records, now };
        let lookup = pit.cached_lookup(slot).filter(|lookup| lookup.tables == self.generation);
        let Some((key, records)) = pit.entry(slot).invariant("the entry matched") else { return };
        if let Some(lookup) = lookup {
            if let Some(strategy) = choice.at(lookup.strategy).invariant("the tables have not changed") {
                strategy.on_data(&context(lookup.prefix, records));
            }
            return;
        }
        with_entry_name(key, data, |name| {
            let (prefix, _) = next_hops(fib, hasher, name, key.hint(), None);
            if let Some(strategy) = choice.find(name) {
                strategy.on_data(&context(prefix, records));
            }
        });
    }
}

#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "all of them are one packet's")]
fn outgoing_data(
    to: FaceId,
    face: &Face,
    from: FaceId,
    token: &PitToken,
    digest: DigestField<'_>,
    prefix_announcement: &[u8],
    header: &LpHeader<'_>,
    bytes: &[u8],
    out: &mut impl Output,
) {
    face.counters.out_data.add(1);
    let header = header_for(face, from, header.congestion_mark);
    out.send(to, &LpHeader { pit_token: token.as_bytes(), digest, prefix_announcement, ..header }, bytes);
}

/// The announcement, if the downstream wants it: another host whose Interest was a discovery one.
#[inline(always)]
fn announcement_for<'a>(record: &InRecord, face: &Face, announcement: &'a [u8]) -> &'a [u8] {
    let takes = announcement.is_empty() || !record.non_discovery && face.scope == Scope::NonLocal;
    if takes { announcement } else { &[] }
}
