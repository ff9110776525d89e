//! The pending Interest table, under one of three indexes.
//!
//! An entry is an Interest: a name, whether it can be a prefix and must be fresh, and the names of its forwarding hint. It has a record of each
//! face that it came from and of each that it went to. What entries are, how they aggregate, end and are counted, is the same under all
//! indexes ([`Pit`]); which entries Data finds first is not:
//!
//! - [`ByName`]: by the hashes of the prefixes of its name, each probed at which some pending Interest can be one.
//! - [`ByToken`]: by the PitToken that went upstream with the Interest, and tells the slot of the entry.
//! - [`ByDigest`]: by a digest of the Interest, which all neighbours compute alike.
//!
//! A token or a digest is a hint. The name of the Data and the records decide: an entry is satisfied where its name says so, and where it went to the face
//! that the Data came from. And what else the Data satisfies is looked for unless counters say that there is nothing; so all three
//! forward the same packets to the same faces, but for [`Satisfy::One`], which says that it does not.

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
pub use entries::{Entries, Mark, Removed};
pub use key::Key;
pub use records::{InRecord, MAX_HINTED, MAX_RECORDS, OutRecord, Records};

use crate::drop::DropReason;
use crate::face::FaceId;
use crate::hashed::HashedName;
use hashlane_name::component::DIGEST_LEN;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{Interest, LpHeader};
use hashlane_table::Table as _;
use smallvec::SmallVec;

/// Entries that Data satisfies.
pub type Matches = SmallVec<[u32; 4]>;

/// What a link header says of an entry; empty where it says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopFields<'a> {
    /// The PitToken.
    pub token: &'a [u8],
    /// The InterestDigest.
    pub digest: &'a [u8],
}

impl<'a> HopFields<'a> {
    /// What this header says, where InterestDigest has this type.
    #[inline(always)]
    pub fn of(header: &LpHeader<'a>, digest_type: u32) -> Self {
        Self { token: header.pit_token, digest: header.digest.of(digest_type) }
    }
}

/// Where the strategy of an entry stands, and the hash of its prefix in the FIB, as they were when `tables` was the generation of both tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CachedLookup {
    /// The generation of the tables.
    pub tables: u32,
    /// The slot of the strategy.
    pub strategy: u32,
    /// The hash of the prefix.
    pub prefix: u64,
}

/// A pending Interest table.
///
/// An Interest is [marked](Self::mark), [found](Self::find) and, where it has no entry, [inserted](Self::insert). Data is
/// [matched](Self::matches), and each entry that it satisfies [removed](Self::remove). What [has ended](Self::pop_expired) is removed, too.
pub trait Pit {
    /// What the index derives of an Interest.
    type Mark: Mark;
    /// What it notes of an entry.
    type Extra;

    /// The entries.
    fn entries(&self) -> &Entries<Self::Mark, Self::Extra>;

    /// The entries, to change them.
    fn entries_mut(&mut self) -> &mut Entries<Self::Mark, Self::Extra>;

    /// What the index derives of an Interest that came with this header.
    ///
    /// # Errors
    /// [`DropReason::Digest`], where the header says something else.
    fn mark(&self, interest: &Interest<'_>, hop: HopFields<'_>) -> Result<Self::Mark, DropReason>;

    /// Prefetches the bucket of an Interest with this mark, whose name has this hash.
    fn prefetch(&self, hash: u64, mark: &Self::Mark);

    /// Prefetches the entry of such an Interest; its bucket should be in the cache.
    #[inline(always)]
    fn prefetch_entry(&self, hash: u64, _mark: &Self::Mark) {
        self.entries().table.prefetch_entry(hash);
    }

    /// Prefetches the place or the bucket of the entry that Data with this header answers, whose name has
    /// this hash.
    #[inline(always)]
    fn prefetch_match(&self, hash: u64, _hop: HopFields<'_>) {
        self.entries().table.prefetch(hash);
    }

    /// Prefetches the entry that such Data answers; its bucket should be in the cache.
    #[inline(always)]
    fn prefetch_match_entry(&self, hash: u64, _hop: HopFields<'_>) {
        self.entries().table.prefetch_entry(hash);
    }

    /// Prefetches the Interest of an entry whose name has this hash; the entry should be in the cache.
    #[inline(always)]
    fn prefetch_match_packet(&self, hash: u64) {
        self.find_by_hash(hash, |_, key, _| {
            hashlane_table::prefetch_bytes(key.packet());
            true
        });
    }

    /// The entry of `interest`, whose name `name` is.
    fn find(&self, name: &HashedName<'_>, interest: &Interest<'_>, mark: &Self::Mark) -> Option<u32>;

    /// As [`find`](Self::find), of an Interest that came back with this header.
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

    /// Adds the entry of `interest`, which has none; it ends at `expires`.
    fn insert(
        &mut self,
        name: &HashedName<'_>,
        interest: &Interest<'_>,
        mark: Self::Mark,
        expires: Time,
    ) -> u32;

    /// Takes an entry out.
    fn remove(&mut self, slot: u32) -> Option<Removed<Self::Mark, Self::Extra>>;

