//! Pending Interest table (PIT), with one of three indexes.
//!
//! An entry stands for an Interest: its name, its selectors CanBePrefix and MustBeFresh, and its forwarding
//! hint. It has an in-record for each downstream face and an out-record for each upstream face. Aggregation,
//! expiry and counting are the same under every index ([`Pit`]). The indexes differ in how Data finds
//! entries:
//!
//! - [`ByName`]: by the prefix hashes of its name, at each length at which a pending Interest has
//!   CanBePrefix.
//! - [`ByToken`]: by the PIT token that was sent with the Interest, which contains the slot of the entry.
//! - [`ByDigest`]: by a digest of the Interest, which all neighbours compute alike.
//!
//! A token or a digest is only a hint: Data satisfies an entry if its name answers the entry and its ingress
//! face has an out-record there. Other entries that the Data satisfies are looked up, too, unless counters
//! show that there are none. So all indexes forward the same packets to the same faces, except with
//! [`Satisfy::One`].

mod by_digest;
mod by_name;
mod by_token;
mod entries;
mod key;
mod overlap;
mod records;
mod walk;

pub use by_digest::{ByDigest, Satisfy};
pub use by_name::ByName;
pub use by_token::{ByToken, TOKEN_LEN};
pub use entries::{ENTRY_MEMORY, Entries, Mark, Removed};
pub use key::Key;
pub(crate) use key::ends_with_digest;
pub use records::{InRecord, MAX_HINTED, MAX_RECORDS, OutRecord, Records};

use crate::drop::DropReason;
use crate::face::FaceId;
use crate::hashed::HashedName;
use hashlane_name::component::DIGEST_LEN;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{Interest, LpHeader};
use hashlane_table::Table as _;
use smallvec::SmallVec;

/// Slots of the entries that Data satisfies.
pub type Matches = SmallVec<[u32; 4]>;

/// Fields of a link header that select an entry; empty if absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopFields<'a> {
    /// PIT token.
    pub token: &'a [u8],
    /// InterestDigest.
    pub digest: &'a [u8],
}

impl<'a> HopFields<'a> {
    /// Fields of a link header, in which InterestDigest has the type `digest_type`.
    #[inline(always)]
    pub fn of(header: &LpHeader<'a>, digest_type: u32) -> Self {
        Self { token: header.pit_token, digest: header.digest.of(digest_type) }
    }
}

/// Result of a FIB and strategy choice lookup, valid while both tables have the generation `tables`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CachedLookup {
    /// Generation of the tables.
    pub tables: u32,
    /// Slot of the strategy.
    pub strategy: u32,
    /// Hash of the FIB prefix.
    pub prefix: u64,
}

/// Pending Interest table.
///
/// The pipelines compute the [mark](Self::mark) of an Interest, then [find](Self::find) or
/// [insert](Self::insert) its entry. They [match](Self::matches) Data and [remove](Self::remove) each entry
/// that it satisfies, and each entry that [expires](Self::pop_expired).
pub trait Pit {
    /// Part of an entry's key that the index computes from the Interest.
    type Mark: Mark;
    /// Part of an entry that the index adds.
    type Extra;

    /// All entries.
    fn entries(&self) -> &Entries<Self::Mark, Self::Extra>;

    /// All entries, to change them.
    fn entries_mut(&mut self) -> &mut Entries<Self::Mark, Self::Extra>;

    /// Computes the mark of an Interest with these link header fields.
    ///
    /// # Errors
    /// [`DropReason::Digest`] if the fields contain another digest.
    fn mark(&self, interest: &Interest<'_>, hop: HopFields<'_>) -> Result<Self::Mark, DropReason>;

    /// Prefetches the bucket of an Interest with this name hash and mark.
    fn prefetch(&self, hash: u64, mark: &Self::Mark);

    /// Prefetches the entry of an Interest; its bucket should be in the cache.
    #[inline(always)]
    fn prefetch_entry(&self, hash: u64, _mark: &Self::Mark) {
        self.entries().table.prefetch_entry(hash);
    }

    /// Prefetches the slot or bucket of the entry that Data with this name hash answers.
    #[inline(always)]
    fn prefetch_match(&self, hash: u64, _hop: HopFields<'_>) {
        self.entries().table.prefetch(hash);
    }

    /// Prefetches the entry that Data answers; its bucket should be in the cache.
    #[inline(always)]
    fn prefetch_match_entry(&self, hash: u64, _hop: HopFields<'_>) {
        self.entries().table.prefetch_entry(hash);
    }

    /// Prefetches the Interest of an entry with this name hash; the entry should be in the cache.
    #[inline(always)]
    fn prefetch_match_packet(&self, hash: u64) {
        self.find_by_hash(hash, |_, key, _| {
            hashlane_table::prefetch_bytes(key.packet());
            true
        });
    }

    /// Finds the entry of `interest`, whose name is `name`.
    fn find(&self, name: &HashedName<'_>, interest: &Interest<'_>, mark: &Self::Mark) -> Option<u32>;

    /// Finds the entry of the Interest in a Nack with these link header fields.
    #[inline(always)]
    fn find_nacked(
        &self,
        name: &HashedName<'_>,
        interest: &Interest<'_>,
        mark: &Self::Mark,
        _hop: HopFields<'_>,
    ) -> Option<u32> {
        self.find(name, interest, mark)
    }

    /// Inserts the entry of `interest`, which has none, with its expiry.
    #[inline(always)]
    fn insert(
        &mut self,
        name: &HashedName<'_>,
        interest: &Interest<'_>,
        mark: Self::Mark,
        expires: Time,
    ) -> u32 {
        self.add(Key::new(name, interest), mark, expires)
    }

