//! The pending Interest table, indexed by name.
//!
//! An entry is an Interest: a name, whether it can be a prefix and must be fresh, and the names of its forwarding hint. It has a record of each
//! face that it came from and of each that it went to. It is found by the keyed hash of its name; what has the same name
//! and other selectors stands beside it under the same hash.
//!
//! Data is matched by the hashes of the prefixes of its own name, which its parser has left: a probe for its full name, and one for each
//! shorter length at which some pending Interest can be a prefix.

use crate::face::FaceId;
use crate::hashed::{HashedName, components};
use crate::time::Time;
use crate::wheel::{Wheel, tick_of};
use crate::wire::Interest;
use crate::wire::lp::MAX_PIT_TOKEN;
use alloc::boxed::Box;
use alloc::vec::Vec;
use name::component::{DIGEST_LEN, IMPLICIT_SHA256_DIGEST};
use smallvec::SmallVec;
use table::Table as _;
use table::batched::Batched;

/// What a downstream wants back with the answer: up to 32 octets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PitToken {
    len: u8,
    octets: [u8; MAX_PIT_TOKEN],
}

impl PitToken {
    /// The token of these octets, of which those after the 32nd are left out.
    #[inline]
    pub fn new(token: &[u8]) -> Self {
        let mut octets = [0; MAX_PIT_TOKEN];
        let len = token.len().min(MAX_PIT_TOKEN);
        octets.iter_mut().zip(token).for_each(|(to, from)| *to = *from);
        Self { len: len as u8, octets }
    }

    /// The octets; none where there is no token.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.octets.get(..self.len.into()).unwrap_or_default()
    }
}

impl core::fmt::Debug for PitToken {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:02x?}", self.as_bytes())
    }
}

/// An Interest that came from a face.
#[derive(Clone, Debug)]
pub struct InRecord {
    /// The face.
    pub face: FaceId,
    /// The Nonce it had, the last time.
    pub nonce: u32,
    /// When its lifetime ends.
    pub expires: Time,
    /// What the face wants back.
    pub token: PitToken,
    /// The Interest as it came, where it had a forwarding hint that has arrived, and the entry's has none: a Nack must state what the face sent.
    pub hinted: Option<Box<Vec<u8>>>,
}

/// An Interest that went to a face.
#[derive(Clone, Copy, Debug)]
pub struct OutRecord {
    /// The face.
    pub face: FaceId,
    /// The Nonce it had, the last time.
    pub nonce: u32,
    /// When it went, the last time.
    pub sent: Time,
    /// When its lifetime ends.
    pub expires: Time,
    /// That it came back, and why.
    pub nack: Option<crate::wire::NackReason>,
    /// For how long a retransmission is held back, in milliseconds; for the strategy.
    pub suppression: u32,
}

/// What an entry is found by, beside its name: flags and hint, and where they stand in the packet.
#[derive(Clone, Debug)]
pub struct Key {
    hash: u64,
    /// The Interest as it came first.
    packet: Box<[u8]>,
    /// Where the name's components stand.
    name: (u16, u16),
    hint: (u16, u16),
    nonce_at: u16,
    /// Components of the name.
    len: u8,
    can_be_prefix: bool,
    must_be_fresh: bool,
    /// Whether the name ends with the digest of a whole packet.
    digest: bool,
}

// Entries are found by their parts. This is what the table asks for.
impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
            && self.components() == other.components()
            && (self.can_be_prefix, self.must_be_fresh) == (other.can_be_prefix, other.must_be_fresh)
            && self.hint() == other.hint()
    }
}

impl Eq for Key {}

impl Key {
    #[inline(always)]
    fn span(&self, (from, to): (u16, u16)) -> &[u8] {
        self.packet.get(from.into()..to.into()).unwrap_or_default()
    }

    /// The encoded components of the name.
    #[inline(always)]
    pub fn components(&self) -> &[u8] {
        self.span(self.name)
    }

    /// How many components the name has.
    #[inline]
    pub fn name_len(&self) -> usize {
        self.len.into()
    }

