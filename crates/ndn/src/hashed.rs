//! A name and the keyed hashes of all its prefixes, which all tables share.

use crate::tlv::single;
use crate::wire::NameReader;
use hash::scheme::{BytesHash, Key, Scheme};
use hash::siphash::SipHash24;
use name::error::ParseError;
use name::ndn::{Ndn, NdnName};
use name::prefix::OnePass;

/// A name's components and the hashes of its prefixes.
#[derive(Clone, Copy, Debug)]
pub struct HashedName<'a> {
    /// The encoded components, without the type and the length of the name.
    pub components: &'a [u8],
    /// The hashes of its prefixes, from none of its components to all: one more than it has components.
    pub hashes: &'a [u64],
}

impl<'a> HashedName<'a> {
    /// How many components it has.
    #[inline]
    pub fn len(&self) -> usize {
        self.hashes.len().saturating_sub(1)
    }

    /// Whether it has none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The hash of the prefix of so many components; 0 where it has fewer.
    #[inline(always)]
    pub fn prefix(&self, len: usize) -> u64 {
        self.hashes.get(len).copied().unwrap_or_default()
    }

    /// The hash of the whole name.
    #[inline(always)]
    pub fn hash(&self) -> u64 {
        self.hashes.last().copied().unwrap_or_default()
    }
}

/// Hashes names under a key, in the walk that checks them. Made once and reused.
#[derive(Clone)]
pub struct NameHasher {
    hash: SipHash24,
    one_pass: OnePass<Ndn, SipHash24>,
    hashes: [u64; name::MAX_COMPONENTS + 1],
    len: usize,
}

impl NameHasher {
    /// Under `key`.
    pub fn new(key: &Key) -> Self {
        let hash = SipHash24::new(key);
        let mut hashes = [0; name::MAX_COMPONENTS + 1];
        hashes[0] = hash.hash(&[]);
        Self { one_pass: OnePass::new(hash.clone()), hash, hashes, len: 0 }
    }

    /// Checks a name, given with its type and length, and hashes it.
    ///
    /// # Errors
    /// The rule that it breaks.
    #[inline]
    pub fn read(&mut self, name: &[u8]) -> Result<usize, ParseError> {
        let hashes = self.one_pass.name(name)?;
        let Some(room) = self.hashes.get_mut(1..=hashes.len()) else { return Ok(0) };
        room.copy_from_slice(hashes);
        self.len = hashes.len();
        Ok(self.len)
    }

    /// The hashes of the prefixes of the name that was read last, from none of its components to all.
    #[inline]
    pub fn hashes(&self) -> &[u64] {
        self.hashes.get(..=self.len).unwrap_or_default()
    }

    /// A checked name with its hashes.
    pub fn name<'a>(&'a mut self, name: &NdnName<'a>) -> HashedName<'a> {
        // It was checked.
        let _ = self.read(name.as_bytes());
        HashedName { components: components(name.as_bytes()), hashes: self.hashes() }
    }

    /// The name without components.
    pub fn root(&self) -> HashedName<'_> {
        HashedName { components: &[], hashes: self.hashes.get(..1).unwrap_or_default() }
    }

    /// The hash of some octets, as that of a name whose components they are.
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

impl NameReader for NameHasher {
    #[inline(always)]
    fn packet_name(&mut self, name: &[u8]) -> Result<usize, ParseError> {
        self.read(name)
    }
}

/// The components of a checked name, which is given with its type and length.
#[inline(always)]
pub(crate) fn components(name: &[u8]) -> &[u8] {
    match name {
        [_, len, components @ ..] if *len < 253 => components,
        _ => single(name).map_or(&[], |name| name.value),
    }
}