    /// Inserts the entry of a key that has none, with its expiry.
    fn add(&mut self, key: Key, mark: Self::Mark, expires: Time) -> u32;

    /// Gives back the memory of the tables, which are empty.
    fn reset(&mut self);

    /// Restores the index's part of an entry that was removed and inserted again.
    #[inline(always)]
    fn restore(&mut self, _slot: u32, _extra: Self::Extra) {}

    /// Removes an entry.
    fn remove(&mut self, slot: u32) -> Option<Removed<Self::Mark, Self::Extra>>;

    /// Visits the entries whose names have this hash until `is` returns true; returns that slot.
    fn find_by_hash(&self, hash: u64, is: impl FnMut(u32, &Key, &Records) -> bool) -> Option<u32>;

    /// Finds the entries that Data with this name and ingress face satisfies, in any order. `digest` computes
    /// the implicit digest of the Data, and `hash` the hash of a name with it; they are called only if an
    /// entry has an implicit digest.
    ///
    /// # Errors
    /// [`DropReason::Digest`] if the digest in the link header belongs to an entry that the Data does not
    /// answer.
    fn matches(
        &mut self,
        name: &HashedName<'_>,
        from: FaceId,
        hop: HopFields<'_>,
        digest: impl Fn() -> [u8; DIGEST_LEN],
        hash: impl FnOnce(&[u8]) -> u64,
    ) -> Result<Matches, DropReason>;

    /// Link header fields to send upstream with the Interest of an entry.
    #[inline(always)]
    fn upstream_fields(&self, _slot: u32) -> HopFields<'_> {
        HopFields::default()
    }

    /// Records the digest of a downstream's Interest, if it differs from the entry's.
    #[inline(always)]
    fn note_downstream(&mut self, _slot: u32, _from: FaceId, _hop: HopFields<'_>) {}

    /// Discards what [`note_downstream`](Self::note_downstream) recorded of faces for which `keep` is false:
    /// their in-records are removed.
    #[inline(always)]
    fn retain_downstreams(&mut self, _slot: u32, _keep: impl Fn(FaceId) -> bool) {}

    /// InterestDigest to return with Data to a downstream.
    #[inline(always)]
    fn downstream_digest(_removed: &Removed<Self::Mark, Self::Extra>, _to: FaceId) -> &[u8] {
        &[]
    }

    /// InterestDigest of a mark.
    #[inline(always)]
    fn digest_of(_mark: &Self::Mark) -> &[u8] {
        &[]
    }

    /// Cached FIB and strategy choice lookup of an entry, if the index keeps it.
    #[inline(always)]
    fn cached_lookup(&self, _slot: u32) -> Option<CachedLookup> {
        None
    }

    /// Caches the FIB and strategy choice lookup of an entry.
    #[inline(always)]
    fn cache_lookup(&mut self, _slot: u32, _lookup: CachedLookup) {}

    /// Downstreams that got no Data although its name answers their Interest ([`Satisfy::One`]).
    #[inline(always)]
    fn starved(&self) -> u64 {
        0
    }

    /// Number of entries.
    #[inline(always)]
    fn len(&self) -> usize {
        self.entries().len()
    }

    /// True if there are no entries.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if the name with this hash has [`MAX_HINTED`] entries with forwarding hints.
    #[inline(never)]
    fn has_max_hinted(&self, hash: u64) -> bool {
        let mut hinted = 0;
        let full = self.find_by_hash(hash, |_, key, _| {
            hinted += usize::from(!key.hint().is_empty());
            hinted >= MAX_HINTED
        });
        full.is_some()
    }

    /// Entry in a slot.
    #[inline(always)]
    fn entry<'a>(&'a self, slot: u32) -> Option<(&'a Key, &'a Records)>
    where
        Self::Extra: 'a,
    {
        self.entries().entry(slot)
    }

    /// Entry in a slot, to change its records; its expiry is changed only by [`expire_at`](Self::expire_at).
    #[inline(always)]
    fn entry_mut<'a>(&'a mut self, slot: u32) -> Option<(&'a Key, &'a mut Records)>
    where
        Self::Extra: 'a,
    {
        self.entries_mut().entry_mut(slot)
    }

    /// Changes the expiry of an entry.
    #[inline(always)]
    fn expire_at(&mut self, slot: u32, expires: Time) {
        self.entries_mut().expire_at(slot, expires);
    }

    /// Next expired entry, if there is one. The caller removes it.
    #[inline(always)]
    fn pop_expired(&mut self, now: Time) -> Option<u32> {
        self.entries_mut().pop_expired(now)
    }

    /// Number of slots used so far: the slot of each entry is below it.
    fn slots(&self) -> usize {
        self.entries().slots()
    }

    /// Earliest time at which an entry may expire.
    fn next_expiry(&self) -> Option<Time> {
        self.entries().next_expiry()
    }

    /// Number of times that a timer was visited to check whether its entry has expired.
    fn timer_visits(&self) -> u64 {
        self.entries().timer_visits()
    }

    /// Memory of the table in bytes: entries, Interests, records, timers, and reserve. Visits each entry.
    fn memory(&self) -> usize {
        self.entries().memory()
    }

    /// Number of entries that a lookup of `interest` compares: a measure of how well names spread.
    fn compared(&self, name: &HashedName<'_>, interest: &Interest<'_>) -> usize {
        let mut compared = 0;
        self.find_by_hash(name.hash(), |_, key, _| {
            compared += 1;
            key.is(name, interest)
        });
        compared
    }

    /// All entries, in any order.
    fn iter<'a>(&'a self) -> impl Iterator<Item = (&'a Key, &'a Records)>
    where
        Self::Extra: 'a,
    {
        self.entries().iter().map(|(_, key, records)| (key, records))
    }
}
