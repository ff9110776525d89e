//! Forwarding: what becomes of a packet that comes in.
//!
//! A [`Forwarder`] is a state machine. [`receive`](Forwarder::receive) takes one link packet from one face at
//! one time, [`receive_burst`](Forwarder::receive_burst) several; both hand what is to be sent to an
//! [`Output`]. [`turn`](Forwarder::turn) lets time pass. It does no I/O, reads no clock, and starts no
//! thread, so that a whole network of forwarders runs in one test, and the same packets at the same times
//! have the same effects.
//!
//! The rules are those of NFD (NFD Developer's Guide, Forwarding), with these differences: Data satisfies
//! only entries that went to the face it comes from; a downstream gets one Data once for each of its PIT
//! tokens; entries with different forwarding hints are different entries; a face holds no more of the PIT
//! than its [share](crate::share); Interests of non-local faces have a shorter longest lifetime.

mod act;
mod burst;
mod counters;
mod data;
mod decode;
mod drop;
mod interest;
mod nack;
mod prefetch;
mod rewrite;
mod sweep;

pub use act::Act;
pub use burst::{BURST, Burst, PushError};
pub use counters::Counters;
pub use decode::Decode;
pub use drop::{DropCounters, DropReason};
pub use prefetch::Prefetch;

use crate::cs::{self, ContentStore};
use crate::dead_nonce::DeadNonces;
use crate::face::{Face, FaceId, Faces, Scope};
use crate::fib::{Fib, NextHop};
use crate::hashed::{HashedName, NameHasher};
use crate::pit::{ByName, InRecord, Key as PitKey, Pit, Records};
use crate::share::{Shares, Used};
use crate::strategy::{Choice, Dice, Strategy};
use alloc::sync::Arc;
use alloc::vec::Vec;
use hashlane_hash::scheme::Key;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::time::Time;
use hashlane_ndn::tlv::WireError;
use hashlane_ndn::wire::lp::{DigestField, INTEREST_DIGEST};
use hashlane_ndn::wire::{LpHeader, LpPacket};
use hashlane_table::stage::Stage as _;
use sweep::Sweep;

/// Longest lifetime of an Interest in the PIT, in milliseconds: an hour. Longer ones are cut to it.
pub const MAX_LIFETIME: u64 = 3_600_000;

/// Longest lifetime of an Interest of a non-local face, in milliseconds, unless configured: 30 s.
pub const REMOTE_LIFETIME: u64 = 30_000;

/// Where packets go.
pub trait Output {
    /// Sends a packet, an Interest or Data, with these link header fields.
    fn send(&mut self, face: FaceId, header: &LpHeader<'_>, packet: &[u8]);

    /// Notes that the stage [`Act`] goes on with this part of its work. Does nothing, unless a study times
    /// the parts.
    #[inline(always)]
    fn enter(&mut self, _part: Part) {}
}

/// A part of the work of [`Act`] on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The ingress face: lookup, counters, scope. Each packet that was decoded begins with it, and enters it
    /// once.
    Face,
    /// The dead nonce list, and loops.
    Loop,
    /// The PIT: lookup, insertion, removal, records.
    Pit,
    /// The content store: lookup, insertion, eviction.
    Store,
    /// The FIB, and the strategy.
    Fib,
    /// Headers, and the hand-over to the [`Output`].
    Send,
}

/// How a forwarder is to work.
#[derive(Clone, Debug)]
pub struct Config {
    /// Most in-records of the PIT. Each face has a [share](crate::share) of them.
    pub pit_entries: usize,
    /// Longest lifetime of an Interest of a non-local face, in milliseconds; longer ones are cut to it.
    /// Valid: up to [`MAX_LIFETIME`], which holds for local faces.
    pub remote_lifetime: u64,
    /// The content store.
    pub cs: cs::Config,
    /// Names of this network: an Interest with a hint that is a prefix of one has arrived, and is forwarded by its name.
    pub regions: Vec<OwnedName<Ndn>>,
    /// TLV-TYPE of InterestDigest, for a PIT that is indexed by it: one that [can be](hashlane_ndn::wire::lp::DigestField::is_type).
    pub digest_type: u32,
}

impl Default for Config {
    /// A PIT of 2²⁰ entries, [`REMOTE_LIFETIME`], the content store's default, no region, the first number
    /// for digests.
    fn default() -> Self {
        Self {
            pit_entries: 1 << 20,
            remote_lifetime: REMOTE_LIFETIME,
            cs: cs::Config::default(),
            regions: Vec::new(),
            digest_type: INTEREST_DIGEST,
        }
    }
}

