//! The hash table of BIND 10's ticket 1603.

use super::bytes::Bytes;
use alloc::vec::Vec;
use core::array;
use hashlane_dns::render::{Compressor, POINTER_LIMIT, Place};
use hashlane_name::dns::{Case, MAX_LABELS, Name};

/// Buckets of the table; the number was BIND 9's.
pub const BUCKETS: usize = 64;

/// Items that a bucket keeps room for from message to message.
pub const RESERVED: usize = 16;

/// Bytes of a suffix that are hashed.
const HASHED: usize = 16;

/// The new renderer's table of suffixes.
///
/// A suffix's bucket comes from a combination of its first 16 bytes in lower case, without a key: suffixes
/// with equal first bytes share a bucket, which is searched from the newest item on, so anyone can flood it.
/// An item holds the whole hash, so that bytes are compared only if it matches, and the suffix's length.
#[derive(Clone, Debug)]
pub struct New {
    buckets: [Vec<Item>; BUCKETS],
    case: Case,
    /// Hashes of the suffixes that were not found, from the left, so that none is computed twice.
    hashes: [usize; MAX_LABELS],
}

#[derive(Clone, Copy, Debug)]
struct Item {
    hash: usize,
    at: u16,
    len: u8,
}

impl Default for New {
    fn default() -> Self {
        Self {
            buckets: array::from_fn(|_| Vec::with_capacity(RESERVED)),
            case: Case::Ignored,
            hashes: [0; MAX_LABELS],
        }
    }
}

impl New {
    /// `hash_combine` of Boost over the bytes, on 64 bits; the hash of a byte is its value. Its low six bits
    /// name the bucket.
    pub fn hash(suffix: &[u8], case: Case) -> usize {
        suffix.iter().take(HASHED).fold(0_usize, |seed, byte| {
            let combined = usize::from(case.fold(*byte))
                .wrapping_add(0x9e37_79b9)
                .wrapping_add(seed << 6)
                .wrapping_add(seed >> 2);
            seed ^ combined
        })
    }

    fn find(&self, written: &[u8], suffix: &[u8], hash: usize) -> Option<u16> {
        let bucket = &self.buckets[hash % BUCKETS];
        let found = bucket.iter().rev().find(|item| {
            item.hash == hash
                && usize::from(item.len) == suffix.len()
                && Bytes::new(written, usize::from(item.at))
                    .map(|byte| self.case.fold(byte))
                    .zip(suffix)
                    .all(|(written, byte)| written == self.case.fold(*byte))
        });
        found.map(|item| item.at)
    }
}

impl Compressor for New {
    fn start(&mut self, case: Case) {
        for bucket in &mut self.buckets {
            bucket.clear();
            bucket.shrink_to(RESERVED);
        }
        self.case = case;
    }

    fn place(&mut self, written: &[u8], name: Name<'_>) -> Place {
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
                self.buckets[hash % BUCKETS].push(Item { hash: *hash, at: at as u16, len: len as u8 });
            }
            labels.next();
        }
        Place::new(literal, pointer)
    }

    fn truncate(&mut self, len: usize) {
        for bucket in &mut self.buckets {
            bucket.retain(|item| usize::from(item.at) < len);
        }
    }
}
