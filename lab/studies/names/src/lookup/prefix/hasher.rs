//! Names with the hashes of all their prefixes, a burst at a time.

use super::BURST;
use hashlane_hash::scheme::{BytesHash as _, Key, Scheme as _};
use hashlane_hash::siphash::SipHash13;
use hashlane_name::ndn::Ndn;
use hashlane_name::prefix::{BurstHashes, OnePass};
use hashlane_name::walk::{Encoding as _, Walk as _};

/// Hashes of all prefixes by SipHash-1-3 under a key, in one pass over each name.
pub(crate) struct Hasher {
    root: u64,
    one_pass: OnePass<Ndn, SipHash13>,
    hashes: BurstHashes,
}

/// A name and the hashes of all its prefixes.
#[derive(Clone, Copy)]
pub(crate) struct HashedName<'a> {
    encoded: &'a [u8],
    /// Encoded components, without the type and length of the name.
    pub(crate) components: &'a [u8],
    root: u64,
    /// Hashes of the prefixes with one component and more; one for each component.
    pub(crate) hashes: &'a [u64],
}

impl<'a> HashedName<'a> {
    /// Number of components.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Hash of the prefix with `len` components, at most [`len`](Self::len).
    #[inline(always)]
    pub(crate) fn prefix(&self, len: usize) -> u64 {
        len.checked_sub(1).and_then(|at| self.hashes.get(at).copied()).unwrap_or(self.root)
    }

    /// Hash of the whole name.
    #[inline(always)]
    pub(crate) fn hash(&self) -> u64 {
        self.prefix(self.len())
    }

    /// End of the first `len` components in [`components`](Self::components).
    pub(crate) fn end(&self, len: usize) -> usize {
        let walk = Ndn::walk(self.encoded).ok().zip(len.checked_sub(1));
        walk.and_then(|(walk, last)| walk.end_of(last).ok().flatten()).unwrap_or(0)
    }

    /// The first `len` components.
    pub(crate) fn first(&self, len: usize) -> &'a [u8] {
        self.components.get(..self.end(len)).unwrap_or_default()
    }
}

/// Names of a burst with their hashes.
#[derive(Clone, Copy)]
pub(crate) struct Hashed<'a> {
    names: [HashedName<'a>; BURST],
    len: usize,
}

impl<'a> Hashed<'a> {
    /// The names, in order.
    #[inline(always)]
    pub(crate) fn names(&self) -> &[HashedName<'a>] {
        self.names.get(..self.len).unwrap_or_default()
    }
}

impl Hasher {
    pub(crate) fn new(key: &Key) -> Self {
        let hash = SipHash13::new(key);
        let root = hash.hash(&[]);
        Self { root, one_pass: OnePass::new(hash), hashes: BurstHashes::new() }
    }

    /// Hashes encoded names, at most [`BURST`] of them. A name that breaks a rule of its encoding becomes the
    /// one without components.
    #[inline(always)]
    pub(crate) fn hash<'a, 'n: 'a>(
        &'a mut self,
        names: impl Iterator<Item = &'n [u8]> + Clone,
    ) -> Hashed<'a> {
        let names = names.take(BURST);
        self.one_pass.burst(names.clone(), &mut self.hashes);
        let none = HashedName { encoded: &[], components: &[], root: self.root, hashes: &[] };
        let mut hashed = Hashed { names: [none; BURST], len: 0 };
        for (place, name) in hashed.names.iter_mut().zip(names) {
            if let (Ok(hashes), Ok(walk)) = (self.hashes.name(hashed.len), Ndn::walk(name)) {
                *place = HashedName { encoded: name, components: walk.bytes(), hashes, ..none };
            }
            hashed.len += 1;
        }
        hashed
    }
}