    #[inline(always)]
    pub(crate) fn hint(&self) -> &[u8] {
        self.span(self.hint)
    }

    /// The Interest.
    #[inline]
    pub fn packet(&self) -> &[u8] {
        &self.packet
    }

    /// Where the Nonce stands in the packet.
    #[inline]
    pub fn nonce_at(&self) -> usize {
        self.nonce_at.into()
    }

    /// The keyed hash of the name.
    #[inline]
    pub fn name_hash(&self) -> u64 {
        self.hash
    }

    /// Whether it can be a prefix.
    #[inline]
    pub fn can_be_prefix(&self) -> bool {
        self.can_be_prefix
    }

    /// Whether it must be fresh.
    #[inline]
    pub fn must_be_fresh(&self) -> bool {
        self.must_be_fresh
    }

    /// Whether this is the entry of `interest`, whose name this is.
    #[inline(always)]
    fn is(&self, name: &HashedName<'_>, interest: &Interest<'_>) -> bool {
        self.hash == name.hash()
            && self.components() == name.components
            && self.can_be_prefix == interest.can_be_prefix()
            && self.must_be_fresh == interest.must_be_fresh()
            && self.hint() == interest.forwarding_hint()
    }
}

/// The records of an entry.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// Faces it came from.
    pub ins: SmallVec<[InRecord; 1]>,
    /// Faces it went to.
    pub outs: SmallVec<[OutRecord; 1]>,
    /// When the entry ends.
    pub expires: Time,
    /// For how long a retransmission is held back, in milliseconds; for the strategy.
    pub suppression: u32,
}

impl Records {
    /// The record of this face, if it came from there.
    #[inline]
    pub fn came_from(&self, face: FaceId) -> Option<&InRecord> {
        self.ins.iter().find(|record| record.face == face)
    }

    /// The record of this face, if it went there.
    #[inline]
    pub fn went_to(&self, face: FaceId) -> Option<&OutRecord> {
        self.outs.iter().find(|record| record.face == face)
    }

    /// Octets of memory that the records take besides their place in the table.
    fn memory(&self) -> usize {
        let ins = if self.ins.spilled() { self.ins.capacity() * size_of::<InRecord>() } else { 0 };
        let outs = if self.outs.spilled() { self.outs.capacity() * size_of::<OutRecord>() } else { 0 };
        let hinted = self.ins.iter().filter_map(|record| record.hinted.as_ref());
        ins + outs + hinted.map(|packet| size_of::<Vec<u8>>() + packet.capacity()).sum::<usize>()
    }

    /// Whether it waits for an answer from somewhere: a record that has neither ended nor come back.
    #[inline]
    pub fn waits(&self, now: Time) -> bool {
        self.outs.iter().any(|record| record.expires > now && record.nack.is_none())
    }
}

/// Faces that an entry records, in either direction, at the most.
pub const MAX_RECORDS: usize = 1024;

/// Entries of one name that have a forwarding hint, at the most: all of them stand under one hash.
pub const MAX_HINTED: usize = 16;

/// The table.
#[derive(Clone, Debug)]
pub struct Pit {
    table: Batched<Key, Records>,
    wheel: Wheel,
    /// Entries that can be a prefix, by components of their name.
    prefixes: Box<[u32; name::MAX_COMPONENTS + 1]>,
    /// The longest of those, as it has been.
    longest_prefix: usize,
    /// Entries whose name ends with the digest of a whole packet.
    digests: usize,
}

impl Default for Pit {
    fn default() -> Self {
        Self {
            table: Batched::with_capacity(0),
            wheel: Wheel::default(),
            prefixes: Box::new([0; name::MAX_COMPONENTS + 1]),
            longest_prefix: 0,
            digests: 0,
        }
    }
}

/// An entry that Data satisfies.
pub type Matches = SmallVec<[u32; 4]>;

