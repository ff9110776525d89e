//! Key of a PIT entry.

use crate::hashed::{HashedName, components};
use alloc::boxed::Box;
use hashlane_name::component::{DIGEST_LEN, IMPLICIT_SHA256_DIGEST};
use hashlane_ndn::invariant::{Invariant as _, part};
use hashlane_ndn::wire::Interest;

/// Key of a PIT entry: name, selectors and forwarding hint.
#[derive(Clone, Debug)]
pub struct Key {
    hash: u64,
    /// Interest of the first downstream.
    packet: Box<[u8]>,
    /// Span of the name's components in the packet.
    name: (u16, u16),
    hint: (u16, u16),
    nonce_at: u16,
    /// Number of components of the name.
    len: u8,
    can_be_prefix: bool,
    must_be_fresh: bool,
    /// True if the name ends with an implicit digest.
    digest: bool,
}

// The table requires `Eq`; entries are found by parts of their key.
impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
            && self.components() == other.components()
            && (self.can_be_prefix, self.must_be_fresh) == (other.can_be_prefix, other.must_be_fresh)
            && self.hint() == other.hint()
    }
}

impl Eq for Key {}

impl Key {
    #[inline(always)]
    fn span(&self, (from, to): (u16, u16)) -> &[u8] {
        part(&self.packet, usize::from(from)..usize::from(to))
    }

    /// Encoded components of the name.
    #[inline(always)]
    pub fn components(&self) -> &[u8] {
        self.span(self.name)
    }

    /// Number of components of the name.
    #[inline]
    pub fn name_len(&self) -> usize {
        self.len.into()
    }

    #[inline(always)]
    pub(crate) fn hint(&self) -> &[u8] {
        self.span(self.hint)
    }

    /// Interest of the first downstream.
    #[inline]
    pub fn packet(&self) -> &[u8] {
        &self.packet
    }

    /// Offset of the Nonce in the packet.
    #[inline]
    pub fn nonce_at(&self) -> usize {
        self.nonce_at.into()
    }

    /// Keyed hash of the name.
    #[inline]
    pub fn name_hash(&self) -> u64 {
        self.hash
    }

    /// True if the Interest has CanBePrefix.
    #[inline]
    pub fn can_be_prefix(&self) -> bool {
        self.can_be_prefix
    }

    /// True if the Interest has MustBeFresh.
    #[inline]
    pub fn must_be_fresh(&self) -> bool {
        self.must_be_fresh
    }

    /// Creates the key of `interest`, whose name is `name`.
    #[inline(always)]
    pub(super) fn new(name: &HashedName<'_>, interest: &Interest<'_>) -> Self {
        let bytes = interest.as_bytes();
        let span = |field: &[u8]| {
            if field.is_empty() {
                return (0, 0);
            }
            let from = (field.as_ptr() as usize).wrapping_sub(bytes.as_ptr() as usize);
            debug_assert!(from + field.len() <= bytes.len(), "the field lies inside the packet");
            debug_assert!(bytes.len() <= usize::from(u16::MAX), "a packet has at most MAX_PACKET bytes");
            (from as u16, (from + field.len()) as u16)
        };
        Self {
            hash: name.hash(),
            packet: bytes.into(),
            name: span(components(interest.name_bytes())),
            hint: span(interest.forwarding_hint()),
            nonce_at: interest
                .nonce_at()
                .invariant("an Interest gets its Nonce before it is inserted")
                .map_or(0, |at| at.start as u16),
            len: name.len() as u8,
            can_be_prefix: interest.can_be_prefix(),
            must_be_fresh: interest.must_be_fresh(),
            digest: ends_with_digest(interest),
        }
    }

    /// True if the name ends with an implicit digest.
    #[inline(always)]
    pub(super) fn has_digest(&self) -> bool {
        self.digest
    }

    /// True if Data with these components answers the entry: the same name; a longer one, with CanBePrefix;
    /// or the name without the implicit digest of the packet.
    #[inline(always)]
    pub(super) fn is_answered_by(
        &self,
        components: &[u8],
        digest: impl FnOnce() -> [u8; DIGEST_LEN],
    ) -> bool {
        let own = self.components();
        if own.len() <= components.len() {
            // Component boundaries agree where the bytes do.
            return own == components || self.can_be_prefix && components.starts_with(own);
        }
        self.digest
            && own.len() == components.len() + 2 + DIGEST_LEN
            && own.starts_with(components)
            && own.ends_with(&digest())
    }

    /// True if this is the key of `interest`, whose name is `name`.
    #[inline(always)]
    pub(super) fn is(&self, name: &HashedName<'_>, interest: &Interest<'_>) -> bool {
        self.hash == name.hash()
            && self.components() == name.components
            && self.can_be_prefix == interest.can_be_prefix()
            && self.must_be_fresh == interest.must_be_fresh()
            && self.hint() == interest.forwarding_hint()
    }
}

/// True if the last component of the name is an implicit digest.
#[inline(always)]
pub(crate) fn ends_with_digest(interest: &Interest<'_>) -> bool {
    let components = components(interest.name_bytes());
    let tail = components.len().checked_sub(2 + DIGEST_LEN).and_then(|at| components.get(at..at + 2));
    // The same bytes may occur inside a longer component.
    tail == Some(&[IMPLICIT_SHA256_DIGEST as u8, DIGEST_LEN as u8])
        && interest.name().components().last().is_some_and(|last| last.typ == IMPLICIT_SHA256_DIGEST)
}