/// A forwarder, whose PIT has one of the indexes.
#[derive(Debug)]
pub struct Forwarder<P = ByName> {
    decode: Decode,
    /// For names beside those of packets: hints, prefixes.
    hasher: NameHasher,
    faces: Faces,
    fib: Fib,
    pit: P,
    cs: ContentStore,
    dead: DeadNonces,
    choice: Choice,
    dice: Dice,
    config: Config,
    counters: Arc<Counters>,
    /// In-records of all faces, and of closed faces until the sweep removes them.
    pending: Used,
    shares: Shares,
    sweep: Sweep,
    /// Whether any strategy wants to hear of Data.
    measures: bool,
    /// How often the FIB and the choice of strategies have changed.
    generation: u32,
    /// A packet that is changed before it is sent.
    scratch: Vec<u8>,
}

impl Forwarder {
    /// A forwarder without faces, whose tables are hashed under `key`; `seed` is for the numbers that nobody is to foresee. Its PIT is indexed by name.
    pub fn new(config: Config, key: &Key, seed: u64) -> Self {
        Self::with_pit(config, key, seed, ByName::default())
    }
}

impl<P: Pit> Forwarder<P> {
    /// As [`new`](Forwarder::new), with this PIT, which is empty.
    pub fn with_pit(config: Config, key: &Key, seed: u64, pit: P) -> Self {
        let mut hasher = NameHasher::new(key);
        Self {
            decode: Decode::new(key),
            choice: Choice::new(&mut hasher),
            hasher,
            faces: Faces::default(),
            fib: Fib::default(),
            pit,
            cs: ContentStore::new(config.cs),
            dead: DeadNonces::default(),
            dice: Dice::new(seed),
            shares: Shares::new(config.pit_entries),
            config,
            counters: Arc::default(),
            pending: Used::default(),
            sweep: Sweep::default(),
            measures: false,
            generation: 0,
            scratch: Vec::new(),
        }
    }

    /// Takes one link packet, which is not a fragment of several, that came from `face`: a burst of one.
    ///
    /// # Errors
    /// Why it was dropped, which has been counted as [`dropped`](Self::dropped) says.
    pub fn receive(
        &mut self,
        face: FaceId,
        packet: &LpPacket<'_>,
        now: Time,
        out: &mut impl Output,
    ) -> Result<(), DropReason> {
        let mut burst = Burst::new();
        burst.push_packet(face, packet);
        self.receive_burst(&mut burst, now, out);
        burst.outcomes().next().unwrap_or(Ok(()))
    }

    /// As [`receive`](Self::receive), of octets that are to be one link packet.
    ///
    /// # Errors
    /// As `receive`; a fragment of several is [`DropReason::Reassembly`].
    pub fn receive_octets(
        &mut self,
        face: FaceId,
        octets: &[u8],
        now: Time,
        out: &mut impl Output,
    ) -> Result<(), DropReason> {
        let dropped = match LpPacket::parse(octets) {
            Ok(packet) if packet.header.is_fragmented() => DropReason::Reassembly,
            Ok(packet) => return self.receive(face, &packet, now, out),
            Err(_) => DropReason::Malformed,
        };
        self.dropped(face, dropped);
        Err(dropped)
    }

    /// Takes the link packets of a burst, none of them a fragment of several. Its effects are those of
    /// [`receive`](Self::receive) of packet after packet.
    ///
    /// The burst then has the [outcomes](Burst::outcomes); drops have been counted as
    /// [`dropped`](Self::dropped) says.
    #[inline]
    pub fn receive_burst(&mut self, burst: &mut Burst<'_, P::Mark>, now: Time, out: &mut impl Output) {
        self.decode().run(burst);
        self.prefetch().run(burst);
        self.act(now, out).run(burst);
    }

    /// The first stage of [`receive_burst`](Self::receive_burst).
    #[inline(always)]
    pub fn decode(&mut self) -> &mut Decode {
        &mut self.decode
    }

