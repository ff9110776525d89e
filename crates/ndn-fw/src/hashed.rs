//! A name and the keyed hashes of all its prefixes, which all tables share.

use hashlane_hash::scheme::{BytesHash, Key, Scheme};
use hashlane_hash::siphash::SipHash24;
use hashlane_name::error::ParseError;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_name::prefix::OnePass;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::tlv::single;

/// A name's components and the hashes of its prefixes. Made once for a packet, and lent to all tables.
#[derive(Clone, Copy, Debug)]
pub struct HashedName<'a> {
    /// The encoded components, without the type and the length of the name.
    pub components: &'a [u8],
    /// The hash of no component, which is the same for all names.
    pub root: u64,
    /// The hashes of the prefixes of one component and more, as many as the name has components.
    pub hashes: &'a [u64],
}

impl<'a> HashedName<'a> {
    /// Number of components.
    #[inline]
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// True for the name without components.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// The hash of the prefix of so many components; 0 where the name has fewer.
    #[inline(always)]
    pub fn prefix(&self, len: usize) -> u64 {
        match len.checked_sub(1) {
            None => self.root,
            Some(at) => {
                self.hashes.get(at).copied().invariant("a prefix is not longer than the name").unwrap_or(0)
            }
        }
    }

    /// The hash of the whole name.
    #[inline(always)]
    pub fn hash(&self) -> u64 {
        self.hashes.last().copied().unwrap_or(self.root)
    }

    /// The name of these components, the first `len` of this one.
    #[inline(always)]
    pub(crate) fn truncated(&self, len: usize, components: &'a [u8]) -> Self {
        Self {
            components,
            hashes: self
                .hashes
                .get(..len)
                .invariant("a prefix is not longer than the name")
                .unwrap_or(self.hashes),
            ..*self
        }
    }
}

/// Hashes names one at a time under a key, in the walk that checks them. Made once and reused.
#[derive(Clone)]
pub struct NameHasher {
    hash: SipHash24,
    root: u64,
    one_pass: OnePass<Ndn, SipHash24>,
}

impl NameHasher {
    /// Under `key`.
    pub fn new(key: &Key) -> Self {
        let hash = SipHash24::new(key);
        Self { root: hash.hash(&[]), one_pass: OnePass::new(hash.clone()), hash }
    }

    /// Checks a name, given with its type and length, and hashes it.
    ///
    /// # Errors
    /// The rule that it breaks.
    #[inline]
    pub fn parse<'a>(&'a mut self, name: &'a [u8]) -> Result<HashedName<'a>, ParseError> {
        let root = self.root;
        let hashes = self.one_pass.name(name)?;
        Ok(HashedName { components: components(name), root, hashes })
    }

    /// A checked name with its hashes.
    pub fn hash_name<'a>(&'a mut self, name: &NdnName<'a>) -> HashedName<'a> {
        let root = self.root();
        self.parse(name.as_bytes()).ok().invariant("the name was checked").unwrap_or(root)
    }

    /// The name without components.
    pub fn root<'a>(&self) -> HashedName<'a> {
        HashedName { components: &[], root: self.root, hashes: &[] }
    }

    /// The hash of some bytes, as that of a name whose components they are.
    #[inline]
    pub fn hash(&self, components: &[u8]) -> u64 {
        self.hash.hash(components)
    }
}

/// Keeps keys out of logs.
impl core::fmt::Debug for NameHasher {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("NameHasher(..)")
    }
}

/// The components of a checked name, which is given with its type and length.
#[inline(always)]
pub(crate) fn components(name: &[u8]) -> &[u8] {
    match name {
        [_, len, components @ ..] if *len < 253 => components,
        _ => single(name).ok().invariant("the name was checked").map_or(&[], |name| name.value),
    }
}
