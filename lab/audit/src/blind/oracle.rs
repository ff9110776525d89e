//! The function as a search sees it: it hashes keys and counts them.

use crate::draw::Draw;
use crate::keys::Keys;
use crate::narrowed::narrowed_seed;
use crate::subject::{AuditedHash, Fault, Lengths, SubjectInfo};
use crate::table::Geometry;
use hashlane_hash::scheme::Key;

/// Work of hashing a key besides its bytes, in bytes.
const CALL: u64 = 32;

/// The table under search, and the keys that are wanted.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) geometry: &'a Geometry,
    /// Bits of the seed, the lowest ones, if they are fewer than its type has.
    pub(crate) seed_bits: Option<u32>,
    /// Keys of a flood, at most.
    pub(crate) count: usize,
}

impl Scope<'_> {
    /// Seed of a table.
    pub(super) fn seed(&self, draw: &mut Draw) -> Key {
        narrowed_seed(&self.geometry.seed(draw), self.seed_bits)
    }
}

/// A function under search.
pub(super) struct Oracle<'a> {
    subject: &'a mut dyn AuditedHash,
    pub(super) scope: Scope<'a>,
    pub(super) draw: Draw,
    leaked: Key,
    hashes: u64,
    work: u64,
}

impl<'a> Oracle<'a> {
    pub(super) fn new(subject: &'a mut dyn AuditedHash, scope: Scope<'a>, leaked: Key, draw: Draw) -> Self {
        Self { subject, scope, draw, leaked, hashes: 0, work: 0 }
    }

    /// Keys hashed so far.
    pub(super) fn hashes(&self) -> u64 {
        self.hashes
    }

    /// Work so far, in bytes hashed.
    pub(super) fn work(&self) -> u64 {
        self.work
    }

    /// Adds work that hashes no key.
    pub(super) fn add_work(&mut self, bytes: u64) {
        self.work += bytes;
    }

    /// Seed of the table, for searches that need it.
    pub(super) fn leaked(&self) -> Key {
        self.leaked
    }

    /// Fresh seed of a table.
    pub(super) fn seed(&mut self) -> Key {
        self.scope.seed(&mut self.draw)
    }

    /// Hashes of `keys` under `seed`.
    pub(super) fn under(&mut self, seed: &Key, keys: &Keys) -> Result<Vec<u64>, Fault> {
        let mut hashes = Vec::with_capacity(keys.len());
        self.hash_all(seed, keys, &mut hashes)?;
        Ok(hashes)
    }

    /// Lengths to search: the only one that the function takes, else `usual`.
    pub(super) fn lengths(&self, usual: &[usize]) -> Vec<usize> {
        match self.subject.info().lengths {
            Lengths::Exactly(length) => vec![length],
            Lengths::Any => usual.to_vec(),
        }
    }

    /// True if keys may have any length.
    pub(super) fn takes_any_length(&self) -> bool {
        self.subject.info().lengths == Lengths::Any
    }

    /// Bits of a hash.
    pub(super) fn width(&self) -> u32 {
        self.subject.info().width
    }

    /// A random number below `end`, which is not 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.draw.word() % end.max(1) as u64) as usize
    }
}

impl AuditedHash for Oracle<'_> {
    fn info(&self) -> &SubjectInfo {
        self.subject.info()
    }

    fn hash_all(&mut self, key: &Key, keys: &Keys, hashes: &mut Vec<u64>) -> Result<(), Fault> {
        self.hashes += keys.len() as u64;
        self.work += keys.iter().map(|key| key.len() as u64 + CALL).sum::<u64>();
        self.subject.hash_all(key, keys, hashes)
    }
}