    /// The second stage, of a burst that was decoded last.
    #[inline(always)]
    pub fn prefetch(&self) -> Prefetch<'_, P> {
        Prefetch { forwarder: self }
    }

    /// The last stage, of a burst that was decoded last and has its marks.
    #[inline(always)]
    pub fn act<'f, O: Output>(&'f mut self, now: Time, out: &'f mut O) -> Act<'f, P, O> {
        Act { forwarder: self, now, out }
    }

    /// Counts a packet of `face` that was dropped. An answer of the management whose consumer has gone is no
    /// loss.
    #[cold]
    pub fn dropped(&mut self, face: FaceId, reason: DropReason) {
        let is_late = matches!(reason, DropReason::Unsolicited | DropReason::UnexpectedNack);
        if face == FaceId::MANAGEMENT && is_late {
            return;
        }
        self.counters.drops.count(reason);
        if let Some(face) = self.faces.find(face) {
            face.counters.in_drops.add(1);
        }
    }

    /// Lets time pass: entries that have ended leave the PIT, and a bounded number of records of closed
    /// faces.
    pub fn turn(&mut self, now: Time) {
        while let Some(slot) = self.pit.ended(now) {
            if let Some(gone) = self.pit.remove(slot) {
                self.counters.unsatisfied.add(1);
                self.release(&gone.records);
                self.bury(&gone.key, &gone.records, now);
            }
        }
        self.sweep(now);
        self.cs.turn(now);
        self.dead.turn(now);
        self.counters.starved.set(self.pit.starved());
        self.counters.pit_entries.set(self.pit.len() as u64);
        self.counters.cs_entries.set(self.cs.len() as u64);
    }

    /// When [`turn`](Self::turn) is next of use; not later than that.
    pub fn next_turn(&self) -> Option<Time> {
        // A content store that was made smaller, and a sweep, go on at once.
        let at_once = self.cs.is_over() || self.sweep.is_due();
        if at_once { Some(Time::default()) } else { self.pit.next_end() }
    }

    /// Releases the shares of the in-records of a removed entry.
    #[inline(always)]
    fn release(&mut self, records: &Records) {
        records.ins.iter().for_each(|record| self.release_one(record));
    }

    /// Releases the share of a removed in-record.
    #[inline(always)]
    fn release_one(&mut self, record: &InRecord) {
        self.pending.remove(record.scope);
        if let Some(face) = self.faces.find_mut(record.face) {
            face.pending = face.pending.saturating_sub(1);
        }
    }

    /// Ends an entry that nobody waits for any more.
    fn end_if_unwanted(&mut self, slot: u32, now: Time) {
        if self.pit.entry(slot).is_some_and(|(_, records)| records.ins.is_empty())
            && let Some(gone) = self.pit.remove(slot)
        {
            self.bury(&gone.key, &gone.records, now);
        }
    }

    /// Remembers the Nonces of an entry that is gone.
    fn bury(&mut self, key: &PitKey, records: &Records, now: Time) {
        records.outs.iter().for_each(|out| self.dead.insert(key.name_hash(), out.nonce, now));
    }

    /// Adds a face, and gives it a number; `None` where there are too many.
    pub fn add_face(&mut self, face: Face) -> Option<FaceId> {
        self.faces.add(face)
    }

    /// Adds the face of the management, and the route to it.
    pub fn add_management(&mut self, face: Face, prefixes: &[NdnName<'_>]) {
        self.faces.add_management(face);
        for prefix in prefixes {
            self.add_route(prefix, NextHop { face: FaceId::MANAGEMENT, cost: 0 });
        }
    }

    /// Removes a face. Its PIT records have no effect any more, and leave in the next [turns](Self::turn), a
    /// bounded number in each. Its routes stay, without effect, until they are removed.
    pub fn remove_face(&mut self, face: FaceId) -> Option<Face> {
        let gone = self.faces.remove(face)?;
        if gone.pending > 0 || gone.counters.out_interests.value() > 0 {
            self.start_sweep();
        }
        Some(gone)
    }

    /// The faces.
    pub fn faces(&self) -> &Faces {
        &self.faces
    }

    /// A face, to change it.
    pub fn face_mut(&mut self, face: FaceId) -> Option<&mut Face> {
        self.faces.find_mut(face)
    }

    /// Adds a way for names below `prefix`, or gives it another cost.
    pub fn add_route(&mut self, prefix: &NdnName<'_>, hop: NextHop) {
        self.generation = self.generation.wrapping_add(1);
        self.fib.add(&self.hasher.name(prefix), hop);
    }

    /// Takes a way away. Whether there was one.
    pub fn remove_route(&mut self, prefix: &NdnName<'_>, face: FaceId) -> bool {
        self.generation = self.generation.wrapping_add(1);
        self.fib.remove(&self.hasher.name(prefix), face)
    }

    /// Lets names below `prefix` have a strategy.
    pub fn set_strategy(&mut self, prefix: &NdnName<'_>, strategy: Strategy) {
        self.generation = self.generation.wrapping_add(1);
        self.measures |= strategy.measures();
        self.choice.set(&self.hasher.name(prefix), strategy);
    }

    /// Lets names below `prefix` have the strategy of the next shorter prefix. Whether they had one of their own.
    pub fn unset_strategy(&mut self, prefix: &NdnName<'_>) -> bool {
        self.generation = self.generation.wrapping_add(1);
        self.choice.unset(&self.hasher.name(prefix))
    }

    /// The content store.
    pub fn cs(&self) -> &ContentStore {
        &self.cs
    }

    /// Lets the content store work in another way.
    pub fn configure_cs(&mut self, config: cs::Config) {
        self.cs.configure(config);
    }

    /// Takes Data of `prefix` and below it out of the content store; how many.
    pub fn erase(&mut self, prefix: &NdnName<'_>, limit: usize) -> usize {
        self.cs.erase(&self.hasher.name(prefix), limit)
    }

    /// The FIB.
    pub fn fib(&self) -> &Fib {
        &self.fib
    }

    /// The PIT.
    pub fn pit(&self) -> &P {
        &self.pit
    }

    /// In-records of the PIT: what the share of a face is taken of.
    pub fn pending(&self) -> usize {
        self.pending.all
    }

    /// Entries of the dead nonce list.
    pub fn dead_nonces(&self) -> usize {
        self.dead.len()
    }

    /// What is counted of all faces together. How full the tables are is told as of the last [`turn`](Self::turn).
    pub fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }
}

