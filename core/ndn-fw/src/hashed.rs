//! Names with the keyed hashes of all their prefixes, shared by all tables.

use hashlane_hash::scheme::{BytesHash, Key, Scheme};
use hashlane_hash::siphash::SipHash24;
use hashlane_name::error::ParseError;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_name::prefix::OnePass;
use hashlane_name_map::map::{Delimited, HashedPrefixes, Prefix};
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::tlv::single;

/// Components of a name, and the hashes of its prefixes. Computed once per packet.
#[derive(Clone, Copy, Debug)]
pub struct HashedName<'a> {
    /// Encoded components, without the type and length of the name.
    pub components: &'a [u8],
    /// Hash of zero components, the same for all names.
    pub root: u64,
    /// Hashes of the prefixes with one component and more; one for each component.
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

    /// Hash of the prefix with `len` components. Valid: up to [`len`](Self::len).
    #[inline(always)]
    pub fn prefix(&self, len: usize) -> u64 {
        match len.checked_sub(1) {
            None => self.root,
            Some(at) => {
                self.hashes.get(at).copied().invariant("a prefix is not longer than the name").unwrap_or(0)
            }
        }
    }

    /// Hash of the whole name.
    #[inline(always)]
    pub fn hash(&self) -> u64 {
        self.hashes.last().copied().unwrap_or(self.root)
    }

    /// The name as a key of a map.
    #[inline]
    pub(crate) fn key(&self) -> Prefix<'a> {
        Prefix { bytes: self.components, components: self.len(), hash: self.hash() }
    }

    /// The first `len` components of this name, whose encoding is `components`.
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

/// Components contain their lengths, so that bytes with which a name starts end with a component.
impl HashedPrefixes for HashedName<'_> {
    #[inline(always)]
    fn components(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn hash(&self, components: usize) -> u64 {
        self.prefix(components)
    }

    #[inline(always)]
    fn starts_with(&self, components: usize, parts: [&[u8]; 2]) -> bool {
        let Self { components: bytes, root, hashes } = *self;
        Delimited { bytes, root, hashes }.starts_with(components, parts)
    }
}

/// Hasher of single names, which checks a name while it hashes it.
#[derive(Clone)]
pub struct NameHasher {
    hash: SipHash24,
    root: u64,
    one_pass: OnePass<Ndn, SipHash24>,
}

impl NameHasher {
    /// Creates a hasher under `key`.
    pub fn new(key: &Key) -> Self {
        let hash = SipHash24::new(key);
        Self { root: hash.hash(&[]), one_pass: OnePass::new(hash.clone()), hash }
    }

    /// Checks and hashes a name, given with its type and length.
    ///
    /// # Errors
    /// The rule that the name breaks.
    #[inline]
    pub fn parse<'a>(&'a mut self, name: &'a [u8]) -> Result<HashedName<'a>, ParseError> {
        let root = self.root;
        let hashes = self.one_pass.name(name)?;
        Ok(HashedName { components: components(name), root, hashes })
    }

    /// Hashes a checked name.
    pub fn hash_name<'a>(&'a mut self, name: &NdnName<'a>) -> HashedName<'a> {
        let root = self.root();
        self.parse(name.as_bytes()).ok().invariant("the name was checked").unwrap_or(root)
    }

    /// The name without components.
    pub fn root<'a>(&self) -> HashedName<'a> {
        HashedName { components: &[], root: self.root, hashes: &[] }
    }

    /// Hash of a name with these encoded components.
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

/// Encoded components of a checked name, given with its type and length.
#[inline(always)]
pub(crate) fn components(name: &[u8]) -> &[u8] {
    match name {
        [_, len, components @ ..] if *len < 253 => components,
        _ => single(name).ok().invariant("the name was checked").map_or(&[], |name| name.value),
    }
}
