//! Parts of slices whose bounds cannot be wrong.

pub use hashlane_dns_compress::slices::Parts;

/// The hash of a name itself: the first of its suffixes' hashes. The root has one, too.
#[inline(always)]
#[track_caller]
pub(crate) fn own_hash(suffixes: &[u64]) -> u64 {
    debug_assert!(!suffixes.is_empty(), "each name has a hash");
    suffixes.first().copied().unwrap_or_default()
}
