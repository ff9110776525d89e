//! PIT indexed by name.
//!
//! An entry is found by the keyed hash of its name; entries with the same name and other selectors share that
//! hash.
//!
//! Data is matched by the prefix hashes of its name: one probe for the full name, and one for each shorter
//! length at which a pending Interest has CanBePrefix.

use super::walk::walk;
use super::{Entries, HopFields, Key, Matches, Pit, Records, Removed};
use crate::drop::DropReason;
use crate::face::FaceId;
use crate::hashed::HashedName;
use hashlane_name::component::DIGEST_LEN;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::Interest;
use hashlane_table::Table as _;

/// PIT indexed by name.
#[derive(Clone, Debug, Default)]
pub struct ByName(Entries<(), ()>);

impl Pit for ByName {
    type Mark = ();
    type Extra = ();

    #[inline(always)]
    fn entries(&self) -> &Entries<(), ()> {
        &self.0
    }

    #[inline(always)]
    fn entries_mut(&mut self) -> &mut Entries<(), ()> {
        &mut self.0
    }

    #[inline(always)]
    fn mark(&self, _interest: &Interest<'_>, _hop: HopFields<'_>) -> Result<(), DropReason> {
        Ok(())
    }

    #[inline(always)]
    fn prefetch(&self, hash: u64, (): &()) {
        self.0.table.prefetch(hash);
    }

    #[inline(always)]
    fn find(&self, name: &HashedName<'_>, interest: &Interest<'_>, (): &()) -> Option<u32> {
        self.0.table.slot_by(name.hash(), |_, kept, _| kept.key.is(name, interest))
    }

    #[inline]
    fn add(&mut self, key: Key, (): (), expires: Time) -> u32 {
        self.0.insert(key, (), (), expires)
    }

    fn reset(&mut self) {
        self.0.reset();
    }

    #[inline]
    fn remove(&mut self, slot: u32) -> Option<Removed<(), ()>> {
        self.0.remove(slot)
    }

    #[inline(always)]
    fn find_by_hash(&self, hash: u64, is: impl FnMut(u32, &Key, &Records) -> bool) -> Option<u32> {
        self.0.find_by_hash(hash, is)
    }

    #[inline(always)]
    fn matches(
        &mut self,
        name: &HashedName<'_>,
        from: FaceId,
        _hop: HopFields<'_>,
        digest: impl Fn() -> [u8; DIGEST_LEN],
        hash: impl FnOnce(&[u8]) -> u64,
    ) -> Result<Matches, DropReason> {
        Ok(walk(self, name, from, None, |_, _| true, digest, hash))
    }
}
