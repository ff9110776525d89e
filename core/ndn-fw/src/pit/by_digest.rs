//! PIT indexed by InterestDigest.
//!
//! All neighbours compute the same digest of an Interest ([`DigestFunction`]). It is sent with the Interest,
//! and returned with Data and Nacks. The digest of a received Interest is computed anew, and an Interest with
//! another one is dropped, as it would be aggregated with different Interests. Data finds its entry by the
//! digest in its header, in one probe.
//!
//! The table has no index by name. Chains link the entries whose name hashes share a bucket, for Data without
//! a digest, and for other entries that Data satisfies.
//!
//! Source: Shi, Pi, Zhao and Fan, "Interest digest indexed PIT", 2017, in which Data satisfies one entry
//! ([`Satisfy::One`]).

use super::overlap::{OverlapCounters, Sibling, join, leave};
use super::walk::{Known, walk};
use super::{CachedLookup, Entries, HopFields, Key, Mark, Matches, Pit, Records, Removed};
use crate::drop::DropReason;
use crate::face::FaceId;
use crate::hashed::HashedName;
use alloc::vec;
use alloc::vec::Vec;
use hashlane_hash::scheme::{BytesHash, Key as HashKey, Scheme};
use hashlane_hash::siphash::SipHash13;
use hashlane_name::component::DIGEST_LEN;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{DigestFunction, Interest, InterestDigest, Label};
use hashlane_table::Table as _;

/// Entries that Data satisfies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Satisfy {
    /// All entries that its name answers, as under the other indexes.
    #[default]
    All,
    /// Only the entry of its digest, as in the proposal. Downstreams of other entries are
    /// [counted](Pit::starved) and keep waiting. Data without a digest, from a neighbour that does not
    /// support them, satisfies all.
    One,
}

/// Digest of an Interest, and its keyed hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestMark {
    hash: u64,
    digest: InterestDigest,
}

impl Mark for DigestMark {
    #[inline(always)]
    fn table_hash(&self, _key: &Key) -> u64 {
        self.hash
    }
}

/// Part of an entry that the index by digest adds.
#[derive(Clone, Debug)]
pub struct DigestExtra {
    siblings: u32,
    /// Slots of the neighbours in the chain.
    prev: u32,
    next: u32,
    lookup: Option<CachedLookup>,
    /// Digests of downstreams' Interests that differ from the entry's: they arrived with a forwarding hint.
    downstream_digests: Vec<(FaceId, InterestDigest)>,
}

impl Sibling for DigestExtra {
    fn siblings(&mut self) -> &mut u32 {
        &mut self.siblings
    }
}

/// Chains of an empty table.
const CHAINS: usize = 64;

/// End of a chain.
const NONE: u32 = u32::MAX;

/// PIT indexed by InterestDigest.
#[derive(Clone)]
pub struct ByDigest {
    entries: Entries<DigestMark, DigestExtra>,
    /// First entry of each chain, by name hash.
    chains: Vec<u32>,
    others: OverlapCounters,
    function: DigestFunction,
    hash: SipHash13,
    satisfy: Satisfy,
    starved: u64,
}

/// Keeps keys out of logs.
impl core::fmt::Debug for ByDigest {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let entries = self.entries.len();
        f.debug_struct("ByDigest").field("entries", &entries).field("satisfy", &self.satisfy).finish()
    }
}

impl ByDigest {
    /// Creates an empty table. `key` should have no other use.
    pub fn new(function: DigestFunction, satisfy: Satisfy, key: &HashKey) -> Self {
        Self {
            entries: Entries::default(),
            chains: vec![NONE; CHAINS],
            others: OverlapCounters::default(),
            function,
            hash: SipHash13::new(key),
            satisfy,
            starved: 0,
        }
    }

    #[inline(always)]
    fn digested(&self, digest: InterestDigest) -> DigestMark {
        DigestMark { hash: self.hash.hash(digest.as_bytes()), digest }
    }

    #[inline(always)]
    fn chain(&mut self, name: u64) -> Option<&mut u32> {
        let at = name as usize & (self.chains.len() - 1);
        self.chains.get_mut(at).invariant("the number of chains is a power of two")
    }

    /// Adds an entry to the head of the chain of its name.
    fn link(&mut self, name: u64, slot: u32) {
        let Some(head) = self.chain(name) else { return };
        let next = core::mem::replace(head, slot);
        if let Some(extra) = self.entries.extra_mut(next) {
            extra.prev = slot;
        }
        if let Some(extra) = self.entries.extra_mut(slot).invariant("the entry was inserted") {
            (extra.prev, extra.next) = (NONE, next);
        }
    }