    /// Shows the entries whose name has this hash, until `is` says yes of one.
    fn find_by_hash(&self, hash: u64, is: impl FnMut(u32, &Key, &Records) -> bool) -> Option<u32>;

    /// The entries that Data of this name satisfies, of those that went to `from`, where it came from with this header; in no order. Where entries end with
    /// the digest of a packet, `digest` tells that of the packet, and `hash` the hash of such a name.
    ///
    /// # Errors
    /// [`DropReason::Digest`], where the header is that of an entry that this Data does not answer.
    fn matches(
        &mut self,
        name: &HashedName<'_>,
        from: FaceId,
        hop: HopFields<'_>,
        digest: impl Fn() -> [u8; DIGEST_LEN],
        hash: impl FnOnce(&[u8]) -> u64,
    ) -> Result<Matches, DropReason>;

    /// What goes upstream with the Interest in a slot.
    #[inline(always)]
    fn upstream_fields(&self, _slot: u32) -> HopFields<'_> {
        HopFields::default()
    }

    /// Notes what an Interest that came from a face brought with it, where that is not what its entry has.
    #[inline(always)]
    fn note_downstream(&mut self, _slot: u32, _from: FaceId, _hop: HopFields<'_>) {}

    /// Drops what [`came`](Self::note_downstream) noted of faces for which `keep` is false: their in-records are
    /// removed.
    #[inline(always)]
    fn retain_downstreams(&mut self, _slot: u32, _keep: impl Fn(FaceId) -> bool) {}

    /// The InterestDigest that goes back with Data to a face that asked.
    #[inline(always)]
    fn downstream_digest(_gone: &Removed<Self::Mark, Self::Extra>, _to: FaceId) -> &[u8] {
        &[]
    }

    /// The InterestDigest of a mark.
    #[inline(always)]
    fn digest_of(_mark: &Self::Mark) -> &[u8] {
        &[]
    }

    /// The way that the entry in a slot has, as far as it is kept.
    #[inline(always)]
    fn cached_lookup(&self, _slot: u32) -> Option<CachedLookup> {
        None
    }

    /// Keeps the way of the entry in a slot.
    #[inline(always)]
    fn cache_lookup(&mut self, _slot: u32, _way: CachedLookup) {}

    /// Downstreams that waited for Data that came, and did not get it ([`Satisfy::One`]).
    #[inline(always)]
    fn starved(&self) -> u64 {
        0
    }

    /// How many entries there are.
    #[inline(always)]
    fn len(&self) -> usize {
        self.entries().len()
    }

    /// Whether there are none.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the name with this hash has as many entries with forwarding hints as it may have.
    #[inline(never)]
    fn has_max_hinted(&self, hash: u64) -> bool {
        let mut hinted = 0;
        let full = self.find_by_hash(hash, |_, key, _| {
            hinted += usize::from(!key.hint().is_empty());
            hinted >= MAX_HINTED
        });
        full.is_some()
    }

    /// The entry in a slot.
    #[inline(always)]
    fn entry<'a>(&'a self, slot: u32) -> Option<(&'a Key, &'a Records)>
    where
        Self::Extra: 'a,
    {
        self.entries().entry(slot)
    }

    /// The entry in a slot, to change its records. Its end is changed by [`expire_at`](Self::expire_at) alone.
    #[inline(always)]
    fn entry_mut<'a>(&'a mut self, slot: u32) -> Option<(&'a Key, &'a mut Records)>
    where
        Self::Extra: 'a,
    {
        self.entries_mut().entry_mut(slot)
    }

    /// Lets an entry end at another time.
    #[inline(always)]
    fn expire_at(&mut self, slot: u32, expires: Time) {
        self.entries_mut().expire_at(slot, expires);
    }

    /// An entry that has ended, if there is one.
    #[inline(always)]
    fn pop_expired(&mut self, now: Time) -> Option<u32> {
        self.entries_mut().pop_expired(now)
    }

    /// Number of slots used so far: the slot of each entry is below it.
    fn slots(&self) -> usize {
        self.entries().slots()
    }

    /// When the next entry may end; not later than that.
    fn next_expiry(&self) -> Option<Time> {
        self.entries().next_expiry()
    }

    /// How often an entry was looked at to see whether it has ended.
    fn timer_visits(&self) -> u64 {
        self.entries().timer_visits()
    }

    /// Bytes of memory that all of it takes: entries, Interests, records, timers, and what is in reserve. The table does not shrink, so that this
    /// is what the most entries that there have been took, less their packets. It looks at each entry.
    fn memory(&self) -> usize {
        self.entries().memory()
    }

    /// How many entries are compared in a search for that of `interest`, whose name `name` is: a measure of how well the names are spread.
    fn compared(&self, name: &HashedName<'_>, interest: &Interest<'_>) -> usize {
        let mut compared = 0;
        self.find_by_hash(name.hash(), |_, key, _| {
            compared += 1;
            key.is(name, interest)
        });
        compared
    }

    /// All entries.
    fn iter<'a>(&'a self) -> impl Iterator<Item = (&'a Key, &'a Records)>
    where
        Self::Extra: 'a,
    {
        self.entries().iter().map(|(_, key, records)| (key, records))
    }
}
