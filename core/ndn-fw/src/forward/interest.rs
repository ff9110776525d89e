//! Incoming and outgoing Interest pipelines.

use super::burst::Packet;
use super::config::{Config, MAX_LIFETIME};
use super::counters::Counters;
use super::forwarder::Forwarder;
use super::header::{digest_for, header_for};
use super::learn::{fitting, of_stored};
use super::output::{Output, Part};
use super::pending::Pending;
use super::rewrite;
use super::route::{FibCandidate, next_hops};
use super::scope::{is_localhop, out_of_scope};
use super::visit::Visit;
use crate::drop::DropReason;
use crate::face::{Face, FaceId, LinkType, Scope};
use crate::hashed::{HashedName, components};
use crate::pit::{CachedLookup, HopFields, InRecord, MAX_RECORDS, OutRecord, Pit, Records};
use crate::strategy::{Decision, InterestContext};
use alloc::boxed::Box;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{Interest, LpHeader, MAX_PACKET, NackReason, PitToken};
use hashlane_table::share::ItemId;

/// Ingress face that applications get with Data from the content store, as in NFD.
const CONTENT_STORE: FaceId = FaceId(254);

/// Parts of an incoming Interest that forwarding does not change.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) from: FaceId,
    pub(super) header: &'a LpHeader<'a>,
    /// Interest as received, with its forwarding hint.
    pub(super) bytes: &'a [u8],
    /// Digest of the received Interest.
    pub(super) digest: &'a [u8],
    pub(super) name: &'a HashedName<'a>,
    pub(super) nonce: u32,
    /// True if the Interest must not be flooded.
    pub(super) non_discovery: bool,
    pub(super) visit: Visit<'a>,
    /// True if the ingress face and the limits of the packet have been checked and counted.
    pub(super) admitted: bool,
    /// Time at which the in-record expires.
    pub(super) expires: Time,
    /// Candidate of the name in the FIB, if the prefetch stage has found one.
    pub(super) fib: Option<FibCandidate>,
}

/// Time for which an Interest from `face` is pending, in milliseconds. Local faces have a longer limit.
#[inline(always)]
fn lifetime(interest: &Interest<'_>, face: &Face, config: &Config) -> u64 {
    let longest = match face.scope {
        Scope::Local => MAX_LIFETIME,
        Scope::NonLocal => config.remote_lifetime.min(MAX_LIFETIME),
    };
    interest.lifetime().min(longest)
}

/// Counts an Interest from `face`, and checks its scope and hop limit.
#[inline(always)]
fn admit(
    face: &Face,
    counters: &Counters,
    name: &HashedName<'_>,
    interest: &Interest<'_>,
) -> Result<(), DropReason> {
    face.counters.in_interests.add(1);
    counters.in_interests.add(1);
    if out_of_scope(name.components, face) {
        return Err(DropReason::Scope);
    }
    if interest.hop_limit() == Some(0) {
        return Err(DropReason::HopLimit);
    }
    Ok(())
}

/// True if the Nonce of an Interest from `from` shows a loop: the entry has a record with this Nonce.
///
/// A retransmission of the same packet by the same point-to-point peer is not a loop.
#[inline(always)]
fn is_loop(records: &Records, from: FaceId, face: &Face, nonce: u32) -> bool {
    let again = face.link == LinkType::PointToPoint;
    records.ins.iter().any(|record| record.nonce == nonce && (record.face != from || !again))
        || records.outs.iter().any(|record| {
            record.nonce == nonce
                && !(again && records.in_record(from).is_some_and(|record| record.nonce == nonce))
        })
}