    /// Removes the neighbour links of a removed entry from its chain.
    fn unlink(&mut self, name: u64, prev: u32, next: u32) {
        if let Some(extra) = self.entries.extra_mut(next) {
            extra.prev = prev;
        }
        if let Some(extra) = self.entries.extra_mut(prev) {
            extra.next = next;
        } else if let Some(head) = self.chain(name) {
            *head = next;
        }
    }

    /// Finds the entry with a digest.
    #[inline(always)]
    fn hit(&self, digest: &[u8]) -> Option<(u32, &Key, &Records, &DigestExtra)> {
        let wanted = self.hash.hash(digest);
        // The keyed 64-bit hash suffices, as the name is compared afterwards.
        let slot = self.entries.table.slot_by(wanted, |_, kept, _| kept.mark.hash == wanted)?;
        let (kept, stored) = self.entries.table.entry(slot)?;
        Some((slot, &kept.key, &stored.records, &stored.extra))
    }

    /// Counts the downstreams of all matches except the first.
    fn starve(&mut self, matches: &Matches) {
        let waiting = matches.iter().skip(1).filter_map(|slot| self.entries.entry(*slot));
        self.starved += waiting.map(|(_, records)| records.ins.len() as u64).sum::<u64>();
    }
}

impl Pit for ByDigest {
    type Mark = DigestMark;
    type Extra = DigestExtra;

    #[inline(always)]
    fn entries(&self) -> &Entries<DigestMark, DigestExtra> {
        &self.entries
    }

    #[inline(always)]
    fn entries_mut(&mut self) -> &mut Entries<DigestMark, DigestExtra> {
        &mut self.entries
    }

    #[inline]
    fn mark(&self, interest: &Interest<'_>, hop: HopFields<'_>) -> Result<DigestMark, DropReason> {
        let mark = self.digested(self.function.digest(interest));
        // A digest of another length belongs to another function.
        if hop.digest.len() == self.function.len() && hop.digest != mark.digest.as_bytes() {
            return Err(DropReason::Digest);
        }
        Ok(mark)
    }

    #[inline(always)]
    fn prefetch(&self, _hash: u64, mark: &DigestMark) {
        self.entries.table.prefetch(mark.hash);
    }

    #[inline(always)]
    fn prefetch_entry(&self, _hash: u64, mark: &DigestMark) {
        self.entries.table.prefetch_entry(mark.hash);
    }

    #[inline(always)]
    fn prefetch_match(&self, _hash: u64, hop: HopFields<'_>) {
        self.entries.table.prefetch(self.hash.hash(hop.digest));
    }

    #[inline(always)]
    fn prefetch_match_entry(&self, _hash: u64, hop: HopFields<'_>) {
        self.entries.table.prefetch_entry(self.hash.hash(hop.digest));
    }

    #[inline(always)]
    fn find(&self, name: &HashedName<'_>, interest: &Interest<'_>, mark: &DigestMark) -> Option<u32> {
        self.entries.table.slot_by(mark.hash, |_, kept, _| kept.mark == *mark && kept.key.is(name, interest))
    }

    fn reset(&mut self) {
        self.entries.reset();
        self.chains = vec![NONE; CHAINS];
        self.others = OverlapCounters::default();
    }

    fn restore(&mut self, slot: u32, old: DigestExtra) {
        if let Some(extra) = self.entries.extra_mut(slot).invariant("the entry was inserted") {
            extra.downstream_digests = old.downstream_digests;
        }
    }

    #[inline]
    fn add(&mut self, key: Key, mark: DigestMark, expires: Time) -> u32 {
        let extra =
            DigestExtra { siblings: 0, prev: NONE, next: NONE, lookup: None, downstream_digests: Vec::new() };
        let name = key.name_hash();
        let slot = self.entries.insert(key, mark, extra, expires);
        if self.entries.len() > self.chains.len() {
            self.chains = vec![NONE; 2 * self.chains.len()];
            let all: Vec<(u32, u64)> =
                self.entries.iter().map(|(slot, key, _)| (slot, key.name_hash())).collect();
            all.into_iter().for_each(|(slot, name)| self.link(name, slot));
        } else {
            self.link(name, slot);
        }
        join(self, |pit| &mut pit.others, name, slot);
        slot
    }

