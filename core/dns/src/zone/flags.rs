//! Properties of names.

/// Properties of a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Flags(u8);

impl Flags {
    pub(super) const NONE: Self = Self(0);
    /// The apex, an owner of records, or a name above one.
    pub(super) const EXISTS: Self = Self(1);
    /// Owner of NS records below the apex, and itself not occluded.
    pub(super) const CUT: Self = Self(2);
    /// Below a cut or a DNAME.
    pub(super) const BELOW: Self = Self(4);
    /// Owner of a DNAME, and itself not occluded.
    pub(super) const DNAME: Self = Self(8);
    /// Has an existing child `*`.
    pub(super) const WILDCARD: Self = Self(16);
    /// Below a DNAME, and not below a cut above it.
    pub(super) const BELOW_DNAME: Self = Self(32);
    /// The apex, or below it.
    pub(super) const WITHIN: Self = Self(64);

    #[inline(always)]
    pub(super) const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    #[inline(always)]
    pub(super) const fn with(self, flags: Self) -> Self {
        Self(self.0 | flags.0)
    }

    pub(super) const fn without(self, flags: Self) -> Self {
        Self(self.0 & !flags.0)
    }

    /// Exists, and is not occluded.
    #[inline(always)]
    pub(super) const fn is_visible(self) -> bool {
        self.0 & (Self::EXISTS.0 | Self::BELOW.0) == Self::EXISTS.0
    }
}
