//! PIT indexed by token.
//!
//! A token is sent upstream with each Interest, to faces that [accept tokens](crate::face::Face::pit_tokens),
//! and returned with the answer. It contains the slot of the entry and a secret of the entry, so Data finds
//! its entry by one array access. An index by name serves Interests, which carry no token of this forwarder,
//! and Data without a token.
//!
//! ```text
//! token = shard(8) mixed(slot(22) secret(18))      6 bytes
//! ```
//! The layout is NDN-DPDK's: six bytes, first the shard, which a dispatcher reads without a key; ndnd returns
//! only tokens of this length. The other bits are multiplied by a secret odd number modulo 2⁴⁰, so that
//! neighbours learn neither slots nor the size of the table. The secret is a keyed hash of the number of
//! insertions, so it is unpredictable, and the next entry in the same slot mostly has another one. A guessed
//! token gains nothing: a token is only a hint.

use super::overlap::{OverlapCounters, Sibling, join, leave};
use super::walk::{Known, walk};
use super::{Entries, HopFields, Key, Mark, Matches, Pit, Records, Removed};
use crate::drop::DropReason;
use crate::face::FaceId;
use crate::hashed::HashedName;
use hashlane_hash::scheme::{BytesHash, Key as HashKey, Scheme};
use hashlane_hash::siphash::SipHash24;
use hashlane_name::component::DIGEST_LEN;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::Interest;
use hashlane_table::Table as _;

/// Length of a token, in bytes.
pub const TOKEN_LEN: usize = 6;

/// Bits of the slot: room for four times the default number of entries.
const SLOT_BITS: u32 = 22;
/// Bits of the secret.
const SECRET_BITS: u32 = 18;
/// Bits of slot and secret.
const MIXED_BITS: u32 = SLOT_BITS + SECRET_BITS;
const MIXED: u64 = (1 << MIXED_BITS) - 1;

/// Secret of an entry. It is stored beside the key, which is read next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Secret(u32);

impl Mark for Secret {
    #[inline(always)]
    fn table_hash(&self, key: &Key) -> u64 {
        key.name_hash()
    }
}

/// Part of an entry that the index by token adds.
#[derive(Clone, Debug)]
pub struct TokenExtra {
    /// Token sent upstream.
    bytes: [u8; TOKEN_LEN],
    siblings: u32,
}

impl Sibling for TokenExtra {
    fn siblings(&mut self) -> &mut u32 {
        &mut self.siblings
    }
}

/// PIT indexed by token.
#[derive(Clone)]
pub struct ByToken {
    entries: Entries<Secret, TokenExtra>,
    others: OverlapCounters,
    secrets: SipHash24,
    /// Secret odd factor, and its inverse modulo 2⁴⁰.
    factors: [u64; 2],
    shard: u8,
    inserted: u64,
}

/// Keeps keys out of logs.
impl core::fmt::Debug for ByToken {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ByToken").field("entries", &self.entries.len()).field("shard", &self.shard).finish()
    }
}

impl ByToken {
    /// Creates an empty table. Tokens begin with `shard`, the number of the forwarding thread; `key` should
    /// have no other use.
    pub fn new(key: &HashKey, shard: u8) -> Self {
        let secrets = SipHash24::new(key);
        let factor = secrets.hash(b"factor") | 1;
        // Newton's iteration doubles the number of correct bits, which is 3 for an odd number as its own
        // inverse.
        let inverse = (0..5).fold(factor, |inverse, _| {
            inverse.wrapping_mul(2_u64.wrapping_sub(factor.wrapping_mul(inverse)))
        });
        Self {
            entries: Entries::default(),
            others: OverlapCounters::default(),
            secrets,
            factors: [factor, inverse],
            shard,
            inserted: 0,
        }
    }

    /// Secret of the entry that is inserted next.
    fn secret(&self) -> Secret {
        Secret((self.secrets.hash(&self.inserted.to_le_bytes()) >> (64 - SECRET_BITS)) as u32)
    }

    /// Token of an entry in a slot; all 0 if the slot number is too large for a token.
    fn token(&self, slot: u32, Secret(secret): Secret) -> [u8; TOKEN_LEN] {
        if slot >> SLOT_BITS != 0 {
            return [0; TOKEN_LEN];
        }
        let mixed =
            (u64::from(slot) << SECRET_BITS | u64::from(secret)).wrapping_mul(self.factors[0]) & MIXED;
        let [_, _, token @ ..] = (u64::from(self.shard) << MIXED_BITS | mixed).to_be_bytes();
        token
    }

    /// Slot and secret in a token of this shard.
    #[inline(always)]
    fn read(&self, token: &[u8]) -> Option<(u32, Secret)> {
        let [shard, a, b, c, d, e] = *<&[u8; TOKEN_LEN]>::try_from(token).ok()?;
        let mixed = u64::from_be_bytes([0, 0, 0, a, b, c, d, e]).wrapping_mul(self.factors[1]) & MIXED;
        let secret = Secret((mixed & ((1 << SECRET_BITS) - 1)) as u32);
        (shard == self.shard).then_some(((mixed >> SECRET_BITS) as u32, secret))
    }

    /// Finds the entry of a token.
    #[inline(always)]
    fn hit(&self, token: &[u8]) -> Option<(u32, &Key, &Records, &TokenExtra)> {
        let (slot, secret) = self.read(token)?;
        let (kept, stored) = self.entries.table.entry(slot)?;
        (kept.mark == secret).then_some((slot, &kept.key, &stored.records, &stored.extra))
    }
}