impl From<WireError> for DropReason {
    fn from(_: WireError) -> Self {
        Self::Malformed
    }
}

/// Whether the name is of this host alone: `/localhost`.
#[inline(always)]
fn is_localhost(components: &[u8]) -> bool {
    components.starts_with(b"\x08\x09localhost")
}

/// Tells if the name is of this forwarder's management: `/localhost/nfd`.
#[inline(always)]
fn is_management(components: &[u8]) -> bool {
    components.starts_with(b"\x08\x09localhost\x08\x03nfd")
}

/// Whether the name is of this host and its neighbours: `/localhop`.
#[inline(always)]
fn is_localhop(components: &[u8]) -> bool {
    components.starts_with(b"\x08\x08localhop")
}

/// Whether a packet of this name must not go over this face.
#[inline(always)]
fn out_of_scope(components: &[u8], face: &Face) -> bool {
    face.scope == Scope::NonLocal && is_localhost(components)
}

/// The header of what goes to a face: with the number of the face it came from, where the application wants that.
#[inline(always)]
fn header_for<'a>(to: &Face, from: FaceId, congestion_mark: u64) -> LpHeader<'a> {
    let incoming_face = to.local_fields.then_some(u64::from(from.0));
    LpHeader { incoming_face, congestion_mark, ..LpHeader::default() }
}

/// The digest of an Interest in the header of a packet to a face, where that takes digests.
#[inline(always)]
fn digest_for<'d>(to: &Face, digest: &'d [u8], digest_type: u32) -> DigestField<'d> {
    if to.interest_digests { DigestField::new(digest_type, digest) } else { DigestField::default() }
}

/// The ways that an Interest has, and the hash of their prefix: those of its name; or, with a hint, of the first name in that which has any.
#[inline(always)]
fn ways<'f>(
    fib: &'f Fib,
    hasher: &mut NameHasher,
    name: &HashedName<'_>,
    hint: &[u8],
) -> (u64, &'f [NextHop]) {
    if hint.is_empty() {
        return fib.longest(name).map_or((0, &[]), |(len, hops)| (name.prefix(len), hops));
    }
    hinted_ways(fib, hasher, hint)
}

#[inline(never)]
fn hinted_ways<'f>(fib: &'f Fib, hasher: &mut NameHasher, hint: &[u8]) -> (u64, &'f [NextHop]) {
    let mut names = hashlane_ndn::tlv::Elements::new(hint);
    while let Ok(Some(element)) = names.next() {
        let Some(name) = hint.get(element.at..element.end()) else { break };
        let Ok(name) = hasher.read(name) else { break };
        if let Some((len, hops)) = fib.longest(&name) {
            return (name.prefix(len), hops);
        }
    }
    (0, &[])
}
