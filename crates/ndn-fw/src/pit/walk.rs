//! The walk over the prefixes of the name of Data, to all entries that it satisfies.

use super::overlap::OverlapCounters;
use super::{Entries, Key, Mark, Matches, Pit};
use crate::face::FaceId;
use crate::hashed::HashedName;
use alloc::vec::Vec;
use hashlane_name::component::{DIGEST_LEN, IMPLICIT_SHA256_DIGEST};

/// An entry that is known to be satisfied before the walk.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) slot: u32,
    pub(super) key: &'a Key,
    /// Whether no other entry has its name.
    pub(super) alone: bool,
}

impl Known<'_> {
    /// Whether counters say, without a look at any prefix, that Data of this name satisfies no other.
    #[inline(always)]
    pub(super) fn is_all<M: Mark, X>(
        &self,
        name: &HashedName<'_>,
        entries: &Entries<M, X>,
        others: &OverlapCounters,
    ) -> bool {
        let exact = self.alone && self.key.components().len() == name.components.len();
        exact && entries.digests == 0 && others.prefixes() == usize::from(self.key.can_be_prefix())
    }
}

/// The entries that Data of this name satisfies, of those that went to `from`.
///
/// `begins` says of a prefix, by its length and hash, and how many known entries have it, whether others may be that prefix.
#[inline(always)]
pub(super) fn walk<P: Pit>(
    pit: &P,
    name: &HashedName<'_>,
    from: FaceId,
    known: Option<Known<'_>>,
    begins: impl Fn(u64, u32) -> bool,
    digest: impl Fn() -> [u8; DIGEST_LEN],
    hash: impl FnOnce(&[u8]) -> u64,
) -> Matches {
    let entries = pit.entries();
    let mut found = Matches::new();
    let slot = known.map(|known| known.slot);
    found.extend(slot);
    let exact = known.is_some_and(|known| known.alone && known.key.name_len() == name.len());
    if !exact {
        pit.find_by_hash(name.hash(), |other, key, records| {
            let is = key.components() == name.components;
            if is && records.out_record(from).is_some() && Some(other) != slot {
                found.push(other);
            }
            false
        });
    }
    for len in 1..name.len().min(entries.longest_prefix + 1) {
        let own =
            known.map_or(0, |known| u32::from(known.key.can_be_prefix() && known.key.name_len() == len));
        let prefix = name.prefix(len);
        if entries.prefixes.get(len).is_none_or(|entries| *entries <= own) || !begins(prefix, own) {
            continue;
        }
        pit.find_by_hash(prefix, |other, key, records| {
            let is =
                key.can_be_prefix() && key.name_len() == len && name.components.starts_with(key.components());
            if is && records.out_record(from).is_some() && Some(other) != slot {
                found.push(other);
            }
            false
        });
    }
    let own = known.map_or(0, |known| usize::from(known.alone && known.key.has_digest()));
    if entries.digests > own {
        digest_matches(pit, name, from, slot, &digest(), hash, &mut found);
    }
    found
}

#[inline(never)]
fn digest_matches<P: Pit>(
    pit: &P,
    name: &HashedName<'_>,
    from: FaceId,
    known: Option<u32>,
    digest: &[u8; DIGEST_LEN],
    hash: impl FnOnce(&[u8]) -> u64,
    found: &mut Matches,
) {
    let mut full: Vec<u8> = name.components.to_vec();
    full.extend_from_slice(&[IMPLICIT_SHA256_DIGEST as u8, DIGEST_LEN as u8]);
    full.extend_from_slice(digest);
    let hash = hash(&full);
    pit.find_by_hash(hash, |slot, key, records| {
        if key.components() == full && records.out_record(from).is_some() && Some(slot) != known {
            found.push(slot);
        }
        false
    });
}
