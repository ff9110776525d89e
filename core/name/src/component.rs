//! One component of a name.

use core::cmp::Ordering;

/// A component: its type, as NDN numbers it, and its value.
///
/// The order is NDN's canonical one: the type first, then the length of the value, then its bytes (NDN packet
/// format 0.3, Name, Canonical Order).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Component<'a> {
    /// The type, 1 to 65,535.
    pub typ: u16,
    /// The value; it may be empty and may hold any bytes.
    pub value: &'a [u8],
}

/// GenericNameComponent.
pub const GENERIC: u16 = 8;
/// ImplicitSha256DigestComponent; in an NDN name its value has 32 bytes.
pub const IMPLICIT_SHA256_DIGEST: u16 = 1;
/// ParametersSha256DigestComponent; in an NDN name its value has 32 bytes.
pub const PARAMETERS_SHA256_DIGEST: u16 = 2;
/// KeywordNameComponent.
pub const KEYWORD: u16 = 32;
/// SegmentNameComponent.
pub const SEGMENT: u16 = 50;
/// ByteOffsetNameComponent.
pub const BYTE_OFFSET: u16 = 52;
/// VersionNameComponent.
pub const VERSION: u16 = 54;
/// TimestampNameComponent.
pub const TIMESTAMP: u16 = 56;
/// SequenceNumNameComponent.
pub const SEQUENCE_NUM: u16 = 58;

/// The bytes of a SHA-256 digest.
pub const DIGEST_LEN: usize = 32;

impl<'a> Component<'a> {
    /// A component of type [`GENERIC`].
    #[inline]
    pub const fn generic(value: &'a [u8]) -> Self {
        Self { typ: GENERIC, value }
    }
}

impl Ord for Component<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.typ
            .cmp(&other.typ)
            .then_with(|| self.value.len().cmp(&other.value.len()))
            .then_with(|| self.value.cmp(other.value))
    }
}

impl PartialOrd for Component<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
