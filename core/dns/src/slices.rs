//! Parts of slices whose bounds cannot be wrong.

use core::slice::SliceIndex;

/// Access with bounds that an invariant of the caller keeps within the slice. A debug build panics at the
/// caller if they are not; a release build, which must survive what nobody thought of, takes an empty part.
pub trait Parts<T> {
    /// A part of the slice.
    fn part<R: SliceIndex<[T], Output = [T]>>(&self, range: R) -> &[T];

    /// A part of the slice, to change it.
    fn part_mut<R: SliceIndex<[T], Output = [T]>>(&mut self, range: R) -> &mut [T];
}

impl<T> Parts<T> for [T] {
    #[inline(always)]
    #[track_caller]
    fn part<R: SliceIndex<[T], Output = [T]>>(&self, range: R) -> &[T] {
        let part = self.get(range);
        debug_assert!(part.is_some(), "bounds beyond a slice of {}", self.len());
        part.unwrap_or_default()
    }

    #[inline(always)]
    #[track_caller]
    fn part_mut<R: SliceIndex<[T], Output = [T]>>(&mut self, range: R) -> &mut [T] {
        let len = self.len();
        let part = self.get_mut(range);
        debug_assert!(part.is_some(), "bounds beyond a slice of {len}");
        part.unwrap_or_default()
    }
}

/// The hash of a name itself: the first of its suffixes' hashes. The root has one, too.
#[inline(always)]
#[track_caller]
pub(crate) fn own_hash(suffixes: &[u64]) -> u64 {
    debug_assert!(!suffixes.is_empty(), "each name has a hash");
    suffixes.first().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_within_the_slice() {
        let mut bytes = [1, 2, 3];
        assert_eq!((bytes.part(1..), bytes.part(3..)), (&[2, 3][..], &[][..]));
        bytes.part_mut(..1).fill(7);
        assert_eq!((bytes, own_hash(&[5, 6])), ([7, 2, 3], 5));
    }

    #[test]
    #[should_panic(expected = "bounds beyond a slice of 3")]
    #[cfg(debug_assertions)]
    fn bounds_beyond_the_slice_are_a_defect() {
        let _ = [1, 2, 3].part(2..4);
    }
}
