//! Prefixes and names as the map takes them: their bytes, and hashes that the caller has computed.

/// A prefix: a key of a map. Equal prefixes have equal bytes and equally many components.
#[derive(Clone, Copy, Debug)]
pub struct Prefix<'a> {
    /// Its encoded components. A map takes at most 65,535 bytes.
    pub bytes: &'a [u8],
    /// Number of components. A map takes at most 255.
    pub components: usize,
    /// Hash of `bytes`, under a secret key if a remote party can choose them.
    pub hash: u64,
}

impl Prefix<'_> {
    /// True if these are its bytes.
    #[inline(always)]
    pub(super) fn is(&self, parts: [&[u8]; 2]) -> bool {
        is(self.bytes, parts)
    }
}

/// A name to look up, with the hashes of its prefixes.
pub trait HashedPrefixes {
    /// Number of components.
    fn components(&self) -> usize;

    /// Hash of the prefix with so many components, at most as many as the name has.
    fn hash(&self, components: usize) -> u64;

    /// True if the first `components` components have these bytes, given in two parts.
    fn starts_with(&self, components: usize, parts: [&[u8]; 2]) -> bool;
}

impl<N: HashedPrefixes> HashedPrefixes for &N {
    #[inline(always)]
    fn components(&self) -> usize {
        (**self).components()
    }

    #[inline(always)]
    fn hash(&self, components: usize) -> u64 {
        (**self).hash(components)
    }

    #[inline(always)]
    fn starts_with(&self, components: usize, parts: [&[u8]; 2]) -> bool {
        (**self).starts_with(components, parts)
    }
}

/// A name whose components delimit themselves, as in NDN, CCNx, and DNS names reversed by label: no two
/// sequences of as many components start with one another.
#[derive(Clone, Copy, Debug)]
pub struct Delimited<'a> {
    /// Its encoded components.
    pub bytes: &'a [u8],
    /// Hash of no bytes, the prefix without components.
    pub root: u64,
    /// Hashes of the prefixes with one component and more.
    pub hashes: &'a [u64],
}

impl HashedPrefixes for Delimited<'_> {
    #[inline(always)]
    fn components(&self) -> usize {
        self.hashes.len()
    }

    #[inline(always)]
    fn hash(&self, components: usize) -> u64 {
        hash(self.root, self.hashes, components)
    }

    #[inline(always)]
    fn starts_with(&self, _components: usize, parts: [&[u8]; 2]) -> bool {
        starts_with(self.bytes, parts)
    }
}

/// A name whose components end at stated bytes, such as the path of a URL.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Ends of the prefixes with one component and more, in bytes.
    pub ends: &'a [usize],
    /// Hash of no bytes, the prefix without components.
    pub root: u64,
    /// Hashes of the prefixes with one component and more.
    pub hashes: &'a [u64],
}

impl HashedPrefixes for Ended<'_> {
    #[inline(always)]
    fn components(&self) -> usize {
        self.hashes.len().min(self.ends.len())
    }

    #[inline(always)]
    fn hash(&self, components: usize) -> u64 {
        hash(self.root, self.hashes, components)
    }

    #[inline(always)]
    fn starts_with(&self, components: usize, parts: [&[u8]; 2]) -> bool {
        let end = match components.checked_sub(1) {
            None => Some(0),
            Some(at) => self.ends.get(at).copied(),
        };
        end.and_then(|end| self.bytes.get(..end)).is_some_and(|bytes| is(bytes, parts))
    }
}

/// True if the bytes start with two parts. The second one is mostly empty.
#[inline(always)]
fn starts_with(bytes: &[u8], [head, rest]: [&[u8]; 2]) -> bool {
    bytes.starts_with(head)
        && (rest.is_empty() || bytes.get(head.len()..).is_some_and(|bytes| bytes.starts_with(rest)))
}

/// True if the bytes equal two parts.
#[inline(always)]
fn is(bytes: &[u8], [head, rest]: [&[u8]; 2]) -> bool {
    bytes.len() == head.len() + rest.len() && starts_with(bytes, [head, rest])
}

#[inline(always)]
fn hash(root: u64, hashes: &[u64], components: usize) -> u64 {
    match components.checked_sub(1) {
        None => root,
        Some(at) => {
            let hash = hashes.get(at).copied();
            debug_assert!(hash.is_some(), "a prefix is not longer than its name");
            hash.unwrap_or(root)
        }
    }
}