impl Pit {
    /// How many entries there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Brings into the cache what tells where the entry of a name with this hash stands.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        self.table.prefetch(hash);
    }

    /// The entry of `interest`, whose name `name` is.
    #[inline(always)]
    pub fn find(&self, name: &HashedName<'_>, interest: &Interest<'_>) -> Option<u32> {
        self.table.slot_by(name.hash(), |_, key, _| key.is(name, interest))
    }

    /// Whether the name with this hash has as many entries with forwarding hints as it may have.
    #[inline(never)]
    pub fn is_crowded(&self, hash: u64) -> bool {
        let mut hinted = 0;
        let full = self.table.slot_by(hash, |_, key, _| {
            hinted += usize::from(key.hash == hash && !key.hint().is_empty());
            hinted >= MAX_HINTED
        });
        full.is_some()
    }

    /// Adds the entry of `interest`, which has none; it ends at `expires`.
    #[inline]
    pub fn insert(&mut self, name: &HashedName<'_>, interest: &Interest<'_>, expires: Time) -> u32 {
        let octets = interest.as_bytes();
        let span = |part: &[u8]| {
            // The part is one of the packet.
            let from = (part.as_ptr() as usize).wrapping_sub(octets.as_ptr() as usize);
            if from <= octets.len() { (from as u16, (from + part.len()) as u16) } else { (0, 0) }
        };
        let digest = ends_with_digest(interest);
        let key = Key {
            hash: name.hash(),
            packet: octets.into(),
            name: span(components(interest.name_octets())),
            hint: span(interest.forwarding_hint()),
            nonce_at: interest.nonce_at().map_or(0, |at| at.start as u16),
            len: name.len() as u8,
            can_be_prefix: interest.can_be_prefix(),
            must_be_fresh: interest.must_be_fresh(),
            digest,
        };
        if key.can_be_prefix {
            self.longest_prefix = self.longest_prefix.max(name.len());
            if let Some(entries) = self.prefixes.get_mut(name.len()) {
                *entries += 1;
            }
        }
        self.digests += usize::from(digest);
        let records = Records { expires, ..Records::default() };
        let slot = self.table.insert(name.hash(), key, records, |key| key.hash).slot;
        self.wheel.set(slot, tick_of(expires));
        slot
    }

    /// The entry in a slot.
    #[inline(always)]
    pub fn entry(&self, slot: u32) -> Option<(&Key, &Records)> {
        self.table.entry(slot)
    }

    /// The entry in a slot, to change its records. Its end is changed by [`expire_at`](Self::expire_at) alone.
    #[inline(always)]
    pub fn entry_mut(&mut self, slot: u32) -> Option<(&Key, &mut Records)> {
        self.table.entry_mut(slot)
    }

    /// Lets an entry end at another time.
    #[inline]
    pub fn expire_at(&mut self, slot: u32, expires: Time) {
        if let Some((_, records)) = self.table.entry_mut(slot) {
            records.expires = expires;
            self.wheel.set(slot, tick_of(expires));
        }
    }

    /// Takes an entry out.
    #[inline]
    pub fn remove(&mut self, slot: u32) -> Option<(Key, Records)> {
        let hash = self.table.entry(slot)?.0.hash;
        let (key, records) = self.table.remove_slot(hash, slot)?;
        self.wheel.stop(slot);
        if key.can_be_prefix
            && let Some(entries) = self.prefixes.get_mut(key.name_len())
        {
            *entries -= 1;
        }
        self.digests -= usize::from(key.digest);
        Some((key, records))
    }

    /// An entry that has ended, if there is one.
    #[inline]
    pub fn ended(&mut self, now: Time) -> Option<u32> {
        while let Some(slot) = self.wheel.due(now.millis()) {
            let Some((_, records)) = self.table.entry(slot) else { continue };
            if records.expires <= now {
                return Some(slot);
            }
            let due = tick_of(records.expires);
            self.wheel.set(slot, due);
        }
        None
    }

    /// When the next entry may end; not later than that.
    pub fn next_end(&self) -> Option<Time> {
        self.wheel.next_due().map(Time::from_millis)
    }

    /// How often an entry was looked at to see whether it has ended.
    pub fn looks(&self) -> u64 {
        self.wheel.looks()
    }

    /// The entries that Data of this name satisfies, of those that went to `from`. Where entries end with the digest of a packet, `digest` tells
    /// that of the packet, and `hash` the hash of such a name.
    #[inline(always)]
    pub fn matches(
        &self,
        name: &HashedName<'_>,
        from: FaceId,
        digest: impl FnOnce() -> [u8; DIGEST_LEN],
        hash: impl FnOnce(&[u8]) -> u64,
    ) -> Matches {
        let mut found = Matches::new();
        self.matches_of(name, name.len(), |slot, key, records| {
            if key.components() == name.components && records.went_to(from).is_some() {
                found.push(slot);
            }
        });
        for len in 1..name.len().min(self.longest_prefix + 1) {
            if self.prefixes.get(len).is_none_or(|entries| *entries == 0) {
                continue;
            }
            self.matches_of(name, len, |slot, key, records| {
                let is = key.can_be_prefix
                    && key.name_len() == len
                    && name.components.starts_with(key.components());
                if is && records.went_to(from).is_some() {
                    found.push(slot);
                }
            });
        }
        if self.digests > 0 {
            self.digest_matches(name, from, &digest(), hash, &mut found);
        }
        found
    }

    /// Shows the entries that have the hash of the first `len` components.
    #[inline(always)]
    fn matches_of(&self, name: &HashedName<'_>, len: usize, mut each: impl FnMut(u32, &Key, &Records)) {
        let hash = name.prefix(len);
        self.table.slot_by(hash, |slot, key, records| {
            if key.hash == hash {
                each(slot, key, records);
            }
            false
        });
    }

    #[inline(never)]
    fn digest_matches(
        &self,
        name: &HashedName<'_>,
        from: FaceId,
        digest: &[u8; DIGEST_LEN],
        hash: impl FnOnce(&[u8]) -> u64,
        found: &mut Matches,
    ) {
        let mut full = name.components.to_vec();
        full.extend_from_slice(&[IMPLICIT_SHA256_DIGEST as u8, DIGEST_LEN as u8]);
        full.extend_from_slice(digest);
        let hash = hash(&full);
        self.table.slot_by(hash, |slot, key, records| {
            if key.hash == hash && key.components() == full && records.went_to(from).is_some() {
                found.push(slot);
            }
            false
        });
    }

    /// Octets of memory that all of it takes: entries, Interests, records, timers, and what is in reserve. The table does not shrink, so that this
    /// is what the most entries that there have been took, less their packets. It looks at each entry.
    pub fn memory(&self) -> usize {
        let entries = self.table.iter().map(|(_, key, records)| key.packet.len() + records.memory());
        self.table.memory() + self.wheel.memory() + size_of_val(&*self.prefixes) + entries.sum::<usize>()
    }

    /// How many entries are compared in a search for that of `interest`, whose name `name` is: a measure of how well the names are spread.
    pub fn compared(&self, name: &HashedName<'_>, interest: &Interest<'_>) -> usize {
        let mut compared = 0;
        self.table.slot_by(name.hash(), |_, key, _| {
            compared += 1;
            key.is(name, interest)
        });
        compared
    }

    /// All entries.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Records)> {
        self.table.iter().map(|(_, key, records)| (key, records))
    }
}

/// Whether the last component of the name is the digest of a whole packet.
#[inline(always)]
fn ends_with_digest(interest: &Interest<'_>) -> bool {
    let components = components(interest.name_octets());
    let tail = components.len().checked_sub(2 + DIGEST_LEN).and_then(|at| components.get(at..at + 2));
    // Octets that look so may stand inside a longer component.
    tail == Some(&[IMPLICIT_SHA256_DIGEST as u8, DIGEST_LEN as u8])
        && interest.name().components().last().is_some_and(|last| last.typ == IMPLICIT_SHA256_DIGEST)
}