impl Pit for ByToken {
    type Mark = Secret;
    type Extra = TokenExtra;

    #[inline(always)]
    fn entries(&self) -> &Entries<Secret, TokenExtra> {
        &self.entries
    }

    #[inline(always)]
    fn entries_mut(&mut self) -> &mut Entries<Secret, TokenExtra> {
        &mut self.entries
    }

    #[inline(always)]
    fn mark(&self, _interest: &Interest<'_>, _hop: HopFields<'_>) -> Result<Secret, DropReason> {
        // The secret is drawn at insertion.
        Ok(Secret::default())
    }

    #[inline(always)]
    fn prefetch(&self, hash: u64, _mark: &Secret) {
        self.entries.table.prefetch(hash);
    }

    #[inline(always)]
    fn prefetch_match(&self, hash: u64, hop: HopFields<'_>) {
        if let Some((slot, _)) = self.read(hop.token) {
            self.entries.table.prefetch_slot(slot);
        }
        // Removal of the entry reads this bucket.
        self.entries.table.prefetch(hash);
    }

    #[inline(always)]
    fn prefetch_match_entry(&self, hash: u64, hop: HopFields<'_>) {
        if hop.token.len() != TOKEN_LEN {
            self.entries.table.prefetch_entry(hash);
        }
    }

    #[inline(always)]
    fn find(&self, name: &HashedName<'_>, interest: &Interest<'_>, _mark: &Secret) -> Option<u32> {
        self.entries.table.slot_by(name.hash(), |_, kept, _| kept.key.is(name, interest))
    }

    #[inline]
    fn find_nacked(
        &self,
        name: &HashedName<'_>,
        interest: &Interest<'_>,
        mark: &Secret,
        hop: HopFields<'_>,
    ) -> Option<u32> {
        match self.hit(hop.token) {
            Some((slot, key, _, _)) if key.is(name, interest) => Some(slot),
            _ => self.find(name, interest, mark),
        }
    }

    fn reset(&mut self) {
        self.entries.reset();
        self.others = OverlapCounters::default();
    }

    #[inline]
    fn add(&mut self, key: Key, _mark: Secret, expires: Time) -> u32 {
        let secret = self.secret();
        let extra = TokenExtra { bytes: [0; TOKEN_LEN], siblings: 0 };
        let name = key.name_hash();
        let slot = self.entries.insert(key, secret, extra, expires);
        self.inserted = self.inserted.wrapping_add(1);
        let token = self.token(slot, secret);
        if let Some(extra) = self.entries.extra_mut(slot).invariant("the entry was inserted") {
            extra.bytes = token;
        }
        join(self, |pit| &mut pit.others, name, slot);
        slot
    }

    #[inline]
    fn remove(&mut self, slot: u32) -> Option<Removed<Secret, TokenExtra>> {
        let gone = self.entries.remove(slot)?;
        self.others.leaves(&gone.key);
        leave(self, |pit| &mut pit.others, gone.key.name_hash(), slot, gone.extra.siblings);
        Some(gone)
    }

    #[inline(always)]
    fn find_by_hash(&self, hash: u64, is: impl FnMut(u32, &Key, &Records) -> bool) -> Option<u32> {
        self.entries.find_by_hash(hash, is)
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
        let hit = self.hit(hop.token).filter(|(_, key, records, _)| {
            key.is_answered_by(name.components, &digest) && records.out_record(from).is_some()
        });
        let known = hit.map(|(slot, key, _, noted)| Known {
            slot,
            key,
            alone: self.others.is_alone(|| noted.siblings),
        });
        if let Some(known) = known
            && known.is_all(name, &self.entries, &self.others)
        {
            // Removal of the entry reads this bucket.
            self.entries.table.prefetch(known.key.name_hash());
            return Ok(Matches::from_slice(&[known.slot]));
        }
        let others = &self.others;
        Ok(walk(self, name, from, known, |prefix, own| others.more_than(own, prefix), digest, hash))
    }

    #[inline(always)]
    fn upstream_fields(&self, slot: u32) -> HopFields<'_> {
        let entry = self.entries.table.entry(slot).invariant("the caller found the entry");
        let token = entry.map_or(&[][..], |(_, stored)| &stored.extra.bytes);
        let none = token.iter().all(|byte| *byte == 0);
        HopFields { token: if none { &[] } else { token }, digest: &[] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_contains_its_slot_if_that_fits() {
        let pit = ByToken::new(&HashKey::VECTOR, 0xa5);
        let most = (1 << SLOT_BITS) - 1;
        for (slot, secret) in [(0, 1), (1, 0), (most, (1 << SECRET_BITS) - 1)] {
            let token = pit.token(slot, Secret(secret));
            let [shard, mixed @ ..] = token;
            assert_eq!(shard, 0xa5);
            let mixed = mixed.iter().fold(0_u64, |mixed, byte| mixed << 8 | u64::from(*byte));
            let read = mixed.wrapping_mul(pit.factors[1]) & MIXED;
            assert_eq!(read, u64::from(slot) << SECRET_BITS | u64::from(secret));
        }
        assert_eq!(pit.token(most + 1, Secret(1)), [0; TOKEN_LEN], "an entry without a token");
    }
}
