//! Incoming Nack pipeline.

use super::burst::Packet;
use super::forwarder::Forwarder;
use super::header::digest_for;
use super::learn::note_broken;
use super::output::{Output, Part};
use super::route::next_hops;
use super::scope::out_of_scope;
use crate::drop::DropReason;
use crate::face::LinkType;
use crate::hashed::HashedName;
use crate::pit::{HopFields, InRecord, Pit};
use crate::strategy::NackDecision;
use alloc::boxed::Box;
use alloc::vec::Vec;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{Interest, LpHeader, NackReason};

impl<P: Pit> Forwarder<P> {
    #[inline(never)]
    pub(super) fn incoming_nack(
        &mut self,
        packet: Packet<'_, '_, P::Mark>,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
        now: Time,
        out: &mut impl Output,
    ) -> Result<(), DropReason> {
        let Packet { ingress, header } = packet;
        let from = ingress.face;
        let reason =
            header.nack.invariant("the decode stage found a Nack header").unwrap_or(NackReason::NONE);
        let hop = HopFields::of(header, self.config.digest_type);
        if !ingress.visit.is_last() && !self.has_nacked(packet, interest, name, hop, now) {
            self.passed = Some(Box::default());
            return Ok(());
        }
        let Self { hasher, pit, faces, fib, choice, counters, announcements, route_events, .. } = self;
        out.enter(Part::Face);
        let face = faces.find(from).ok_or(DropReason::UnknownFace)?;
        face.counters.in_nacks.add(1);
        counters.in_nacks.add(1);
        if out_of_scope(name.components, face) {
            return Err(DropReason::Scope);
        }
        // On a multi-access link another peer may still answer.
        if face.link != LinkType::PointToPoint {
            return Err(DropReason::UnexpectedNack);
        }
        out.enter(Part::Pit);
        let mark = *ingress.mark()?;
        let slot = pit.find_nacked(name, interest, &mark, hop).ok_or(DropReason::UnexpectedNack)?;
        let (prefix, _) = next_hops(fib, hasher, name, interest.forwarding_hint(), None);
        let (_, records) = pit.entry_mut(slot).ok_or(DropReason::UnexpectedNack)?;
        let sent = records
            .outs
            .iter_mut()
            .find(|out| out.face == from && Some(out.nonce) == interest.nonce() && out.expires > now);
        let sent = sent.ok_or(DropReason::UnexpectedNack)?;
        sent.nack = Some(reason);
        let is_of_route = sent.non_discovery;
        let Some(strategy) = choice.find(name) else { return Ok(()) };
        let decision = strategy.on_nack(prefix, records, from, now);
        if strategy.learns() && is_of_route && reason == NackReason::NO_ROUTE {
            note_broken(announcements, route_events, name, (from, face.holder));
        }
        match decision {
            NackDecision::Wait => {}
            NackDecision::NackOne(face, reason) => {
                let at = records.ins.iter().position(|record| record.face == face);
                let removed = at.map(|at| records.ins.remove(at));
                if let (Some(record), Some((key, _))) = (removed, self.pit.entry(slot)) {
                    let mut packet = key.packet().to_vec();
                    let at = key.nonce_at();
                    self.release_share(&record);
                    self.pit.retain_downstreams(slot, |other| other != face);
                    self.send_nack(&record, &mut packet, at, &mark, reason, now, out);
                    self.remove_if_unwanted(slot, now);
                }
            }
            NackDecision::NackAll(reason) => self.nack_all(slot, &mark, reason, now, out),
            NackDecision::TryOthers(reason) => {
                self.retries.stop(slot);
                if !self.try_others(slot, now, out) {
                    self.nack_all(slot, &mark, reason, now, out);
                }
            }
        }
        Ok(())
    }

    /// True if the Interest of a Nack is pending here.
    #[cold]
    fn has_nacked(
        &self,
        packet: Packet<'_, '_, P::Mark>,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
        hop: HopFields<'_>,
        now: Time,
    ) -> bool {
        let from = packet.ingress.face;
        let slot =
            packet.ingress.mark().ok().and_then(|mark| self.pit.find_nacked(name, interest, mark, hop));
        slot.and_then(|slot| self.pit.entry(slot)).is_some_and(|(_, records)| {
            records
                .outs
                .iter()
                .any(|out| out.face == from && Some(out.nonce) == interest.nonce() && out.expires > now)
        })
    }

    /// Removes an entry, and sends a Nack to each of its downstreams.
    fn nack_all(&mut self, slot: u32, mark: &P::Mark, reason: NackReason, now: Time, out: &mut impl Output) {
        self.retries.stop(slot);
        let Some(gone) = self.pit.remove(slot).invariant("the entry was found") else { return };
        let (key, records) = (&gone.key, &gone.records);
        self.release_shares(records);
        self.record_dead_nonces(key, records, now);
        let mut packet: Vec<u8> = key.packet().to_vec();
        for record in &records.ins {
            self.send_nack(record, &mut packet, key.nonce_at(), mark, reason, now, out);
        }
    }

    /// Sends a Nack to the downstream of a removed in-record, with the Nonce that it used.
    #[expect(clippy::too_many_arguments, reason = "all of them are one packet's")]
    pub(super) fn send_nack(
        &mut self,
        record: &InRecord,
        packet: &mut [u8],
        nonce_at: usize,
        mark: &P::Mark,
        reason: NackReason,
        now: Time,
        out: &mut impl Output,
    ) {
        let Some(face) = self.faces.find(record.face) else { return };
        if record.expires <= now || face.link != LinkType::PointToPoint {
            return;
        }
        let nonce = packet.get_mut(nonce_at..nonce_at + 4);
        if let Some(nonce) = nonce.invariant("the Interest of an entry has a Nonce") {
            nonce.copy_from_slice(&record.nonce.to_be_bytes());
        }
        // An Interest that arrived with a hint has another digest at the downstream.
        let hinted = record.hinted.as_ref().map(|hinted| hinted.as_slice());
        let hinted_mark = hinted.and_then(|hinted| {
            let interest = Interest::parse(hinted).ok().invariant("the Interest was parsed as it arrived")?;
            self.pit.mark(&interest, HopFields::default()).ok().invariant("an Interest without hop fields")
        });
        let packet = hinted.unwrap_or(packet);
        face.counters.out_nacks.add(1);
        self.counters.out_nacks.add(1);
        let digest =
            digest_for(face, P::digest_of(hinted_mark.as_ref().unwrap_or(mark)), self.config.digest_type);
        let pit_token = record.token.as_bytes();
        let header = LpHeader { nack: Some(reason), pit_token, digest, ..LpHeader::default() };
        out.send(record.face, &header, packet);
    }
}
