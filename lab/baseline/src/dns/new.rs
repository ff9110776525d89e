//! The hash table of BIND 10's ticket 1603, and the other forms that the ticket discusses.

use super::bytes::Bytes;
use alloc::vec::Vec;
use core::array;
use core::fmt::Debug;
use hashlane_dns::render::{CompressedName, Compressor, POINTER_LIMIT};
use hashlane_name::dns::{Case, MAX_LABELS, Name};

/// Buckets of the table; the number was BIND 9's.
pub const BUCKETS: usize = 64;

/// Items that a bucket keeps room for from message to message.
pub const RESERVED: usize = 16;

/// Bytes of a suffix that are hashed.
const HASHED: usize = 16;

/// The new renderer's table of suffixes, as it was merged.
///
/// A suffix's bucket comes from a combination of its first 16 bytes in lower case, without a key: suffixes
/// with equal first bytes share a bucket, which is searched from the newest item on, so anyone can flood it.
/// An item holds the whole hash, so that bytes are compared only if it matches, and the suffix's length.
pub type New = NewTable<Stored>;

/// [`New`] with a prime number of buckets, the one above 64 ("there are less collisions with prime number
/// sizes").
pub type PrimeBuckets = NewTable<Stored, 67>;

/// [`New`] with a hash over all bytes of a suffix ("Why not hash the whole thing?").
pub type WholeName = NewTable<Stored, BUCKETS, { usize::MAX }>;

/// [`New`] before the hash was stored in its items: bytes are compared if the lengths are equal.
pub type HashNotStored = NewTable<Bare>;

/// [`New`] before the hash of a lookup was kept: it is computed again for the insertion.
pub type HashedTwice = NewTable<Stored, BUCKETS, HASHED, false>;

/// The new renderer's table of suffixes: `COUNT` buckets of items `I`, chosen by a hash of the first `LEN`
/// bytes of a suffix, which is computed again for an insertion unless it is `KEPT`.
#[derive(Clone, Debug)]
pub struct NewTable<I, const COUNT: usize = BUCKETS, const LEN: usize = HASHED, const KEPT: bool = true> {
    buckets: [Vec<I>; COUNT],
    case: Case,
    /// Hashes of the suffixes that were not found, from the left, so that none is computed twice.
    hashes: [usize; MAX_LABELS],
}

/// Entry of a bucket: a suffix in the message.
pub trait Item: Copy + Debug {
    /// The suffix of `len` bytes at `at`, with its hash.
    fn new(hash: usize, at: u16, len: u8) -> Self;

    /// Offset of the suffix in the message.
    fn at(self) -> usize;

    /// `false` if the suffix differs from one with this hash and length.
    fn may_equal(self, hash: usize, len: usize) -> bool;
}

/// Item with the whole hash of its suffix.
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    hash: usize,
    at: u16,
    len: u8,
}

/// Item without a hash.
#[derive(Clone, Copy, Debug)]
pub struct Bare {
    at: u16,
    len: u8,
}

impl Item for Stored {
    fn new(hash: usize, at: u16, len: u8) -> Self {
        Self { hash, at, len }
    }

    fn at(self) -> usize {
        usize::from(self.at)
    }

    fn may_equal(self, hash: usize, len: usize) -> bool {
        self.hash == hash && usize::from(self.len) == len
    }
}

impl Item for Bare {
    fn new(_: usize, at: u16, len: u8) -> Self {
        Self { at, len }
    }

    fn at(self) -> usize {
        usize::from(self.at)
    }

    fn may_equal(self, _: usize, len: usize) -> bool {
        usize::from(self.len) == len
    }
}

impl<I, const COUNT: usize, const LEN: usize, const KEPT: bool> Default for NewTable<I, COUNT, LEN, KEPT> {
    fn default() -> Self {
        Self {
            buckets: array::from_fn(|_| Vec::with_capacity(RESERVED)),
            case: Case::Ignored,
            hashes: [0; MAX_LABELS],
        }
    }
}

impl<I: Item, const COUNT: usize, const LEN: usize, const KEPT: bool> NewTable<I, COUNT, LEN, KEPT> {
    /// `hash_combine` of Boost over the bytes, on 64 bits; the hash of a byte is its value. Its remainder by
    /// the number of buckets names the bucket.
    pub fn hash(suffix: &[u8], case: Case) -> usize {
        suffix.iter().take(LEN).fold(0_usize, |seed, byte| {
            let combined = usize::from(case.fold(*byte))
                .wrapping_add(0x9e37_79b9)
                .wrapping_add(seed << 6)
                .wrapping_add(seed >> 2);
            seed ^ combined
        })
    }

    /// Number of items in each bucket.
    pub fn occupancy(&self) -> impl Iterator<Item = usize> {
        self.buckets.iter().map(Vec::len)
    }

    fn find(&self, written: &[u8], suffix: &[u8], hash: usize) -> Option<u16> {
        let bucket = &self.buckets[hash % COUNT];
        let found = bucket.iter().rev().find(|item| {
            item.may_equal(hash, suffix.len())
                && Bytes::new(written, item.at())
                    .map(|byte| self.case.fold(byte))
                    .zip(suffix)
                    .all(|(written, byte)| written == self.case.fold(*byte))
        });
        found.map(|item| item.at() as u16)
    }
}

impl<I: Item, const COUNT: usize, const LEN: usize, const KEPT: bool> Compressor
    for NewTable<I, COUNT, LEN, KEPT>
{
    fn start(&mut self, case: Case) {
        for bucket in &mut self.buckets {
            bucket.clear();
            bucket.shrink_to(RESERVED);
        }
        self.case = case;
    }

    fn place(&mut self, written: &[u8], name: Name<'_>) -> CompressedName {
        let bytes = name.as_bytes();
        let mut labels = name.labels();
        let mut missed = 0;
        let mut pointer = None;
        while labels.rest().len() > 1 {
            let hash = Self::hash(labels.rest(), self.case);
            pointer = self.find(written, labels.rest(), hash);
            if pointer.is_some() {
                break;
            }
            self.hashes[missed] = hash;
            missed += 1;
            labels.next();
        }
        let literal = if pointer.is_some() { bytes.len() - labels.rest().len() } else { bytes.len() };
        let mut labels = name.labels();
        for hash in &self.hashes[..missed] {
            let len = labels.rest().len();
            let at = written.len() + bytes.len() - len;
            if at < POINTER_LIMIT {
                let hash = if KEPT { *hash } else { Self::hash(labels.rest(), self.case) };
                self.buckets[hash % COUNT].push(I::new(hash, at as u16, len as u8));
            }
            labels.next();
        }
        CompressedName::new(literal, pointer)
    }

    fn truncate(&mut self, len: usize) {
        for bucket in &mut self.buckets {
            bucket.retain(|item| item.at() < len);
        }
    }
}