    #[inline]
    fn remove(&mut self, slot: u32) -> Option<Removed<DigestMark, DigestExtra>> {
        let removed = self.entries.remove(slot)?;
        let name = removed.key.name_hash();
        self.unlink(name, removed.extra.prev, removed.extra.next);
        self.others.leaves(&removed.key);
        leave(self, |pit| &mut pit.others, name, slot, removed.extra.siblings);
        Some(removed)
    }

    #[inline(always)]
    fn find_by_hash(&self, hash: u64, mut is: impl FnMut(u32, &Key, &Records) -> bool) -> Option<u32> {
        let head = self.chains.get(hash as usize & (self.chains.len() - 1));
        let mut slot = head.copied().invariant("the number of chains is a power of two")?;
        while let Some((kept, stored)) = self.entries.table.entry(slot) {
            if kept.key.name_hash() == hash && is(slot, &kept.key, &stored.records) {
                return Some(slot);
            }
            slot = stored.extra.next;
        }
        None
    }

    #[inline(always)]
    fn matches(
        &mut self,
        name: &HashedName<'_>,
        from: FaceId,
        hop: HopFields<'_>,
        digest: impl Fn() -> [u8; DIGEST_LEN],
        hash: impl FnOnce(&[u8]) -> u64,
    ) -> Result<Matches, DropReason> {
        let stated = hop.digest.len() == self.function.len();
        let hit = if stated { self.hit(hop.digest) } else { None };
        let hit = hit.filter(|(_, _, records, _)| records.out_record(from).is_some());
        if hit.is_some_and(|(_, key, _, _)| !key.is_answered_by(name.components, &digest)) {
            return Err(DropReason::Digest);
        }
        let known = hit.map(|(slot, key, _, noted)| Known {
            slot,
            key,
            alone: self.others.is_alone(|| noted.siblings),
        });
        if let Some(known) = known
            && known.is_all(name, &self.entries, &self.others)
        {
            return Ok(Matches::from_slice(&[known.slot]));
        }
        let one = stated && self.satisfy == Satisfy::One;
        if one && known.is_none() {
            return Ok(Matches::new());
        }
        let others = &self.others;
        let mut found =
            walk(self, name, from, known, |prefix, own| others.more_than(own, prefix), digest, hash);
        if one {
            self.starve(&found);
            found.truncate(1);
        }
        Ok(found)
    }

    #[inline(always)]
    fn upstream_fields(&self, slot: u32) -> HopFields<'_> {
        let entry = self.entries.table.entry(slot).invariant("the caller found the entry");
        let digest = entry.map_or(&[][..], |(kept, _)| kept.mark.digest.as_bytes());
        HopFields { token: &[], digest }
    }

    #[inline(always)]
    fn note_downstream(&mut self, slot: u32, from: FaceId, hop: HopFields<'_>) {
        if hop.digest.len() != self.function.len() {
            return;
        }
        let entry = self.entries.table.entry_mut(slot).invariant("the caller found the entry");
        let Some((kept, stored)) = entry else { return };
        let downstream_digests = &mut stored.extra.downstream_digests;
        if !downstream_digests.is_empty() || hop.digest != kept.mark.digest.as_bytes() {
            // At most one digest for each in-record.
            downstream_digests.retain(|(face, _)| *face != from);
            downstream_digests.push((from, Label::new(hop.digest)));
        }
    }

    #[inline(always)]
    fn retain_downstreams(&mut self, slot: u32, keep: impl Fn(FaceId) -> bool) {
        if let Some(extra) = self.entries.extra_mut(slot).filter(|extra| !extra.downstream_digests.is_empty())
        {
            extra.downstream_digests.retain(|(face, _)| keep(*face));
        }
    }

    #[inline(always)]
    fn downstream_digest(removed: &Removed<DigestMark, DigestExtra>, to: FaceId) -> &[u8] {
        let downstream_digests = removed.extra.downstream_digests.iter().find(|(face, _)| *face == to);
        downstream_digests.map_or(&removed.mark.digest, |(_, digest)| digest).as_bytes()
    }

    #[inline(always)]
    fn digest_of(mark: &DigestMark) -> &[u8] {
        mark.digest.as_bytes()
    }

    #[inline(always)]
    fn cached_lookup(&self, slot: u32) -> Option<CachedLookup> {
        self.entries.table.entry(slot)?.1.extra.lookup
    }

    #[inline(always)]
    fn cache_lookup(&mut self, slot: u32, lookup: CachedLookup) {
        if let Some(extra) = self.entries.extra_mut(slot) {
            extra.lookup = Some(lookup);
        }
    }

    #[inline(always)]
    fn starved(&self) -> u64 {
        self.starved
    }
}
