//! Walk over the prefixes of a Data name to all entries that the Data satisfies.

use super::overlap::OverlapCounters;
use super::{Entries, Key, Mark, Matches, Pit};
use crate::face::FaceId;
use crate::hashed::HashedName;
use alloc::vec::Vec;
use hashlane_name::component::{DIGEST_LEN, IMPLICIT_SHA256_DIGEST};

/// Entry that is known to match before the walk.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) slot: u32,
    pub(super) key: &'a Key,
    /// True if no other entry has its name.
    pub(super) alone: bool,
}

impl Known<'_> {
    /// True if counters show that Data with this name satisfies no other entry.
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

/// Finds the entries with an out-record of `from` that Data with this name satisfies.
///
/// `begins` returns true if entries other than the known one may have this prefix, given by its hash; its
/// second argument is the number of known entries with the prefix.
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
