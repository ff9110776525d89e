//! Checks of invariants: a debug build panics where one is broken, a release build takes a safe exit.

/// An `Option` that an invariant says holds a value.
pub trait Invariant: Sized {
    /// Returns `self`; panics in a debug build if it is `None`.
    ///
    /// # Panics
    /// In a debug build, with `rule`, the invariant that is broken.
    #[must_use]
    fn invariant(self, rule: &'static str) -> Self;
}

impl<T> Invariant for Option<T> {
    #[inline(always)]
    #[track_caller]
    fn invariant(self, rule: &'static str) -> Self {
        debug_assert!(self.is_some(), "{rule}");
        self
    }
}

/// Part of `bytes` within `range`, which lies inside; empty if the invariant is broken.
#[inline(always)]
#[track_caller]
pub fn part<R: core::slice::SliceIndex<[u8], Output = [u8]>>(bytes: &[u8], range: R) -> &[u8] {
    bytes.get(range).invariant("the range lies inside the bytes").unwrap_or_default()
}