/// Inserts or updates the in-record of the downstream. Inserts the PIT entry if it is missing, and returns
/// its slot. The PIT may then exceed its limits.
#[inline(always)]
fn insert_in_record<P: Pit>(
    pit: &mut P,
    face: &mut Face,
    pending: &mut Pending,
    request: Request<'_>,
    interest: &Interest<'_>,
    mark: &P::Mark,
    (entry, hop): (Option<u32>, HopFields<'_>),
) -> Result<u32, DropReason> {
    let Request { from, header, bytes, expires, name, nonce, non_discovery, .. } = request;
    let mut record = InRecord {
        face: from,
        item: ItemId::NONE,
        nonce,
        expires,
        token: PitToken::new(header.pit_token),
        non_discovery,
        hinted: (bytes.len() != interest.as_bytes().len()).then(|| Box::new(bytes.to_vec())),
    };
    let hinted = record.hinted.as_ref().map(|hinted| &hinted[..]);
    let mut first = Some(interest.as_bytes().len());
    if let Some(slot) = entry
        && let Some((key, records)) = pit.entry_mut(slot).invariant("the entry was found")
    {
        first = records.ins.is_empty().then(|| key.packet().len());
        if let Some(at) = records.ins.iter().position(|old| old.face == from) {
            let weight = pending.weight((at == 0).then(|| key.packet().len()), hinted);
            if let Some(old) = records.ins.get_mut(at) {
                record.item = old.item;
                pending.renew(old.item, weight);
                *old = record;
            }
            extend(pit, slot, expires);
            pit.note_downstream(slot, from, hop);
            return Ok(slot);
        }
    }
    let weight = pending.weight(first, hinted);
    if !pending.admits(face.holder, weight) {
        return Err(DropReason::PitFull);
    }
    let slot = match entry {
        Some(slot) => slot,
        None => pit.insert(name, interest, *mark, expires),
    };
    let found = pit.entry_mut(slot).invariant("the entry was found or inserted");
    let (_, records) = found.ok_or(DropReason::PitFull)?;
    record.item = pending.add(face.holder, weight, slot);
    records.ins.push(record);
    face.pending += 1;
    extend(pit, slot, expires);
    pit.note_downstream(slot, from, hop);
    Ok(slot)
}

/// True if an in-record of a face needs room first: its entry has the most of them, or there are the most
/// entries of its name with a forwarding hint.
#[inline(always)]
fn is_full<P: Pit>(
    pit: &P,
    entry: Option<u32>,
    from: FaceId,
    name: &HashedName<'_>,
    interest: &Interest<'_>,
) -> bool {
    match entry.and_then(|slot| pit.entry(slot)) {
        Some((_, records)) => records.ins.len() >= MAX_RECORDS && records.in_record(from).is_none(),
        None => !interest.forwarding_hint().is_empty() && pit.has_max_hinted(name.hash()),
    }
}

/// Lets an entry expire no earlier than at `expires`.
#[inline(always)]
fn extend<P: Pit>(pit: &mut P, slot: u32, expires: Time) {
    if pit.entry(slot).is_some_and(|(_, records)| records.expires < expires) {
        pit.expire_at(slot, expires);
    }
}

impl<P: Pit> Forwarder<P> {
    /// Time for which an Interest that arrives from a face will be pending, in milliseconds.
    #[inline(always)]
    pub(crate) fn lifetime(&self, from: FaceId, interest: &Interest<'_>) -> u64 {
        let stated = interest.lifetime();
        // Almost every Interest has what any face may have.
        if stated <= self.config.remote_lifetime.min(MAX_LIFETIME) {
            return stated;
        }
        // An Interest from a closed face is dropped.
        self.faces.find(from).map_or(0, |face| lifetime(interest, face, &self.config))
    }

    #[inline(always)]
    pub(super) fn incoming_interest(
        &mut self,
        packet: Packet<'_, '_, P::Mark>,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
        now: Time,
        out: &mut impl Output,
    ) -> Result<(), DropReason> {
        let Packet { ingress, header } = packet;
        let mark = ingress.mark();
        let request = Request {
            from: ingress.face,
            header,
            bytes: interest.as_bytes(),
            digest: mark.map_or(&[], P::digest_of),
            name,
            // An Interest without a Nonce takes the slow path, which draws one.
            nonce: interest.nonce().unwrap_or(0),
            non_discovery: header.non_discovery,
            visit: ingress.visit,
            admitted: false,
            expires: now,
            fib: ingress.fib,
        };
        if interest.nonce().is_none()
            || !interest.forwarding_hint().is_empty()
            || interest.parameters().is_some()
        {
            return self.slow_path(request, interest, mark, now, out);
        }
        self.process_interest(request, interest, mark, now, out)
    }

    /// Handles an Interest with parameters, a forwarding hint or no Nonce.
    #[inline(never)]
    fn slow_path(
        &mut self,
        request: Request<'_>,
        interest: &Interest<'_>,
        mark: Result<&P::Mark, DropReason>,
        now: Time,
        out: &mut impl Output,
    ) -> Result<(), DropReason> {
        out.enter(Part::Face);
        let face = self.faces.find(request.from).ok_or(DropReason::UnknownFace)?;
        let admitted = request.visit.is_last();
        if admitted {
            admit(face, &self.counters, request.name, interest)?;
        }
        let mark = mark?;
        if !interest.has_valid_parameters_digest() {
            return Err(DropReason::ParametersDigest);
        }
        let nonce = interest.nonce().unwrap_or_else(|| self.rng.next_u64() as u32);
        let nonced = interest.nonce().is_none().then(|| rewrite::with_nonce(interest.as_bytes(), nonce));
        let bytes = nonced.as_deref().unwrap_or(interest.as_bytes());
        // The Nonce may make the packet too long for the next forwarder.
        if bytes.len() > MAX_PACKET {
            return Err(DropReason::TooLong);
        }
        let request = Request { bytes, nonce, admitted, ..request };
        let arrived = interest.hints().any(|hint| {
            let hint = components(hint.as_bytes());
            self.config.regions.iter().any(|region| components(region.as_bytes()).starts_with(hint))
        });
        let unhinted = arrived.then(|| rewrite::without_hint(bytes));
        let bytes = unhinted.as_deref().unwrap_or(bytes);
        // The name has not changed.
        let interest = Interest::parse(bytes)?;
        // The digest of the Interest changes with its hint.
        let arrived_mark = if arrived { Some(self.pit.mark(&interest, HopFields::default())?) } else { None };
        self.process_interest(request, &interest, Ok(arrived_mark.as_ref().unwrap_or(mark)), now, out)
    }

    #[inline(always)]
    fn process_interest(
        &mut self,
        request: Request<'_>,
        interest: &Interest<'_>,
        mark: Result<&P::Mark, DropReason>,
        now: Time,
        out: &mut impl Output,
    ) -> Result<(), DropReason> {
        let Request { from, header, name, nonce, visit, .. } = request;
        if !visit.is_last() && !mark.is_ok_and(|mark| self.has_interest(name, interest, mark, nonce, now)) {
            self.passed = Some(Box::default());
            return Ok(());
        }
        let Self { pit, cs, dead, faces, pending, counters, config, choice, .. } = self;
        let (learns, announcements) = (self.learns, &self.announcements);
        let digest_type = config.digest_type;
        if !request.admitted {
            out.enter(Part::Face);
        }
        let face = faces.find_mut(from).ok_or(DropReason::UnknownFace)?;
        if !request.admitted {
            admit(face, counters, name, interest)?;
        }
        let mark = mark?;
        let expires = now.after_millis(lifetime(interest, face, config));
        let request = Request { expires, ..request };
        out.enter(Part::Loop);
        if dead.contains(name.hash(), nonce, now) {
            nack_downstream(counters, face, request, digest_type, NackReason::DUPLICATE, out);
            return Err(DropReason::Loop);
        }
        out.enter(Part::Pit);
        let entry = pit.find(name, interest, mark);
        let found = entry.and_then(|slot| pit.entry(slot).invariant("the entry was found"));
        let records = found.map(|(_, records)| records);
        if records.is_some_and(|records| is_loop(records, from, face, nonce)) {
            nack_downstream(counters, face, request, digest_type, NackReason::DUPLICATE, out);
            return Err(DropReason::Loop);
        }
        out.enter(Part::Store);
        // The store is searched even if an entry is pending: the Data may have arrived for another entry,
        // from a face that this entry's Interest was not sent to.
        if let Some(data) = cs.find(name, interest, now) {
            out.enter(Part::Send);
            let digest = digest_for(face, request.digest, digest_type);
            let pit_token = header.pit_token;
            let wants = learns && !header.non_discovery && face.scope == Scope::NonLocal;
            let known = if wants { of_stored(choice, announcements, name, from) } else { None };
            let prefix_announcement = known.as_ref().map_or(&[][..], |known| fitting(known, data.len()));
            let header =
                LpHeader { pit_token, digest, prefix_announcement, ..header_for(face, CONTENT_STORE, 0) };
            face.counters.out_data.add(1);
            counters.out_data.add(1);
            counters.cs_hits.add(1);
            out.send(from, &header, data);
            return Ok(());
        }
        counters.cs_misses.add(1);
        out.enter(Part::Pit);
        let local_only = face.scope == Scope::NonLocal && is_localhop(name.components);
        let chosen = header.next_hop_face.filter(|_| face.local_fields);
        let chosen = chosen.map(|face| u32::try_from(face).map_or(FaceId::NONE, FaceId));
        let face = match chosen {
            Some(chosen) => {
                faces.find(chosen).ok_or(DropReason::UnknownNextHop)?;
                faces.find_mut(from).ok_or(DropReason::UnknownFace)?
            }
            None => face,
        };
        let place = (entry, HopFields::of(header, digest_type));
        let inserted = if is_full(pit, entry, from, name, interest) {
            self.insert_in_full(request, interest, mark, place, now, out)
        } else {
            insert_in_record(pit, face, pending, request, interest, mark, place)
        };
        let slot = match inserted {
            Ok(slot) if self.pending.excess().is_none() => slot,
            Ok(slot) => self.relieve_around(slot, from, now, out)?,
            Err(reason) => {
                self.refuse(request, out);
                return Err(reason);
            }
        };
        if let Some(face) = chosen {
            out.decided(None);
            self.outgoing_interest(slot, face, request, interest, now, out);
            return Ok(());
        }
        out.enter(Part::Fib);
        let Self { hasher, pit, fib, faces, choice, rng, counters, .. } = self;
        let candidate = request.fib.filter(|found| found.tables == self.generation);
        let candidate = candidate.map(|found| found.candidate);
        let (prefix, hops) = next_hops(fib, hasher, name, interest.forwarding_hint(), candidate);
        let found = pit.entry_mut(slot).invariant("the entry has the in-record");
        let Some((_, records)) = found else { return Ok(()) };
        let mut context =
            InterestContext { ingress: from, name, hops, prefix, records, faces, local_only, now, rng };
        let Some((at, strategy)) = choice.find_slot(name) else { return Ok(()) };
        let decision = strategy.on_interest(&mut context);
        counters.decisions.count(strategy.kind(), &decision);
        out.decided(Some(&decision));
        pit.cache_lookup(slot, CachedLookup { tables: self.generation, strategy: at, prefix });
        match decision {
            Decision::Forward(to) => {
                for face in to {
                    self.outgoing_interest(slot, face, request, interest, now, out);
                }
            }
            Decision::Follow(to) => {
                let request = Request { non_discovery: true, ..request };
                for face in to {
                    self.outgoing_interest(slot, face, request, interest, now, out);
                }
            }
            Decision::Probe { best, probed } => {
                self.outgoing_interest(slot, best, request, interest, now, out);
                let nonce = self.rng.next_u64() as u32;
                let bytes = rewrite::with_other_nonce(interest, nonce);
                let other = Interest::parse(&bytes)?;
                self.outgoing_interest(slot, probed, Request { nonce, ..request }, &other, now, out);
            }
            Decision::Try { first, timeout } => {
                self.outgoing_interest(slot, first, request, interest, now, out);
                let due = now + timeout;
                if due < request.expires {
                    self.retries.set(slot, due);
                }
            }
            Decision::Suppress => {}
            Decision::Reject(reason) => self.reject(slot, request, reason, now, out),
        }
        Ok(())
    }

    /// True if an Interest is to be handled at this visit, though it is not the last one.
    #[cold]
    fn has_interest(
        &mut self,
        name: &HashedName<'_>,
        interest: &Interest<'_>,
        mark: &P::Mark,
        nonce: u32,
        now: Time,
    ) -> bool {
        self.dead.contains(name.hash(), nonce, now)
            || self.pit.find(name, interest, mark).is_some()
            || self.cs.contains(name, interest, now)
    }

    /// Inserts the in-record of a downstream where [`is_full`]: the holder that has most loses its oldest
    /// record.
    ///
    /// # Errors
    /// The holder that has most is this one, and has no older record; or it may take no room from those that
    /// are there.
    #[cold]
    #[inline(never)]
    fn insert_in_full(
        &mut self,
        request: Request<'_>,
        interest: &Interest<'_>,
        mark: &P::Mark,
        (entry, hop): (Option<u32>, HopFields<'_>),
        now: Time,
        out: &mut impl Output,
    ) -> Result<u32, DropReason> {
        let holder = self.faces.find(request.from).ok_or(DropReason::UnknownFace)?.holder;
        match entry {
            Some(slot) => self.make_room_in_entry(slot, holder, now, out)?,
            None => self.make_room_for_hint(request.name.hash(), holder, now, out)?,
        }
        // The entry goes with its last record.
        let entry = entry.filter(|slot| self.pit.entry(*slot).is_some());
        let Self { pit, faces, pending, .. } = self;
        let face = faces.find_mut(request.from).ok_or(DropReason::UnknownFace)?;
        insert_in_record(pit, face, pending, request, interest, mark, (entry, hop))
    }

    /// Removes records until the PIT is within its limits. Returns the slot of the entry.
    ///
    /// # Errors
    /// The new in-record of `from` was the one to remove.
    #[cold]
    #[inline(never)]
    fn relieve_around(
        &mut self,
        slot: u32,
        from: FaceId,
        now: Time,
        out: &mut impl Output,
    ) -> Result<u32, DropReason> {
        self.relieve(now, out);
        let entry = self.pit.entry(slot);
        let stays = entry.is_some_and(|(_, records)| records.in_record(from).is_some());
        stays.then_some(slot).ok_or(DropReason::PitFull)
    }

    /// Sends a Nack for an Interest that there is no room for.
    #[cold]
    fn refuse(&self, request: Request<'_>, out: &mut impl Output) {
        if let Some(face) = self.faces.find(request.from) {
            let digest_type = self.config.digest_type;
            nack_downstream(&self.counters, face, request, digest_type, NackReason::CONGESTION, out);
        }
    }

    /// Sends an Interest and inserts its out-record.
    #[inline(always)]
    pub(super) fn outgoing_interest(
        &mut self,
        slot: u32,
        to: FaceId,
        request: Request<'_>,
        interest: &Interest<'_>,
        now: Time,
        out: &mut impl Output,
    ) {
        out.enter(Part::Send);
        let Self { pit, faces, dead, scratch, counters, config, .. } = self;
        // The face may have been closed.
        let Some(face) = faces.find(to) else { return };
        if out_of_scope(request.name.components, face) {
            return;
        }
        let hops = interest.hop_limit();
        if hops == Some(1) && face.scope == Scope::NonLocal {
            return;
        }
        let found = pit.entry_mut(slot).invariant("the entry has the in-record");
        let Some((_, records)) = found else { return };
        let Request { nonce, non_discovery, expires, .. } = request;
        let record =
            OutRecord { face: to, nonce, sent: now, expires, nack: None, suppression: 0, non_discovery };
        if let Some(old) = records.outs.iter_mut().find(|out| out.face == to) {
            // The earlier Nonce may loop back, too.
            if old.nonce != nonce {
                dead.insert(request.name.hash(), old.nonce, now);
            }
            *old = OutRecord { suppression: old.suppression, ..record };
        } else if records.outs.len() < MAX_RECORDS {
            records.outs.push(record);
        } else {
            return;
        }
        face.counters.out_interests.add(1);
        counters.out_interests.add(1);
        let sent = pit.upstream_fields(slot);
        let pit_token = if face.pit_tokens { sent.token } else { &[] };
        let digest = digest_for(face, sent.digest, config.digest_type);
        let header = LpHeader {
            pit_token,
            digest,
            non_discovery: non_discovery && face.scope == Scope::NonLocal,
            ..header_for(face, request.from, request.header.congestion_mark)
        };
        match (interest.hop_limit_at(), hops) {
            (Some(at), Some(hops)) => {
                scratch.clear();
                scratch.extend_from_slice(interest.as_bytes());
                if let Some(byte) = scratch.get_mut(at).invariant("the hop limit lies inside the packet") {
                    *byte = hops - 1;
                }
                out.send(to, &header, scratch);
            }
            _ => out.send(to, &header, interest.as_bytes()),
        }
    }

    /// Sends a Nack to the downstream, and removes its in-record; removes the entry if no downstream is left,
    /// as it would count for no face's share.
    #[inline(never)]
    fn reject(
        &mut self,
        slot: u32,
        request: Request<'_>,
        reason: NackReason,
        now: Time,
        out: &mut impl Output,
    ) {
        let from = request.from;
        let found = self.pit.entry_mut(slot).invariant("the entry has the in-record");
        let Some((_, records)) = found else { return };
        if let Some(at) = records.ins.iter().position(|record| record.face == from) {
            let record = records.ins.remove(at);
            self.release_share(&record);
            self.pit.retain_downstreams(slot, |face| face != from);
        }
        self.remove_if_unwanted(slot, now);
        let Self { faces, counters, config, .. } = self;
        if let Some(face) = faces.find(from) {
            nack_downstream(counters, face, request, config.digest_type, reason, out);
        }
    }
}

/// Sends a Nack to the downstream of a point-to-point link; on other links, other peers would receive it as
/// well.
#[inline(never)]
fn nack_downstream(
    counters: &Counters,
    face: &Face,
    request: Request<'_>,
    digest_type: u32,
    reason: NackReason,
    out: &mut impl Output,
) {
    if face.link == LinkType::PointToPoint {
        face.counters.out_nacks.add(1);
        counters.out_nacks.add(1);
        let pit_token = request.header.pit_token;
        let digest = digest_for(face, request.digest, digest_type);
        let header = LpHeader { nack: Some(reason), pit_token, digest, ..LpHeader::default() };
        out.send(request.from, &header, request.bytes);
    }
}
